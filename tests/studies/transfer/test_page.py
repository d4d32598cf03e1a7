from __future__ import annotations

import base64
import hashlib
import re
from collections.abc import Callable
from dataclasses import replace
from html.parser import HTMLParser

import numpy as np

from brittle.reports.rate_matrix import MatrixModel, RateMatrix
from brittle.studies.transfer.showing import ClassRates, FoolingText, TransferFigures
from brittle.studies.transfer.view import shown_classes, transfer_view

EVIL = "<script>alert('x')</script>\"><img src=x onerror=alert(1)> </style><!-- &amp; \x00 😀 שלום"
TAGS = {
    *("html", "head", "meta", "title", "style", "script", "body", "main", "header", "section"),
    *("h1", "h2", "h3", "p", "span", "div", "b", "i", "small", "bdi", "ul", "li", "article"),
    *("svg", "rect", "dl", "dt", "dd", "table", "thead", "tbody", "tr", "th", "td", "details"),
    *("summary", "fieldset", "legend", "label", "input", "output", "del", "ins", "code"),
}
MakeFigures = Callable[..., TransferFigures]


class Page(HTMLParser):
    """What a browser would see: elements, attributes, and the tables by their ids."""

    def __init__(self, page: str) -> None:
        super().__init__()
        self.tags: set[str] = set()
        self.attributes: list[tuple[str, str, str]] = []
        self.tables: dict[str, list[list[str]]] = {}
        self.code = {"script": "", "style": ""}
        self.words = ""
        self._table = self._tag = ""
        self.feed(page)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.add(tag)
        self.attributes += [(tag, name, value or "") for name, value in attrs]
        self._tag = tag
        values = dict(attrs)
        if tag == "table":
            self._table = values.get("id") or values.get("class") or ""
            self.tables[self._table] = []
        elif tag == "tr":
            self.tables[self._table].append([])
        elif tag in ("td", "th"):
            self.tables[self._table][-1].append("")

    def handle_endtag(self, tag: str) -> None:
        if tag == "table":
            self._table = ""
        self._tag = ""

    def handle_data(self, data: str) -> None:
        if self._tag in self.code:
            self.code[self._tag] += data
            return
        self.words += data
        if self._table and self.tables[self._table] and self.tables[self._table][-1]:
            self.tables[self._table][-1][-1] += data


def page_of(study: TransferFigures) -> Page:
    page = transfer_view(study).html()
    page.encode("utf-8")
    return Page(page)


def test_nothing_in_the_data_becomes_markup(make_figures: MakeFigures) -> None:
    models = tuple(MatrixModel(f"{EVIL}{n}", {"architecture": f"{EVIL}{n % 2}"}) for n in range(3))
    plain = make_figures().matrix
    matrix = replace(plain, sources=models, targets=models)
    mean = np.array([[0.3]])
    text = FoolingText(
        EVIL, EVIL, EVIL, ((EVIL, EVIL), ("b", "c")), ((EVIL, "x" + EVIL), ("b", EVIL)), 1, 3
    )
    hostile = make_figures(
        name=EVIL,
        facts=dict.fromkeys(("pool", "attack", "data", EVIL), EVIL),
        matrix=matrix,
        classes=[ClassRates(EVIL, (EVIL,), (EVIL,), mean, mean)],
        factors=[replace(make_figures().factors[0], factor=EVIL)],
        texts=[text],
        failures={EVIL: EVIL},
        warnings=[EVIL],
    )
    page = page_of(hostile)
    assert page.tags <= TAGS
    assert not [name for _, name, _ in page.attributes if name.startswith("on") or name == "src"]
    assert page.words.count("<script>alert('x')</script>") > 20
    assert "\x00" not in page.words


def test_only_the_page_s_own_script_and_style_may_run(make_figures: MakeFigures) -> None:
    page = page_of(make_figures())
    (policy,) = [v for _, n, v in page.attributes if n == "content" and "default-src" in v]
    for name, code in page.code.items():
        digest = base64.b64encode(hashlib.sha256(code.encode()).digest()).decode()
        assert f"{name}-src 'sha256-{digest}'" in policy
    assert not {"src", "href", "style"} & {name for _, name, _ in page.attributes}
    assert "url(" not in page.code["style"] and "@import" not in page.code["style"]
    for risk in ("innerHTML", "outerHTML", "insertAdjacentHTML", "document.write", "eval("):
        assert risk not in page.code["script"]


def test_every_value_is_in_a_table(make_figures: MakeFigures) -> None:
    tables = page_of(make_figures()).tables
    assert tables["all-values"] == [
        ["source", "texts", "LSTM-a", "CNN-b", "LSTM-c"],
        ["LSTM-a", "500", "81.0", "34.5", "50.0"],
        ["CNN-b", "412", "25.0", "70.0", "–"],
        ["LSTM-c", "7", "40.0", "30.0", "66.0"],
    ]
    assert [row[2:] for row in tables["right-values"][1:]] == [
        ["80.0", "33.3", "45.0"],
        ["20.0", "65.0", "–"],
        ["35.0", "–", "60.0"],
    ]
    counts = re.findall(r"data-n=(\d+)", transfer_view(make_figures()).html())
    assert counts == [str(n) for n in range(100, 109)]


def test_the_map_is_grouped_and_its_cells_are_coloured_by_their_values(
    make_figures: MakeFigures,
) -> None:
    page = transfer_view(make_figures()).html()
    drawn = page.split('class="frame by-architecture"')[1].split("</table>")[0]
    # LSTM-c stands beside LSTM-a; positions in the tables are kept.
    assert 'data-rows="0 2 1" data-columns="0 2 1"' in drawn
    cells = re.findall(r'<td class="(a\w+) (b\w+)([^"]*)">', drawn)
    assert len(cells) == 9
    # Both scales run from 0 to 100%, with 47 steps between them.
    assert cells[0][:2] == (f"a{round(47 * 0.81)}", f"b{round(47 * 0.8)}")
    assert cells[7][:2] == ("ae", "be")
    assert [n for n, cell in enumerate(cells) if "d" in cell[2]] == [0, 4, 8]
    assert [n for n, cell in enumerate(cells) if "g" in cell[2]] == [0, 2, 3, 5, 6, 8]


def test_the_name_of_a_narrow_group_is_turned(make_figures: MakeFigures) -> None:
    assert " narrow" not in transfer_view(make_figures()).html().split("<main>")[1]
    matrix = make_figures().matrix
    wide = replace(matrix.targets[0], classes={"architecture": "x" * 9})
    models = (wide, *matrix.targets[1:])
    page = transfer_view(
        make_figures(matrix=replace(matrix, sources=models, targets=models))
    ).html()
    assert page.count("g narrow") == 1


def test_the_page_explains_empty_cells_only_where_there_are_some(make_figures: MakeFigures) -> None:
    assert "empty: nothing to measure" in page_of(make_figures()).words
    full = replace(make_figures().matrix, rate=np.full((3, 3), 0.5), rate_of_right=np.ones((3, 3)))
    words = page_of(make_figures(matrix=full)).words
    assert "empty: nothing to measure" not in words
    assert "base rate: the same model" in words


def test_tables_notes_and_texts_are_on_the_page(make_figures: MakeFigures) -> None:
    words = page_of(make_figures()).words
    for text in (
        "CNN-b has empty cells: the file is damaged",
        "412 winners of 500 asked for.",
        "59.2%",  # LSTM to LSTM with base rates
        "45.0 without",
        "54.2–64.2",
        "base alone",
        "28.6 27.0–30.0",
        "1 text fools every target.",
        "fools 3 of 3 targets",
        "a goodfine film",
        "pwws (inflect=True)",
        "35.9%",  # the mean of the five cells off the diagonal that have a value
        "72.3%",  # the mean base rate
    ):
        assert text in words


def test_an_empty_study_is_a_page(make_figures: MakeFigures) -> None:
    nothing = np.full((3, 3), np.nan)
    matrix = replace(make_figures().matrix, rate=nothing, rate_of_right=nothing)
    study = make_figures(matrix=matrix, classes=[], factors=[], texts=[], fooling_all=0)
    assert set(page_of(study).tables["all-values"][1][2:]) == {"–"}


def test_sixty_three_models_fit_in_one_and_a_half_megabytes(make_figures: MakeFigures) -> None:
    models = tuple(
        MatrixModel(f"BiLSTM-W-fastText-{n}", {"architecture": f"A{n // 20}", "reads": f"R{n % 7}"})
        for n in range(63)
    )
    rng = np.random.default_rng(0)
    rate, of_right = rng.random((2, 63, 63))
    right = rng.integers(0, 500, (63, 63))
    matrix = RateMatrix(models, models, rate, of_right, np.full(63, 500), right)
    page = transfer_view(make_figures(matrix=matrix)).html()
    assert len(page.encode()) < 600_000
    assert "numbered" not in page.split("<main>")[1]
    values = Page(page).tables["all-values"]
    assert values[40][42] == f"{100 * rate[39, 40]:.1f}"


def rates(names: tuple[str, ...], mean: list[list[float]], by: str = "reads") -> ClassRates:
    table = np.array(mean)
    return ClassRates(by, names, names, table, table)


def test_no_table_repeats_the_average_or_another_table() -> None:
    one = rates(("other", "average"), [[0.4, 0.4], [0.4, 0.4]])
    assert shown_classes([one]) == []
    two = rates(("a", "b", "average"), [[0.4, 0.2, 0.3], [0.1, 0.3, 0.2], [0.25, 0.25, 0.25]])
    again = replace(two, by="architecture", rows=("c", "d", "average"))
    of_right = replace(two, of_right=True)
    assert [(own.by, own.of_right) for own in shown_classes([two, again, of_right])] == [
        ("reads", False),
        ("reads", True),
    ]
    # With one class of sources there is no average over them.
    row = replace(two, rows=("a", "average"), mean=two.mean[:2], without=two.mean[:2])
    [shown] = shown_classes([row])
    assert shown.rows == ("a",) and shown.columns == two.columns
    assert shown.mean.shape == shown.without.shape == (1, 3)


def test_the_settings_of_the_attack_are_all_there(make_figures: MakeFigures) -> None:
    facts = make_figures().facts | {"defaults": {"candidates": "paper"}}
    page = page_of(make_figures(facts=facts))
    assert "pwws (inflect=True, candidates=paper)" in page.words

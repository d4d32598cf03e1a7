from __future__ import annotations

import base64
import hashlib
import json
import random
import re
from collections.abc import Callable
from dataclasses import replace
from html.parser import HTMLParser
from typing import Any

import pytest
from markupsafe import Markup

from brittle.metrics.samples import sample_results
from brittle.reports import render
from brittle.reports.success_curves import curves_section
from brittle.results import Result, Step

EVIL = "<script>alert('x')</script>\"><img src=x onerror=alert(1)> </script><!-- &amp; \x00 😀 שלום"
TAGS = {
    *("html", "head", "meta", "title", "style", "script", "body", "main", "header", "section"),
    *("h1", "h2", "h3", "p", "span", "div", "b", "i", "small", "bdi", "ul", "li", "noscript"),
    *("svg", "path", "text", "g", "circle", "rect", "figure", "figcaption", "dl", "dt", "dd"),
    *("table", "thead", "tbody", "tr", "th", "td", "nav", "button", "a"),
    *("form", "input", "select", "option", "label", "details", "summary", "defs", "pattern"),
}


class Page(HTMLParser):
    """What a browser would see: the elements, and the text in each script."""

    def __init__(self, page: str) -> None:
        super().__init__()
        self.tags: set[str] = set()
        self.attributes: list[tuple[str, str, str]] = []
        self.scripts: list[str] = []
        self.styles: list[str] = []
        self.words = ""
        self._into: list[str] | None = None
        self.feed(page)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.add(tag)
        self.attributes += [(tag, name, value or "") for name, value in attrs]
        self._into = {"script": self.scripts, "style": self.styles}.get(tag)
        if self._into is not None:
            self._into.append("")

    def handle_endtag(self, tag: str) -> None:
        self._into = None

    def handle_data(self, data: str) -> None:
        if self._into is None:
            self.words += data
        else:
            self._into[-1] += data

    @property
    def rows(self) -> dict[str, Any]:
        rows: dict[str, Any] = json.loads(self.scripts[0])
        return rows


@pytest.fixture
def hostile(make_run: Callable[..., Any], make_row: Callable[..., Result]) -> Page:
    rows = [
        make_row(
            f"{EVIL} good film",
            {0: EVIL, 1: "</script>"},
            label=EVIL,
            predicted=EVIL,
            adversarial_label="\ud800" + EVIL,
        ),
        make_row({EVIL: "a b", "text": "c"}, {0: "x"}, case="c2", label=EVIL, predicted=EVIL),
        make_row("", case="c3", status="error", reason=EVIL, label=None, predicted=None),
    ]
    everything = dict.fromkeys(("target", "attack", "goal", "data", "split", "started"), EVIL)
    run = make_run(
        rows,
        name=EVIL,
        labels=[EVIL, "b"],
        warnings=[EVIL],
        settings={EVIL: EVIL},
        versions={EVIL: [EVIL]},
        **everything,
    )
    page = render(run)
    page.encode("utf-8")
    return Page(page)


def test_nothing_in_the_data_becomes_markup(hostile: Page) -> None:
    assert hostile.tags <= TAGS
    assert len(hostile.scripts) == 2
    assert not [name for _, name, _ in hostile.attributes if name.startswith("on")]
    assert "<script>alert('x')</script>" in hostile.words
    assert "\x00" not in hostile.words


def test_the_rows_keep_the_exact_texts(hostile: Page) -> None:
    first = hostile.rows["rows"][0]
    assert first[12] == [f"{EVIL} good film"]
    assert first[13][3] == EVIL
    assert hostile.rows["strings"][first[3]] == EVIL
    assert hostile.rows["strings"][first[6]] == "\ud800" + EVIL


def test_only_the_page_s_own_script_and_style_may_run(make_run: Callable[..., Any]) -> None:
    page = Page(render(make_run()))
    (policy,) = [v for t, n, v in page.attributes if n == "content" and "default-src" in v]
    assert "default-src 'none'" in policy
    assert "unsafe" not in policy

    def hashed(text: str) -> str:
        return base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()

    assert f"script-src 'sha256-{hashed(page.scripts[1])}'" in policy
    assert f"style-src 'sha256-{hashed(page.styles[0])}'" in policy


def test_the_page_loads_nothing_and_has_no_inline_style(make_run: Callable[..., Any]) -> None:
    page = Page(render(make_run()))
    names = {name for _, name, _ in page.attributes}
    assert not names & {"src", "style", "action", "srcset"}
    links = [value for _, name, value in page.attributes if name == "href"]
    assert links and all(link.startswith("#") for link in links)
    assert "url(" not in page.styles[0] and "@import" not in page.styles[0]


def test_the_script_writes_text_and_never_markup(make_run: Callable[..., Any]) -> None:
    script = Page(render(make_run())).scripts[1]
    for risk in ("innerHTML", "outerHTML", "insertAdjacentHTML", "document.write", "eval("):
        assert risk not in script


def test_the_summary_needs_no_script(make_run: Callable[..., Any]) -> None:
    words = Page(render(make_run())).words
    assert "pwws broke 3 of the 5 texts that it attacked." in words
    for text in (
        "85.7%",  # 6 of 7 right before
        "42.9%",  # 3 of 7 right under attack
        "6 of 7 right",
        "3 of 7 still right",
        "3 of 5 attacked cases",
        "mean over 3 broken cases",
        "900 rows computed of 1,200 asked",
        "the query budget ran out before the text broke",
        "words that were changed in fewer than 3 cases: not listed",
        "TimeoutError: no answer in 30 s",
    ):
        assert text in words


def test_curves_come_from_the_steps(make_run: Callable[..., Any]) -> None:
    run = make_run()
    page = render(run)
    assert "<b>60.0%</b> broken with at most <b>29</b> queries" in page
    run.improvements = [Step("a1", 3, 0.7, "negative", 0.7, run.rows[0].edits)]
    assert "<b>60.0%</b> broken with at most <b>31</b> queries" in render(run)


def test_a_caption_names_the_last_break_and_not_the_end_of_its_axis(
    make_run: Callable[..., Any],
) -> None:
    """Where less than half breaks, the longest search and the next tick say nothing of breaks."""
    broken, held = sample_results()[0], sample_results()[3]
    rows = [broken] + [replace(held, case=f"h{n}", queries=5403) for n in range(4)]
    page = render(make_run(rows))
    assert "<b>20.0%</b> broken with at most <b>22</b> queries" in page
    assert "<b>20.0%</b> broken with at most <b>1</b> word changed" in page
    page = render(make_run(rows[1:]))
    assert page.count("<figcaption><b>0.0%</b> broken</figcaption>") == 2

    pictures = [replace(row, linf=0.2, l2=1.5, edits=()) for row in rows]
    page = Markup(curves_section(pictures, make_run(pictures, kind="picture")))
    assert "<b>20.0%</b> broken within an L2 distance of <b>1.5</b>" in page
    page = Markup(curves_section(pictures[1:], make_run(pictures[1:], kind="picture")))
    assert page.count("<figcaption><b>0.0%</b> broken</figcaption>") == 3


def test_an_unfinished_run_says_so(make_run: Callable[..., Any]) -> None:
    assert "Incomplete: 8 of 100 cases" in render(make_run(examples=100))
    assert "Incomplete" not in render(make_run())


def test_a_run_without_results_is_a_page(make_run: Callable[..., Any]) -> None:
    page = Page(render(make_run([], examples=100)))
    assert "No case has finished yet" in page.words
    assert "Incomplete: 0 of 100 cases" in page.words
    assert page.rows["rows"] == []


def test_a_run_of_skipped_cases_has_no_curves(make_run: Callable[..., Any]) -> None:
    run = make_run([r for r in make_run().rows if r.status == "skipped"])
    page = Page(render(run))
    assert "How easily it breaks" not in page.words
    assert "Confusion matrix" in page.words


def test_unlabelled_examples_are_noted(make_run: Callable[..., Any]) -> None:
    words = Page(render(make_run(reference="predictions"))).words
    assert "Agreement" in words and "Accuracy" not in words
    assert "100% by definition" in words
    assert "Some examples have no label" in render(make_run(reference="mixed"))


@pytest.mark.parametrize(("classes", "shown"), [(3, "under attack"), (40, "40 labels")])
def test_any_number_of_labels(
    classes: int, shown: str, make_run: Callable[..., Any], make_row: Callable[..., Result]
) -> None:
    labels = [f"intent {i}" for i in range(classes)]
    rows = [
        make_row(
            "a fine day",
            {1: "dry"},
            case=str(i),
            label=label,
            predicted=label,
            adversarial_label=labels[i - 1],
        )
        for i, label in enumerate(labels)
    ]
    page = Page(render(make_run(rows, labels=labels)))
    assert shown in page.words
    assert labels[-1] in page.words


def test_offsets_count_as_javascript_does(
    make_run: Callable[..., Any], make_row: Callable[..., Result]
) -> None:
    run = make_run([make_row({"a": "x", "b": "😀 good 👩‍👩‍👧 film"}, {1: "bad", 2: "show"})])
    row = Page(render(run)).rows["rows"][0]
    raw = row[12][1].encode("utf-16-le")
    changed = [row[13][i : i + 4] for i in range(0, len(row[13]), 4)]
    assert [c[0] for c in changed] == [1, 1]
    assert [raw[2 * c[1] : 2 * c[2]].decode("utf-16-le") for c in changed] == ["good", "film"]
    assert [c[3] for c in changed] == ["bad", "show"]


def test_texts_are_stored_once(make_run: Callable[..., Any], make_row: Callable[..., Any]) -> None:
    page = render(make_run([make_row("a sentence of some length", {0: "one"})]))
    assert page.count("sentence of some length") == 1


@pytest.mark.slow
def test_a_thousand_sentences_stay_under_two_megabytes(
    make_run: Callable[..., Any], make_row: Callable[..., Result]
) -> None:
    rng = random.Random(0)
    vocabulary = ["".join(rng.choices("etaoinshrdlu", k=rng.randint(2, 9))) for _ in range(4000)]
    rows = []
    for i in range(1000):
        words = rng.choices(vocabulary, k=rng.randint(5, 40))
        swaps = {p: rng.choice(vocabulary) for p in rng.sample(range(len(words)), 4)}
        rows.append(make_row(" ".join(words), swaps, case=f"{i:016x}", queries=rng.randint(9, 900)))
    run = make_run(rows)
    run.improvements = [Step(r.case, r.queries, 0.9, "negative", 0.9, r.edits) for r in rows]
    assert len(render(run).encode()) < 1_000_000


def test_a_megabyte_of_one_word_does_not_tear_the_tables(
    make_run: Callable[..., Any], make_row: Callable[..., Result]
) -> None:
    page = Page(render(make_run([make_row("x" * 1_000_000 + " end", {0: "y" * 5000})])))
    assert not re.search("x{100}", page.words)


def test_the_same_run_gives_the_same_page(make_run: Callable[..., Any]) -> None:
    assert render(make_run()) == render(make_run())

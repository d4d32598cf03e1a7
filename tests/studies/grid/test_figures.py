"""The figures of a grid by hand: rates, the best attention attack, McNemar with Holm, pages."""

from __future__ import annotations

import csv
import json
import re
from collections.abc import Sequence
from math import comb
from pathlib import Path

import pytest
from rich.console import Console

from brittle.errors import UsageError
from brittle.metrics.intervals import holm, wilson
from brittle.statuses import Status
from brittle.studies.grid.study import (
    CellRow,
    GridCase,
    GridCell,
    GridStudy,
    best_attention,
    paired_tests,
    success,
)
from brittle.studies.pools import Member
from brittle.studies.study import study_of

HOSTILE = "<b>x</b>"


def cell(statuses: str, **counts: Sequence[int]) -> GridCell:
    """Build a cell: b is a broken case, h one that held, s one that was skipped."""
    names: dict[str, Status] = {"b": "broken", "h": "held", "s": "skipped"}
    rows = [
        CellRow(
            f"c{n}",
            names[letter],
            "no candidates" if letter == "s" else "",
            10 + n,
            **{name: values[n] for name, values in counts.items()},
            adversarial=(("text", f"a bad {HOSTILE}"),) if letter == "b" else None,
        )
        for n, letter in enumerate(statuses)
    ]
    return GridCell("run.sqlite", tuple(rows), 100, 60)


@pytest.fixture
def study() -> GridStudy:
    cells = {
        "asmin-gr": {"one": cell("bhhhhhhhhh"), "two": cell("bbbbhhhhhh")},
        "asmax-ec:layer=last": {"one": cell("bbhhhhhhhh"), "two": cell("bbhhhhhhhh")},
        "gs-gr": {"one": cell("hhhhhhhhhb"), "two": cell("bbbbbbbbbh"), "three": cell("s" * 10)},
        "random-word": {
            "one": cell("b" * 10, tried=[100] * 10, won=[*range(10)]),
            "two": cell("b" * 10, tried=[100] * 10, won=[2 * n for n in range(10)]),
        },
    }
    members = tuple(Member(name, name) for name in ("one", "two", "three"))
    cases = tuple(
        GridCase(f"c{n}", "positive", (("text", f"a good {HOSTILE}"),)) for n in range(10)
    )
    return study_of(
        "grid",
        "mine",
        pool="pool",
        data="mr",
        split="test",
        seed=0,
        limit=10,
        all_right=True,
        budget=None,
        attacks=tuple(cells),
        settings={attack: {} for attack in cells},
        targets=members,
        cases=cases,
        scored=40,
        right={"one": 30, "two": 20},
        cells=cells,
        failures={"three": f"it died {HOSTILE}"},
        warnings=("careful",),
    )


def test_rates_are_over_attacked_cases_and_draws_are_means_over_texts(study: GridStudy) -> None:
    figure = success(study.cells["asmin-gr"]["two"])
    assert (figure.count, figure.of) == (4, 10)
    assert (figure.low, figure.high) == wilson(4, 10)
    assert success(study.cells["gs-gr"]["three"]).of == 0
    draws = success(study.cells["random-word"]["two"])
    assert draws.value == pytest.approx(0.09) and draws.count is None and draws.of == 10
    assert draws.low is not None and draws.low < 0.09


def test_the_best_attention_attack_is_named_for_each_target(study: GridStudy) -> None:
    best = {name: best_attention(study, name) for name in ("one", "two", "three")}
    assert best["one"] is not None and best["one"][0] == "asmax-ec:layer=last"
    assert best["two"] is not None and best["two"][0] == "asmin-gr"
    assert best["two"][1].value == 0.4 and best["three"] is None


def test_paired_tests_by_hand(study: GridStudy) -> None:
    tests = {test.attack: test for test in paired_tests(study)}
    assert [(t.a, t.b) for t in paired_tests(study)] == [("one", "two")] * 4  # three has no cases

    def exact(b: int, c: int) -> float:
        tail = sum(comb(b + c, k) for k in range(min(b, c) + 1)) / 2 ** (b + c)
        return min(1.0, 2 * tail)

    p_values = {
        attack: exact(*counts)
        for attack, counts in {
            "asmin-gr": (0, 3),
            "asmax-ec:layer=last": (0, 0),
            "gs-gr": (1, 9),
        }.items()
    }
    for attack, p in p_values.items():
        both = tests[attack].contrast
        assert both is not None and both.p == pytest.approx(p)
    # Three tests: the smallest p is multiplied by 3, the next by 2.
    assert tests["gs-gr"].p_holm == pytest.approx(3 * p_values["gs-gr"])
    assert tests["asmin-gr"].p_holm == pytest.approx(2 * p_values["asmin-gr"])
    assert tests["gs-gr"].difference == pytest.approx(0.8)
    draws = tests["random-word"]
    assert draws.contrast is None and draws.p_holm is None
    assert draws.difference == pytest.approx(0.045)


def test_holm_against_its_definition() -> None:
    for values in ([], [0.2], [0.5, 0.5, 0.5], [0.01, 0.9, 0.02, 0.015]):
        corrected = holm(values)
        for i, p in enumerate(values):
            steps = [
                (len(values) - sum(q < other for q in values)) * other
                for other in values
                if other <= p
            ]
            assert corrected[i] == pytest.approx(min(1.0, max(steps)))


def test_the_page_shows_all_and_trusts_nobody(study: GridStudy, tmp_path: Path) -> None:
    page = study.view().html()
    assert HOSTILE not in page and "<script" not in page
    text = re.sub(r"<[^>]+>", " ", page)
    for shown in ("40.0%", "4 of 10", "A*", "asmin-gr", "it died", "careful", "+80.0", "75.0%"):
        assert shown in text, shown
    assert "gs-gr could not attack 10 on three" in text
    assert study.report(tmp_path / "x" / "page.html").read_text() == page


def test_the_terminal_and_json(study: GridStudy) -> None:
    console = Console(width=120, record=True, file=open("/dev/null", "w"))  # noqa: SIM115
    with console.file:
        console.print(study.view().block())
    text = console.export_text()
    for shown in ("asmin-gr", "40.0%", "of 10", "Holm over 3 tests", "three: empty, it died"):
        assert shown in text, shown
    content = json.loads(json.dumps(study.summary()))
    assert len(content["cells"]) == 12 and content["best"]["two"]["attack"] == "asmin-gr"


def test_a_grid_is_exported_by_cell_and_by_case(study: GridStudy, tmp_path: Path) -> None:
    with study.export(tmp_path / "cells.csv").open() as file:
        rows = list(csv.DictReader(file))
    assert len(rows) == 12 and rows[1]["value"] == "0.4" and rows[2]["value"] == ""
    lines = study.export(tmp_path / "cases.jsonl", texts=True).read_text().splitlines()
    assert len(lines) == 90 and json.loads(lines[0])["adversarial"] == f"a bad {HOSTILE}"
    frame = study.frame()
    assert list(frame.columns)[:3] == ["attack", "target", "value"]
    study.save(tmp_path / "mine.study.json")
    assert GridStudy.load(tmp_path / "mine.study.json") == study
    (tmp_path / "other.json").write_text("{}")
    with pytest.raises(UsageError, match="is not a grid"):
        GridStudy.load(tmp_path / "other.json", "grid")

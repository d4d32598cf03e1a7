"""Two runs on one page: the verdict of the gate, the ladder of both, and the cases that flipped."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest

from brittle.metrics.ladder import ladder, paired_levels
from brittle.metrics.paired import paired
from brittle.metrics.samples import sample_results
from brittle.reports.side_by_side import not_comparable, side_by_side_page, verdict_sentence
from brittle.results import Result
from brittle.runs.gate import verdicts as gate

Make = Callable[..., Any]
EVIL = "</script><img src=x onerror=alert(1)> \"'"


def groups(page: str) -> dict[str, int]:
    """Return the headings of the groups of cases, each with its count."""
    return {name: int(count) for name, count in re.findall(r"<h2>([\w ]+) \(([\d,]+)\)</h2>", page)}


def cards(page: str, word: str) -> list[str]:
    """Return the cards of a group."""
    return [card for card in page.split("<article")[1:] if f'class="status">{word}<' in card]


@pytest.fixture
def two(make_run: Make, make_row: Make) -> tuple[Any, Any]:
    """Make two runs of one attack: of ten shared cases six are newly broken and one is mended."""

    def row(n: int, is_broken: bool, **changes: Any) -> Result:
        swaps = {1: "dull"} if is_broken else {}
        status = "broken" if is_broken else "held"
        made: Result = make_row("a good film", swaps, case=f"c{n}", status=status, **changes)
        return made

    old = [row(n, n >= 6) for n in range(10)]
    new = [row(n, n < 9) for n in range(10)]
    new.append(row(11, True))
    wrong = make_row("a good film", case="w", reason="already wrong", predicted="negative")
    old.append(row(12, False, words=9))
    old[-1] = replace(old[-1], case="w")
    return make_run(old, name="v1"), make_run([*new, wrong], name="v2")


def test_cases_that_flipped_stand_with_their_edits(two: tuple[Any, Any]) -> None:
    page = side_by_side_page(*two)
    assert groups(page) == {
        "Newly broken": 6,
        "Newly wrong": 1,
        "Mended": 1,
        "Broken as before": 3,
    }
    newly = cards(page, "newly broken")
    assert len(newly) == 6
    assert all("<del>good</del><ins>dull</ins>" in card for card in newly)
    assert "positive 90%" in newly[0] and "negative 70%" in newly[0]
    [mended] = cards(page, "mended")
    assert "<del>good</del><ins>dull</ins>" in mended and "is-held" in mended
    [wrong] = cards(page, "newly wrong")
    assert "<del>" not in wrong
    both = cards(page, "broken as before")
    assert all(card.count("<ins>dull</ins>") == 2 for card in both)  # of the old and the new run
    folded = page.split("Broken as before (3)</h2>")[1]
    assert "<details" in folded and "Newly broken" not in folded


def test_the_verdict_is_that_of_the_gate(two: tuple[Any, Any]) -> None:
    old, new = two
    old.complete = new.complete = True
    for level in (0.05, 0.2):
        [verdict] = gate([old, new], level)
        page = side_by_side_page(old, new, level)
        assert ("The new run is worse" in page) == verdict.is_worse
        assert f"{100 * verdict.by:.1f} points over 11 shared cases" in page
    assert "No clear difference: accuracy under attack fell" in side_by_side_page(old, new, 0.01)
    assert "The new run is better" in side_by_side_page(new, old, 0.2)
    assert "No difference: accuracy under attack is the same over 11 shared" in side_by_side_page(
        old, old
    )


def test_what_is_not_comparable_is_said(two: tuple[Any, Any], make_run: Make) -> None:
    old, new = two
    assert not_comparable(old, new) == [
        "Left out: 0 cases of the old run only, 1 case of the new run only."
    ]
    other = make_run(
        old.rows, name="x", data="imdb", attack="genetic", goal="toward 1", budget=9, examples=99
    )
    lines = not_comparable(old, other)
    assert lines[0] == "The new run is incomplete: 11 of 99 cases."
    assert "Other data: mr (old), imdb (new). Only shared texts are compared." in lines
    assert "Other attack: pwws (old), genetic (new). A difference may come from the attack" in (
        " ".join(lines)
    )
    assert "Other budget: none (old), 9 (new)." in " ".join(lines)
    assert not [line for line in lines if "settings" in line]  # the attack says it already
    page = side_by_side_page(old, other)
    assert all(line in page for line in lines)
    changed = make_run(old.rows, settings={"inflect": False}, content="b", fingerprint="f")
    same = make_run(old.rows, content="a", fingerprint="f")
    lines = not_comparable(same, changed)
    assert any(
        "settings of the attack: inflect True (old), inflect False (new)" in x for x in lines
    )
    assert "The data has the same name in both runs, but other contents." in lines
    assert "Both runs attack the same model: no difference comes from the model." in lines


def test_runs_without_a_shared_case_have_no_figures(two: tuple[Any, Any], make_run: Make) -> None:
    other = make_run([replace(row, case=f"other {row.case}") for row in two[0].rows])
    page = side_by_side_page(two[0], other)
    assert "The two runs share no case that can be compared." in page
    assert "<table" not in page and not groups(page)


def test_a_translator_is_compared_by_success(make_run: Make) -> None:
    rows = [replace(row, label=None, predicted=None) for row in sample_results()]
    run = make_run(rows, answers="texts")
    pair = paired(rows, rows)
    assert "attack success" in verdict_sentence(run.manifest, pair, 0.05)
    page = side_by_side_page(run, run)
    assert "accuracy without edits" not in page and "attack success" in page
    assert "do not compare them" in side_by_side_page(run, make_run())


def climbed(row: Result, level: str | None, **changes: Any) -> Result:
    """Make a row of the ladder that breaks at a level, or at none."""
    status = "held" if level is None else "broken"
    levels = (("rewrite", "held"), ("any", "held"))
    return replace(row, level=level, status=status, levels=levels, attack="auto", **changes)


def test_levels_are_compared_one_by_one(make_run: Make, make_row: Make) -> None:
    base = [make_row("a good film", {1: "dull"}, case=f"c{n}") for n in range(6)]
    old = [climbed(row, "any") for row in base[:5]] + [climbed(base[5], "rewrite")]
    new = [climbed(row, "rewrite") for row in base[:4]] + [climbed(base[4], None)]
    new.append(climbed(base[5], "any"))
    levels = paired_levels(old, new)
    assert {name: (one.only_a, one.only_b) for name, one in levels.items()} == {
        "rewrite": (4, 1),
        "any": (0, 1),
    }
    for rows, side in ((old, "only_a"), (new, "only_b")):
        own = ladder(rows)
        assert own is not None
        counts = [getattr(one, side) + one.both for one in levels.values()]
        assert [rung.standing.count for rung in own.rungs] == counts
    page = side_by_side_page(make_run(old, name="v1"), make_run(new, name="v2"))
    assert groups(page) == {
        "Newly broken": 0,
        "Mended": 1,
        "Easier to break": 4,
        "Harder to break": 1,
    }
    assert "after rewrite" in page and "after any synonym" in page
    assert page.count('<rect class="old"') == 4  # accuracy, two levels, success
    assert paired_levels(old, [replace(row, levels=()) for row in new]) == {}


def test_many_cases_are_counted_and_not_all_shown(make_run: Make, make_row: Make) -> None:
    held = [make_row("a good film", case=f"c{n}", status="held") for n in range(70)]
    broken = [make_row("a good film", {1: "dull"}, case=f"c{n}") for n in range(70)]
    page = side_by_side_page(make_run(held), make_run(broken))
    assert groups(page)["Newly broken"] == 70 and len(cards(page, "newly broken")) == 60
    assert "10 more cases are not shown." in page


def test_nothing_in_two_runs_becomes_markup(make_run: Make, make_row: Make) -> None:
    texts = dict.fromkeys(("label", "predicted"), EVIL)
    held = make_row({EVIL: f"{EVIL} good"}, case=EVIL, status="held", **texts)
    row = make_row({EVIL: f"{EVIL} good"}, {0: EVIL}, case=EVIL, level=EVIL, **texts)
    everything = dict.fromkeys(("target", "attack", "goal", "data", "split"), EVIL)
    old = make_run([held], name=EVIL)
    page = side_by_side_page(old, make_run([row], name=EVIL, **everything))
    assert "<img" not in page and "<script" not in page and "&lt;img" in page
    assert "default-src 'none'" in page and 'style="' not in page


def test_pictures_are_shown_as_images(make_run: Make) -> None:
    import numpy as np

    from brittle.picture import Picture

    grey = [Picture(np.full((4, 4, 1), shade, dtype=np.float32)).encode() for shade in (0.2, 0.8)]
    row = replace(sample_results()[0], original=grey[0], adversarial=grey[1], l2=1.0, linf=0.6)
    held = replace(row, status="held", adversarial=None, edits=())
    page = side_by_side_page(make_run([held], kind="picture"), make_run([row], kind="picture"))
    [card] = cards(page, "newly broken")
    assert card.count('src="data:image/png;base64,') == 2 and "by at most 0.600" in card
    assert "img-src data:" in page

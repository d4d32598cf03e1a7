from __future__ import annotations

import io
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest
from rich.console import Console, RenderableType

from brittle.reports.comparison import comparison_block
from brittle.reports.page import codes
from brittle.reports.summaries import comparison_json
from brittle.reports.terminal import Items, examples_block, highlighted, summary_block
from brittle.results import Result


def shown(renderable: RenderableType, **options: Any) -> str:
    file = io.StringIO()
    console = Console(file=file, width=80, **options)
    console.print(renderable)
    return file.getvalue()


def test_the_summary_fits_and_names_its_denominators(make_run: Callable[..., Any]) -> None:
    text = shown(summary_block(make_run(examples=10, warnings=["Confidence is saturated. " * 8])))
    assert max(map(len, text.splitlines())) <= 80
    assert "accuracy before        85.7%  48.7–97.4%  6 of 7 right" in text
    assert "attack success         60.0%" in text and "3 of 5 attacked cases" in text
    assert "broken 3 · held 1 · out of budget 1" in text
    assert "900 rows computed of 1,200 asked (25% saved), 12 calls, 1 min 15 s" in text
    assert "! Incomplete: 8 of 10 cases" in text
    assert "! Confidence is saturated." in text
    assert "\x1b" not in text


def test_examples_mark_edits_in_brackets_without_colour(
    make_run: Callable[..., Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    text = shown(examples_block(make_run().rows))
    assert "a warm and [funny→comical] film" in text
    assert "positive 90% → negative 70%   1 of 5 words changed, 24 queries" in text
    assert "the [plot→plan] is [dull→soft]" in text
    monkeypatch.setenv("NO_COLOR", "1")
    assert "[funny→comical]" in shown(examples_block(make_run().rows), force_terminal=True)


def test_examples_mark_edits_by_colour(make_run: Callable[..., Any]) -> None:
    text = shown(examples_block(make_run().rows), force_terminal=True, color_system="standard")
    assert "\x1b[9;31mfunny\x1b[0m \x1b[1;32mcomical\x1b[0m" in text
    assert "[funny" not in text.replace("\x1b[", "")


def test_the_clearest_examples_come_first(make_run: Callable[..., Any]) -> None:
    rows = make_run().rows
    rows[2] = replace(rows[2], adversarial_confidence=0.99)
    text = shown(examples_block(rows, 2))
    assert text.index("truly") < text.index("warm")
    assert "plot" not in text
    assert "No adversarial example was found" in shown(examples_block(rows[3:]))


def test_long_texts_are_cut_around_their_edits(make_row: Callable[..., Result]) -> None:
    words = [f"word{i}" for i in range(1000)]
    text = highlighted(make_row(" ".join(words), {500: "other"}), has_colour=False).plain
    assert "word499 [word500→other] word501" in text
    assert len(text) < 200
    assert text.count("…") == 2
    huge = highlighted(make_row("x" * 5000, {0: "y" * 5000}), has_colour=False).plain
    assert len(huge) < 350


def test_pairs_show_their_fields(make_row: Callable[..., Result]) -> None:
    pair = make_row({"premise": "a man sits", "hypothesis": "he sleeps"}, {4: "dozes"})
    text = highlighted(pair, has_colour=False).plain
    assert text == "premise: a man sits\nhypothesis: he [sleeps→dozes]"


def test_texts_cannot_steer_the_terminal(
    make_row: Callable[..., Result], make_run: Callable[..., Any]
) -> None:
    evil = "\x1b[2J[bold]\x07\u202e[/bold] good"
    row = make_row(evil, {3: "\x1b[31mbad"}, label=evil, predicted=evil, adversarial_label=evil)
    run = make_run([row], name=evil, target=evil, warnings=[evil])
    text = (
        shown(examples_block([row]))
        + shown(summary_block(run))
        + shown(comparison_block([run, run]))
    )
    for odd in "\x1b\x07\u202e":
        assert odd not in text
    assert "␛[2J[bold]␇⟨U+202E⟩[/bold]" in text


def test_runs_are_compared_side_by_side_and_in_pairs(make_run: Callable[..., Any]) -> None:
    a = make_run(name="first")
    b = make_run([replace(r, status="held") for r in a.rows], name="second", examples=9)
    text = shown(comparison_block([a, b]))
    assert max(map(len, text.splitlines())) <= 80
    assert "paired with first, case by case" in text
    assert "second  8 shared" in text
    assert "-60.0 points" in text and "+42.9 points" in text
    assert "McNemar's exact test decides (p below 0.05)" in text and "95% interval" in text
    assert "p below 0.01" in shown(comparison_block([a, b], 0.01))
    assert "! second: Incomplete: 8 of 9 cases" in text
    assert "paired" not in shown(comparison_block([a]))


def test_ladders_are_compared_level_by_level(
    make_run: Callable[..., Any], make_row: Callable[..., Any]
) -> None:
    base = [make_row("a good film", {1: "dull"}, case=f"c{n}") for n in range(8)]
    ladder = {"levels": (("rewrite", "held"), ("any", "held")), "status": "broken"}
    old = [replace(row, level="rewrite", **ladder) for row in base]
    new = [replace(row, level="any", **ladder) for row in base]
    text = shown(comparison_block([make_run(old, name="v1"), make_run(new, name="v 2")]))
    [mended] = [line for line in text.splitlines() if "after rewrite" in line]
    assert mended.split() == ["after", "rewrite", "+100.0", "points", "8", "0", "8", "0.008"]
    assert "after any" not in text  # it is the accuracy under attack
    assert "The cases that changed: brittle report v1 'v 2'" in text
    (pair,) = comparison_json([make_run(old), make_run(new)])["paired"]
    counts = {name: (one["only_b"], one["significant"]) for name, one in pair["levels"].items()}
    assert counts == {"rewrite": (8, True), "any": (0, False)}
    flat = [replace(row, levels=()) for row in new]
    assert "after" not in shown(comparison_block([make_run(flat), make_run(flat)]))


def test_the_test_decides_where_the_interval_says_otherwise(make_run: Callable[..., Any]) -> None:
    row = make_run().rows[3]  # held
    rows = [replace(row, case=str(n)) for n in range(20)]
    a = make_run([replace(r, status="broken") if n < 3 else r for n, r in enumerate(rows)])
    b = make_run([replace(r, status="broken") if n < 8 else r for n, r in enumerate(rows)])
    text = shown(comparison_block([a, b]))
    assert "+2.9 to +44.9" in text and "0.062" in text  # the interval leaves out 0
    assert text.count("undecided") == 4 and "higher\n" not in text  # 3 rows, and the rule
    (pair,) = comparison_json([a, b])["paired"]
    assert pair["success"]["low"] > 0 and pair["success"]["significant"] is False
    text = shown(comparison_block([a, b], 0.1))
    assert "p below 0.1" in text and "90% interval" in text and text.count("undecided") == 2
    data = comparison_json([a, b], 0.1)
    assert data["decides"] == {"test": "McNemar, exact, two-sided", "level": 0.1}
    assert data["paired"][0]["success"]["significant"] is True


def test_runs_that_share_nothing_are_not_paired(make_run: Callable[..., Any]) -> None:
    a = make_run()
    b = make_run([replace(r, case=f"other {r.case}") for r in a.rows], name="second")
    assert "no shared case" in shown(comparison_block([a, b]))


def test_a_run_without_results_can_be_shown(make_run: Callable[..., Any]) -> None:
    run = make_run([], examples=5)
    run.totals = {}
    text = shown(summary_block(run)) + shown(comparison_block([run, run]))
    assert "no case has finished yet" in text
    assert "Incomplete: 0 of 5 cases" in text


@pytest.mark.parametrize("width", [24, 40, 80, 120])
def test_a_line_of_items_is_broken_between_items(width: int) -> None:
    items = [f"≥ {n / 10:g} {10 * n}.0%" for n in range(12)] + ["x" * 30]
    file = io.StringIO()
    Console(file=file, width=width).print(Items(" · ".join(items), "dim"))
    lines = file.getvalue().splitlines()
    shown = [item for line in lines for item in line.rstrip().split(" · ")]
    assert shown[:12] == items[:12] and "".join(shown[12:]) == items[12]
    assert all(len(line) <= width for line in lines)


def test_what_nobody_sees_in_an_edit_is_written_by_its_number(
    make_row: Callable[..., Result],
) -> None:
    row = make_row("mess it now odd", {0: "m\u0435ss", 1: "i\u200bt", 2: "\u202ewon\u202c"})
    text = highlighted(row, has_colour=False).plain
    assert text == "[mess→m⟨U+0435⟩ss] [it→i⟨U+200B⟩t] [now→⟨U+202E⟩won⟨U+202C⟩] odd"
    assert codes("m\u0435ss", "mess") == "m⟨U+0435⟩ss"
    assert codes("mass", "mess") == codes("\u202ewon\u202c", "now") == ""

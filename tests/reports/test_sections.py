"""What the page, the terminal and the data say of character attacks, confidence and words."""

from __future__ import annotations

import io
import re
from collections.abc import Callable
from typing import Any

from rich.console import Console

from brittle.reports import render, summary_html, summary_json, summary_text
from brittle.reports.comparison import comparison_block
from brittle.reports.terminal import summary_block
from brittle.results import Result, Step

Make = Callable[..., Any]


def shown(renderable: Any) -> str:
    file = io.StringIO()
    Console(file=file, width=80).print(renderable)
    return file.getvalue()


def typos(make_row: Callable[..., Result]) -> list[Result]:
    """Make two broken cases: 1 flip and 1 delete of 14 characters, 1 insert of 14."""
    return [
        make_row("a gloomy story", {1: "gloopy", 2: "stry"}, case="t1"),
        make_row("a gloomy story", {2: "sttory"}, case="t2"),
    ]


def test_character_attacks_show_their_operations(make_run: Make, make_row: Make) -> None:
    run = make_run(typos(make_row))
    page = render(run)
    assert "What was edited" in page
    assert '<th scope="row">flips</th><td class="n">1</td>' in page
    assert '<td class="n">33.3%</td>' in page
    assert '<p class="value">10.7%</p>' in page  # (2/14 + 1/14) / 2
    line = "3 character edits: 33.3% flips, 33.3% inserts, 33.3% deletes"
    for text in (shown(summary_block(run)), summary_text(run), summary_html(run)):
        assert line in text
        assert "share of characters" in text and "10.7%" in text
        assert max(map(len, text.splitlines())) <= 80 or "<" in text
    data = summary_json(run)
    assert data["character_edits"] == {"flips": 1, "inserts": 1, "deletes": 1}
    assert data["characters_changed"]["value"] == (2 / 14 + 1 / 14) / 2


def test_word_attacks_have_none(make_run: Make) -> None:
    run = make_run()
    assert "What was edited" not in render(run)
    for text in (shown(summary_block(run)), summary_text(run), summary_html(run)):
        assert "character" not in text
    assert summary_json(run)["character_edits"] is None


def test_confidence_is_drawn_only_for_a_run_that_asked_for_some(make_run: Make) -> None:
    assert "confidence asked for" not in render(make_run())
    run = make_run(confidence=0.7, goal="untargeted with confidence 0.7")
    run.improvements.append(Step("a4", 9, 0.6, "negative", 0.6, ()))
    page = render(run)
    assert "<b>60.0%</b> (23.1–88.2%) broken with a confidence of at least <b>0.7</b>" in page
    assert "60.0% at confidence 0.7" in page and "is not known" in page


def test_a_goal_of_one_s_own_has_two_accuracies_and_no_curve_of_wrong_labels(
    make_run: Make,
) -> None:
    run = make_run(confidence=0.7, goal="python:my:probe with confidence 0.7")
    assert "confidence asked for" not in render(run)
    for goal, shown in (("untargeted", False), ("python:my:probe", True)):
        assert ("under attack, by label" in summary_text(make_run(goal=goal))) == shown


def test_the_confidence_of_a_targeted_run_is_that_of_its_class(make_run: Make) -> None:
    run = make_run([r for r in make_run().rows if r.case in ("a1", "a3", "a4")], confidence=0.7)
    run.improvements.append(Step("a4", 9, 0.6, "neutral", 0.65, ()))

    def levels() -> int:
        """Count the levels of the third curve of the page."""
        lines: list[str] = re.findall('class="line" d="([^"]*)"', render(run))
        return lines[2].count("V")

    assert levels() == 2
    run.manifest["toward"] = "negative"
    assert levels() == 1


def test_words_are_drawn_as_a_histogram_where_they_differ(make_run: Make, make_row: Make) -> None:
    assert "Most often <b>1 word</b> changed (2 of 3 broken)" in render(make_run())
    same = [make_row("a dull day", {1: "fine"}, case=str(i)) for i in range(3)]
    assert "Most often" not in render(make_run(same))


def test_a_comparison_sets_the_originals_beside_each_other(make_run: Make) -> None:
    run = make_run()
    text = shown(comparison_block([run, make_run(run.rows[1:], name="second")]))
    assert "accuracy before" in text and "accuracy under attack" in text
    assert "attack success" in text
    assert max(map(len, text.splitlines())) <= 80

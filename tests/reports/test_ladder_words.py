"""The ladder in words: one screen, one sentence, who read."""

from __future__ import annotations

from dataclasses import replace
from io import StringIO
from pathlib import Path

import pytest
from rich.console import Console

import brittle
from brittle.metrics.ladder import ladder
from brittle.metrics.samples import sample_ladder, sample_results
from brittle.reports import ladder as words
from brittle.reports.ladder_page import ladder_section
from brittle.reports.summaries import summary_json
from brittle.reports.terminal import run_block
from brittle.testing import FakeTarget
from brittle.validity.figures import LevelReading

from .conftest import MakeRun

READ = {"careful": LevelReading(60, 90, 100, "one language model", "film reviews")}
FILMS = [
    ("a good film, but it is not very long", "positive"),
    ("the story is good and the actors are good", "positive"),
    ("a bad story that does not know what it wants", "negative"),
]


def test_a_level_says_what_readers_think_of_it() -> None:
    careful, rough = words.rung_lines(sample_ladder(), READ)
    assert (careful.accuracy, careful.broken, careful.validity) == (
        "50.0%",
        "40 of 92",
        "valid in 60%",
    )
    assert (rough.broken, rough.validity) == ("30", "not read")
    line = words.reading_line(sample_ladder(), READ)
    assert line is not None and "one language model" in line and "film reviews" in line
    assert words.reading_line(sample_ladder(), {}) is None


@pytest.mark.parametrize(
    ("gentle", "rough", "expected"),
    [
        (0, 0, "Gentle edits flip no right answer, rough ones none."),
        (1, 0, "Gentle edits flip hardly any of the right answers, rough ones hardly any."),
        (46, 46, "Gentle edits flip half of the right answers, rough ones all."),
    ],
)
def test_the_verdict_is_one_sentence(gentle: int, rough: int, expected: str) -> None:
    found = sample_ladder()
    one, two = found.rungs
    rungs = (replace(one, broken=gentle), replace(two, broken=rough))
    assert words.verdict(replace(found, rungs=rungs, broken=gentle + rough)) == expected


def test_other_ladders_have_sentences_too() -> None:
    found = sample_ladder()
    assert words.verdict(replace(found, attacked=0)) == "No text could be attacked."
    rough = replace(found, rungs=found.rungs[1:], broken=30)
    assert words.verdict(rough) == "These edits flip one in three of the right answers."
    gentle = replace(found, rungs=found.rungs[:1], broken=40)
    assert words.verdict(gentle) == "Gentle edits flip two in five right answers."
    assert ladder(sample_results()) is None


def test_a_run_fits_one_screen_and_all_of_it_is_there_on_request(tmp_path) -> None:  # type: ignore[no-untyped-def]
    target = FakeTarget({"good": 2.0, "bad": -2.0}, spread=0.3)
    run = brittle.attack(target, FILMS, "auto", folder=tmp_path, name="one")

    def shown(everything: bool) -> str:
        console = Console(file=StringIO(), width=80)
        console.print(run_block(run, 5, everything))
        return console.file.getvalue()  # type: ignore[attr-defined]

    short, long = shown(False), shown(True)
    assert len(short.splitlines()) <= 18 and "after rewrite" in short and "trust" not in short
    assert "trust" in long and "queries per case" in long and "one word swapped" not in long
    content = summary_json(run)["ladder"]
    assert content["verdict"] in short and {r["level"] for r in content["rungs"]} <= {
        *("rewrite", "careful", "loose", "any", "typo"),
    }
    assert content["verdict"] in " ".join(str(run).split())


def test_texts_in_other_languages_are_named_with_what_was_tried() -> None:
    found = replace(sample_ladder(), not_english=2)
    assert words.language_line(sample_ladder()) is None
    assert words.language_line(found) == "2 texts are not English: these levels were not tried"
    typing = replace(found.rungs[1], level="typo")
    climbed = replace(found, rungs=(*found.rungs, typing))
    assert words.language_line(climbed) == "2 texts are not English: only typing errors were tried"


def test_a_ladder_that_ran_out_of_budget_says_at_least() -> None:
    found = replace(sample_ladder(), unfinished=9)
    assert words.verdict(found) == (
        "Gentle edits flip at least two in five right answers, rough ones at least three in four."
    )
    assert "out of budget 9 (more --budget may break them)" in words.held_line(found)
    assert "9 of 92 attacked texts ran out of budget" in str(words.unfinished_line(found))
    section = ladder_section(found, {}, "")
    assert "9 of 92 attacked texts ran out of budget" in section.value["line"]
    one, two = found.rungs
    none = replace(found, rungs=(replace(one, broken=0), replace(two, broken=0)), broken=0)
    assert words.verdict(none) == "Gentle edits flip no right answer, rough ones none."


def test_no_command_is_cut_off(make_run: MakeRun) -> None:
    name = "http-api-auto-posts.csv-47ab89"
    report, show = words.next_commands(make_run([], name))
    assert report == f"brittle report {name}" and show == f"brittle show {name} --all"
    mine = make_run([], "mine")
    assert words.next_commands(mine) == ["brittle report mine · brittle show mine --all"]
    mine.try_command = 'brittle try zoo:toy "your sentence"'
    assert words.next_commands(mine)[1:] == [mine.try_command]


def test_a_long_verdict_keeps_its_indent(tmp_path: Path) -> None:
    target = FakeTarget({"good": 2.0, "bad": -2.0}, spread=0.3)
    run = brittle.attack(target, FILMS, "auto", folder=tmp_path)
    out = StringIO()
    Console(file=out, width=40).print(run_block(run, 5, False))
    lines = out.getvalue().splitlines()
    first = next(n for n, line in enumerate(lines) if line.startswith("  Gentle"))
    assert lines[first + 1].startswith("  ") and not lines[first + 1].startswith("  accuracy")

"""Empty and endless translations under drawn keywords, BLEU and typos: rows, skips and figures."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

import brittle
from brittle.goals.combined import NO_KEYWORD
from brittle.metrics.bleu import bleu_figures
from brittle.reports import summary_json
from brittle.targets.answer_parsers import max_characters
from brittle.text import Text

pytest.importorskip("sacrebleu")
PAIRS = [
    ("a man walks here", "ein Mann geht hier"),
    ("a dog sleeps there", "ein Hund schläft dort"),
    ("the silent sea", "das stille Meer"),
    ("a man and a dog", "ein Mann und ein Hund"),
]
GERMAN = dict(PAIRS)


def faltering(texts: list[str]) -> list[str]:
    """Translate known sentences; say nothing of the sea, and never stop where a man is missing."""
    return [
        ""
        if "sea" in text
        else GERMAN.get(text, "und so weiter " * 10_000 if "mna" in text else "")
        for text in texts
    ]


def run_on(tmp_path: Path, goal: str, texts: Any = PAIRS, target: Any = faltering) -> Any:
    tmp_path.mkdir(exist_ok=True)
    (tmp_path / "typos").write_text("man mna\ndog dgo\nsea esa\n")
    options = {"typos": str(tmp_path / "typos"), "answers": "text", "folder": tmp_path}
    return brittle.attack(target, texts, "typo", goal=goal, **options)


def test_typos_that_silence_a_translator_or_never_let_it_stop(tmp_path: Path) -> None:
    run = run_on(tmp_path, "changed")
    man, dog, sea, both = run.results()
    assert man.status == dog.status == both.status == "broken"
    assert dog.adversarial_answer == ""
    assert len(man.adversarial_answer) == max_characters(Text.of(man.adversarial))
    # What was empty stays empty: it holds, and its changed text is kept.
    assert (sea.status, sea.answer, sea.adversarial_answer) == ("held", "", "")
    figures = bleu_figures(run.results())
    assert figures is not None and figures.changed == 4
    assert figures.before.value > 70 and figures.after.value < 1  # type: ignore[operator]
    assert figures.drop.low > 0  # type: ignore[operator]
    data = summary_json(run)
    assert data["bleu"]["drop"]["value"] == figures.drop.value
    assert any("all 4 translated examples with their typo" in note for note in data["notes"])
    warnings = " ".join(run.manifest["warnings"])
    assert "translates 1 of 4 texts to nothing" in warnings


def test_bleu_wins_by_silence_and_skips_what_was_silent(tmp_path: Path) -> None:
    for goal, reason in (("bleu:20", "already below"), ("bleu:20,reference=translation", None)):
        rows = run_on(tmp_path, goal).results()
        assert [row.status for row in rows] == ["broken", "broken", "skipped", "broken"]
        assert rows[2].reason == (reason or "empty translation")


def test_examples_that_a_goal_skips_or_a_list_lacks_are_named_beside_bleu(tmp_path: Path) -> None:
    run = run_on(tmp_path, "bleu:20", [*PAIRS, ("nothing listed", "nichts")])
    (note,) = [note for note in summary_json(run)["notes"] if "with their typo" in note]
    assert "all 5 translated examples" in note
    assert "but for 2 that stayed as they were (already below 2)" in note
    unlisted = run_on(tmp_path, "changed", [PAIRS[0], ("so it is", "so ist es eben")])
    (note,) = [note for note in summary_json(unlisted)["notes"] if "with their typo" in note]
    assert "but for 1 that stayed as they were (no word with a listed typo 1)" in note


def test_keywords_are_drawn_past_silent_translations(tmp_path: Path) -> None:
    man, dog, sea, both = run_on(tmp_path, "keyword").results()
    assert sea.goal.startswith("keyword:") and sea.status == "held"
    assert all(row.goal.removeprefix("keyword:") not in (row.answer or "") for row in (man, dog))
    assert both.goal != "keyword"
    silent = run_on(tmp_path / "silent", "keyword", target=lambda texts: ["" for _ in texts])
    assert {row.reason for row in silent.results()} == {NO_KEYWORD}


def test_keywords_are_drawn_from_endless_translations(tmp_path: Path) -> None:
    rows = run_on(tmp_path, "keyword", target=lambda texts: [f"{t} " * 5000 for t in texts])
    for row in rows.results():
        assert len(row.answer) == max_characters(Text.of(row.original))
        assert row.goal.removeprefix("keyword:") not in row.answer.split()

"""Runs on translators: BLEU, its notes and comparison; nothing about labels or confidence."""

from __future__ import annotations

import io
import sys
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest
from rich.console import Console

from brittle.metrics import bleu
from brittle.reports import render, summary_json, summary_text
from brittle.reports.comparison import comparison_block
from brittle.results import Result

pytest.importorskip("sacrebleu")
Make = Callable[..., Any]
SENTENCES = ("a man sits on a bench", "a woman reads a book", "two dogs run in the snow")


def translated(make_row: Make, references: int = 0, **changes: Any) -> list[Result]:
    """Make rows of a translator that writes capitals; the first ones have a reference."""
    rows = []
    for n, sentence in enumerate(SENTENCES):
        row = make_row(sentence, {1: "x"}, case=f"t{n}", label=None, predicted=None)
        empty = {"confidence": None, "adversarial_label": None, "adversarial_confidence": None}
        answers = {"answer": sentence.upper(), "adversarial_answer": row.adversarial.upper()}
        reference = f"THE {sentence.upper()}" if n < references else None
        rows.append(replace(row, **empty, **answers, reference=reference, **changes))
    return rows


def shown(renderable: Any) -> str:
    file = io.StringIO()
    Console(file=file, width=110).print(renderable)
    return file.getvalue()


def test_a_keyword_that_is_there_before_is_said_with_the_remedy(
    make_run: Make, make_row: Make
) -> None:
    rows = translated(make_row, status="skipped", reason="already there", edits=())
    run = make_run(rows, answers="texts", reference="predictions", goal="keyword:MAN")
    text = " ".join(summary_text(run).split())
    assert "3 of 3 translations have the keyword 'MAN' before the attack" in text
    assert "let it draw one that is not there (--goal keyword)" in text
    run = make_run(rows, answers="texts", reference="predictions", goal="changed")
    assert "have the keyword" not in summary_text(run)


@pytest.mark.parametrize(
    ("references", "stored", "note", "against"),
    [
        (0, "predictions", "The examples have no references", "the originals' translations"),
        (
            *(2, "mixed", "2 of 3 translated examples have a reference. BLEU of the others"),
            "the references of 2 of 3 examples, else the originals' translations",
        ),
        (3, "labels", "all examples against their references", "the examples' references"),
    ],
)
def test_the_note_says_what_bleu_is_compared_with(
    make_run: Make, make_row: Make, references: int, stored: str, note: str, against: str
) -> None:
    run = make_run(translated(make_row, references), answers="texts", reference=stored)
    data = summary_json(run)
    bleu = data["bleu"]
    lost = f"BLEU lost {bleu['drop']['value']:.1f} [{bleu['drop']['low']:.1f}–"
    assert lost in " ".join(summary_text(run).split())
    assert bleu["drop"]["value"] == bleu["before"]["value"] - bleu["after"]["value"]
    assert note in data["notes"][0] and "smooth:exp" in data["notes"][0]
    assert data["bleu"]["against"] == against
    assert (data["bleu"]["before"]["value"] == 100) == (references == 0)
    assert "no references" not in " ".join(data["notes"]) or references == 0


def test_cases_that_could_not_be_attacked_are_not_counted_as_right(
    make_run: Make, make_row: Make
) -> None:
    first, *others = translated(make_row)
    skipped = [replace(r, status="skipped", reason="no 'man' in the source") for r in others]
    run = make_run([first, *skipped], answers="texts", attack="key", goal="lost:man=MAN")
    [note] = [note for note in summary_json(run)["notes"] if "could not be attacked" in note]
    assert "2 of 3 examples to attack could not be attacked (no 'man' in the source 2)" in note
    assert "Accuracy" not in note and "key" not in note
    assert "Attack success is about the others." in note


def test_a_page_has_no_confidence_to_sort_by(make_run: Make, make_row: Make) -> None:
    page = render(make_run(translated(make_row), answers="texts"))
    assert (
        "Confidence before" not in page and 'value="queries"' in page and "labels, ids" not in page
    )
    assert "Confidence before" in render(make_run())


def test_a_page_computes_bleu_once(
    make_run: Make, make_row: Make, monkeypatch: pytest.MonkeyPatch
) -> None:
    computed = []
    paired_figures = bleu.paired_figures

    def counted(*texts: Any) -> Any:
        computed.append(texts)
        return paired_figures(*texts)

    monkeypatch.setattr(bleu, "paired_figures", counted)
    page = render(make_run(translated(make_row), answers="texts"))
    assert len(computed) == 1, "before and under attack, with the same resamples"
    assert 'aria-label="BLEU 100.0 before' in page and "<h3>BLEU lost</h3>" in page


def test_a_comparison_shows_bleu_and_success(make_run: Make, make_row: Make) -> None:
    rows = translated(make_row, references=3)
    first = make_run(rows, "first", answers="texts", reference="labels")
    held = [replace(rows[0], status="held"), *rows[1:]]
    text = shown(comparison_block([first, make_run(held, "second", answers="texts")]))
    assert "BLEU before" in text and "attack success" in text
    assert "accuracy" not in text and "no shared case" not in text
    value = summary_json(first)["bleu"]["after"]["value"]
    assert f"{value:.1f}" in text
    assert "-33.3 points" in text


def test_several_translators_have_no_grid_of_accuracies(make_run: Make, make_row: Make) -> None:
    rows = translated(make_row)
    runs = [
        make_run(rows, f"{target}-{attack}", answers="texts", target=target, attack=attack)
        for target in ("one", "two")
        for attack in ("key", "pwws")
    ]
    assert "accuracy" not in shown(comparison_block(runs))
    assert "accuracy of every target" not in shown(comparison_block([*runs, make_run()]))


def test_without_its_package_bleu_is_left_out(
    make_run: Make, make_row: Make, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "sacrebleu.metrics", None)
    run = make_run(translated(make_row), answers="texts")
    text = shown(comparison_block([run, run]))
    assert "BLEU is left out" in text and "attack success" in text
    assert "BLEU is left out" in render(run) and "BLEU before" not in summary_text(run)

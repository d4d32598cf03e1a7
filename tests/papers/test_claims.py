"""Verdicts follow from intervals, and the notes of a person stand with their finding."""

from __future__ import annotations

import pytest

from brittle.metrics.paired import contrast
from brittle.metrics.summary import rate
from brittle_papers.claims import (
    Finding,
    above,
    altogether,
    below,
    difference,
    format_findings,
    judge,
    judge_all,
    judge_near,
    within,
)


def test_an_interval_that_touches_the_bound_is_undecided() -> None:
    assert above((0.5, 0.7), 0.5) == "undecided" and above((0.51, 0.7), 0.5) == "agrees"
    assert above((0.3, 0.5), 0.5) == "disagrees"
    assert below((0.3, 0.5), 0.5) == "undecided" and below((0.5, 0.7), 0.5) == "disagrees"
    assert above((None, None)) == below((None, None)) == within((None, None), 1.0) == "undecided"


def test_one_part_that_disagrees_is_enough() -> None:
    assert altogether(["agrees", "agrees"]) == "agrees"
    assert altogether([]) == "undecided"
    assert altogether(["disagrees", "undecided"]) == "disagrees"


def test_near_is_a_stretch_around_the_number_of_the_paper() -> None:
    around_80 = [judge_near(rate(k, 1000, "x"), 0.8, 0.05).verdict for k in (800, 713, 830, 900)]
    assert around_80 == ["agrees", "disagrees", "undecided", "disagrees"]
    assert judge_near(rate(0, 0, "x"), 0.8, 0.05).verdict == "undecided"


def test_a_difference_that_the_exact_test_does_not_show_is_undecided() -> None:
    close = contrast([(False, True)] * 5 + [(True, True)] * 45)
    assert close.low is not None and close.low > 0 and close.p > 0.05
    assert judge(above, close).verdict == "undecided"
    assert judge_all(above, {"close": close}).verdict == "undecided"
    assert judge(above, close, -0.5).verdict == "agrees"  # a bound that McNemar does not test


def test_the_difference_of_rates_of_different_cases() -> None:
    # Newcombe (1998), method 10 for independent rates: 56/70 and 48/80.
    low, high = difference(rate(48, 80, "x"), rate(56, 70, "x"))
    assert (low, high) == (pytest.approx(0.0524, abs=1e-4), pytest.approx(0.3339, abs=1e-4))
    assert difference(rate(0, 0, "x"), rate(1, 2, "x")) == (None, None)


def test_the_evidence_of_several_contrasts_is_the_weakest() -> None:
    higher = {
        "much": contrast([(False, True)] * 9 + [(True, True)]),
        "none": contrast([(True, True)] * 10),
    }
    assert judge(above, higher["much"]) == (
        "agrees",
        "+90.0 points (+48.8 to +98.2; n = 10, p = 0.004)",
    )
    verdict, evidence = judge_all(above, higher)
    assert verdict == "undecided"
    assert evidence.startswith("the weakest of 2 comparisons: none, +0.0 points")
    verdict, evidence = judge_all(below, higher)
    assert verdict == "disagrees" and ": much, +90.0 points" in evidence


def test_findings_with_their_notes_and_the_commands_that_test_their_reasons() -> None:
    findings = [
        Finding("one", "Beam beats greedy", "agrees", "+3.0 points", ("one",)),
        Finding("two", "It deletes more", "disagrees", "40.0%", ("two", "task three")),
        Finding("three", "It flips", "disagrees", "10.0%"),
        Finding("four", "It inserts", "undecided", "10.0%"),
        Finding("five", "It ends", "undecided", "10.0%"),
    ]
    notes = {"two": "Ours inserts because\nwords are short.", "four": "Short words (a guess)."}
    notes["five"] = "Long words."
    text = format_findings(findings, notes, "x.notes.md")
    assert text.startswith("- **agrees**: Beam beats greedy. Here: +3.0 points.\n- **disagrees**:")
    assert "  Ours inserts because\n  words are short.\n\n  Reasons tested by the command" in text
    assert "with `--only two`, `--only 'task three'`." in text
    assert "--only one" not in text and "\n\n\n" not in text
    missing = [key for key in ("three", "four", "five") if f"it under `## {key}` in `x.no" in text]
    assert missing == ["three", "five"] and text.count("No reason yet") == 2

"""Verdicts follow from intervals, and the notes of a person stand with their finding."""

from __future__ import annotations

import pytest

from brittle.metrics.paired import contrast
from brittle.metrics.summary import rate
from brittle.papers.claims import (
    Finding,
    above,
    altogether,
    below,
    difference,
    format_findings,
    judge,
    judge_all,
    nowhere,
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


def test_nowhere_below() -> None:
    better = contrast([(False, True)] * 8 + [(True, True)] * 8)
    same = contrast([(True, True)] * 9)
    hardly_worse = contrast([(True, False)] + [(True, True)] * 30)
    worse = contrast([(True, False)] * 20 + [(True, True)] * 20)
    assert nowhere([better, contrast([(True, True)] * 90)], 0.05) == "agrees"
    assert nowhere([better, same], 0.05) == nowhere([better, hardly_worse], 0.05) == "undecided"
    assert nowhere([better, worse], 0.05) == "disagrees"
    assert nowhere([], 0.05) == nowhere([contrast([])], 0.05) == "undecided"


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


def test_findings_with_their_notes() -> None:
    findings = [
        Finding("one", "Beam beats greedy", "agrees", "+3.0 points"),
        Finding("two", "It deletes more", "disagrees", "40.0%"),
        Finding("three", "It flips", "disagrees", "10.0%"),
    ]
    text = format_findings(
        findings, {"two": "Ours inserts because\nwords are short."}, "x.notes.md"
    )
    assert text.startswith("- **agrees**: Beam beats greedy. Here: +3.0 points.\n- **disagrees**:")
    assert "  Ours inserts because\n  words are short." in text
    assert text.endswith("No explanation yet: write it under `## three` in `x.notes.md`.")
    assert text.count("No explanation yet") == 1

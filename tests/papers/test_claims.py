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
    count_findings,
    difference,
    format_checks,
    format_reasons,
    judge,
    judge_all,
    judge_near,
    reason_status,
    table_findings,
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


FINDINGS = [
    Finding("one", "Beam beats greedy", "agrees", "+3.0 points", ("one",)),
    Finding("two", "It deletes more", "disagrees", "40.0%", ("two", "task three")),
    Finding("three", "It flips", "disagrees", "10.0%"),
    Finding("four", "It inserts", "undecided", "10.0%"),
    Finding("five-a", "It sinks", "not testable", "10.0%; not testable here, without a sink"),
    Finding("six", "All words are tried", "agrees", "0 differ", is_check=True),
    Finding("seven", "None is left", "disagrees", "2 differ", is_check=True),
]
NOTES = {"two": "Ours inserts because\nwords are short.", "four": "Short words (a guess)."}


def test_findings_stand_in_one_table_with_whether_their_reasons_were_tested() -> None:
    rows = table_findings(FINDINGS, NOTES)
    assert [row[0] for row in rows] == ["one", "two", "three", "four", "five a"]
    assert [row[3] for row in rows[:2]] == ["**agrees**", "**disagrees**"]
    tested = [row[4] for row in rows]
    assert tested == ["", "yes: two, task three", "unknown", "no, a guess", ""]
    assert reason_status(FINDINGS[1], "Short words (a guess).") == "partly: two, task three"
    counted = count_findings(FINDINGS)
    assert counted.startswith("Of 5 claims, 1 agrees, 2 disagree, 1 is undecided, 1 cannot be")


def test_reasons_stand_with_the_commands_that_test_them() -> None:
    text = format_reasons(FINDINGS, NOTES, "x.notes.md")
    assert text.startswith("- **two** (disagrees)\n\n  Ours inserts because\n  words are short.")
    assert "Tested by the command above with `--only two`, `--only 'task three'`." in text
    assert "--only one" not in text and "\n\n\n" not in text
    missing = [f.key for f in FINDINGS if f"under `## {f.key}` in `x.no" in text]
    assert missing == ["three"] and "Short words (a guess)." in text


def test_checks_of_our_code_are_listed_apart() -> None:
    text = format_checks(FINDINGS)
    assert text.splitlines() == [
        "- **holds**: All words are tried. Here: 0 differ.",
        "- **fails**: None is left. Here: 2 differ.",
    ]
    assert "All words" not in format_reasons(FINDINGS, NOTES, "") + str(
        table_findings(FINDINGS, {})
    )

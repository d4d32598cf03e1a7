from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

import brittle
from brittle.metrics import ConfidenceCurve, success_by_confidence, summary, wilson
from brittle.metrics.samples import sample_results
from brittle.results import Result, Step
from brittle.testing import FakeTarget

WON, LOST = sample_results()[0], sample_results()[3]


def broken(case: str, confidence: float) -> Result:
    return replace(WON, case=case, adversarial_confidence=confidence)


def held(
    case: str, label: str = "positive", confidence: float = 0.6, status: str = "held"
) -> Result:
    return replace(
        LOST,
        case=case,
        status=status,  # type: ignore[arg-type]
        adversarial_label=label,
        adversarial_confidence=confidence,
    )


def step(case: str, label: str, confidence: float) -> Step:
    return Step(case, 2, 0.5, label, confidence, ())


def test_a_case_counts_up_to_the_surest_wrong_answer_on_its_way() -> None:
    rows = [broken("a", 0.95), held("b"), held("c", "negative", 0.55)]
    steps = [
        step("a", "negative", 0.6),
        step("b", "negative", 0.7),
        step("b", "positive", 0.99),
        step("c", "negative", 0.52),
        step("nobody", "negative", 0.99),
    ]
    curve = success_by_confidence(rows, steps, asked=0.9)
    assert curve == ConfidenceCurve((0.55, 0.7, 0.95), 3, 0.9)
    assert [curve.at_least(c) for c in (0, 0.55, 0.56, 0.7, 0.71, 0.9)] == [3, 3, 2, 2, 1, 1]
    assert curve.share(0.9) == 1 / 3
    figure = curve.figure(0.6)
    assert (figure.count, figure.of, figure.over) == (2, 3, "attacked cases")
    assert (figure.low, figure.high) == wilson(2, 3)


def test_beyond_the_confidence_asked_for_nothing_is_known() -> None:
    curve = success_by_confidence([broken("a", 0.95)], [], asked=0.9)
    assert curve.share(0.9) == 1
    assert curve.share(0.91) is None
    assert (curve.figure(0.95).low, curve.figure(0.95).of) == (None, 1)
    assert curve.at_least(0.95) == 1  # the floor stays visible


def test_a_run_that_asked_for_none_is_known_at_0_alone() -> None:
    rows = [broken("a", 0.95), held("b")]
    curve = success_by_confidence(rows, [step("b", "negative", 0.6)])
    assert (curve.known, curve.share(0), curve.share(0.1)) == (0.0, 0.5, None)


def test_what_was_not_confirmed_does_not_reach_the_goal() -> None:
    rows = [held("a", "positive", 0.5, status="unconfirmed")]
    steps = [step("a", "negative", 0.6), step("a", "negative", 0.93)]
    curve = success_by_confidence(rows, steps, asked=0.9)
    assert curve.reached == (0.6,)
    assert curve.share(0.9) == 0


def test_toward_a_class_only_that_class_counts() -> None:
    rows = [broken("a", 0.8), held("b", "neutral", 0.7)]
    steps = [step("b", "neutral", 0.75), step("b", "negative", 0.4)]
    assert success_by_confidence(rows, steps, 0.8, "negative").reached == (0.4, 0.8)
    assert success_by_confidence(rows, steps, 0.8).reached == (0.75, 0.8)


def test_skipped_and_failed_cases_have_no_say() -> None:
    rows = [r for r in sample_results() if r.status in ("skipped", "error")]
    curve = success_by_confidence(rows, [step("a6", "negative", 0.9)], asked=0.5)
    assert (curve.reached, curve.of, curve.share(0.5)) == ((), 0, None)


WORDS = ("good", "film", "great", "story", "fine", "actor", "bad", "plot", "dull", "scene", "long")
FILMS = [
    (f"the {WORDS[i % 11]} {WORDS[5 * i % 11]} and {WORDS[(7 * i + 3) % 11]} {i}", "positive")
    for i in range(60)
]
ASKED = (0.55, 0.7, 0.8, 0.9)


def asking(confidence: float, folder: Path, labels: Sequence[str], **options: str) -> brittle.Run:
    target = FakeTarget(labels=labels, spread=2.0)
    more: dict[str, Any] = {"share": 1.0, "confidence": confidence, "folder": folder, **options}
    return brittle.attack(target, FILMS, "random-swap", **more, candidates="paper")


@pytest.mark.parametrize("options", [{}, {"toward": "negative"}])
@pytest.mark.slow
def test_the_curve_tells_how_runs_that_ask_for_less_would_end(
    tmp_path: Path, options: dict[str, str]
) -> None:
    runs = [asking(c, tmp_path, ("negative", "positive"), **options) for c in ASKED]
    curve = success_by_confidence(runs[-1].results(), runs[-1].steps(), 0.9, options.get("toward"))
    shares = [curve.share(c) for c in ASKED]
    assert shares == [summary(run.results()).success.value for run in runs]
    assert len(set(shares)) > 2


def test_with_more_classes_it_is_a_lower_bound(tmp_path: Path) -> None:
    runs = [asking(c, tmp_path, ("negative", "positive", "neutral")) for c in ASKED]
    curve = success_by_confidence(runs[-1].results(), runs[-1].steps(), 0.9)
    ends = [summary(run.results()).success.value or 0.0 for run in runs]
    shares = [curve.share(c) or 0.0 for c in ASKED]
    assert all(share <= end for share, end in zip(shares, ends))
    assert shares[-1] == ends[-1]

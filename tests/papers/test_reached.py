"""A run as if it had asked for less confidence agrees with the curve computed from its steps."""

from __future__ import annotations

from dataclasses import replace

import pytest

from brittle import attack
from brittle.edits import Edit
from brittle.metrics.curves import success_by_confidence
from brittle.metrics.samples import sample_results
from brittle.metrics.summary import summary
from brittle.results import Result, Step
from brittle.testing import FakeTarget
from brittle_papers.results import at_confidence


def row(case: str, status: str, text: str = "a good film") -> Result:
    row = replace(sample_results()[0], case=case, fields=(("text", text),), original=text)
    return replace(row, status=status, label="positive", edits=())  # type: ignore[arg-type]


def step(case: str, query: int, label: str, confidence: float, new: str) -> Step:
    return Step(case, query, 0.5, label, confidence, (Edit("text", 2, 6, "good", new),))


ROWS = [row("a", "broken"), row("b", "held"), row("c", "unconfirmed"), row("d", "skipped")]
STEPS = [
    step("a", 2, "positive", 0.8, "god"),
    step("a", 3, "negative", 0.55, "gxod"),
    step("a", 4, "negative", 0.95, "gxxd"),
    step("b", 2, "negative", 0.7, "goo"),
    step("c", 2, "negative", 0.92, "gwood"),
]


def test_the_first_step_with_enough_confidence_counts() -> None:
    at_half = at_confidence(ROWS, STEPS, 0.5, asked=0.9)
    assert [r.status for r in at_half] == ["broken", "broken", "held", "skipped"]
    assert (at_half[0].queries, at_half[0].adversarial) == (3, "a gxod film")
    assert (at_half[0].characters_changed, at_half[0].adversarial_confidence) == (1, 0.55)
    at_most = at_confidence(ROWS, STEPS, 0.9, asked=0.9)
    assert [r.status for r in at_most] == ["broken", "held", "held", "skipped"]
    assert at_most[0].characters_changed == 2


@pytest.mark.parametrize("asked", [0.7, pytest.param(0.9, marks=pytest.mark.slow)])
def test_the_counts_are_those_of_the_curve(tmp_path: object, asked: float) -> None:
    target = FakeTarget(spread=0.5)
    texts = [(f"the story of {n} small films and one great cast", "positive") for n in range(40)]
    run = attack(
        target,
        texts,
        "genetic",
        confidence=asked,
        folder=str(tmp_path),
        generations=3,
        candidates="paper",
    )
    results, steps = run.results(), run.steps()
    curve = success_by_confidence(results, steps, asked=asked)
    counts = set()
    for confidence in (0.0, 0.5, 0.55, 0.6, 0.65, 0.7, asked):
        success = summary(at_confidence(results, steps, confidence, asked)).success
        assert (success.count, success.of) == (curve.at_least(confidence), curve.of)
        counts.add(success.count)
    assert len(counts) > 1

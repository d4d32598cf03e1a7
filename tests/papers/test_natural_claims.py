"""The judges of the natural adversaries: invented results in which a finding holds, or does not."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from brittle.metrics.samples import sample_results
from brittle.results import Result
from brittle.studies.robustness.case import HELD, CaseRow, TargetRow
from brittle.studies.robustness.study import RobustnessStudy
from brittle.studies.study import study_of
from brittle_papers.natural.results import (
    FOREST,
    KINDS,
    LENET,
    NEURONS,
    NaturalResults,
    classifiers,
    dropout_classifiers,
)
from brittle_papers.spec import PaperRequest, load_spec
from papers.judged import judged

CLAIMS = load_spec("natural").claims

DIGITS = 60
BASE = sample_results()[0]


def study(distance: dict[str, Any], accuracy: dict[str, float]) -> RobustnessStudy:
    """Invent a study; a distance is a number for all digits, or a list, None where held."""
    numbers = np.random.default_rng(0).normal(0, 0.01, DIGITS)
    cases = []
    for n in range(DIGITS):
        rows = {}
        for name, own in distance.items():
            value = own[n] if isinstance(own, list) else own
            rows[name] = (
                TargetRow("3", reason=HELD) if value is None else TargetRow("3", value + numbers[n])
            )
        cases.append(CaseRow(f"c{n}", "", "3", 1, rows))
    return study_of(
        "robustness",
        "study",
        pool="pool",
        data="mnist",
        split="test",
        generator="WGAN",
        seed=0,
        settings={},
        targets=tuple(distance),
        cases=tuple(cases),
        accuracy=accuracy,
        scored=1000,
    )


def run(cost: float | None, queries: int, l2: float) -> dict[str, Result]:
    status: Any = "held" if cost is None else "broken"
    return {
        f"c{n}": replace(
            BASE,
            case=f"c{n}",
            status=status,
            cost=cost,
            queries=queries + n % 3,
            l2=l2 + n % 2 / 10,
        )
        for n in range(DIGITS)
    }


def results(
    forest: Any, lenet: Any, hybrid: tuple[float, int], far: float, trend: float
) -> NaturalResults:
    """Invent all results: Δz of both targets, hybrid over iterative, l2 of the forest, a trend."""
    curve = {"off_curve": {"nearest": [0.3, 0.2] * 10, "natural": [0.3 - far, 0.2 - far] * 10}}
    found = NaturalResults(PaperRequest("natural", "small", "mnist"), Path(), {"curve": curve})
    by_target = {}
    for target, l2 in ((FOREST, 5 - far), (LENET, 5.0)):
        cost, queries = hybrid
        by_target[f"searches on {target}"] = {
            "hybrid": run(cost, queries, l2),
            "iterative": run(1.0, 1000, l2),
            "uniform": run(2.0, queries, l2),
        }
    found.__dict__["_runs"] = by_target
    found.__dict__["table_6"] = study({"forest": forest, "LeNet": lenet}, {})
    all_of_them = classifiers()
    accuracy = {c.line: 0.601 + n / 200 for n, c in enumerate(all_of_them)}
    accuracy |= {
        c.line: 0.9 - rate / 10 for rate, c in dropout_classifiers(all_of_them).items() if rate
    }
    found.__dict__["figure_4"] = study(
        {line: 1.0 + trend * value for line, value in accuracy.items()}, accuracy
    )
    return found


HOLDS = results(1.0, 1.4, (1.05, 200), 0.1, 1.0)
OPPOSITE = results(1.4, 1.0, (1.4, 900), -0.1, -1.0)
SAME = results(1.0, [0.9, 1.1] * (DIGITS // 2), (1.05, 200), 0.1, 1.0)


def test_every_finding_is_judged_both_ways() -> None:
    agreeing = {key: judged(key, HOLDS) for key in CLAIMS}
    assert {key: j.verdict for key, j in agreeing.items() if j} == dict.fromkeys(CLAIMS, "agrees")
    opposite = {key: judged(key, OPPOSITE) for key in CLAIMS}
    wrong = {key for key, j in opposite.items() if j and j.verdict == "disagrees"}
    assert wrong == set(CLAIMS) - {"guaranteed"}


@pytest.mark.parametrize("key", ["lenet-farther", "lenet-largest", "sign-test"])
def test_what_is_level_is_undecided(key: str) -> None:
    judgement = judged(key, SAME)
    assert judgement is not None and judgement.verdict == "undecided"


def test_adversaries_that_are_not_found_are_no_guarantee() -> None:
    found = results(1.0, 1.4, (1.05, 200), 0.1, 1.0)
    runs = found.runs("searches on LeNet")
    runs["hybrid"] = run(None, 500, 5.0)
    judgement = judged("guaranteed", found)
    assert judgement is not None and judgement.verdict == "disagrees"
    assert judgement.evidence.startswith("50.0%")


def test_a_held_digit_has_the_largest_distance_but_no_mean() -> None:
    held: list[float | None] = [None] * 30 + [1.4] * 30
    found = results(1.0, held, (1.05, 200), 0.1, 1.0)
    assert found.difference.of == 30 and found.difference.value == pytest.approx(0.4)
    assert found.largest("LeNet").value == 1.0 and found.largest("forest").value == 0.0
    assert found.sign_test.smaller == DIGITS


def test_the_eighty_classifiers() -> None:
    every = classifiers()
    assert len(every) == len({c.line for c in every}) == 80 and {c.kind for c in every} == set(
        KINDS
    )
    assert [c.settings["hidden"] for c in every[:10]] == list(NEURONS)
    assert list(dropout_classifiers(every)) == [n / 10 for n in range(9, -1, -1)]
    assert HOLDS.correlation("all").value == pytest.approx(1.0)
    assert every[0].line == "hidden=2,batch=256,epochs=4"

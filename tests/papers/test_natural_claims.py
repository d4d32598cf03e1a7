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
    accurate_classifiers,
    classifiers,
    dropout_classifiers,
    repeated_classifiers,
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


def run(cost: float | None, queries: float, l2: float, growth: float = 0.0) -> dict[str, Result]:
    """Invent a run whose costs spread around `cost`, and whose queries grow with them."""
    status: Any = "held" if cost is None else "broken"
    spread = [0.5 + (n + 0.5) / DIGITS for n in range(DIGITS)]
    return {
        f"c{n}": replace(
            BASE,
            case=f"c{n}",
            status=status,
            cost=None if cost is None else cost * spread[n],
            queries=round(queries + growth * spread[n]),
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
            "iterative": run(1.0, 0, l2, growth=10_000),
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
    further = {c.name: 0.93 + n / 400 for n, c in enumerate(accurate_classifiers())}
    further |= {c.name: accuracy[c.line] for c in repeated_classifiers(all_of_them)}
    found.__dict__["more"] = study(
        {name: 1.0 + trend * value for name, value in further.items()}, further
    )
    return found


HOLDS = results(1.0, 1.4, (1.05, 3600), 0.1, 1.0)
OPPOSITE = results(1.4, 1.0, (1.4, 9000), -0.1, -1.0)
SAME = results(1.0, [0.9, 1.1] * (DIGITS // 2), (1.05, 3600), 0.1, 1.0)


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


def test_the_speed_is_judged_at_the_distances_of_the_paper() -> None:
    assert HOLDS.speedup(FOREST).value == pytest.approx(12_400 / 3600, rel=0.01)
    assert HOLDS.speedup(LENET).value == pytest.approx(16_100 / 3600, rel=0.01)
    both = HOLDS.speedup("both")
    assert both.value == pytest.approx(28_500 / 7200, rel=0.01)
    spread = [0.5 + (n + 0.5) / DIGITS for n in range(DIGITS)]
    assert both.of == sum(d >= 0.62 for d in spread) + sum(d >= 0.805 for d in spread)
    found = results(1.0, 1.4, (1.05, 3600), 0.1, 1.0)
    few = {
        search: dict([*rows.items()][:5])
        for search, rows in found.runs("searches on LeNet").items()
    }
    found.runs("searches on LeNet").update(few)
    assert found.speedup(LENET).value is None
    judgement = judged("speed", found)
    assert judgement is not None and judgement.verdict == "undecided"


def test_trainings_of_a_network_are_one_point_of_a_trend() -> None:
    found = results(1.0, 1.4, (1.05, 3600), 0.1, 1.0)
    by_name = {f.target: f for f in found.more.figures}
    for classifier in repeated_classifiers(found.classifiers):
        own = by_name[classifier.name]
        found.robustness[classifier.name] = replace(own, accuracy=1.0, mean=(own.mean or 0) + 3)
    first = found.by_dropout[0.9]
    assert found.over_trainings(first).accuracy == pytest.approx((0.81 + 1 + 1) / 3)
    assert found.over_trainings(first).mean == pytest.approx(
        (found.robustness[first.name].mean or 0) + 2, abs=0.05
    )
    assert found.correlation("dropout").of == len(found.by_dropout)


def test_adversaries_that_are_not_found_are_no_guarantee() -> None:
    found = results(1.0, 1.4, (1.05, 3600), 0.1, 1.0)
    runs = found.runs("searches on LeNet")
    runs["hybrid"] = run(None, 500, 5.0)
    judgement = judged("guaranteed", found)
    assert judgement is not None and judgement.verdict == "disagrees"
    assert judgement.evidence.startswith("50.0%")


def test_a_held_digit_has_the_largest_distance_but_no_mean() -> None:
    held: list[float | None] = [None] * 30 + [1.4] * 30
    found = results(1.0, held, (1.05, 3600), 0.1, 1.0)
    assert found.difference.of == 30 and found.difference.value == pytest.approx(0.4)
    assert found.largest("LeNet").value == 1.0 and found.largest("forest").value == 0.0
    assert found.sign_test.smaller == DIGITS


def test_the_eighty_classifiers() -> None:
    every = classifiers()
    further = accurate_classifiers()
    assert len(every) == len({c.line for c in every}) == 80
    assert {c.kind for c in every} | {c.kind for c in further} == set(KINDS)
    assert not {c.line for c in every} & {c.line for c in further}
    assert [c.settings["hidden"] for c in every[:10]] == list(NEURONS)
    assert list(dropout_classifiers(every)) == [n / 10 for n in range(9, -1, -1)]
    assert HOLDS.correlation("all").value == pytest.approx(1.0)
    assert every[0].line == "hidden=2,batch=256,epochs=4"

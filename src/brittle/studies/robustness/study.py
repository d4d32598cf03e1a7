"""A robustness study as it is stored: the rows of every case, and the figures that follow."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, TypedDict

from brittle.asks import RECONSTRUCTION
from brittle.metrics.intervals import Interval
from brittle.metrics.robustness import (
    SignTest,
    TargetRobustness,
    accuracy_correlation,
    sign_test,
    target_figures,
)
from brittle.safety.schema import Count, Malformed, Share, parse
from brittle.studies.robustness.case import HELD, CaseRow
from brittle.studies.study import SUFFIX as SUFFIX
from brittle.studies.study import Study


@dataclass(frozen=True)
class RobustnessFacts:
    """What a robustness study is about; `settings` are those of the search and of its cases."""

    pool: str
    data: str
    split: str
    generator: str
    seed: int
    settings: Mapping[str, Any]
    locked: tuple[str, ...] = ()


@dataclass(frozen=True)
class RobustnessResults:
    """How far from each case, in the latent space of a generator, every target keeps its answer.

    `accuracy` is over `scored` labelled examples, {} without labels. `left_out` counts examples
    that were passed over, by reason.
    """

    targets: tuple[str, ...]
    cases: tuple[CaseRow, ...]
    accuracy: Mapping[str, Share] = field(default_factory=dict)
    scored: Count = 0
    left_out: Mapping[str, Count] = field(default_factory=dict)

    @cached_property
    def distances(self) -> dict[str, list[float | None]]:
        """The distance of every case by target: infinite if held, None if there is no figure."""
        return {name: [_distance(case, name) for case in self.cases] for name in self.targets}

    @cached_property
    def figures(self) -> list[TargetRobustness]:
        """The figures of all targets, the largest mean distance first."""
        figures = target_figures(self.distances, self.accuracy)
        return sorted(figures, key=lambda figure: -(figure.mean or 0.0))

    @property
    def sign_tests(self) -> list[SignTest]:
        """Every other target against the one whose mean distance is the largest."""
        if not self.figures:
            return []
        top = self.figures[0].target
        return [sign_test(self.distances, f.target, top) for f in self.figures[1:]]

    @property
    def correlation(self) -> tuple[float, Interval] | None:
        """The rank correlation of accuracy and mean distance, with its interval."""
        return accuracy_correlation(self.figures)

    def lost(self, target: str) -> int:
        """Count the cases whose reconstruction a target predicts otherwise already."""
        return sum(case.rows[target].reason == RECONSTRUCTION for case in self.cases)


RobustnessStudy = Study[RobustnessFacts, RobustnessResults]


class _Settings(TypedDict):
    """The settings that every study has."""

    samples: Count
    step: float
    radius: float


def check_robustness(study: RobustnessStudy) -> None:
    """Refuse a study whose parts do not fit together."""
    parse(_Settings, study.facts.settings, "settings")
    results = study.results
    names = set(results.targets)
    if len(names) != len(results.targets):
        raise Malformed("targets of different names", list(results.targets), "targets")
    expected = f"rows of {', '.join(results.targets)}"
    for case in results.cases:
        if case.rows.keys() != names:
            raise Malformed(expected, sorted(case.rows), f"cases.{case.case}.rows")
    if results.accuracy and results.accuracy.keys() != names:
        raise Malformed(expected, sorted(results.accuracy), "accuracy")


def _distance(case: CaseRow, target: str) -> float | None:
    row = case.rows[target]
    if row.distance is not None:
        return row.distance
    return math.inf if row.reason == HELD else None

"""A robustness study as it is stored: the rows of every case, and the figures that follow."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Any, TypedDict

from brittle import files
from brittle.asks import RECONSTRUCTION
from brittle.errors import require
from brittle.metrics.intervals import Interval
from brittle.metrics.robustness import (
    SignTest,
    TargetRobustness,
    accuracy_correlation,
    sign_test,
    target_figures,
)
from brittle.schema import Count, FileName, Malformed, Share, parse
from brittle.studies.robustness.case import HELD, CaseRow
from brittle.studies.study_format import SUFFIX as SUFFIX
from brittle.studies.study_format import StudyFormat

FORMAT = StudyFormat("robustness", 1, "robustness study", "brittle robustness")


@dataclass(frozen=True)
class RobustnessStudy:
    """How far from each case, in the latent space of a generator, every target keeps its answer.

    `accuracy` is over `scored` labelled examples, {} without labels. `left_out` counts examples
    that were passed over, by reason; `failures` tells why a target is missing.
    """

    name: FileName
    pool: str
    data: str
    split: str
    generator: str
    seed: int
    settings: Mapping[str, Any]
    targets: tuple[str, ...]
    cases: tuple[CaseRow, ...]
    accuracy: Mapping[str, Share] = field(default_factory=dict)
    scored: Count = 0
    left_out: Mapping[str, Count] = field(default_factory=dict)
    failures: Mapping[str, str] = field(default_factory=dict)

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

    def summary(self) -> dict[str, Any]:
        """Return the figures as plain values."""
        tests = {test.first: test for test in self.sign_tests}
        return {
            "study": self.name,
            "generator": self.generator,
            "cases": len(self.cases),
            "decoded": sum(case.decoded for case in self.cases),
            "targets": [
                asdict(figure)
                | {"lost": self.lost(figure.target)}
                | {"sign_test": asdict(tests[figure.target]) if figure.target in tests else None}
                for figure in self.figures
            ],
            "correlation": self.correlation,
            "scored": self.scored,
            "left_out": dict(self.left_out),
            "failures": dict(self.failures),
        }

    @property
    def kind(self) -> str:
        return FORMAT.kind

    def save(self, path: str | Path) -> None:
        """Write the study in one step."""
        FORMAT.save(self, path)

    @staticmethod
    def load(path: str | Path) -> RobustnessStudy:
        """Load a study; any other file is an error."""
        return FORMAT.load(path, RobustnessStudy, _check)

    def report(self, path: str | Path) -> Path:
        """Write the page of the study, one file that needs no network."""
        from brittle.reports.robustness import robustness_page
        from brittle.studies.robustness.showing import reported

        out = Path(path)
        out.parent.mkdir(parents=True, exist_ok=True)
        files.write_whole(out, robustness_page(reported(self)), errors="replace")
        return out

    def frame(self) -> Any:
        """Return the figures of the targets as a pandas data frame."""
        pandas = require("pandas", "frames", "RobustnessStudy.frame()")
        from brittle.studies.robustness.exporting import target_rows

        return pandas.DataFrame(target_rows(self))

    def export(self, path: str | Path, texts: bool = False, exact: bool = False) -> Path:
        """Write a row for every target, or for every case of a target, as .csv, .jsonl, .parquet.

        With `texts` it is the latter: the distance of the nearest adversary, and its text.
        """
        from brittle.studies.robustness.exporting import export_robustness

        return export_robustness(self, path, texts, exact)


class _Settings(TypedDict):
    """The settings that every study has."""

    samples: Count
    step: float
    radius: float


def _check(study: RobustnessStudy) -> None:
    """Refuse a study whose parts do not fit together."""
    parse(_Settings, study.settings, "settings")
    names = set(study.targets)
    if len(names) != len(study.targets):
        raise Malformed("targets of different names", list(study.targets), "targets")
    expected = f"rows of {', '.join(study.targets)}"
    for case in study.cases:
        if case.rows.keys() != names:
            raise Malformed(expected, sorted(case.rows), f"cases.{case.case}.rows")
    if study.accuracy and study.accuracy.keys() != names:
        raise Malformed(expected, sorted(study.accuracy), "accuracy")


def _distance(case: CaseRow, target: str) -> float | None:
    row = case.rows[target]
    if row.distance is not None:
        return row.distance
    return math.inf if row.reason == HELD else None

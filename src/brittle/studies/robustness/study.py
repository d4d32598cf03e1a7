"""A robustness study as it is stored: the rows of every case, and the figures that follow."""

from __future__ import annotations

import json
import math
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Any

from brittle import files
from brittle.attacks.natural import RECONSTRUCTION
from brittle.errors import UsageError
from brittle.metrics.intervals import Interval
from brittle.metrics.robustness import (
    SignTest,
    TargetRobustness,
    accuracy_correlation,
    sign_test,
    target_figures,
)
from brittle.studies.robustness.case import HELD, CaseRow

KIND, FORMAT = "robustness", 1
SUFFIX = ".robustness.json"


@dataclass(frozen=True)
class RobustnessStudy:
    """How far from each case, in the latent space of a generator, every target keeps its answer.

    `accuracy` is over `scored` labelled examples, {} without labels. `left_out` counts examples
    that were passed over, by reason; `failures` tells why a target is missing.
    """

    name: str
    pool: str
    data: str
    split: str
    generator: str
    seed: int
    settings: Mapping[str, Any]
    targets: tuple[str, ...]
    cases: tuple[CaseRow, ...]
    accuracy: Mapping[str, float] = field(default_factory=dict)
    scored: int = 0
    left_out: Mapping[str, int] = field(default_factory=dict)
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

    def save(self, path: Path) -> None:
        """Write the study in one step."""
        content = {"kind": KIND, "format": FORMAT, **asdict(self)}
        files.write_whole(path, json.dumps(content, ensure_ascii=False) + "\n")

    @staticmethod
    def load(path: Path) -> RobustnessStudy:
        """Load a study; any other file is an error."""
        try:
            content = json.loads(path.read_text("utf-8"))
            if content.pop("kind") != KIND or content.pop("format") != FORMAT:
                raise ValueError("of another kind, or of another version of brittle")
            content["targets"] = tuple(content["targets"])
            content["cases"] = tuple(CaseRow.of(case) for case in content["cases"])
            return RobustnessStudy(**content)
        except (OSError, ValueError, KeyError, TypeError, AttributeError) as error:
            raise UsageError(
                f"{path} is no robustness study that this version of brittle can read ({error}). "
                "Name a file that brittle robustness has written."
            ) from error

    def report(self, path: str | Path) -> Path:
        """Write the page of the study, one file that needs no network."""
        from brittle.reports.robustness import robustness_page
        from brittle.studies.robustness.showing import reported

        out = Path(path)
        out.parent.mkdir(parents=True, exist_ok=True)
        out.write_text(robustness_page(reported(self)), encoding="utf-8", errors="replace")
        return out


def _distance(case: CaseRow, target: str) -> float | None:
    row = case.rows[target]
    if row.distance is not None:
        return row.distance
    return math.inf if row.reason == HELD else None

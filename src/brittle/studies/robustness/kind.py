"""Robustness studies as a kind of study: how they are checked, listed, shown, and compared."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from brittle.studies.robustness.exporting import case_rows, target_rows
from brittle.studies.robustness.study import (
    RobustnessFacts,
    RobustnessResults,
    RobustnessStudy,
    check_robustness,
)
from brittle.studies.robustness.view import robustness_json, robustness_view, side_by_side
from brittle.studies.study import Listed, StudyKind


def _listed(study: RobustnessStudy) -> Listed:
    return Listed("natural", len(study.results.cases), len(study.results.targets))


def _compared(studies: Sequence[RobustnessStudy]) -> tuple[Any, Any]:
    return list(map(robustness_json, studies)), side_by_side(studies)


KIND = StudyKind(
    name="robustness",
    noun="robustness study",
    command="brittle robustness",
    commands="brittle show, report, export and compare take it.",
    facts=RobustnessFacts,
    results=RobustnessResults,
    check=check_robustness,
    fixed=lambda facts: {},  # its journal of cases is held to all that decides them
    members=lambda study: study.targets,
    listed=_listed,
    rows=target_rows,
    text_rows=case_rows,
    summary=robustness_json,
    view=robustness_view,
    compared=_compared,
)

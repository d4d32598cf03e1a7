"""Robustness studies as a kind of study: how they are checked, listed, shown, and compared."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict
from typing import Any

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


def target_rows(study: RobustnessStudy) -> list[dict[str, Any]]:
    """Return one row for every target, the largest mean distance first."""
    tests = {test.first: test for test in study.sign_tests}
    rows = []
    for figure in study.figures:
        row = asdict(figure)
        low, high = row.pop("interval") or (None, None)
        test = tests.get(figure.target)
        rows.append(
            row
            | {"low": low, "high": high, "lost": study.lost(figure.target)}
            | {"smaller": test and test.smaller, "larger": test and test.larger}
            | {"p": test and test.p}
        )
    return rows


def case_rows(study: RobustnessStudy) -> list[dict[str, Any]]:
    """Return one row for every case of every target; of pictures there are no texts."""
    return [
        {"case": case.case, "label": case.label, "target": target, **asdict(case.rows[target])}
        | {"original": case.text}
        for target in study.targets
        for case in study.cases
    ]


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

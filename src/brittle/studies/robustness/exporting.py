"""The rows of a robustness study for other programs: one a target, or one a case of a target."""

from __future__ import annotations

from dataclasses import asdict
from typing import Any

from brittle.studies.robustness.study import RobustnessStudy


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

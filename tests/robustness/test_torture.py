"""The torture, in its quick size: what needs no kill and no endpoint."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

SCRIPT = Path(__file__).parents[2] / "benchmarks" / "torture.py"


@pytest.mark.slow
def test_damaged_files_scripts_and_command_lines(tmp_path: Path) -> None:
    pytest.importorskip("skops")
    out = tmp_path / "torture.json"
    argv = [sys.executable, str(SCRIPT), "--quick", "--only", "files,stored,scripts,lines,names"]
    done = subprocess.run([*argv, "--json", str(out)], capture_output=True, text=True)
    parts = {part["name"]: part for part in json.loads(out.read_text("utf-8"))}
    assert done.returncode == 0, [part["failures"] for part in parts.values()]
    assert parts["damaged files"]["tried"] == 26 and parts["stored files"]["tried"] == 66
    assert parts["malformed command lines"]["tried"] == 60
    assert parts["hostile names"]["tried"] == 40 and parts["hostile files"]["tried"] == 7

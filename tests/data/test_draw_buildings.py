"""scripts/draw_buildings.py: pictures of two classes that differ, the same for the same seed."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from brittle import data
from brittle.picture import Picture

SCRIPT = Path(__file__).parents[2] / "scripts" / "draw_buildings.py"


def test_churches_and_towers_are_drawn(tmp_path: Path) -> None:
    pytest.importorskip("PIL")
    for name in ("a", "b"):
        argv = [sys.executable, str(SCRIPT), str(tmp_path / name), "--count", "6", "--seed", "3"]
        subprocess.run(argv, check=True, capture_output=True)
    loaded, again = (data.load(str(tmp_path / name)) for name in ("a", "b"))
    assert loaded.labels == ("church", "tower") and loaded.shape == (64, 64, 3)
    pictures = [Picture.decode(example.fields[0][1]) for example in loaded]
    assert len({picture.key for picture in pictures}) == 12
    assert [e.fields for e in loaded] == [e.fields for e in again]
    assert np.mean([picture.pixels.std() for picture in pictures]) > 0.1

"""Modules of the working folder: found, but never in the place of the standard library."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from brittle.errors import UsageError
from brittle.values import import_named


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Work in a folder that has a `colorsys.py` of its own, as a script of pip would."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "path", [entry for entry in sys.path if entry])
    monkeypatch.delitem(sys.modules, "colorsys", raising=False)
    (tmp_path / "colorsys.py").write_text("raise RuntimeError('imported in its place')\n")
    return tmp_path


def test_a_local_file_does_not_replace_a_module_of_the_standard_library(folder: Path) -> None:
    (folder / "my_named_module.py").write_text("import colorsys\nimport my_sibling\nvalue = 3\n")
    (folder / "my_sibling.py").write_text("")
    assert import_named("python:my_named_module:value", "…") == 3
    assert "hls_to_rgb" in vars(sys.modules["colorsys"])
    assert sys.path.index(str(folder)) > sys.path.index(
        str(Path(sys.modules["os"].__file__).parent)
    )


def test_a_module_that_is_called_like_one_of_the_standard_library_is_refused(folder: Path) -> None:
    with pytest.raises(UsageError, match="Rename yours"):
        import_named("python:colorsys:classify", "…")

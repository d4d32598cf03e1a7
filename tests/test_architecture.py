"""The rooms import one way, and `import brittle` stays light."""

from __future__ import annotations

import ast
import subprocess
import sys
from functools import cache
from pathlib import Path

import pytest

import brittle

ROOT = Path(brittle.__file__).parent
PAPERS = ROOT.parent / "brittle_papers"
ROOMS: dict[str, set[str]] = {
    "redaction": set(),
    "errors": {"redaction"},
    "safety": {"errors"},
    "text": set(),
    "progress": {"redaction"},
    "statuses": set(),
    "asks": {"statuses"},
    "answers": set(),
    "formatting": set(),
    "picture": {"errors"},
    "latent": {"errors"},
    "edits": {"text"},
    "moves": {"text"},
    "spaces": {"text"},
    "values": {"errors"},
    "goals": {"answers", "asks", "edits", "errors", "statuses", "text", "values"},
    "levels": {"errors"},
    "results": {"edits", "safety", "statuses"},
    "testing": {"answers", "latent", "moves", "text"},
    "kinds": {"edits", "errors", "picture", "results", "safety", "text"},
    "engine": {"asks", "errors", "goals", "statuses"},
    "english": {"answers", "errors", "safety", "text"},
    "data": {"errors", "formatting", "picture", "safety"},
    "candidates": {"answers", "data", "english", "errors", "levels", "safety", "text", "values"},
    "attacks": {
        *("asks", "candidates", "data", "edits", "english", "errors", "formatting", "goals"),
        *("latent", "levels", "moves", "picture", "safety", "spaces", "statuses", "text"),
        "values",
    },
    "metrics": {
        *("asks", "edits", "english", "errors", "goals", "levels", "results", "statuses", "text"),
    },
    "ranking": {"english", "errors", "goals", "moves", "picture", "text"},
    "zoo": {
        *(
            "answers",
            "data",
            "english",
            "errors",
            "formatting",
            "latent",
            "metrics",
            "moves",
            "picture",
        ),
        *("ranking", "safety", "spaces", "text", "values"),
    },
    "targets": {
        *("answers", "asks", "engine", "english", "errors", "formatting", "metrics", "moves"),
        *("picture", "ranking", "redaction", "safety", "spaces", "text", "values", "zoo"),
    },
    "training": {
        *("asks", "attacks", "candidates", "data", "engine", "english", "errors", "formatting"),
        *(
            "goals",
            "levels",
            "metrics",
            "picture",
            "progress",
            "ranking",
            "safety",
            "spaces",
            "targets",
            "text",
        ),
        *("values", "zoo"),
    },
    "opening": {"errors", "targets", "training", "zoo"},
    "validity": {
        *("answers", "asks", "attacks", "data", "edits", "english", "errors", "formatting"),
        *("kinds", "metrics", "opening", "picture", "results", "safety", "targets", "text"),
    },
    "generators": {"data", "errors", "latent", "targets", "text", "values", "zoo"},
    "reports": {
        *("asks", "edits", "errors", "formatting", "goals", "levels", "metrics", "picture"),
        *("redaction", "results", "safety", "statuses", "validity"),
    },
    "inside": {
        *("answers", "errors", "formatting", "kinds", "metrics", "opening", "redaction"),
        *("reports", "results", "safety", "targets", "text"),
    },
    "workflow": {"errors", "formatting", "safety", "values"},
    "runs": {
        *("answers", "asks", "attacks", "candidates", "data", "edits", "engine", "english"),
        *("errors", "formatting", "generators", "goals", "inside", "kinds", "levels", "metrics"),
        *("opening", "picture", "progress", "reports", "results", "safety", "statuses"),
        *("targets", "text", "validity", "values", "workflow", "zoo"),
    },
    "studies": {
        *("answers", "asks", "attacks", "candidates", "data", "edits", "engine", "english"),
        *(
            "errors",
            "formatting",
            "generators",
            "kinds",
            "latent",
            "levels",
            "metrics",
            "opening",
            "progress",
            "reports",
        ),
        *("results", "runs", "safety", "statuses", "targets", "text", "training", "values"),
        *("workflow", "zoo"),
    },
    "ci": {
        *("edits", "errors", "formatting", "metrics", "opening", "reports", "results", "runs"),
        *("safety", "text"),
    },
    "cli": {
        *("attacks", "candidates", "ci", "data", "engine", "errors", "formatting", "generators"),
        *("goals", "inside", "levels", "metrics", "opening", "picture", "progress"),
        *("redaction", "reports", "runs", "safety", "studies", "targets"),
        *("training", "validity", "values", "workflow", "zoo"),
    },
}
"""The rooms from the bottom up, each with those it may import: all stand above it in this list."""
ROOMS_FOR_PAPERS = {
    *("asks", "attacks", "candidates", "cli", "data", "edits", "english", "errors", "formatting"),
    *("generators", "goals", "inside", "kinds", "latent", "metrics", "moves", "opening", "picture"),
    *("reports", "results", "runs", "safety", "studies", "targets", "text", "training"),
    *("workflow", "zoo"),
}
"""The rooms that the papers may import, a package of its own: none of them imports it."""


@cache
def parse(path: Path) -> ast.Module:
    """Parse a file, for all tests once."""
    return ast.parse(path.read_text())


@cache
def nodes(path: Path) -> list[ast.ImportFrom | ast.Import]:
    """Return the imports of a file, wherever they are."""
    return [node for node in ast.walk(parse(path)) if isinstance(node, ast.ImportFrom | ast.Import)]


def imports(path: Path) -> set[str]:
    found = set()
    for node in nodes(path):
        parts = (getattr(node, "module", "") or "").split(".")
        if parts[0] == "brittle":
            found |= {parts[1]} if len(parts) > 1 else {alias.name for alias in node.names}
        elif isinstance(node, ast.Import):
            names = [alias.name.split(".") for alias in node.names]
            found |= {name[1] for name in names if name[0] == "brittle" and len(name) > 1}
    return found


def files_of(room: str) -> list[Path]:
    file = ROOT / f"{room}.py"
    return [file] if file.exists() else sorted((ROOT / room).rglob("*.py"))


@pytest.mark.parametrize("room", ROOMS)
def test_a_room_imports_only_what_it_may(room: str) -> None:
    for path in files_of(room):
        assert imports(path) - {room} <= ROOMS[room], path


def test_every_room_has_its_row_and_none_imports_upwards() -> None:
    there = {path.stem for path in ROOT.iterdir() if path.suffix == ".py" or path.is_dir()}
    assert there - {"__init__", "__main__", "__pycache__", "py"} == set(ROOMS)
    below: set[str] = set()
    for room, imported in ROOMS.items():
        assert imported <= below, room
        below.add(room)


def test_no_row_allows_what_no_file_needs() -> None:
    for room, allowed in ROOMS.items():
        used = set().union(*map(imports, files_of(room)))
        assert allowed <= used, room


def test_the_papers_are_a_package_that_brittle_does_not_know() -> None:
    used = set().union(*map(imports, PAPERS.rglob("*.py")))
    assert used == ROOMS_FOR_PAPERS
    for path in ROOT.rglob("*.py"):
        assert "brittle_papers" not in path.read_text(encoding="utf-8"), path


def test_no_private_name_crosses_files() -> None:
    for path in (*ROOT.rglob("*.py"), *PAPERS.rglob("*.py")):
        for node in nodes(path):
            if isinstance(node, ast.ImportFrom) and node.module != "__future__":
                private = [alias.name for alias in node.names if alias.name.startswith("_")]
                assert not private, (path, private)


def test_a_public_class_name_is_defined_once() -> None:
    homes: dict[str, list[str]] = {}
    for path in (*ROOT.rglob("*.py"), *PAPERS.rglob("*.py")):
        for node in parse(path).body:
            if isinstance(node, ast.ClassDef) and not node.name.startswith("_"):
                homes.setdefault(node.name, []).append(path.relative_to(ROOT.parent).as_posix())
    assert {name: places for name, places in homes.items() if len(places) > 1} == {}


def test_engine_and_broker_stay_small() -> None:
    files = [ROOT / name for name in ("engine/engine.py", "engine/broker.py")]
    starts = [max(node.end_lineno or 0 for node in nodes(path)) for path in files]
    lines = [len(path.read_text().splitlines()) for path in files]
    assert sum(lines) - sum(starts) < 450


@pytest.mark.parametrize(
    "code",
    [
        "import brittle",
        "import brittle.cli; brittle.cli.main(['--help'])",
        "import brittle.runs.runner",
    ],
)
def test_nothing_heavy_is_imported(code: str) -> None:
    heavy = ("torch", "transformers", "pandas", "sklearn", "scipy", "nltk", "pyarrow", "httpx")
    heavy += ("sacrebleu", "ray", "jinja2")
    check = f"{code}\nimport sys; print(*[m for m in {heavy} if m in sys.modules], file=sys.stderr)"
    done = subprocess.run([sys.executable, "-c", check], capture_output=True, text=True, check=True)
    assert done.stderr.split() == []


def test_reading_a_run_imports_no_model() -> None:
    code = "import sys, brittle.runs.run\nprint(*sys.modules)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    # The options of a target are plain values: their types are those of the run's file.
    values = {"brittle.targets", "brittle.targets.options"}
    loaded = {name for name in done.stdout.split() if name.startswith("brittle.")} - values
    rooms = {name.split(".")[1] for name in loaded}
    assert not rooms & {"opening", "targets", "training", "zoo", "attacks", "engine", "data"}


def test_the_public_names() -> None:
    assert (
        sorted(brittle.__all__)
        == dir(brittle)
        == [
            "BrittleError",
            "Keep",
            "Limits",
            "Picture",
            "Run",
            "Target",
            "Text",
            "Workers",
            "as_target",
            "attack",
            "augment",
            "data",
            "gate",
            "grid",
            "guard",
            "importance",
            "ladder",
            "mine",
            "nearest",
            "open_run",
            "perturb",
            "robustness",
            "select",
            "torch_target",
            "train",
            "transfer",
        ]
    )
    for name in brittle.__all__:
        assert getattr(brittle, name) is not None
    with pytest.raises(AttributeError, match="no attribute 'nothing'"):
        brittle.nothing  # noqa: B018

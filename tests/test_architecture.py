"""The rooms import one way, and `import brittle` stays light."""

from __future__ import annotations

import ast
import subprocess
import sys
from pathlib import Path

import pytest

import brittle

ROOT = Path(brittle.__file__).parent
ALLOWED: dict[str, set[str]] = {
    "edits": {"text"},
    "moves": {"text"},
    "named": {"errors"},
    "results": {"asks", "edits"},
    "testing": {"moves", "text"},
    "engine": {"asks", "errors", "goals"},
    "english": {"edits", "errors", "text"},
    "data": {"errors"},
    "proposals": {"data", "english", "errors", "text"},
    "attacks": {"asks", "english", "errors", "moves", "named", "proposals", "text"},
    "ranking": {"moves", "text", "zoo"},
    "zoo": {"data", "errors", "moves", "ranking", "text", "training"},
    "targets": {"errors", "moves", "named", "ranking", "text", "training", "zoo"},
    "opening": {"errors", "targets"},
    "training": {
        *("asks", "attacks", "data", "engine", "english", "errors", "goals", "runs", "targets"),
        *("text", "zoo"),
    },
    "metrics": {"asks", "edits", "english", "errors", "results", "text"},
    "reports": {"asks", "edits", "errors", "metrics", "results"},
    "runs": {
        *("asks", "attacks", "data", "edits", "engine", "english", "errors", "goals", "opening"),
        *("reports", "results", "targets", "text"),
    },
    "workflow": {"errors", "reports"},
    "studies": {"edits", "errors", "metrics", "results", "text"},
    "papers": {
        *("asks", "data", "english", "errors", "metrics", "reports", "results", "runs", "studies"),
        *("targets", "text", "training", "workflow", "zoo"),
    },
}


def imports(path: Path) -> set[str]:
    found = set()
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.ImportFrom) and (node.module or "").startswith("brittle"):
            parts = (node.module or "").split(".")
            found |= {parts[1]} if len(parts) > 1 else {alias.name for alias in node.names}
        elif isinstance(node, ast.Import):
            names = [alias.name.split(".") for alias in node.names]
            found |= {name[1] for name in names if name[0] == "brittle" and len(name) > 1}
    return found


@pytest.mark.parametrize("room", ALLOWED)
def test_a_room_imports_only_what_it_may(room: str) -> None:
    files = [ROOT / f"{room}.py"] if (ROOT / f"{room}.py").exists() else (ROOT / room).rglob("*.py")
    for path in files:
        assert imports(path) - {room} <= ALLOWED[room], path


def test_nothing_imports_the_command_line() -> None:
    for path in ROOT.rglob("*.py"):
        if path.parent.name != "cli" and path.name != "__main__.py":
            assert "cli" not in imports(path), path


def test_engine_and_broker_stay_small() -> None:
    lines = [
        len((ROOT / name).read_text().splitlines())
        for name in ("engine/engine.py", "engine/broker.py")
    ]
    assert sum(lines) < 500


@pytest.mark.parametrize(
    "code",
    [
        "import brittle",
        "import brittle.cli; brittle.cli.main(['--help'])",
        "import brittle.runs.runner",
    ],
)
def test_nothing_heavy_is_imported(code: str) -> None:
    heavy = "('torch', 'transformers', 'pandas', 'sklearn', 'scipy', 'nltk', 'pyarrow', 'httpx')"
    check = f"{code}\nimport sys; print(*[m for m in {heavy} if m in sys.modules], file=sys.stderr)"
    done = subprocess.run([sys.executable, "-c", check], capture_output=True, text=True, check=True)
    assert done.stderr.split() == []


def test_the_public_names() -> None:
    assert (
        sorted(brittle.__all__)
        == dir(brittle)
        == [
            "BrittleError",
            "Run",
            "Text",
            "as_target",
            "attack",
            "data",
            "open_run",
            "train",
        ]
    )
    for name in brittle.__all__:
        assert getattr(brittle, name) is not None
    with pytest.raises(AttributeError, match="no attribute 'nothing'"):
        brittle.nothing  # noqa: B018

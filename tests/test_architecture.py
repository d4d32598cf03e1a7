"""The rooms import one way, and `import brittle` stays light."""

from __future__ import annotations

import ast
import subprocess
import sys
from pathlib import Path

import pytest

import brittle

ROOT = Path(brittle.__file__).parent
CORE = {
    *("answers", "asks", "broker", "desks", "engine", "errors"),
    *("goals", "outcomes", "workers"),
}
ALLOWED: dict[str, set[str]] = {
    **dict.fromkeys(CORE, CORE),
    "text": {"errors"},
    "edits": {"text"},
    "moves": {"text"},
    "named": {"errors"},
    "attacks": CORE | {"moves", "named", "text", "attacks", "proposals", "constraints"},
    "proposals": {"text", "errors", "data", "proposals", "constraints"},
    "constraints": {"edits", "text", "errors", "proposals", "constraints"},
    "targets": {"moves", "named", "text", "errors", "targets", "zoo", "training", "data"},
    "zoo": {"moves", "text", "errors", "zoo"},
    # proposals: the word vectors that networks begin with are those that neighbours come from.
    "training": {"moves", "text", "errors", "zoo", "training", "data", "proposals"},
    "data": {"text", "errors", "data"},
    "metrics": {"edits", "text", "errors", "asks", "results", "metrics", "proposals"},
    "reports": {"edits", "text", "errors", "asks", "results", "metrics", "reports", "proposals"},
    "store": {"edits", "text", "errors", "data", "results"},
    "results": {"edits", "asks", "text"},
    "testing": {"moves", "text"},
    "studies": {
        *("edits", "text", "errors", "asks", "results", "metrics", "reports"),
        *("targets", "runs", "studies"),
    },
    "papers": {
        *("edits", "text", "errors", "asks", "results", "metrics", "reports", "proposals", "data"),
        *("targets", "zoo", "training", "runs", "studies", "papers"),
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
        assert imports(path) <= ALLOWED[room], path


def test_nothing_imports_the_command_line() -> None:
    for path in ROOT.rglob("*.py"):
        if path.parent.name != "cli" and path.name != "__main__.py":
            assert "cli" not in imports(path), path


def test_engine_and_broker_stay_small() -> None:
    lines = [len((ROOT / name).read_text().splitlines()) for name in ("engine.py", "broker.py")]
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

"""Commands of other packages, found by their entry points: as `brittle papers` is."""

from __future__ import annotations

import os
import subprocess
import sys
from importlib.metadata import entry_points
from pathlib import Path

COMMAND = """
from brittle.cli.command import Command
from brittle.cli.console import print_text

def add_flags(parser):
    word = parser.add_argument("word", metavar="WORD")
    word.completer = lambda **_: {"hello": "a greeting", "bye": "the end"}

def greet(args):
    print_text(f"{args.word}!\\n")

COMMAND = Command("", add_flags, greet, help="greet somebody")
"""


def install(folder: Path, **commands: str) -> dict[str, str]:
    """Put a package with these commands on the path of Python, as pip would install it."""
    (folder / "greeting.py").write_text(COMMAND)
    metadata = folder / "greeting-1.0.dist-info"
    metadata.mkdir()
    (metadata / "METADATA").write_text("Metadata-Version: 2.1\nName: greeting\nVersion: 1.0\n")
    lines = [f"{name} = {value}" for name, value in commands.items()]
    (metadata / "entry_points.txt").write_text("\n".join(["[brittle.commands]", *lines, ""]))
    path = os.pathsep.join([str(folder), *filter(None, [os.environ.get("PYTHONPATH")])])
    return {**os.environ, "PYTHONPATH": path}


def run(environment: dict[str, str], *words: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "brittle", *words]
    return subprocess.run(command, capture_output=True, text=True, env=environment)


def test_the_papers_come_by_the_door_that_is_open_to_all() -> None:
    found = {entry.name: entry.value for entry in entry_points(group="brittle.commands")}
    remedy = "the installed metadata is older than pyproject.toml: `make` installs it again"
    assert found.get("papers") == "brittle_papers.command:COMMAND", remedy


def test_a_command_of_another_package(tmp_path: Path) -> None:
    environment = install(tmp_path, greet="greeting:COMMAND")
    assert run(environment, "greet", "hello").stdout == "hello!\n"
    shown = run(environment, "--help").stdout
    assert "greet somebody" in shown
    names = (" rules ", " list ", " setup ", " greet ")
    assert sorted(names, key=shown.rindex) == list(names)
    offered = run(environment, "completion", "bash", "--line", "brittle greet h").stdout
    assert offered == "ello\0"  # the rest of the only word that begins so


def test_a_command_that_cannot_be_used_stops_no_other(tmp_path: Path) -> None:
    environment = install(
        tmp_path,
        broken="greeting:NOTHING",
        attack="greeting:COMMAND",
        odd="greeting:add_flags",
        greet="greeting:COMMAND",
    )
    done = run(environment, "greet", "hello")
    assert done.stdout == "hello!\n" and done.returncode == 0
    assert "'broken' (greeting:NOTHING) cannot be loaded" in done.stderr
    assert "'attack' (greeting:COMMAND) is ignored: brittle has one of this name" in done.stderr
    assert "'odd' (greeting:add_flags) is ignored: no Command" in done.stderr

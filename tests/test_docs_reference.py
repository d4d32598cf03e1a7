"""The reference is complete: every public name, command, flag and setting has its entry."""

from __future__ import annotations

import argparse
import importlib.util
import re
import sys
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType

import pytest

import brittle
from brittle.attacks import ATTACKS, recipe, settings
from brittle.cli.commands import commands
from brittle.cli.parser import command_parsers, flags_of
from brittle.runs.run import COLUMNS

ROOT = Path(__file__).parent.parent
REFERENCE = ROOT / "docs" / "reference"
REMEDY = "Run `python scripts/write_reference.py`, read the difference, and commit the page."


@pytest.fixture(scope="module")
def script() -> Iterator[ModuleType]:
    """Load the script that writes the reference."""
    path = ROOT / "scripts" / "write_reference.py"
    spec = importlib.util.spec_from_file_location("write_reference", path)
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    monkeypatch = pytest.MonkeyPatch()
    monkeypatch.setitem(sys.modules, spec.name, module)  # its dataclasses look for it there
    spec.loader.exec_module(module)
    yield module
    monkeypatch.undo()


def test_the_page_of_commands_is_that_of_the_parser(script: ModuleType) -> None:
    assert script.COMMANDS.read_text("utf-8") == script.commands_page(), REMEDY


def test_the_settings_of_attacks_are_those_of_the_recipes(script: ModuleType) -> None:
    page = script.ATTACKS_PAGE.read_text("utf-8")
    assert page == script.with_settings(page), REMEDY
    with pytest.raises(SystemExit, match="no place"):
        script.with_settings("# Attacks")


def section(page: str, heading: str) -> str:
    """Return the text below a heading, up to the next one."""
    found = re.search(
        rf"^##+ {re.escape(heading)}\n(.*?)(?=^##|\Z)", page, re.MULTILINE | re.DOTALL
    )
    assert found, f"the page has no heading {heading!r}"
    return found[1]


def has_entry(text: str, flag: str) -> bool:
    """Tell whether a flag has an entry of its own."""
    entries = [line for line in text.splitlines() if line.startswith("- `")]
    return any(
        re.search(rf"`{re.escape(flag)}[ `]", entry.split("`: ")[0] + "`") for entry in entries
    )


def test_a_flag_without_its_entry_is_noticed() -> None:
    entries = "- `--words N`: with `--share`, how many"
    assert has_entry(entries, "--words")
    assert not has_entry(entries, "--word") and not has_entry(entries, "--share")


@pytest.mark.parametrize(
    ("name", "parser"), [pytest.param(*pair, id=pair[0]) for pair in command_parsers()]
)
def test_every_flag_of_a_command_has_its_entry(name: str, parser: argparse.ArgumentParser) -> None:
    page = (REFERENCE / "commands.md").read_text("utf-8")
    shared, text = section(page, "Shared flags"), section(page, f"brittle {name}")
    for action in parser._actions:
        if action.help == argparse.SUPPRESS or {*action.option_strings} & {"--help", "--help-all"}:
            continue
        flags = action.option_strings or [str(action.metavar or action.dest)]
        listed = text.rpartition("shared flags")[2] + shared.strip().partition("\n")[0]
        is_listed = any(f"`{flag}`" in listed for flag in flags)
        for flag in flags:
            assert has_entry(text, flag) or (is_listed and has_entry(shared, flag)), flag


def test_every_command_has_the_flags_that_are_said_to_be_everywhere(script: ModuleType) -> None:
    for name, parser in command_parsers():
        assert {*script.EVERYWHERE} <= flags_of(parser).keys(), name


def test_every_command_of_the_help_has_its_entry() -> None:
    page = (REFERENCE / "commands.md").read_text("utf-8")
    named = re.findall(r"^## brittle (.*)$", page, re.MULTILINE)
    assert named == [name for name, entry in commands().items() if not entry.is_group]


@pytest.mark.parametrize("name", ATTACKS)
def test_every_setting_of_an_attack_has_its_entry(name: str) -> None:
    text = section((REFERENCE / "attacks.md").read_text("utf-8"), name)
    for setting in settings(recipe(name)):
        assert f"`--{setting.name.replace('_', '-')}`" in text, setting.name


def test_every_attack_has_its_row() -> None:
    page = (REFERENCE / "attacks.md").read_text("utf-8").partition("\n## ")[0]
    cells = [line.split(" | ")[0] for line in page.splitlines() if line.startswith("| `")]
    named = [name for cell in cells for name in re.findall(r"`([\w-]+)`", cell)]
    assert sorted(named) == sorted(ATTACKS)


def test_every_public_name_has_its_entry() -> None:
    page = (REFERENCE / "python.md").read_text("utf-8")
    named = re.findall(r"^::: brittle\.(\w+)$", page, re.MULTILINE)
    assert sorted(named) == sorted(brittle.__all__)


def test_every_column_of_an_export_has_its_entry() -> None:
    page = section((REFERENCE / "files.md").read_text("utf-8"), "Exports")
    cells = [line.split(" | ")[0] for line in page.splitlines() if line.startswith("| `")]
    named = [name for cell in cells for name in re.findall(r"`(\w+)`", cell)]
    assert sorted(named) == sorted(COLUMNS)

"""Former names of commands and flags: each runs, names the new form, and stands in no list."""

from __future__ import annotations

import json
import shlex
from pathlib import Path

import pytest

from brittle.candidates.rules import Rule, Rules
from brittle.cli.commands import FORMER_COMMANDS, OWN_COMMANDS, command_names
from brittle.cli.former_names import FORMER, current_words
from brittle.cli.parser import build_parser, check_spelling
from cli.conftest import Brittle

WEAK = "python:cli_models:weak"
BOTH = f"{WEAK},python:cli_models:strong,python:cli_models:other"
DATA = ("--data", "films.csv", "--limit", "4", "--workers", "1")
ABOUT = {"method": "pmi", "texts": 1, "candidates": "paper"}
CALLS: dict[str, tuple[tuple[str, ...], str]] = {
    "card": (("weak",), "brittle report RUN --out FILE.md"),
    "annotate": (("weak", "--out", "old-pages"), "brittle validity write"),
    "validity": (("weak", "--no-floors"), "brittle validity read"),
    "importance": ((WEAK, "a good film"), "brittle explain words"),
    "grid": ((BOTH, "key", *DATA, "--name", "old-grid"), "brittle study grid"),
    "transfer": ((BOTH, "key", *DATA, "--name", "old-transfer"), "brittle study transfer"),
    "select": (("old-transfer", "--size", "2", "--held-out", "none"), "brittle study select"),
    "rules show": (("old.rules",), "brittle list rules"),
    "rules export": (("old.rules", "--to", "csv"), "brittle export FILE OUT"),
    "rename": (("old-grid", "older-grid"), "brittle runs rename"),
    "delete": (("older-grid", "--yes"), "brittle runs delete"),
    "completion": (("bash",), "brittle setup completion"),
}
"""Calls in an order in which they can run: by the former name, and what its hint names."""
REFUSED = {
    "nearest": (("--run", "weak"), "no broken case changed a word by one character"),
    "inside": (("weak", "zz"), "Unknown broken case 'zz'"),
    "perturb": (("nothing", "fine"), "Got the generator 'nothing'"),
    "robustness": ((WEAK, "--data", "films.csv"), "brittle study robustness needs --generator"),
}
"""Calls whose command answers with an error of its own: what they need is made elsewhere."""


PUBLISHED = (Path(__file__).parent / "former_commands.txt").read_text("utf-8").splitlines()
"""The commands with former names that stood in the README and the docs before they had new ones."""


def write_rules(folder: Path) -> None:
    """Write a file with one rule."""
    Rules(("a", "b"), (Rule("a", "good", "full", 1.0, 3),), ABOUT).save(folder / "old.rules")


def test_every_former_name_is_called_here() -> None:
    assert set(FORMER) == {*CALLS, *REFUSED}


def test_former_names_run_and_name_the_new_form(brittle: Brittle, workdir: Path) -> None:
    write_rules(workdir)
    for name, (words, now) in CALLS.items():
        output = brittle(*name.split(), *words)
        assert output.code == 0, (name, output.err)
        assert output.err.splitlines()[0].startswith(f"brittle: {name!r} is now: {now}")
        assert output.out.strip()


@pytest.mark.parametrize("name", REFUSED)
def test_a_former_name_reaches_its_command(brittle: Brittle, name: str) -> None:
    words, message = REFUSED[name]
    output = brittle(name, *words)
    assert output.code == 2 and f"brittle: {name!r} is now: brittle " in output.err
    assert message in output.err


@pytest.mark.parametrize("line", PUBLISHED)
def test_every_published_command_is_still_read(line: str) -> None:
    words, hint = current_words(shlex.split(line)[1:])
    assert hint
    parser = build_parser(words)
    check_spelling(parser, words)
    assert parser.parse_args(words).command in {*OWN_COMMANDS, *FORMER_COMMANDS}


def test_former_names_are_not_offered(brittle: Brittle) -> None:
    help = brittle("--help").out
    firsts = {name.partition(" ")[0] for name in FORMER} - {"validity", "rules"}
    assert not firsts & set(command_names()) and not [n for n in firsts if f" {n}  " in help]
    offered = brittle("setup", "completion", "fish", "--line", "brittle ").out
    assert not firsts & {one.split("\t")[0] for one in offered.split("\0")}
    assert "    show" not in brittle("rules", "--help").out
    # What stands after a former name is completed as after the new one.
    line = "brittle transfer x key --winn"
    assert (
        brittle("setup", "completion", "bash", "--line", line).out == "ers\0"
    )  # the rest of the flag


def test_a_card_is_a_report_that_ends_in_md(brittle: Brittle, workdir: Path) -> None:
    card = brittle("card", "weak").out
    assert brittle("report", "weak", "--out", "new-card.md").out == "new-card.md\n"
    assert (workdir / "new-card.md").read_text() == card
    assert isinstance(json.loads(brittle("card", "weak", "--json").out), dict)


def test_train_had_another_flag() -> None:
    words, hint = current_words(["train", "LSTM", "--data", "mr", "--force"])
    assert words[-1] == "--new" and hint == "brittle: 'train --force' is now: brittle train --new"


def test_rules_are_exported_by_the_ending(brittle: Brittle, workdir: Path) -> None:
    write_rules(workdir)
    for ending in ("csv", "jsonl", "md"):
        assert brittle("export", "old.rules", f"rules.{ending}").out == f"rules.{ending}\n"
    printed = brittle("rules", "export", "old.rules", "--to", "md").out
    assert (workdir / "rules.md").read_text() == printed
    wrong = brittle("export", "old.rules", "rules.xls")
    assert wrong.code == 2 and "expected a name that ends in .csv, .jsonl or .md" in wrong.err
    assert "--texts is for studies" in brittle("export", "old.rules", "x.csv", "--texts").err

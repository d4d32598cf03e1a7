"""The commands, one idea a file: the flags of a command and the function that runs it.

`OWN_COMMANDS` is the one table of them: which file holds a command, and what `brittle --help` says
of it. A file is imported when its command is asked for. Other packages add commands by entry
points.
"""

from __future__ import annotations

import logging
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from brittle.cli.command import Command

_log = logging.getLogger("brittle")
GROUP = "brittle.commands"
"""The entry points by which a package adds commands: NAME = "module:COMMAND", a `Command`."""
LAST = ("list", "setup", "completion")


@dataclass(frozen=True)
class CommandEntry:
    """Where a command stands, FILE:NAME here or MODULE:NAME elsewhere, and what it does."""

    home: str
    help: str


OWN_COMMANDS: Mapping[str, CommandEntry] = {
    "attack": CommandEntry("attack:COMMAND", "attack a target on data and store the run"),
    "try": CommandEntry(
        "attack:TRY", "show the ladder for one sentence, or attack it; nothing is stored"
    ),
    "show": CommandEntry(
        "runs:SHOW", "show a run or a study: its figures and its clearest examples"
    ),
    "report": CommandEntry("runs:REPORT", "write the HTML report of a run or a study"),
    "card": CommandEntry(
        "runs:CARD",
        "write the model card of a run: its figures, what they rest on, and what is missing",
    ),
    "export": CommandEntry(
        "runs:EXPORT",
        "write the rows of a run or a study as .csv, .jsonl or .parquet, pictures as .npz",
    ),
    "verify": CommandEntry("runs:VERIFY", "score what broke every broken case again"),
    "annotate": CommandEntry(
        "validity:ANNOTATE", "write pages on which people read adversarial examples of a run"
    ),
    "validity": CommandEntry(
        "validity:COMMAND",
        "measure how many adversarial examples are valid to people, and the success that leaves",
    ),
    "delete": CommandEntry(
        "manage:DELETE", "delete runs or studies, with all their files but reports"
    ),
    "rename": CommandEntry("manage:RENAME", "give a run or a study another name"),
    "compare": CommandEntry(
        "runs:COMPARE", "show runs side by side, each paired with the first one, or studies"
    ),
    "train": CommandEntry(
        "train:COMMAND", "train a model of the zoo, or a pool of models (nothing is trained twice)"
    ),
    "augment": CommandEntry(
        "augment:COMMAND", "write variants of examples that keep their labels, as data to train on"
    ),
    "nearest": CommandEntry(
        "explain:NEAREST", "show the words nearest to a word, before an edit and after it"
    ),
    "inside": CommandEntry(
        "explain:INSIDE",
        "show attention and vectors inside a run's target, before the attack and after it",
    ),
    "perturb": CommandEntry(
        "explain:PERTURB",
        "decode items near another in a generator's latent space, without any target",
    ),
    "grid": CommandEntry(
        "studies:GRID", "run several attacks on several targets, on the same cases"
    ),
    "transfer": CommandEntry(
        "studies:TRANSFER", "attack every member of a pool, and try what breaks it on all others"
    ),
    "select": CommandEntry(
        "studies:SELECT", "select the members of a pool whose ensemble transfers best"
    ),
    "importance": CommandEntry(
        "explain:IMPORTANCE", "show how much the models of a pool rely on each word of a sentence"
    ),
    "robustness": CommandEntry(
        "studies:ROBUSTNESS",
        "compare targets by how far their predictions hold in a generator's latent space",
    ),
    "rules": CommandEntry(
        "rules:COMMAND", "mine replacements of words that fool many models, and check data for them"
    ),
    "list": CommandEntry(
        "listing:COMMAND", "list runs, studies, attacks, goals, data, models, generators or pools"
    ),
    "setup": CommandEntry(
        "setup:COMMAND", "show which optional parts are installed, and install those you name"
    ),
    "completion": CommandEntry(
        "manage:COMPLETION", "print the script that completes words in bash, zsh or fish"
    ),
}
"""Our own commands by name, in the order of `brittle --help`."""


@cache
def commands() -> Mapping[str, CommandEntry]:
    """Return all commands in the order of the help: our own, and those of installed packages."""
    first = {name: entry for name, entry in OWN_COMMANDS.items() if name not in LAST}
    return first | _installed_commands() | {name: OWN_COMMANDS[name] for name in LAST}


def _installed_commands() -> dict[str, CommandEntry]:
    """Load the commands of installed packages; one that cannot be loaded is left out."""
    from importlib.metadata import entry_points

    from brittle.cli.command import Command

    found: dict[str, CommandEntry] = {}
    for entry in sorted(entry_points(group=GROUP), key=lambda entry: entry.name):
        try:
            command = entry.load()
        except Exception as error:
            _log.warning("The command %r (%s) cannot be loaded: %s", entry.name, entry.value, error)
            continue
        if entry.name in OWN_COMMANDS or not isinstance(command, Command):
            reason = "brittle has one of this name" if entry.name in OWN_COMMANDS else "no Command"
            _log.warning("The command %r (%s) is ignored: %s", entry.name, entry.value, reason)
            continue
        found[entry.name] = CommandEntry(entry.value, command.help)
    return found


def load_command(name: str) -> Command:
    """Import a command by its name."""
    entry = OWN_COMMANDS.get(name) or commands()[name]
    module, _, attribute = entry.home.partition(":")
    module = f"{__name__}.{module}" if name in OWN_COMMANDS else module
    command: Command = getattr(import_module(module), attribute)
    return command

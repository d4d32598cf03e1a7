"""The commands, one idea a file: the flags of a command and the function that runs it.

`OWN_COMMANDS` is the one table of them: which file holds a command, what `brittle --help` says of
it, and under which heading. A name of two words is a command of a group, such as `study transfer`.
A file is imported when its command is called. Other packages add commands by entry points.
"""

from __future__ import annotations

import logging
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from brittle.cli.command import Command

_log = logging.getLogger("brittle")
GROUP = "brittle.commands"
"""The entry points by which a package adds commands: NAME = "module:COMMAND", a `Command`."""
HEADINGS = ("attack", "read", "train", "study", "more")
"""The headings of `brittle --help`, in order; commands of other packages stand under the last."""


@dataclass(frozen=True)
class CommandEntry:
    """Where a command stands, FILE:NAME here or MODULE:NAME elsewhere, and what it does.

    A group of commands stands nowhere: its `home` is empty, and its commands have its name as
    their first word.
    """

    home: str
    help: str
    heading: str = ""

    @property
    def is_group(self) -> bool:
        return not self.home


OWN_COMMANDS: Mapping[str, CommandEntry] = {
    "attack": CommandEntry("attack:COMMAND", "attack a model on data, and store the run", "attack"),
    "try": CommandEntry("attack:TRY", "attack one sentence; nothing is stored", "attack"),
    "guard": CommandEntry(
        "guard:COMMAND", "measure what a guard still catches at a false-positive rate", "attack"
    ),
    "show": CommandEntry("show:COMMAND", "show a run, one of its cases, or a study", "read"),
    "report": CommandEntry(
        "reports:COMMAND", "write a report of a run, of two runs, or of a study", "read"
    ),
    "compare": CommandEntry("runs:COMPARE", "compare runs, or fail if one is worse", "read"),
    "gate": CommandEntry("gate:GATE", "say whether a model got worse, for CI", "read"),
    "accept": CommandEntry("gate:ACCEPT", "accept failures that are known", "read"),
    "export": CommandEntry("runs:EXPORT", "write the rows of a run as a table", "read"),
    "verify": CommandEntry("runs:VERIFY", "check stored results against the model again", "read"),
    "validity": CommandEntry("", "have people check the adversarial texts", "read"),
    "validity write": CommandEntry("validity:WRITE", "write pages that people fill in"),
    "validity read": CommandEntry(
        "validity:READ", "read what people filled in, and measure how many texts are valid"
    ),
    "explain": CommandEntry("", "show which words a model relies on, and why", "read"),
    "explain words": CommandEntry(
        "explain:WORDS", "show how much models rely on each word of a sentence"
    ),
    "explain nearest": CommandEntry(
        "explain:NEAREST", "show the words that a model reads as most similar to a word"
    ),
    "explain latent": CommandEntry(
        "latent:COMMAND", "show what a generator makes near a sentence or a picture"
    ),
    "train": CommandEntry("train:COMMAND", "train a model, or a pool of models", "train"),
    "augment": CommandEntry(
        "augment:COMMAND", "write variants of examples, as data to train on", "train"
    ),
    "study": CommandEntry("", "attack many models, and compare them", "study"),
    "study transfer": CommandEntry(
        "studies:TRANSFER", "try the adversarial texts of each model on all other models"
    ),
    "study grid": CommandEntry("studies:GRID", "run several attacks on several models"),
    "study robustness": CommandEntry(
        "studies:ROBUSTNESS", "measure how far inputs can change before models fail"
    ),
    "study select": CommandEntry(
        "selecting:COMMAND", "find the models whose ensemble fools the other models best"
    ),
    "rules": CommandEntry("", "find replacements that fool many models", "study"),
    "rules mine": CommandEntry("rules:MINE", "mine rules from an ensemble and labelled data"),
    "rules try": CommandEntry("rules:TRY", "try rules on the models of a pool"),
    "rules check": CommandEntry("rules:CHECK", "count how many texts of a data set rules apply to"),
    "list": CommandEntry("listing:COMMAND", "list runs, attacks, models, data and more", "more"),
    "runs": CommandEntry("", "delete or rename stored runs and studies", "more"),
    "runs delete": CommandEntry("manage:DELETE", "delete runs or studies, with their files"),
    "runs rename": CommandEntry("manage:RENAME", "give a run or a study another name"),
    "setup": CommandEntry("setup:COMMAND", "show what is installed, and install parts", "more"),
    "setup install": CommandEntry("setup:INSTALL", "install optional parts with pip"),
    "setup completion": CommandEntry(
        "setup:COMPLETION", "print the script that completes words in bash, zsh or fish"
    ),
}
"""Our own commands by name, in the order of `brittle --help`."""

FORMER_COMMANDS: Mapping[str, CommandEntry] = {
    "card": CommandEntry("former:CARD", "print the model card of a run"),
    "rules export": CommandEntry("former:RULES_EXPORT", "write the rules of a file as a table"),
}
"""Former commands that still have code of their own, for one version (`former.py`)."""


@cache
def commands() -> Mapping[str, CommandEntry]:
    """Return all commands in the order of the help: our own, and those of installed packages."""
    return {**OWN_COMMANDS, **_installed_commands()}


def command_names(group: str = "") -> list[str]:
    """Return the names of the commands of a group, without its own; by default the first words."""
    if not group:
        return [name for name in commands() if " " not in name]
    names = (name.partition(" ") for name in OWN_COMMANDS)
    return [rest for first, _, rest in names if first == group and rest]


def asked_command(words: Sequence[str]) -> str | None:
    """Return the command that a command line asks for: its first word that is no flag.

    In a group it is that word and the next one; the group alone if that is no command of it.
    """
    plain = [word for word in words if not word.startswith("-")]
    if not plain:
        return None
    both = " ".join(plain[:2])
    return both if both in OWN_COMMANDS or both in FORMER_COMMANDS else plain[0]


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
        found[entry.name] = CommandEntry(entry.value, command.help, HEADINGS[-1])
    return found


def load_command(name: str) -> Command:
    """Import a command by its name."""
    entry = OWN_COMMANDS.get(name) or FORMER_COMMANDS.get(name) or commands()[name]
    module, _, attribute = entry.home.partition(":")
    is_own = name in OWN_COMMANDS or name in FORMER_COMMANDS
    module = f"{__name__}.{module}" if is_own else module
    command: Command = getattr(import_module(module), attribute)
    return command

"""The commands, one idea a file: the flags of a command and the function that runs it.

`COMMANDS` is the one table of them: which file holds a command, and what `brittle --help` says of
it. A file is imported when its command is asked for.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from brittle.cli.command import Command


@dataclass(frozen=True)
class CommandEntry:
    """Where a command stands, FILE:NAME in this folder or MODULE:NAME, and what it does."""

    home: str
    help: str


COMMANDS: Mapping[str, CommandEntry] = {
    "attack": CommandEntry("attack:COMMAND", "attack a target on data and store the run"),
    "try": CommandEntry(
        "try_sentence:COMMAND", "show the ladder for one sentence, or attack it; nothing is stored"
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
        "annotate:COMMAND", "write pages on which people read adversarial examples of a run"
    ),
    "validity": CommandEntry(
        "validity:COMMAND",
        "measure how many adversarial examples are valid to people, and the success that leaves",
    ),
    "delete": CommandEntry(
        "keeping:DELETE", "delete runs or studies, with all their files but reports"
    ),
    "rename": CommandEntry("keeping:RENAME", "give a run or a study another name"),
    "compare": CommandEntry(
        "compare:COMMAND", "show runs side by side, each paired with the first one, or studies"
    ),
    "train": CommandEntry(
        "train:COMMAND", "train a model of the zoo, or a pool of models (nothing is trained twice)"
    ),
    "augment": CommandEntry(
        "augment:COMMAND", "write variants of examples that keep their labels, as data to train on"
    ),
    "nearest": CommandEntry(
        "nearest:COMMAND", "show the words nearest to a word, before an edit and after it"
    ),
    "inside": CommandEntry(
        "inside:COMMAND",
        "show attention and vectors inside a run's target, before the attack and after it",
    ),
    "perturb": CommandEntry(
        "perturb:COMMAND",
        "decode items near another in a generator's latent space, without any target",
    ),
    "grid": CommandEntry(
        "grid:COMMAND", "run several attacks on several targets, on the same cases"
    ),
    "transfer": CommandEntry(
        "transfer:COMMAND", "attack every member of a pool, and try what breaks it on all others"
    ),
    "select": CommandEntry(
        "select:COMMAND", "select the members of a pool whose ensemble transfers best"
    ),
    "importance": CommandEntry(
        "importance:COMMAND", "show how much the models of a pool rely on each word of a sentence"
    ),
    "robustness": CommandEntry(
        "robustness:COMMAND",
        "compare targets by how far their predictions hold in a generator's latent space",
    ),
    "rules": CommandEntry(
        "rules:COMMAND", "mine replacements of words that fool many models, and check data for them"
    ),
    "papers": CommandEntry(
        "papers:COMMAND", "repeat a paper: train, attack, and write its figures beside ours"
    ),
    "list": CommandEntry(
        "listing:COMMAND", "list runs, studies, attacks, goals, data, models, generators or pools"
    ),
    "completion": CommandEntry(
        "completion:COMMAND", "print the script that completes words in bash, zsh or fish"
    ),
}
"""The commands by name, in the order of `brittle --help`."""


def load_command(name: str) -> Command:
    """Import a command by its name."""
    module, _, attribute = COMMANDS[name].home.partition(":")
    module = module if "." in module else f"{__name__}.{module}"
    command: Command = getattr(import_module(module), attribute)
    return command

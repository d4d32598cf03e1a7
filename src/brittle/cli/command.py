"""What commands are made of: their form, and the flags that several of them share.

The flags that say where tasks run, and how many at a time: the fields of `Workers`.
"""

from __future__ import annotations

import argparse
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, fields, replace
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, TypeVar, get_args, get_type_hints

from brittle.values import flags_of

if TYPE_CHECKING:
    from brittle.data.dataset import Dataset
    from brittle.workflow.backends import Workers

T = TypeVar("T")


@dataclass(frozen=True)
class Command:
    """One command: its examples, its flags, and the function that runs it.

    `--help` shows the `usual` flags, by their names without dashes, and the examples. `--help-all`
    shows all flags, and `details` at the end. Without `usual`, `--help` shows all. What a command
    does stands in the table of commands (`commands/__init__.py`); one of another package says it
    itself, in `help`.

    A command that can name an attack has `attack_words`: from the parsed arguments and the words
    that the parser does not know, it returns those that may be the name. The settings of that
    attack become flags, except `own_settings`, which the command has as flags already. A command
    that `resumes` goes on where it was stopped when it is called again. With `several_attacks` all
    of the words that name an attack count, else the first.
    """

    examples: str
    add_flags: Callable[[argparse.ArgumentParser], None]
    run: Callable[[argparse.Namespace], None]
    attack_words: Callable[[argparse.Namespace, Sequence[str]], Sequence[str]] | None = None
    own_settings: tuple[str, ...] = ()
    resumes: bool = False
    several_attacks: bool = False
    help: str = ""
    usual: tuple[str, ...] = ()
    details: str = ""


def add_target_flags(parser: argparse.ArgumentParser) -> None:
    """Add the flags that say how to open and ask a target."""
    from brittle.targets.options import TargetOptions

    add_option_flags(parser.add_argument_group("target").add_argument, TargetOptions)


def positive(text: str) -> int:
    """Parse a whole number of at least 1."""
    number = int(text)
    if number < 1:
        raise argparse.ArgumentTypeError(f"got {text}; expected a number of at least 1")
    return number


ALL = "all"


def count_or_all(text: str) -> int | None:
    """Parse a whole number of at least 1, or the word for all there is, which is None."""
    return None if text == ALL else positive(text)


DATA_FLAGS: Mapping[str, Mapping[str, Any]] = {
    "data": {"metavar": "DATA", "required": True, "help": "mr, imdb, bbc, a file, or hf:NAME"},
    "split": {"help": "train, dev or test (default: test)"},
    "text": {
        "metavar": "COLUMN[,COLUMN]",
        "help": "the column of the texts; several columns are several fields",
    },
    "label": {"metavar": "COLUMN", "help": "the column of the labels; '' for data without labels"},
    "locked": {
        "metavar": "FIELD[,FIELD]",
        "default": "",
        "help": "fields that the attack does not change",
    },
    "skip-bad": {
        "action": "store_true",
        "help": "leave out rows of a file that cannot be used, and say how many of which kind",
    },
    "limit": {
        "type": count_or_all,
        "metavar": "N",
        "help": "use the first N examples of a random order, or all (default: all)",
    },
    "seed": {"type": int, "default": 0, "help": "the seed of the random order (default: 0)"},
}
"""The flags that say which data is read, and how much of it."""


def add_data_flags(
    parser: argparse.ArgumentParser, *names: str, group: str | None = "data", **changed: Any
) -> Callable[..., Any]:
    """Add the flags that say which data is read; with `names`, these alone.

    `changed` has, by flag, the help or the arguments of `add_argument` that differ in a command.
    Return what adds further flags to the group.
    """
    add = (parser.add_argument_group(group) if group else parser).add_argument
    for name in names or DATA_FLAGS:
        other = changed.get(name, {})
        about = {"help": other} if isinstance(other, str) else other
        add(f"--{name}", **{**DATA_FLAGS[name], **about})
    return add


def load_data(args: argparse.Namespace) -> Dataset:
    """Load the data that the flags name."""
    from brittle import data

    return data.load(
        args.data,
        split=args.split,
        text=args.text,
        label=args.label,
        locked=args.locked,
        skip_bad=getattr(args, "skip_bad", False),
    )


def add_goal_flag(add: Callable[..., object]) -> None:
    """Add the flag that names the goal."""
    goal = "what counts as broken (see brittle list goals); several goals must all be reached"
    add("--goal", action="append", metavar="GOAL", help=goal)


def add_output_flags(parser: argparse.ArgumentParser) -> None:
    """Add the flags that every command has."""
    add = parser.add_argument_group("output").add_argument
    add(
        "--runs",
        default="runs",
        metavar="FOLDER",
        help="the folder where runs are stored (default: runs)",
    )
    add("--json", action="store_true", help="print JSON instead of tables")
    add("--quiet", action="store_true", help="print only the path of what was made")


def add_dry_run_flag(add: Callable[..., object]) -> None:
    """Add the flag of a command that may take long."""
    add("--dry-run", action="store_true", help="only say how much work this is, and do nothing")


def add_option_flags(
    add: Callable[..., Any],
    options: type,
    *names: str,
    without: Sequence[str] = (),
    aliases: Mapping[str, Sequence[str]] = MappingProxyType({}),
    **changed: Any,
) -> None:
    """Add the flags of an options value by the method `add_argument` of a parser or a group.

    With `names`, those of these fields alone, or all `without` some. `aliases` are further flags of
    a field, and `changed` has, by field, the arguments of `add_argument` that differ in a command.
    """
    hints = get_type_hints(options)
    defaults = {field.name: field.default for field in fields(options)}
    for name, flag in flags_of(options).items():
        if (names and name not in names) or name in without:
            continue
        default, dest = defaults[name], flag.name or name
        about: dict[str, Any] = {"help": flag.help, "default": default, "dest": dest}
        if default is False:
            about["action"] = "store_true"
        elif isinstance(default, tuple):
            about |= {"default": [], "action": "append", "metavar": flag.metavar}
        else:
            kinds = [kind for kind in (float, int) if kind in (hints[name], *get_args(hints[name]))]
            parse = positive if flag.is_positive else [*kinds, str][0]
            about |= {"choices": flag.choices, "metavar": flag.metavar, "type": parse}
        written = (f"--{dest.replace('_', '-')}", *aliases.get(name, ()))
        add(*written, **about | changed.get(name, {}))


def parsed_options(args: argparse.Namespace, options: type[T]) -> T:
    """Build an options value from parsed flags; fields without a flag here are not set."""
    dests = {name: flag.name or name for name, flag in flags_of(options).items()}
    return options(**{n: getattr(args, dest) for n, dest in dests.items() if hasattr(args, dest)})


def add_backend_flags(
    parser: argparse.ArgumentParser,
    *aliases: str,
    workers: str | None = None,
    default: int | None = None,
) -> None:
    """Add the flags of a command whose work can be divided.

    `aliases` are those of --workers, `workers` is its help where it counts no tasks.
    """
    from brittle.workflow.backends import Workers

    count: dict[str, Any] = {"default": default} | ({"help": workers} if workers else {})
    add = parser.add_argument_group("where it runs").add_argument
    add_option_flags(add, Workers, aliases={"count": aliases}, count=count)


def backend_of(args: argparse.Namespace) -> Workers:
    """Return where the flags say that tasks run; on this machine one for each core, if not said."""
    from brittle.workflow.backends import Workers
    from brittle.zoo.device import cores

    workers = parsed_options(args, Workers)
    if workers.count is None and workers.is_local:
        return replace(workers, count=cores())
    return workers

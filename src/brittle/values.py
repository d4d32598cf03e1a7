"""What a user types: values of settings, and objects named as `python:module:name`.

Values of settings, parsed from text: one table for flags, names of models and `--set`. And how the
fields of an options value, such as `TargetOptions`, become flags. Import of what a user names as
`python:module:name`, and of names when they are first used.
"""

from __future__ import annotations

import importlib
import logging
import os
import sys
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import wraps
from pathlib import Path
from typing import Annotated, Any, ParamSpec, TypeVar, get_args, get_origin, get_type_hints

from brittle.errors import UsageError, unknown

_log = logging.getLogger("brittle")
P = ParamSpec("P")
T = TypeVar("T")

YES_OR_NO = {"yes": True, "true": True, "1": True, "no": False, "false": False, "0": False}


def _parse_numbers(text: str) -> tuple[int, ...]:
    return tuple(int(part) for part in text.replace(",", "+").split("+"))


PARSERS: Mapping[type, tuple[Callable[[str], Any], str]] = {
    bool: (lambda text: YES_OR_NO[text.lower()], "yes or no"),
    int: (int, "a whole number"),
    float: (float, "a number"),
    tuple: (_parse_numbers, "whole numbers such as 3+4+5"),
    str: (str, "a text"),
}
"""For every type of value: the function that parses it, and a description of what it expects."""


def parse_value(whose: str, name: str, kind: type, text: str) -> Any:
    """Parse the value of a setting; `whose` names its owner in the error message.

    >>> parse_value("LSTM", "tuned", bool, "no"), parse_value("CNN", "widths", tuple, "2+3")
    (False, (2, 3))
    """
    parse, expected = PARSERS[kind]
    try:
        return parse(text)
    except (ValueError, KeyError) as error:
        raise wrong_value(whose, name, text, expected) from error


def parse_values(
    whose: str, kinds: Mapping[str, type], values: Mapping[str, str]
) -> dict[str, Any]:
    """Parse several settings, each by its own type; an unknown name is an error."""
    for name in values:
        if name not in kinds:
            raise unknown(f"setting of {whose}", name, kinds)
    return {name: parse_value(whose, name, kinds[name], text) for name, text in values.items()}


def split_settings(whose: str, parts: Iterable[str], example: str) -> dict[str, str]:
    """Split texts such as `hidden=64` into names and values; a later value replaces an earlier one.

    >>> split_settings("LSTM", ["hidden=64", "rate = 0.1"], "hidden=32")
    {'hidden': '64', 'rate': '0.1'}
    """
    settings = {}
    for part in parts:
        name, equals, value = (text.strip() for text in part.partition("="))
        if not equals or not name or not value:
            raise UsageError(
                f"Got the setting {part!r} for {whose}. Expected NAME=VALUE, such as {example}."
            )
        settings[name] = value
    return settings


def format_value(value: Any) -> str:
    """Format a value as `parse_value` parses it.

    >>> format_value(False), format_value((2, 3)), format_value(0.1)
    ('no', '2+3', '0.1')
    """
    if isinstance(value, bool):
        return "yes" if value else "no"
    return "+".join(map(str, value)) if isinstance(value, tuple | list) else str(value)


def wrong_value(whose: str, name: str, got: Any, expected: str) -> UsageError:
    """Build the error for a value of the wrong type or size."""
    return UsageError(f"Got {got!r} for the setting {name} of {whose}. Expected {expected}.")


@dataclass(frozen=True)
class Flag:
    """How a field of an options value is set on a command line: `Annotated[float, Flag("…")]`.

    The default and the type of the flag are those of the field, and so is the `name` unless it is
    another one. A number may have to be at least 1: `is_positive`. A field whose default is a list
    takes the flag several times. What is not `is_stored` has to be said again for a stored run.
    """

    help: str
    metavar: str | None = None
    choices: tuple[str, ...] | None = None
    name: str | None = None
    is_positive: bool = False
    is_stored: bool = True


def flags_of(options: type) -> dict[str, Flag]:
    """Return by name the fields of an options value that the command line sets."""
    return {
        name: part
        for name, hint in get_type_hints(options, include_extras=True).items()
        for part in get_args(hint)[1:]
        if get_origin(hint) is Annotated and isinstance(part, Flag)
    }


def import_named(spec: str, example: str) -> Any:
    """Import what a name stands for; modules of the working folder can be imported too."""
    module, colon, path = spec.removeprefix("python:").partition(":")
    if not colon or not module or not path:
        raise UsageError(f"Got {spec!r}; expected python:MODULE:NAME, such as {example}.")
    top = module.split(".")[0]
    if top in sys.stdlib_module_names and (Path(f"{top}.py").exists() or Path(top).is_dir()):
        raise UsageError(
            f"{spec!r}: the standard library also has a module {top!r}, which takes "
            "precedence. Rename yours."
        )
    add_working_folder()
    try:
        value: Any = importlib.import_module(module)
    # A script without a guard may end the program when it is imported.
    except (Exception, SystemExit) as error:
        raise UsageError(
            f"Cannot import the module {module!r} of {spec!r}: {type(error).__name__}: "
            f"{error}. brittle looks in the working folder and in the installed packages."
        ) from error
    for part in path.split("."):
        if not hasattr(value, part):
            known = [name for name in vars(value) if not name.startswith("_")]
            raise UsageError(
                f"{spec!r}: there is no {part!r} in {getattr(value, '__name__', value)!r}. "
                f"Found: {', '.join(known[:20]) or 'nothing'}."
            )
        value = getattr(value, part)
    return value


def add_working_folder() -> None:
    """Add the working folder to the path, after the standard library and before the packages.

    Before it, any file there called as one of its modules would be imported by every package.
    """
    if os.getcwd() in sys.path or "" in sys.path:
        return
    names = [Path(entry).name for entry in sys.path]
    packages = [i for i, name in enumerate(names) if name in ("site-packages", "dist-packages")]
    sys.path.insert(packages[0] if packages else len(names), os.getcwd())


def lazily(package: str, homes: Mapping[str, Sequence[str]]) -> Callable[[str], Any]:
    """Return the `__getattr__` of a package whose names are imported when they are first used.

    `homes` has the names by the module of the package that defines them.
    """
    modules = {name: module for module, names in homes.items() for name in names}

    def find(name: str) -> Any:
        if name not in modules:
            raise AttributeError(f"module {package!r} has no attribute {name!r}")
        value = getattr(importlib.import_module(f"{package}.{modules[name]}"), name)
        setattr(sys.modules[package], name, value)
        return value

    return find


def former_keywords(**names: str) -> Callable[[Callable[P, T]], Callable[P, T]]:
    """Have a function still take keywords by their former names, for one version, with a warning.

    >>> @former_keywords(force="new")
    ... def train(name: str, new: bool = False) -> bool:
    ...     return new
    >>> train("LSTM", force=True)  # type: ignore[call-arg]
    True
    """

    def accept(function: Callable[P, T]) -> Callable[P, T]:
        @wraps(function)
        def call(*args: P.args, **keywords: P.kwargs) -> T:
            for former, now in names.items():
                if former in keywords:
                    if now in keywords:
                        raise UsageError(
                            f"{function.__name__} got {now}= and {former}=, its former name. "
                            f"Leave out {former}=."
                        )
                    warn_of_former(f"{function.__name__}({former}=…)", f"{now}=…")
                    keywords[now] = keywords.pop(former)
            return function(*args, **keywords)

        return call

    return accept


def warn_of_former(former: str, now: str) -> None:
    """Log that a former way to write something ends with the next version."""
    _log.warning("%s is now %s; the old name works for one more version.", former, now)

"""Import of what a user names as `python:module:name`; nothing is called."""

from __future__ import annotations

import importlib
import os
import sys
from typing import Any

from brittle.errors import UsageError


def import_named(spec: str, example: str) -> Any:
    """Import what a name stands for; modules of the working folder can be imported too."""
    module, colon, path = spec.removeprefix("python:").partition(":")
    if not colon or not module or not path:
        raise UsageError(f"Got {spec!r}; expected python:MODULE:NAME, such as {example}.")
    if os.getcwd() not in sys.path and "" not in sys.path:
        sys.path.insert(0, os.getcwd())
    try:
        value: Any = importlib.import_module(module)
    # A script without a guard may end the program when it is imported.
    except (Exception, SystemExit) as error:
        raise UsageError(
            f"Cannot import the module {module!r} of {spec!r}: {type(error).__name__}: {error}. "
            "It is looked for in the working folder and among the installed packages."
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

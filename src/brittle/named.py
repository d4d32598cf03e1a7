"""Import of what a user names as `python:module:name`, and of names when they are first used."""

from __future__ import annotations

import importlib
import os
import sys
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

from brittle.errors import UsageError


def import_named(spec: str, example: str) -> Any:
    """Import what a name stands for; modules of the working folder can be imported too."""
    module, colon, path = spec.removeprefix("python:").partition(":")
    if not colon or not module or not path:
        raise UsageError(f"Got {spec!r}; expected python:MODULE:NAME, such as {example}.")
    top = module.split(".")[0]
    if top in sys.stdlib_module_names and (Path(f"{top}.py").exists() or Path(top).is_dir()):
        raise UsageError(
            f"{spec!r}: the standard library has a module {top!r} too, and it comes first. Give "
            "yours another name."
        )
    _add_working_folder()
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


def _add_working_folder() -> None:
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

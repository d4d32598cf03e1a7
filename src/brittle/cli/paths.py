"""Paths of a command: fixed when it is called, since a target may change the working folder."""

from __future__ import annotations

import argparse
from pathlib import Path

from brittle.cli.streams import results

WRITTEN = ("runs", "out", "report", "folder")
"""The arguments that name files and folders that a command writes to."""
STDOUT = ("/dev/stdout", "/dev/fd/1", "/proc/self/fd/1")
_given: dict[Path, str] = {}


def fix_paths(args: argparse.Namespace) -> None:
    """Make the paths that a command writes to absolute, before any code of a target runs."""
    _given.clear()
    for name in WRITTEN:
        value = getattr(args, name, None)
        if value is not None:
            path = Path(value).absolute()
            if str(value) in STDOUT:  # descriptor 1 is stderr while a command runs: streams.py
                path = Path(f"/dev/fd/{results().fileno()}")
            _given[path] = str(value)
            setattr(args, name, type(value)(path))


def shown(path: str | Path) -> str:
    """Return a path as it is shown: as it was given, if it was, or lies in or beside what was."""
    path = Path(path)
    for given in (path, *path.parents):
        if given in _given:
            return str(Path(_given[given]) / path.relative_to(given))
    for given, words in _given.items():
        if given.parent == path.parent:
            return str(Path(words).parent / path.name)
    return str(path)

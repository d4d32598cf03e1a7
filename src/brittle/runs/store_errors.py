"""What goes wrong with the file of a run, in words: a disk, a damaged file, a damaged value."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from brittle.errors import StoreError, UsageError
from brittle.files import DAMAGED

UNDECODABLE = "Could not decode"
"""How the one error about contents begins to which SQLite gives no code."""


@contextmanager
def translated_errors(path: Path) -> Iterator[None]:
    """Say in our words what SQLite raises: what is wrong with the file, and what to do."""
    try:
        yield
    except (sqlite3.OperationalError, OSError) as error:
        # Our statements are right: an error in one is about tables and columns of the file.
        is_damaged = getattr(error, "sqlite_errorcode", None) == sqlite3.SQLITE_ERROR
        if is_damaged or str(error).startswith(UNDECODABLE):
            raise UsageError(
                f"The run file {path} is damaged: {error}. Restore it from a copy, or start the "
                "run over with --new."
            ) from error
        raise StoreError(
            f"The run file {path} cannot be written or read: {error}. What was stored before is "
            "kept; make room or mend the cause, then the same command resumes."
        ) from error
    # Of a damaged layout, SQLite's own message may be no text.
    except (sqlite3.Error, UnicodeDecodeError) as error:
        raise UsageError(f"{path} is not a readable run file: {error}.") from error


@contextmanager
def damaged_contents(path: Path, what: str) -> Iterator[None]:
    """Say in our words that a value in a run file cannot be what was written there."""
    try:
        yield
    except DAMAGED as error:
        raise UsageError(
            f"The run file {path} is damaged: {what} cannot be read ({error}). Restore it from a "
            "copy, or start the run over with --new."
        ) from error

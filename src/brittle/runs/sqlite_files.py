"""SQLite's files: what goes wrong with them, in words, and the log beside them.

What goes wrong with the file of a run, in words: a disk, a damaged file, a damaged value. SQLite's
write-ahead log beside a run: NAME.sqlite-wal holds what NAME.sqlite does not have yet. While a run
is written, and after a kill, both files belong together. A run at rest has no log.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from brittle.errors import StoreError, UsageError
from brittle.safety.files import DAMAGED

UNDECODABLE = "Could not decode"
"""The start of the one error about contents for which SQLite has no code."""


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
            f"The run file {path} cannot be written or read: {error}. Stored results are "
            "safe. Free some space or fix the cause, then run the same command again to "
            "resume."
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


HEADER_BYTES = 32  # of a log; it holds nothing but this until the first write
WRITE_AHEAD = b"\x02\x02"  # bytes 18 and 19 of a database that is written with a log
PAGE_BYTES = 4096


def check_log(path: Path) -> None:
    """Refuse to begin a run where a log has no run, or where an empty run has no log.

    SQLite itself would delete such a log, with all that it holds.
    """
    log, start = log_path(path), _start(path)
    if not start and log.is_file() and log.stat().st_size > HEADER_BYTES:
        raise UsageError(
            f"{log} has a part of a run, but {path.name} is "
            f"{'empty' if path.exists() else 'missing'}. Put the run file back into its "
            "folder, or start over with --new, which deletes the log."
        )
    if lacks_log(path) and not log.exists() and path.stat().st_size <= PAGE_BYTES:
        raise UsageError(
            f"{path} is empty: its data was in {log.name}, which is missing. Copy that "
            "file into the same folder, or start over with --new."
        )


def lacks_log(path: Path) -> bool:
    """Tell whether a run was not closed, by a kill or as it is being written, and has no log.

    An empty log is none: SQLite writes one when it looks at such a run.
    """
    log = log_path(path)
    has_log = log.exists() and log.stat().st_size > 0
    return _start(path)[18:20] == WRITE_AHEAD and not has_log


def log_path(path: Path) -> Path:
    return path.with_name(f"{path.name}-wal")


def _start(path: Path) -> bytes:
    try:
        with path.open("rb") as file:
            return file.read(20)
    except OSError:
        return b""

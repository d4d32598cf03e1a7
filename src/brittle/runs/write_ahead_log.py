"""SQLite's write-ahead log beside a run: NAME.sqlite-wal holds what NAME.sqlite does not have yet.

While a run is written, and after a kill, both files belong together. A run at rest has no log.
"""

from __future__ import annotations

from pathlib import Path

from brittle.errors import UsageError

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
            f"{log} holds a part of a run, but {path.name} is "
            f"{'empty' if path.exists() else 'not there'}. Put the run file back beside it, or "
            "start over with --new, which deletes the log."
        )
    if lacks_log(path) and not log.exists() and path.stat().st_size <= PAGE_BYTES:
        raise UsageError(
            f"{path} is empty: what the run had is in {log.name}, which is not there. Copy that "
            "file beside it, or start over with --new."
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

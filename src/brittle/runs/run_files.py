"""The files of a run as a whole: delete them, or give them another name.

A run is NAME.sqlite; while it is written, or after a kill, -wal and -shm stand beside it, and
NAME.asking notes what it asks. NAME.lock is its lock, NAME.inside.json what was seen inside its
target, and NAME.SAMPLE.key.json the key to what people were shown of it. A report that was written
of it is a document of the user's own and stays.
"""

from __future__ import annotations

import contextlib
import os
import sqlite3
from pathlib import Path

from brittle.errors import StoreError, UsageError
from brittle.runs.store import APPLICATION_ID, Store, inside_path, sole_writer
from brittle.runs.under_way import asking_path
from brittle.schema import is_file_name
from brittle.validity.key import key_paths

LOG_ENDINGS = ("-wal", "-shm", "-journal")
ID_OFFSET_BYTES = 68  # of the application id in the header of an SQLite file


def delete_run(path: Path) -> list[Path]:
    """Delete a run and what belongs to it; return what was deleted.

    A run that another process writes is refused, and so is a file that is no run. One that is
    damaged can be deleted.
    """
    _check_is_run(path)
    with sole_writer(path):
        deleted = [file for file in _files(path) if file.exists()]
        # The log first: of a run half deleted by a kill, the rest can be deleted again.
        for file in deleted:
            file.unlink()
    path.with_suffix(".lock").unlink(missing_ok=True)
    return deleted


def rename_run(path: Path, name: str) -> Path:
    """Give a run another name in the same folder; return its new file."""
    check_name(name)
    new = path.with_name(f"{name}.sqlite")
    _check_is_run(path)
    if new == path:
        raise UsageError(f"The run {name!r} is called that already. Choose another name.")
    with sole_writer(path), sole_writer(new):
        taken = [file for file in _files(new) if file.exists()]
        if taken:
            raise UsageError(f"There is a run {name!r} already ({taken[-1]}). Choose another name.")
        _empty_log(path)
        for file in (asking_path(path), inside_path(path), *key_paths(path), path):
            if file.exists():
                os.rename(file, new.with_name(file.name.replace(path.stem, name, 1)))
    path.with_suffix(".lock").unlink(missing_ok=True)
    return new


def check_name(name: str) -> None:
    """Refuse a name that would not be a file in the folder of the runs."""
    if not is_file_name(name) or name.endswith((".sqlite", ".study.json")):
        raise UsageError(
            f"Got {name!r} as the new name; expected one without slashes and without an ending."
        )


def _files(path: Path) -> list[Path]:
    logs = [path.with_name(path.name + end) for end in LOG_ENDINGS]
    return [*logs, asking_path(path), inside_path(path), *key_paths(path), path]


def _empty_log(path: Path) -> None:
    """Move what is in the log beside a run into its file, so that this one file is all of it."""
    try:
        with contextlib.closing(sqlite3.connect(path)) as db:
            db.execute("PRAGMA journal_mode=DELETE")
    except sqlite3.Error as error:
        raise StoreError(
            f"The run {path.stem!r} cannot be renamed: {error}. Close what reads it, and try again."
        ) from error


def _check_is_run(path: Path) -> None:
    """Refuse a file that is no run: by its header, since the rest may be damaged."""
    if not path.is_file():
        raise UsageError(f"There is no run at {path}. `brittle list runs` shows those there are.")
    if not is_marked_run(path) and Store.exists(path):
        Store.read(path).close()


def is_marked_run(path: Path) -> bool:
    """Tell whether the header of a file says that it is a run; the rest may be damaged."""
    with path.open("rb") as file:
        header = file.read(ID_OFFSET_BYTES + 4)
    return header[ID_OFFSET_BYTES:] == APPLICATION_ID.to_bytes(4, "big")

"""The files of a study as a whole: lock them, delete them, or give them another name.

A study is NAME.study.json and, beside it, the folder NAME with its runs and the results of its
tasks. NAME.study.lock is its lock. A report that was written of it stays.
"""

from __future__ import annotations

import contextlib
import json
import os
import shutil
from collections.abc import Iterator
from pathlib import Path

from brittle import files
from brittle.errors import UsageError
from brittle.runs.run_files import check_name
from brittle.runs.store import sole_writer
from brittle.studies.study_format import SUFFIX


@contextlib.contextmanager
def sole_writer_of_study(path: Path) -> Iterator[None]:
    """Be the only process that writes a study, from its first task to its file."""
    path.parent.mkdir(parents=True, exist_ok=True)
    with _lock_of(path).open("ab") as lock:
        try:
            files.lock(lock, wait=False)
        except OSError:
            raise UsageError(
                f"Another process is writing the study {_name(path)!r}. Wait for it, or choose "
                "another name with --name."
            ) from None
        yield


def delete_study(path: Path) -> list[Path]:
    """Delete a study with its folder; return what was deleted.

    It is refused while another process writes the study or one of its runs.
    """
    with _all_locked(path):
        deleted = [part for part in (_folder(path), path) if part.exists()]
        if _folder(path).is_dir():
            shutil.rmtree(_folder(path))
        path.unlink()
    _lock_of(path).unlink(missing_ok=True)
    return deleted


def rename_study(path: Path, name: str) -> Path:
    """Give a study another name in the same folder; return its new file."""
    check_name(name)
    new = path.with_name(f"{name}{SUFFIX}")
    for taken in (new, _folder(new)):
        if taken.exists():
            raise UsageError(f"{taken} is there already. Choose another name.")
    with _all_locked(path):
        content = json.loads(path.read_text("utf-8"))
        files.write_whole(new, json.dumps(content | {"name": name}, ensure_ascii=False) + "\n")
        if _folder(path).is_dir():
            os.rename(_folder(path), _folder(new))
        path.unlink()
    _lock_of(path).unlink(missing_ok=True)
    return new


@contextlib.contextmanager
def _all_locked(path: Path) -> Iterator[None]:
    """Hold the lock of a study, and those of the runs in its folder."""
    with contextlib.ExitStack() as locks:
        locks.enter_context(sole_writer_of_study(path))
        for run in sorted(_folder(path).rglob("*.sqlite")):
            locks.enter_context(sole_writer(run))
        yield


def _name(path: Path) -> str:
    return path.name.removesuffix(SUFFIX)


def _folder(path: Path) -> Path:
    return path.with_name(_name(path))


def _lock_of(path: Path) -> Path:
    return path.with_name(f"{_name(path)}.study.lock")

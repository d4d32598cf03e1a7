"""The files of a study as a whole: lock them, delete them, or give them another name.

A study is NAME.study.json and, beside it, the folder NAME with its runs and the results of its
tasks. NAME.study.lock is its lock. A report that was written of it stays.

The folder carries a marker, a file that names the study. It is written when the study makes its
folder, and never into one that holds anything else. A folder without it is deleted and renamed
with the study only if it is one of the time before there were markers. That is recognised by its
contents: it holds nothing but files that studies write, and the study names one of the runs, or one
of the cases, in it. Every other folder of that name is somebody else's, and stays.
"""

from __future__ import annotations

import contextlib
import json
import logging
import os
import re
import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from brittle import files
from brittle.errors import UsageError
from brittle.runs.run_files import check_name, is_marked_run
from brittle.runs.store import sole_writer
from brittle.schema import Malformed, load_json
from brittle.studies.former_studies import in_present_layout
from brittle.studies.study import FORMAT, SUFFIX, load_content, save_content

log = logging.getLogger(__name__)

MARKER = ".brittle-study.json"
CASES = "cases.jsonl"
WRITTEN = re.compile(
    r"""
    [^/]+\.sqlite (-wal | -shm | -journal)?     # a run
    | [^/]+\.lock                               # its lock
    | [^/]+\.inside\.json                       # what was seen inside its target
    | [^/]+\.[0-9a-f]{12}\.key\.json            # the key to what people were shown of it
    | tasks/[^/]+\.json                         # the result of a task
    | labels/[^/]+\.jsonl                       # labels that a target has predicted
    | cases\.jsonl                              # the cases of a robustness study
    | (.+/)?[^/]+\.[0-9a-f]{8}\.new             # one of these that was not finished
    """,
    re.VERBOSE,
)
"""The paths, in the folder of a study, that studies write."""


@contextlib.contextmanager
def sole_writer_of_study(path: Path) -> Iterator[None]:
    """Be the only process that writes a study, from its first task to its file; mark its folder."""
    with _locked(path):
        _mark_folder(path)
        yield


@contextlib.contextmanager
def _locked(path: Path) -> Iterator[None]:
    try:
        files.make_private_folder(path.parent)
        lock = files.open_private(_lock_of(path))
    except OSError as error:
        raise UsageError(
            f"Studies cannot be written to {path.parent}: {error}. Choose another folder with "
            "--runs."
        ) from error
    with lock:
        try:
            files.lock(lock, wait=False)
        except OSError:
            raise UsageError(
                f"Another process is writing the study {_name(path)!r}. Wait for it, or choose "
                "another name with --name."
            ) from None
        yield


def delete_study(path: Path) -> list[Path]:
    """Delete a study with its own folder; return what was deleted.

    It is refused while another process writes the study or one of its runs.
    """
    with _all_locked(path) as folder:
        if folder is not None:
            _delete_folder(folder)
        path.unlink()
    _lock_of(path).unlink(missing_ok=True)
    return [path] if folder is None else [folder, path]


def rename_study(path: Path, name: str) -> Path:
    """Give a study, and its own folder, another name in the same place; return its new file."""
    check_name(name)
    new = path.with_name(f"{name}{SUFFIX}")
    for taken in (new, _folder(new)):
        if os.path.lexists(taken):
            raise UsageError(f"{taken} is there already. Choose another name.")
    try:
        content = load_content(path)
    except (OSError, Malformed) as error:
        raise UsageError(f"{path} is no study: {error}. Only whole studies are renamed.") from error
    with _all_locked(path) as folder:
        save_content(content | {"name": name}, new)
        if folder is not None:
            os.rename(folder, _folder(new))
            _write_marker(new)
        path.unlink()
    _lock_of(path).unlink(missing_ok=True)
    return new


def own_folder(path: Path) -> Path | None:
    """Return the folder of a study, if it is the study's own: by its marker, or its contents."""
    folder = _folder(path)
    if folder.is_symlink() or not folder.is_dir():
        return None
    return folder if _is_marked(path) or _is_recognised(path) else None


def others_folder(path: Path) -> Path | None:
    """Return what stands in the place of a study's folder, and is not its own; None if nothing."""
    there = os.path.lexists(_folder(path)) and own_folder(path) is None
    return _folder(path) if there else None


@contextlib.contextmanager
def _all_locked(path: Path) -> Iterator[Path | None]:
    """Hold the lock of a study, and those of the runs in its own folder, which is yielded."""
    with contextlib.ExitStack() as locks:
        locks.enter_context(_locked(path))
        folder = own_folder(path)
        for run in sorted(folder.rglob("*.sqlite")) if folder is not None else ():
            locks.enter_context(sole_writer(run))
        yield folder


def _mark_folder(path: Path) -> None:
    """Make the folder of a study with its marker; one that holds something else gets none."""
    folder = _folder(path)
    if not os.path.lexists(folder):
        files.make_private_folder(folder)
    elif own_folder(path) is None and (not folder.is_dir() or any(folder.iterdir())):
        log.warning(
            "%s was there before the study, and holds other files: it stays when the study is "
            "deleted or renamed.",
            folder,
        )
        return
    if folder.is_dir() and not folder.is_symlink() and not _is_marked(path):
        _write_marker(path)


def _write_marker(path: Path) -> None:
    content = json.dumps({"study": _name(path)})
    files.write_whole(_folder(path) / MARKER, f"{content}\n", private=True)


def _is_marked(path: Path) -> bool:
    marker = _folder(path) / MARKER
    try:
        return marker.is_file() and load_json(marker) == {"study": _name(path)}
    except (OSError, Malformed):
        return False


def _is_recognised(path: Path) -> bool:
    """Tell whether a folder without a marker is the study's own, strictly by its contents."""
    folder = _folder(path)
    names = set()
    for file in folder.rglob("*"):
        name = file.relative_to(folder).as_posix()
        is_written = WRITTEN.fullmatch(name) is not None and file.is_file()
        is_folder = name in ("tasks", "labels") and file.is_dir()
        is_run = not name.endswith(".sqlite") or (is_written and is_marked_run(file))
        is_own_marker = name == MARKER and file.is_file()
        if file.is_symlink() or not is_run or not (is_written or is_folder or is_own_marker):
            return False
        names.add(name)
    try:
        runs, cases = _named_in(load_content(path))
        return bool(runs & names) or (CASES in names and bool(cases & _cases_in(folder / CASES)))
    except (OSError, *files.DAMAGED):
        return False


def _named_in(content: dict[str, Any]) -> tuple[set[str], set[str]]:
    """Return the files of runs, and the ids of cases, that the fields of a study name."""
    results = in_present_layout(content, FORMAT).get("results", {})
    cells = [cell for cells in results.get("cells", {}).values() for cell in cells.values()]
    runs = {*results.get("runs", {}).values(), *(cell["run"] for cell in cells)}
    return runs, {case["case"] for case in results.get("cases", ())}


def _cases_in(journal: Path) -> set[str]:
    _, *lines = journal.read_text("utf-8").split("\n")
    return {json.loads(line)["case"] for line in lines[:-1]}


def _delete_folder(folder: Path) -> None:
    """Delete a folder, its marker last: after a kill the rest is still the study's own."""
    for entry in folder.iterdir():
        if entry.is_dir() and not entry.is_symlink():
            shutil.rmtree(entry)
        elif entry.name != MARKER:
            entry.unlink()
    shutil.rmtree(folder)


def _name(path: Path) -> str:
    return path.name.removesuffix(SUFFIX)


def _folder(path: Path) -> Path:
    return path.with_name(_name(path))


def _lock_of(path: Path) -> Path:
    return path.with_name(f"{_name(path)}.study.lock")

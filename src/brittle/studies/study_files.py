"""The files of studies, and how a study is carried out: name, lock, tasks, what it may replace.

The files of a study as a whole: lock them, delete them, or give them another name.

A study is NAME.study.json and, beside it, the folder NAME with its runs and the results of its
tasks. NAME.study.lock is its lock. A report that was written of it stays.

The folder carries a marker, a file that names the study. It is written when the study makes its
folder, and never into one that holds anything else. A folder without it is deleted and renamed
with the study only if it is one of the time before there were markers. That is recognised by its
contents: it holds nothing but files that studies write, and the study names one of the runs, or one
of the cases, in it. Every other folder of that name is somebody else's, and stays.

Carry out a study of any kind: its name, its lock, its tasks, its file, and what it replaces.
"""

from __future__ import annotations

import contextlib
import hashlib
import json
import logging
import os
import re
import shutil
import time
from collections.abc import Callable, Iterable, Iterator, Mapping
from functools import partial
from pathlib import Path
from typing import Any, TypeVar

from brittle.errors import UsageError
from brittle.runs.resuming import check_name, is_marked_run
from brittle.runs.store import sole_writer
from brittle.safety import files
from brittle.safety.schema import Malformed, is_file_name, load_json
from brittle.studies.study import (
    FORMAT,
    SUFFIX,
    Study,
    in_present_layout,
    kind_named,
    load_content,
    load_study,
    save_content,
    stored_kind,
)
from brittle.workflow.backends import Workers
from brittle.workflow.running import run_tasks
from brittle.workflow.tasks import Report

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
    | labels/[^/]+\.jsonl                       # labels or scores that a target has answered
    | cases\.jsonl                              # the cases of a robustness study
    | (.+/)?[^/]+\.[0-9a-f]{8}\.new             # one of these that was not finished
    """,
    re.VERBOSE,
)
"""The paths that studies write in their folder."""


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
            raise UsageError(f"{taken} already exists. Choose another name.")
    try:
        content = load_content(path)
    except (OSError, Malformed) as error:
        raise UsageError(
            f"{path} is not a study: {error}. Only complete studies can be renamed."
        ) from error
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
            "%s existed before the study and has other files: brittle keeps it when the "
            "study is deleted or renamed.",
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


F = TypeVar("F")
R = TypeVar("R")
MAX_WORD_CHARACTERS = 80
RunTasks = Callable[..., dict[str, Any]]
"""Runs the tasks that have no result yet; returns all results by the names of the tasks."""


def carry_out(
    kind: str,
    name: str,
    folder: Path,
    measure: Callable[[Path], Study[F, R]],
    *,
    facts: F | None = None,
    differs: Callable[[Study[F, R]], str | None] = lambda stored: None,
) -> Study[F, R]:
    """Measure a study under its name, and store it in `folder`.

    `measure` is given the folder of the study, in which it keeps what is done: a study that was
    stopped goes on. With `facts` a stored study of that name is only replaced if those that its
    kind holds fixed are the same; `differs` may name something else that is not.
    """
    if not is_file_name(name):
        raise UsageError(f"Got {name!r} as the study's name; expected a name without slashes.")
    path = folder / f"{name}{SUFFIX}"
    if facts is not None and path.is_file():
        _refuse_other(kind, name, path, facts, differs)
    with sole_writer_of_study(path):
        study = measure(folder / name)
        study.save(path)
    return study


def default_name(words: Iterable[str], about: Any) -> str:
    """Build a study's name from words for people, and a digest of what it is about.

    >>> default_name(["grid", "small", "my data"], [0])
    'grid-small-my-data-d0bca1'
    """
    digest = hashlib.sha256(json.dumps(about, sort_keys=True).encode()).hexdigest()[:6]
    joined = re.sub(r"[^A-Za-z0-9.@]+", "-", "-".join(words)).strip("-.")
    return f"{joined[:MAX_WORD_CHARACTERS]}-{digest}"


def task_runner(folder: Path, backend: Workers | None, report: Report) -> RunTasks:
    """Return the function that runs the tasks of a study in its folder, in one count of them."""
    start = time.monotonic()
    run: RunTasks = partial(run_tasks, folder=folder, report=report, backend=backend, start=start)
    return run


def backend_for(
    live: Mapping[str, Any], name: str, workers: int | None, address: str | None
) -> Workers:
    """Return where tasks run; live targets run in this process alone."""
    where = Workers(workers, name, address)
    if live and where != Workers():
        raise UsageError(
            f"Got {workers} workers ({name}) and the live target "
            f"{next(iter(live.values())).name!r}, which exists only in this process. Use "
            "workers=1, or give every target as a spec."
        )
    return where


def _refuse_other(
    kind: str, name: str, path: Path, facts: Any, differs: Callable[[Any], str | None]
) -> None:
    """Refuse the name of a stored study of another kind, or about something else."""
    remedy = f"Choose another name (--name), or delete {path}."
    if (own := stored_kind(path)) != kind:
        raise UsageError(f"The study {name!r} already exists, of the kind {own}. {remedy}")
    try:
        load_content(path)
    except (OSError, Malformed):  # nothing is there that could be lost
        return
    stored = load_study(path, kind)
    fixed = kind_named(kind).fixed
    now = fixed(facts)
    for fact, old in fixed(stored.facts).items():
        if json.dumps(now.get(fact)) != json.dumps(old):
            raise UsageError(
                f"The study {name!r} already exists with other settings: {fact} {old}, "
                f"now {now.get(fact, 'left out')}. {remedy}"
            )
    if (what := differs(stored)) is not None:
        raise UsageError(f"The study {name!r} already exists with other {what}. {remedy}")

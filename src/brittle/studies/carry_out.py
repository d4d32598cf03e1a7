"""Carry out a study of any kind: its name, its lock, its tasks, its file, and what it replaces."""

from __future__ import annotations

import hashlib
import json
import re
import time
from collections.abc import Callable, Iterable, Mapping
from functools import partial
from pathlib import Path
from typing import Any, TypeVar

from brittle.errors import UsageError
from brittle.schema import Malformed, is_file_name
from brittle.studies.study import (
    SUFFIX,
    Study,
    kind_named,
    load_content,
    load_study,
    stored_kind,
)
from brittle.studies.study_files import sole_writer_of_study
from brittle.workflow.backends import Workers
from brittle.workflow.running import run_tasks
from brittle.workflow.tasks import Report

F = TypeVar("F")
R = TypeVar("R")
MAX_WORD_CHARACTERS = 80
RunTasks = Callable[..., dict[str, Any]]
"""Runs tasks that have no result yet; returns the results of all, by the tasks' names."""


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
        raise UsageError(f"Got {name!r} as the study's name; expected one without slashes.")
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
            f"{next(iter(live.values())).name!r}, which only this process has. Use workers=1, or "
            "name every target by a spec."
        )
    return where


def _refuse_other(
    kind: str, name: str, path: Path, facts: Any, differs: Callable[[Any], str | None]
) -> None:
    """Refuse the name of a stored study of another kind, or about something else."""
    remedy = f"Choose another name (--name), or delete {path}."
    if (own := stored_kind(path)) != kind:
        raise UsageError(f"The study {name!r} is there, of the kind {own}. {remedy}")
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
                f"The study {name!r} is there with other settings: {fact} {old}, now "
                f"{now.get(fact, 'left out')}. {remedy}"
            )
    if (what := differs(stored)) is not None:
        raise UsageError(f"The study {name!r} is there with other {what}. {remedy}")

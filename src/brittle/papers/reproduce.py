"""From an order to a page: what is left to do is done, and the page written from what is kept."""

from __future__ import annotations

import importlib
import json
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from brittle.errors import UsageError, unknown
from brittle.papers import PAPERS, SCALES
from brittle.papers.order import Paper, PaperRequest, PaperResults
from brittle.papers.page import read_notes, write
from brittle.workflow.processes import run_tasks
from brittle.workflow.tasks import Report, Task, load_result, select_tasks

DEFAULT_DATA = {"imdb": "imdb"}
WITH_WORDS = ("hotflip",)


@dataclass(frozen=True)
class Reproduced:
    """What came of it: the page, unless steps are `left`, and its figures."""

    page: Path | None
    figures: Mapping[str, Any]
    left: tuple[str, ...] = ()


def order_of(
    name: str,
    scale: str,
    data: str | None,
    words: str | None = None,
    cases: int | None = None,
    seed: int = 0,
) -> PaperRequest:
    """Check what is asked for, and fill in a paper's own data."""
    if name not in PAPERS:
        raise unknown("paper", name, PAPERS)
    if scale not in SCALES:
        raise unknown("scale", scale, SCALES)
    data = data or DEFAULT_DATA.get(name)
    if data is None:
        raise UsageError(
            f"The paper {name!r} is about data that brittle cannot install. Name a folder with its "
            "train and test files: --data FOLDER."
        )
    if words and name not in WITH_WORDS:
        raise UsageError(f"--words is for {', '.join(WITH_WORDS)}; {name!r} has no use for it.")
    return PaperRequest(name, scale, data, words, cases, seed)


def reproduce(
    order: PaperRequest,
    place: Path,
    out: Path,
    *,
    only: str | None = None,
    jobs: int = 1,
    say: Report = lambda message: None,
) -> Reproduced:
    """Do what is left of an order and write its page into a folder.

    Everything done is kept in `folder`: the same order goes on from wherever it was. With `only` a
    step and those it needs are done, and the page is written if that was all there was to do.
    """
    paper = _paper(order.paper)
    tasks = paper.plan(order)
    results = run_tasks(select_tasks(tasks, only), place, say, jobs)
    left = [] if only is None else _left(tasks, place, results)
    if left:
        return Reproduced(None, {only: results[only]} if only else {}, tuple(left))
    seconds = sum(_seconds(task, place) for task in tasks)
    notes = read_notes(out / f"{order.paper}.notes.md")
    page = paper.page(PaperResults(order, place, results, notes, seconds))
    return Reproduced(write(page, out, order.paper), page.figures)


def _paper(name: str) -> Paper:
    plan = importlib.import_module(f"brittle.papers.{name}.plan").plan
    page = importlib.import_module(f"brittle.papers.{name}.page").page
    return Paper(name, plan, page)


def _left(tasks: Any, place: Path, results: dict[str, Any]) -> list[str]:
    """List the steps that are not done; the results of the others are added."""
    left = []
    for task in tasks:
        if task.name in results:
            continue
        result = load_result(task, place, results) if set(task.needs) <= set(results) else None
        if result is None:
            left.append(task.name)
        else:
            results[task.name] = result
    return left


def _seconds(task: Task, place: Path) -> float:
    return float(json.loads(task.file(place).read_text("utf-8"))["seconds"])

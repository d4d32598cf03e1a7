"""From a request to a page: run the tasks that have no result yet, then write the page."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from brittle.errors import UsageError, unknown
from brittle.workflow.backends import Workers
from brittle.workflow.running import run_tasks
from brittle.workflow.tasks import Report, load_results, load_seconds, select_tasks
from brittle_papers import PAPERS, SCALES
from brittle_papers.page import load_notes, write_page
from brittle_papers.paper import build_page, load_paper, plan_of
from brittle_papers.request import PaperRequest
from brittle_papers.spec import load_spec


@dataclass(frozen=True)
class Reproduced:
    """The path of the page and its figures; there is no page while tasks are `left`."""

    page: Path | None
    figures: Mapping[str, Any]
    left: tuple[str, ...] = ()


def build_request(
    name: str,
    scale: str,
    data: str | None,
    cases: int | None = None,
    seed: int = 0,
    **further: str | None,
) -> PaperRequest:
    """Check the parts of a request; without data it is the paper's own."""
    spec = load_spec(load_paper(name).name)
    if scale not in SCALES:
        raise unknown("scale", scale, SCALES)
    data = data or spec.data
    if data is None:
        raise UsageError(
            f"The paper {name!r} is about data that brittle cannot install. Name a folder with its "
            "train and test files: --data FOLDER."
        )
    for flag, source in further.items():
        if source and flag not in spec.takes:
            names = ", ".join(other for other in PAPERS if flag in load_spec(other).takes)
            raise UsageError(f"--{flag} is for {names}; {name!r} has no use for it.")
    return PaperRequest(name, scale, data, cases=cases, seed=seed, **further)


def reproduce(
    request: PaperRequest,
    folder: Path,
    out: Path,
    *,
    only: str | None = None,
    backend: Workers | None = None,
    report: Report = lambda message: None,
) -> Reproduced:
    """Run the tasks of a request that have no result yet, and write its page into `out`.

    All results are stored in `folder`: the same request goes on from there. With `only`, that task
    and those that it needs are run, and the page is written if no other task is left.
    """
    paper = load_paper(request.paper)
    tasks = plan_of(paper, request)
    results = run_tasks(select_tasks(tasks, only), folder, report, backend)
    results = load_results(tasks, folder) | results
    left = tuple(task.name for task in tasks if task.name not in results)
    if left:
        return Reproduced(None, {only: results[only]} if only else {}, left)
    seconds = sum(load_seconds(task, folder) for task in tasks)
    notes = load_notes(out / f"{request.paper}.notes.md")
    page = build_page(paper, paper.results(request, folder, results), notes, seconds)
    return Reproduced(write_page(page, out, request.paper), page.figures)

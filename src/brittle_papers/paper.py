"""A paper as a command: its tasks, run where they have no result, and its page.

A paper as a command: its tasks, and how its page is built from their results. From a request to a
page: run the tasks that have no result yet, then write the page.
"""

from __future__ import annotations

import importlib
from collections import ChainMap
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from string import Formatter
from typing import Any, Generic, TypeVar

from brittle.errors import UsageError, unknown
from brittle.formatting import duration
from brittle.workflow.backends import Workers
from brittle.workflow.running import run_tasks
from brittle.workflow.tasks import Report, Task, load_results, load_seconds, select_tasks
from brittle_papers import PAPERS, SCALES, TRIAL
from brittle_papers.claims import (
    GUESS,
    Judge,
    count_findings,
    format_checks,
    format_reasons,
    table_findings,
)
from brittle_papers.data import source_digest
from brittle_papers.declared import add_table, judge_claims
from brittle_papers.page import PaperPage, format_table, load_notes, write_page
from brittle_papers.planning import plan_tasks
from brittle_papers.results import PaperResults
from brittle_papers.spec import FURTHER_DATA, PaperRequest, load_spec, paper_folder

F = TypeVar("F", bound=PaperResults)

READING = (
    "Every figure of ours stands with its 95% interval (Wilson for rates, bootstrap for means, "
    "Newcombe for paired differences, with the exact McNemar p) and what it is over. A finding "
    "*agrees* if the whole interval lies where the paper says, *disagrees* if it lies wholly "
    "elsewhere, and is *undecided* in between; a paired difference with p of 0.05 or more is "
    f"*undecided* too. A reason is tested by tasks, is {GUESS} with a command that would test it, "
    "or is unknown. "
    "What holds by construction is listed apart, as a check of our code."
)
TRIAL_NOTE = (
    f"**This page is a trial of the command, not a result.** At the scale `{TRIAL}` small models, "
    "trained for seconds, stand under the names of the paper's, and there are too few cases to "
    "judge anything by."
)
TRAINED_ONCE = (
    "Each model is trained once, with one seed: a difference between two models holds for these "
    "two, and the intervals do not show how much another training would change it."
)


FINDINGS = ("finding", "paper", "here", "verdict", "reason tested")
Values = Mapping[str, Any]


@dataclass(frozen=True)
class Paper(Generic[F]):
    """What a paper has in Python beside its paper.toml: only what is odd in it.

    `results` reads the figures that tables and claims name. `parts` build those parts of the page
    that are more than a section and a table, `judges` those verdicts that are more than a rule for
    figures; both by their name in the file. `values` computes what the tasks name as $NAME and is
    neither a size nor a part of the request.
    """

    name: str
    results: Callable[[PaperRequest, Path, Mapping[str, Any]], F]
    parts: Mapping[str, Callable[[PaperPage, F], None]] = field(default_factory=dict)
    judges: Mapping[str, Judge[F]] = field(default_factory=dict)
    values: Callable[[PaperRequest, Values], Values] | None = None


def load_paper(name: str) -> Paper[Any]:
    """Return a paper by its name."""
    if name not in PAPERS:
        raise unknown("paper", name, PAPERS)
    module = importlib.import_module(f"brittle_papers.{paper_folder(name)}.page")
    paper: Paper[Any] = module.PAPER
    return paper


def plan_of(paper: Paper[Any], request: PaperRequest) -> Sequence[Task]:
    """List the tasks of a request, each after those that it needs."""
    return plan_tasks(load_spec(paper.name), values_of(paper, request))


def values_of(paper: Paper[Any], request: PaperRequest) -> dict[str, Any]:
    """Return what the tasks may name: sizes of the scale, the request, and example texts.

    `cases` is the number that the request asks for, or that of the scale. `content of data` is the
    digest of the files: with another content it is another task.
    """
    spec = load_spec(paper.name)
    values: dict[str, Any] = {**spec.scale(request.scale).sizes, "none": None}
    values["cases"], values["seed"] = request.cases or values.get("cases"), request.seed
    for name in ("data", *FURTHER_DATA):
        values[name] = source = getattr(request, name)
        values[f"content of {name}"] = partial(source_digest, source)
    values |= {f"examples of {name}": [*texts] for name, texts in spec.examples.items()}
    return {**values, **(paper.values(request, values) if paper.values else {})}


def build_page(paper: Paper[F], found: F, notes: Mapping[str, str], seconds: float) -> PaperPage:
    """Build the page: command and findings, the sections of the paper, and what differs.

    `notes` are texts by the key of their finding; that under "" stands above the findings. A figure
    of the page stands in them as {TABLE/ROW/COLUMN}.
    """
    text = load_spec(found.request.paper)
    named: Any = found  # a ChainMap only looks names up, and results have that
    page = PaperPage(text, ChainMap(dict(text.scale(found.request.scale).sizes), named))
    for part in text.page:
        add_part(page, part, paper, found)
    findings = judge_claims(found, text.claims, paper.judges)
    shown = {"", *(finding.key for finding in findings)}
    notes = {key: page.fill(note) for key, note in notes.items() if key in shown}
    checks, sections, page.parts = format_checks(findings), page.parts, []
    page.add(
        TRIAL_NOTE if found.request.scale == TRIAL else "",
        "## Findings",
        count_findings(findings),
        format_table(FINDINGS, table_findings(findings, notes), of_words=True),
        "## Reasons",
        format_reasons(findings, notes, f"{found.request.paper}.notes.md"),
        f"## Checks of our code\n\n{checks}" if checks else "",
        "## How it was measured",
        f"The paper: {text.reference}",
        text.protocol,
        f"Written by this command, at the scale `{found.request.scale}`, from stored runs; the "
        f"tasks took {duration(seconds)} of work in all:",
        f"```text\n{found.request.command()}\n```",
        f"{READING} {text.trainings or TRAINED_ONCE}",
        notes.get("", ""),
        *sections,
        "## What differs",
        format_differences(text.differences, found),
    )
    for finding in findings:
        values = {name: getattr(finding, name) for name in ("claim", "verdict", "evidence")}
        page.record(["findings", finding.key], values)
    return page


def add_part(page: PaperPage, part: str | Mapping[str, str], paper: Paper[F], found: F) -> None:
    """Add a part of the page; one `when` a task was run is left out where it was not.

    A part without a function in Python is its section, and the table of its name if there is one.
    """
    name = part if isinstance(part, str) else part["part"]
    if not isinstance(part, str) and part["when"] not in found.results:
        return
    if name in paper.parts:
        paper.parts[name](page, found)
        return
    page.add_section(name)
    if "columns" in page.spec.tables.get(name, {}):
        add_table(page, name, found)


def format_differences(pairs: Mapping[str, Sequence[str]], found: PaperResults) -> str:
    """Format settings of the paper beside ours; rows of tasks that were not run are left out."""
    rows = []
    for name, (paper, ours) in pairs.items():
        fields = [field for _, field, _, _ in Formatter().parse(ours) if field]
        if found.results.keys() >= {field.partition("[")[0] for field in fields}:
            rows.append([name, paper, ours.format_map(found)])
    return format_table(["setting", "paper", "here"], rows, of_words=True)


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
            f"The paper {name!r} needs data that brittle cannot install. Give a folder "
            "with its train and test files: --data FOLDER."
        )
    for flag, source in further.items():
        if source and flag not in spec.takes:
            names = ", ".join(other for other in PAPERS if flag in load_spec(other).takes)
            raise UsageError(f"--{flag} works only with {names}, not with {name!r}. Leave it out.")
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

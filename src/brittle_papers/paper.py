"""A paper as a command: what each paper offers, and how its page is built from that."""

from __future__ import annotations

import importlib
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from string import Formatter
from typing import Any, Generic, TypeVar

from brittle.errors import unknown
from brittle.formatting import duration
from brittle.workflow.tasks import Task
from brittle_papers import PAPERS, TRIAL
from brittle_papers.claims import GUESS, Finding, Judge, format_findings
from brittle_papers.page import Page, format_table
from brittle_papers.request import PaperRequest
from brittle_papers.results import PaperResults
from brittle_papers.text import load_text, paper_folder

F = TypeVar("F", bound=PaperResults)

READING = (
    "Every figure of ours stands with its 95% interval (Wilson for rates, bootstrap for means, "
    "Newcombe for paired differences, with the exact McNemar p) and what it is over. A finding "
    "*agrees* if the whole interval lies where the paper says, *disagrees* if it lies wholly "
    "elsewhere, and is *undecided* in between; a paired difference with p of 0.05 or more is "
    f"*undecided* too. A reason is tested by tasks, which stand with it, or is marked as {GUESS}."
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


@dataclass(frozen=True)
class Paper(Generic[F]):
    """What a paper offers beside its words: its tasks, and what its page shows of their results.

    `judges` are by the key of their claim. `data` is used if the request names none; `takes` are
    the further data that it can use. `trainings` says how often each model is trained.
    """

    plan: Callable[[PaperRequest], Sequence[Task]]
    found: Callable[[PaperRequest, Path, Mapping[str, Any]], F]
    add_sections: Callable[[Page, F], None]
    judges: Mapping[str, Judge[F]]
    data: str | None = None
    takes: tuple[str, ...] = ()
    trainings: str = TRAINED_ONCE


def load_paper(name: str) -> Paper[Any]:
    """Return a paper by its name."""
    if name not in PAPERS:
        raise unknown("paper", name, PAPERS)
    paper: Paper[Any] = importlib.import_module(f"brittle_papers.{paper_folder(name)}.page").PAPER
    return paper


def judge_claims(paper: Paper[F], found: F, claims: Mapping[str, Any]) -> list[Finding]:
    """Judge the claims of a paper; those whose tasks were not run are left out."""
    findings = []
    for key, claim in claims.items():
        judgement = paper.judges[key](found)
        if judgement is not None:
            tests = tuple(claim.get("tests", ()))
            findings.append(Finding(key, claim["text"], *judgement, tests))
    return findings


def build_page(paper: Paper[F], found: F, notes: Mapping[str, str], seconds: float) -> Page:
    """Build the page: command and findings, the sections of the paper, and what differs.

    `notes` are texts by the key of their finding; that under "" stands above the findings. A figure
    of the page stands in them as {TABLE/ROW/COLUMN}.
    """
    text = load_text(found.request.paper)
    page = Page(text)
    paper.add_sections(page, found)
    findings = judge_claims(paper, found, text.claims)
    shown = {"", *(finding.key for finding in findings)}
    notes = {key: page.fill(note) for key, note in notes.items() if key in shown}
    counts = {v: sum(f.verdict == v for f in findings) for v in ("agrees", "disagrees")}
    sections, page.parts = page.parts, []
    page.add(
        TRIAL_NOTE if found.request.scale == TRIAL else "",
        f"The paper: {text.reference}",
        text.protocol,
        f"Written by this command, at the scale `{found.request.scale}`, from stored runs; the "
        f"tasks took {duration(seconds)} of work in all:",
        f"```text\n{found.request.command()}\n```",
        f"{READING} {paper.trainings}",
        notes.get("", ""),
        "## Findings",
        f"{counts['agrees']} of {len(findings)} agree with the paper, {counts['disagrees']} "
        f"disagree, {len(findings) - sum(counts.values())} are undecided.",
        format_findings(findings, notes, f"{found.request.paper}.notes.md"),
        *sections,
        "## What differs",
        format_differences(text.differences, found),
    )
    for finding in findings:
        values = {name: getattr(finding, name) for name in ("claim", "verdict", "evidence")}
        page.record(["findings", finding.key], values)
    return page


def format_differences(pairs: Mapping[str, Sequence[str]], found: PaperResults) -> str:
    """Format settings of the paper beside ours; rows of tasks that were not run are left out."""
    rows = []
    for name, (paper, ours) in pairs.items():
        fields = [field for _, field, _, _ in Formatter().parse(ours) if field]
        if found.results.keys() >= {field.partition("[")[0] for field in fields}:
            rows.append([name, paper, ours.format_map(found)])
    return format_table(["setting", "paper", "here"], rows, of_words=True)

"""A paper as a command: what each paper offers, and how its page is built from that."""

from __future__ import annotations

import importlib
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Generic, TypeVar

from brittle.errors import unknown
from brittle.formatting import duration
from brittle.papers import PAPERS
from brittle.papers.claims import Finding, Judgement, format_findings
from brittle.papers.page import Page, format_settings
from brittle.papers.request import PaperRequest
from brittle.papers.results import PaperResults
from brittle.workflow.tasks import Task

F = TypeVar("F", bound=PaperResults)

READING = (
    "Every figure of ours stands with its 95% interval (Wilson for rates, bootstrap for means, "
    "Newcombe for paired differences, with the exact McNemar p) and what it is over. A finding "
    "*agrees* if the whole interval lies where the paper says, *disagrees* if it lies wholly "
    "elsewhere, and is *undecided* in between."
)


@dataclass(frozen=True)
class Paper(Generic[F]):
    """What a paper offers: its tasks, and what its page shows of their results.

    `claims` and `judgements` share their keys; a claim without a judgement is left out.
    `differences` are settings of the paper beside ours. `data` is used if the request names none.
    """

    title: str
    plan: Callable[[PaperRequest], Sequence[Task]]
    found: Callable[[PaperRequest, Path, Mapping[str, Any]], F]
    add_sections: Callable[[Page, F], None]
    claims: Mapping[str, str]
    judgements: Callable[[F], Mapping[str, Judgement]]
    differences: Callable[[F], Mapping[str, tuple[Any, Any]]]
    data: str | None = None
    takes_words: bool = False


def load_paper(name: str) -> Paper[Any]:
    """Return a paper by its name."""
    if name not in PAPERS:
        raise unknown("paper", name, PAPERS)
    paper: Paper[Any] = importlib.import_module(f"brittle.papers.{name}.page").PAPER
    return paper


def build_page(paper: Paper[F], found: F, notes: Mapping[str, str], seconds: float) -> Page:
    """Build the page: command and findings, the sections of the paper, and what differs.

    `notes` are texts by the key of their finding; that under "" stands above the findings.
    """
    page = Page(paper.title)
    judgements = paper.judgements(found).items()
    findings = [Finding(key, paper.claims[key], *judgement) for key, judgement in judgements]
    counts = {v: sum(f.verdict == v for f in findings) for v in ("agrees", "disagrees")}
    page.add(
        f"Written by this command, at the scale `{found.request.scale}`, from stored runs; the "
        f"tasks took {duration(seconds)} of work in all:",
        f"```text\n{found.request.command()}\n```",
        READING,
        notes.get("", ""),
        "## Findings",
        f"{counts['agrees']} of {len(findings)} agree with the paper, {counts['disagrees']} "
        f"disagree, {len(findings) - sum(counts.values())} are undecided.",
        format_findings(findings, notes, f"{found.request.paper}.notes.md"),
    )
    paper.add_sections(page, found)
    page.add("## What differs", format_settings(paper.differences(found)))
    for finding in findings:
        values = {name: getattr(finding, name) for name in ("claim", "verdict", "evidence")}
        page.record(["findings", finding.key], values)
    return page

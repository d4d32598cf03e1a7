"""What every page has around its figures: how it was made, findings, differences, notes."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from brittle.formatting import duration
from brittle.papers.findings import Finding, format_findings
from brittle.papers.order import PaperResults
from brittle.papers.page import Page, settings_table

READING = (
    "Every figure of ours stands with its 95% interval (Wilson for rates, bootstrap for means, "
    "Newcombe for paired differences, with the exact McNemar p) and what it is over. A finding "
    "*agrees* if the whole interval lies where the paper says, *disagrees* if it lies wholly "
    "elsewhere, and is *undecided* in between."
)


def finished(
    page: Page,
    made: PaperResults,
    findings: Sequence[Finding],
    differences: Mapping[str, tuple[Any, Any]],
) -> Page:
    """Put around a page's figures how it was made and what follows from them."""
    file = f"{made.order.paper}.notes.md"
    head = [
        f"Written by this command, at the scale `{made.order.scale}`, from stored runs; the steps "
        f"took {duration(made.seconds)} of work in all:",
        f"```text\n{made.order.command()}\n```",
        READING,
    ]
    if made.notes.get(""):
        head.append(made.notes[""])
    page.figures["findings"] = {
        f.key: {"claim": f.claim, "verdict": f.verdict, "evidence": f.evidence} for f in findings
    }
    counts = {v: sum(f.verdict == v for f in findings) for v in ("agrees", "disagrees")}
    page.parts[:0] = [
        *head,
        "## Findings",
        f"{counts['agrees']} of {len(findings)} agree with the paper, {counts['disagrees']} "
        f"disagree, {len(findings) - sum(counts.values())} are undecided.",
        format_findings(findings, dict(made.notes), file),
    ]
    page.add("## What differs", settings_table(differences))
    return page

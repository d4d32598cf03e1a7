"""A run's summary as plain text, as data, and as a fragment for notebooks."""

from __future__ import annotations

import html
import textwrap
from collections.abc import Sequence
from dataclasses import asdict
from typing import Any

from brittle.metrics.operations import characters_share, is_by_characters, operations
from brittle.metrics.paired import paired
from brittle.metrics.summary import Summary, summary
from brittle.reports.stored import StoredRun
from brittle.reports.texts import visible
from brittle.reports.wording import edited, effort, lines, notes, setting, statuses
from brittle.results import Result


def summed(run: StoredRun) -> tuple[list[Result], Summary]:
    """Give a stored run's rows, summed up against the number of cases it planned."""
    results = run.results()
    return results, summary(results, run.manifest.get("examples"))


def summary_text(run: StoredRun) -> str:
    """Write the summary as plain text for 80 columns."""
    manifest, (results, figures) = run.manifest, summed(run)
    told = [f"{run.name}: {setting(manifest)}"]
    for line in lines(figures, manifest, results):
        within = f"[{line.interval}]" if line.interval else ""
        told.append(f"  {line.name:<22}{line.value:>7}  {within:<14}{line.over}")
    told += [_wrapped("  ", line) for line in (*edited(results), statuses(figures))]
    told.append(_wrapped("  ", effort(run.totals)))
    told += [_wrapped("  ! ", note) for note in notes(figures, manifest)]
    return visible("\n".join(told))


def summary_json(run: StoredRun) -> dict[str, Any]:
    """Give the summary as plain data for `--json`; a figure over nothing has the value None."""
    manifest, (results, figures) = run.manifest, summed(run)
    by_characters = is_by_characters(results)
    return {
        "run": run.name,
        "manifest": dict(manifest),
        "complete": figures.complete,
        "cases": figures.cases,
        "planned": figures.planned,
        "statuses": dict(figures.statuses),
        "reasons": {status: dict(told) for status, told in figures.reasons.items()},
        "accuracy_before": asdict(figures.before),
        "accuracy_after": asdict(figures.after),
        "success": asdict(figures.success),
        "queries": asdict(figures.queries),
        "words_changed": asdict(figures.words),
        "share_changed": asdict(figures.share),
        "characters_changed": asdict(characters_share(results)),
        "character_edits": operations(results).counts if by_characters else None,
        "totals": dict(run.totals),
        "notes": notes(figures, manifest),
    }


def comparison_json(runs: Sequence[StoredRun]) -> dict[str, Any]:
    """Give several summaries, and every later run paired with the first."""
    first = runs[0].results() if runs else []
    return {
        "runs": [summary_json(run) for run in runs],
        "paired": [
            {"a": runs[0].name, "b": run.name, **asdict(paired(first, run.results()))}
            for run in runs[1:]
        ],
    }


def summary_html(run: StoredRun) -> str:
    """Write the summary as a small, self-contained fragment of HTML."""
    manifest, (results, figures) = run.manifest, summed(run)
    rows = "".join(
        f'<tr><th style="text-align:left">{escaped(line.name)}</th>'
        f'<td style="text-align:right"><b>{escaped(line.value)}</b></td>'
        f'<td style="text-align:left">{escaped(line.interval)}</td>'
        f'<td style="text-align:left">{escaped(line.over)}</td></tr>'
        for line in lines(figures, manifest, results)
    )
    told = "".join(f"<div>⚠ {escaped(note)}</div>" for note in notes(figures, manifest))
    ended = "".join(
        f"<div>{escaped(line)}</div>"
        for line in (*edited(results), statuses(figures), effort(run.totals))
    )
    return (
        f"<div><b>{escaped(run.name)}</b>: {escaped(setting(manifest))}"
        f"<table><tbody>{rows}</tbody></table>{ended}{told}</div>"
    )


def _wrapped(head: str, text: str) -> str:
    return textwrap.fill(text, 80, initial_indent=head, subsequent_indent=" " * len(head))


def escaped(text: object) -> str:
    """Make any text safe inside HTML, in elements and in quoted attributes."""
    return html.escape(visible(str(text)))

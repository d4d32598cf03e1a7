"""Runs and studies in a notebook: the ladder and a few cases of a run, the table of a study.

A fragment has no style sheet and no script, because notebooks remove them. Its colours can be read
on a light and on a dark page.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from html import unescape
from typing import Any

from brittle.asks import NORMALISED
from brittle.formatting import label_in_words, number, percent, plural
from brittle.levels import LEVELS
from brittle.metrics.ladder import Ladder, ladder
from brittle.reports.cases import clearest, cut, embedded_picture, shown_fields, split_at_edits
from brittle.reports.ladder import held_line, run_readings, verdict
from brittle.reports.notes import notes
from brittle.reports.page import draw_part
from brittle.reports.stored import StoredRun
from brittle.reports.study_page import MarkedField, in_words
from brittle.reports.summaries import summarize, winning_steps
from brittle.reports.summary_lines import SummaryLine, closing_lines, describe_run, summary_lines
from brittle.reports.table import Cell, Column, Table
from brittle.reports.trust import short_lines, trust_facts
from brittle.results import Result, has_adversary

CASES = 5
CONTEXT_CHARACTERS = 90
LONG_TEXT_CHARACTERS = 400


@dataclass(frozen=True)
class ShownRung:
    """A bar of the ladder: its name, its width in percent, and what stands at its right."""

    name: str
    width: str
    value: str
    beside: str


@dataclass(frozen=True)
class ShownPicture:
    """A picture as PNG in base64."""

    name: str
    png: str


@dataclass(frozen=True)
class ShownCase:
    """A broken case: its labels before and after, what it took, and its text or pictures."""

    labels: str
    about: str
    fields: Sequence[MarkedField] = ()
    pictures: Sequence[ShownPicture] = ()


def summary_html(run: StoredRun) -> str:
    """Draw a run for a notebook: its ladder, the gentlest failures, and its figures folded."""
    manifest, (results, figures) = run.manifest, summarize(run)
    read, climbed = run_readings(run, results), ladder(results)
    lines = closing_lines(results, figures, run.totals, manifest, winning_steps(run, results), read)
    lines += short_lines(trust_facts(run, results, figures))
    broken = sum(map(has_adversary, results))
    cases = gentlest(results, CASES)
    shown = {
        "name": run.name,
        "about": describe_run(manifest),
        "verdict": "" if climbed is None else verdict(climbed),
        "rungs": [] if climbed is None else ladder_bars(climbed),
        "notes": notes(figures, manifest, results),
        "cases": [_shown_case(row, manifest.get("kind") == "picture") for row in cases],
        "cases_are": _cases_are(len(cases), broken),
        "figures": figures_table(summary_lines(figures, manifest, results)),
        "lines": lines if climbed is None else [held_line(climbed), *lines],
    }
    return str(draw_part("notebook.run", shown)).strip()


def study_html(view: Any, name: str, table: Table) -> str:
    """Draw a study for a notebook: what it is about, its headline and its table."""
    facts = [str(fact) for fact in view.page.facts if fact]
    shown = {
        "name": name,
        "about": view.about or ", ".join(facts),
        "headline": [(name, _over_all(value), over) for name, value, over in view.headline],
        "table": table,
        "notes": [in_words(note) for note in view.page.notes],
        "notes_are": view.page.notes_are,
    }
    return str(draw_part("notebook.study", shown)).strip()


def attempts_html(results: Sequence[Result], is_ladder: bool) -> str:
    """Draw how one text stands: a row for each level of edits, or for the attack."""
    first = results[0]
    levels = list(LEVELS.values())
    rows = [
        (
            levels[n].title if is_ladder else row.attack,
            Cell(row.status, strong=row.status == "broken"),
            row.reason,
            plural(row.queries, "queries"),
        )
        for n, row in enumerate(results)
    ]
    shown = {
        "text": first.original,
        "label": _label(first.predicted, first.confidence),
        "table": Table([Column(), Column(), Column(), Column()], rows, has_head=False),
        "cases": [_shown_case(row, False) for row in results if has_adversary(row)],
    }
    return str(draw_part("notebook.attempts", shown)).strip()


def _over_all(value: Any) -> Any:
    """Return a value of a headline; of one that a page switches, that over all texts."""
    if not hasattr(value, "__html__"):
        return value
    first = re.search(r'<span class="all">([^<]*)</span>', str(value))
    return value if first is None else unescape(first[1])


def gentlest(results: Sequence[Result], count: int) -> list[Result]:
    """Return broken cases, those of the gentlest level first, then those with the least changed."""
    order = list(LEVELS)
    ordered = clearest(results, len(results))
    ranks = {row.case: order.index(row.level) if row.level in order else -1 for row in ordered}
    return sorted(ordered, key=lambda row: ranks[row.case])[:count]


def ladder_bars(climbed: Ladder) -> list[ShownRung]:
    """Return a bar for the accuracy before, and one for what each level leaves of it."""
    first = ShownRung("before", _width(climbed.before.value), percent(climbed.before.value, 0), "")
    bars = [first]
    for rung in climbed.rungs:
        why = NORMALISED if rung.normalised else "nothing to change"
        beside = f"{number(rung.broken)} broken" if rung.tried else why
        value = rung.standing.value
        bars.append(ShownRung(f"after {rung.title}", _width(value), percent(value, 0), beside))
    return bars


def figures_table(lines: Sequence[SummaryLine]) -> Table:
    """Build the table of a run's figures."""
    columns = [
        Column("figure"),
        Column("value", "right"),
        Column("interval"),
        Column("over"),
    ]
    rows = [
        (line.name, Cell(line.figure.value, line.value, strong=True), line.interval, line.over)
        for line in lines
    ]
    return Table(columns, rows)


def _width(share: float | None) -> str:
    return f"{100 * (share or 0.0):.1f}"


def _cases_are(shown: int, broken: int) -> str:
    if shown == broken:
        return plural(broken, "broken cases")
    return f"{number(shown)} of {plural(broken, 'broken cases')}, gentlest first"


def _shown_case(row: Result, is_picture: bool) -> ShownCase:
    labels = f"{_label(row.predicted, row.confidence)} → " + _label(
        row.adversarial_label, row.adversarial_confidence
    )
    if row.predicted is None:
        labels = row.goal
    about = [LEVELS[str(row.level)].title] if row.level in LEVELS else []
    if is_picture:
        pairs = (("original", row.original), ("adversary", row.adversarial))
        pictures = [ShownPicture(name, embedded_picture(text)) for name, text in pairs if text]
        return ShownCase(labels, plural(row.queries, "queries"), pictures=pictures)
    about += [f"{number(row.words_changed)} of {plural(row.words, 'words')} changed"]
    about += [plural(row.queries, "queries")]
    fields = shown_fields(row)
    context = CONTEXT_CHARACTERS if len(row.original) > LONG_TEXT_CHARACTERS else None
    marked = [
        MarkedField(
            name if len(fields) > 1 else "",
            [
                part if isinstance(part, str) else (_short(part.old), _short(part.new))
                for part in split_at_edits(raw, edits, context)
            ],
        )
        for name, raw, edits in fields
    ]
    return ShownCase(labels, " · ".join(about), marked)


def _short(text: str) -> str:
    return cut(text, CONTEXT_CHARACTERS, CONTEXT_CHARACTERS)


def _label(label: str | None, confidence: float | None) -> str:
    return label_in_words(label) + ("" if confidence is None else f" ({confidence:.0%})")

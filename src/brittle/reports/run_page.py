"""The page of a run: what it shows, section by section.

A run as one self-contained page: it opens from disk, loads nothing, and escapes everything.

The summary, figures and tables are plain HTML and work without JavaScript; the page builds the list
of cases from a block of JSON (embedded_rows.py). Markup stands in templates/; what is here says
what a page shows, in its order.

What character attacks edited: flips, inserts, deletes, and how much of the text.

What breaks a target: words and parts of speech, and labels that change.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from brittle.formatting import number, percent, plural
from brittle.metrics.bleu import as_share
from brittle.metrics.grid import Confusion, Matrix, confusion
from brittle.metrics.ladder import Ladder, ladder
from brittle.metrics.summary import Summary
from brittle.metrics.words import (
    MOST_TAGGED,
    BrokenWord,
    is_by_characters,
    operations,
    parts_that_break,
    words_that_break,
)
from brittle.reports.cases import embedded_rows
from brittle.reports.figures import Bar
from brittle.reports.kept import cost_name
from brittle.reports.ladder import run_readings, verdict
from brittle.reports.ladder_page import embedded_levels, ladder_section, level_chips
from brittle.reports.notes import notes
from brittle.reports.page import MIN_ENTRIES, Section, anchored, joined_script, render_page
from brittle.reports.stored import StoredRun
from brittle.reports.success_curves import curves_section
from brittle.reports.summaries import summarize
from brittle.reports.summary_lines import (
    answers_texts,
    describe_run,
    describe_target,
    format_effort,
    format_interval,
    status_counts,
    summary_lines,
)
from brittle.reports.table import Cell, Column, Table
from brittle.reports.trust import Fact, missing, robust_lines, trust_facts
from brittle.reports.validity import validity_section
from brittle.results import Result
from brittle.statuses import STATUSES, Status

COLUMNS = (
    Column("operation", isolate=False),
    Column("count", "right", number),
    Column("", key="bar"),
    Column("share", "right", percent),
)


def character_edits_section(results: Sequence[Result]) -> Section | None:
    """Show the operations of a character attack; nothing for attacks that replace words."""
    if not is_by_characters(results):
        return None
    edits = operations(results)
    rows = [(name, edits.counts[name], Bar(share), share) for name, share in edits.shares.items()]
    shown = {
        "table": Table(COLUMNS, rows, css="parts"),
        "value": percent(edits.share.value),
        "interval": format_interval(edits.share, percent),
        "over": plural(edits.share.of, edits.share.over),
    }
    return Section("run_parts.edited", shown, "What was edited")


MAX_WORDS = 15
MAX_REPLACEMENTS = 4
MAX_LABELS = 12
MIN_STACKED_LABELS = 6  # two such tables beside each other would be cut
MAX_CONFUSIONS = 20
MAX_CHARACTERS = 40


@dataclass(frozen=True)
class ShownWord:
    """A word that was changed in broken cases, with what replaced it how often."""

    word: str
    count: int
    seen: int
    became: Sequence[tuple[str, int]]
    more: int

    @property
    def share(self) -> float:
        """The share of the cases that contain it."""
        return self.count / self.seen if self.seen else 0.0


def breaks_section(results: Sequence[Result]) -> Section | None:
    """List the words changed most often in broken cases, and the parts of speech."""
    words = words_that_break(results)
    if not words:
        return None
    more = len(words) - MAX_WORDS
    changed = plural(more, ("more word was", "more words were"))
    parts = [(part.name, part.count, part.of) for part in parts_that_break(results)]
    is_cut = sum(of for _, _, of in parts) >= MOST_TAGGED
    shown = {
        "words": [_shown_word(word) for word in words[:MAX_WORDS]],
        "others": f" {changed} changed in broken cases." if more > 0 else "",
        "parts": shares_table("part", "changed", parts),
        "tagged": f"The first {plural(MOST_TAGGED, 'words')}" if is_cut else "Words",
    }
    return Section("run_parts.breaks", shown, "What breaks it")


def shares_table(what: str, counted: str, rows: Sequence[tuple[str, int, int]]) -> Table:
    """Build a table of counts, each of how many, with its share as a bar and as a number."""
    columns = (
        Column(what, isolate=False),
        Column(counted, "right", number),
        Column("", key="bar"),
        Column("share", "right", percent),
    )
    shares = [count / of if of else 0.0 for _, count, of in rows]
    cells = [
        (name, Cell(count, small=(f" of {number(of)}",)), Bar(share, percent(share)), share)
        for (name, count, of), share in zip(rows, shares)
    ]
    return Table(columns, cells, css="parts")


def confusion_section(tables: Confusion) -> Section:
    """Show both confusion tables, or, with many labels, the confusions that grew most."""
    labels = tables.labels
    if len(labels) > MAX_LABELS:
        below = f"{plural(len(labels), 'labels')}: the {MAX_CONFUSIONS} confusions that grew most."
        css, shown = "", [("", _grown_table(tables), below)]
    else:
        css = "pair stacked" if len(labels) >= MIN_STACKED_LABELS else "pair"
        matrices = (("before", tables.before), ("under attack", tables.after))
        shown = [(name, _matrix(labels, matrix), "") for name, matrix in matrices]
    about = {"css": css, "tables": shown, "over": plural(tables.of, "examples answered")}
    return Section("run_parts.confusion", about, "Confusion matrix")


def _shown_word(broken: BrokenWord) -> ShownWord:
    became = [(_cut(new), count) for new, count in broken.replacements[:MAX_REPLACEMENTS]]
    more = max(0, len(broken.replacements) - MAX_REPLACEMENTS)
    return ShownWord(_cut(broken.word), broken.count, broken.seen, became, more)


def _cut(word: str) -> str:
    return word if len(word) <= MAX_CHARACTERS else word[: MAX_CHARACTERS - 2] + "…"


def _matrix(labels: Sequence[str], matrix: Matrix) -> Table:
    rows = []
    for i, (label, row) in enumerate(zip(labels, matrix)):
        total = sum(row)
        cells = [
            Cell(
                count,
                css=f"{'right' if i == j else 'wrong'} heat-{_heat(count, total)}",
                title=_cell_value(count, total, label, labels[j]),
            )
            for j, count in enumerate(row)
        ]
        rows.append([_cut(label), *cells])
    columns = [Column(_cut(label), "right", number, css="", is_name=True) for label in labels]
    return Table([Column(), *columns], rows, css="confusion", corner=True)


def _cell_value(count: int, total: int, label: str, predicted: str) -> str:
    """Write what a cell says on hover: its share of the row."""
    share = f" ({percent(count / total)})" if total else ""
    return f"{number(count)} of {number(total)} {_cut(label)}{share} predicted {_cut(predicted)}"


def _heat(count: int, total: int) -> int:
    """Return a cell's share of its row in tenths, at least 1 unless the cell is empty."""
    return max(1, round(10 * count / total)) if count else 0


def _grown_table(tables: Confusion) -> Table:
    """Show the confusions that grew most under attack."""
    pairs = [
        (after - before, before, after, tables.labels[i], tables.labels[j])
        for i, (old, new) in enumerate(zip(tables.before, tables.after))
        for j, (before, after) in enumerate(zip(old, new))
        if i != j and before + after
    ]
    pairs.sort(key=lambda pair: (-pair[0], -pair[2], pair[3], pair[4]))
    numbers = [Column(name, "right", number) for name in ("before", "under attack")]
    return Table(
        [Column("reference"), Column("predicted"), *numbers],
        [
            (_cut(label), _cut(predicted), before, after)
            for _, before, after, label, predicted in pairs[:MAX_CONFUSIONS]
        ],
    )


MAX_REASONS = 5
SCRIPT = ("elements", "values", "rows", "texts", "path", "saving", "list")
"""The files in `script/`, in reading order."""
TEXT_WORDS = ("texts, labels, ids", "Words changed")
GENTLEST = ("gentlest", "Gentlest edits first")
CONFIDENCES = (("before", "Confidence before"), ("after", "Confidence after"))
PICTURES_EXPLAINED = (
    "Each case: the picture, {rebuilt}its adversary, and {their} difference, blue where a "
    "pixel became brighter and red where it became darker; its largest change has the full colour. "
    "In the corner is what the target predicts."
)
TEXTS_EXPLAINED = (
    "Below each text: what the generator makes of it, and the other sentences on the straight line "
    "from there to the adversary in the latent space."
)


def render(run: StoredRun, further: Sequence[Section | None] = ()) -> str:
    """Render the report of a run as one HTML page; `further` sections come before the cases."""
    manifest, (results, figures) = run.manifest, summarize(run)
    has_pictures, climbed = manifest.get("kind") == "picture", ladder(results)
    warnings = notes(figures, manifest, results)
    has_rebuilt = any(row.kept for row in results)
    cases = _cases(figures, manifest, has_rebuilt, climbed) if results else None
    sections: list[Section | None] = []
    if climbed is not None:
        what = "agreement" if manifest.get("reference") == "predictions" else "accuracy"
        read = run_readings(run, results)
        sections += [ladder_section(climbed, read, verdict(climbed), what, warnings), cases]
    sections += [
        _hero(figures, manifest, run.totals, results),
        _how_it_ended(figures, results, climbed),
    ]
    if figures.success.of:
        sections.append(curves_section(results, run))
        sections.append(None if has_pictures else breaks_section(results))
        sections.append(character_edits_section(results))
    if figures.before.of:
        sections.append(confusion_section(confusion(results, manifest.get("labels") or ())))
    measured = (run.stored_validity, run.stored_floors, figures.success)
    sections += [validity_section(*measured), *further]
    if climbed is None:
        sections.append(cases)
    sections += [_trust(trust_facts(run, results, figures)), _how_it_was_run(manifest)]
    levels = embedded_levels(climbed, results)
    return render_page(
        "run.html.jinja",
        run.name,
        script=joined_script(*SCRIPT),
        data=embedded_rows(results, has_pictures, run.steps(), cost_name(manifest), levels),
        has_pictures=has_pictures,
        facts=_facts(manifest, climbed),
        notes=warnings if climbed is None else (),
        min_entries=MIN_ENTRIES,
        sections=anchored(section for section in sections if section is not None),
    )


def _facts(manifest: Mapping[str, Any], climbed: Ladder | None) -> list[str | None]:
    """Return what stands below the name of the run."""
    facts = [describe_run(manifest), manifest.get("goal"), f"seed {manifest.get('seed')}"]
    if climbed is not None:  # the rest stands at the end of the page
        facts = [describe_target(manifest), plural(climbed.before.of, ("text", "texts"))]
    if manifest.get("budget"):
        facts.append(f"budget {plural(manifest['budget'], 'queries')}")
    return facts


def _hero(
    figures: Summary,
    manifest: Mapping[str, Any],
    totals: Mapping[str, float],
    results: Sequence[Result],
) -> Section:
    """Show the headline, before and under attack, and a card for each other figure."""
    lines = summary_lines(figures, manifest, results)
    headline, rest = lines[:2], lines[2:]
    if answers_texts(manifest) and headline[0].key != "bleu_before":
        headline, rest = [], lines
    shown: dict[str, Any] = {
        # The share of characters has a section of its own.
        "cards": [line for line in rest if line.key != "characters_changed"],
        "effort": format_effort(totals),
        "before": None,
        "heading": "",
    }
    if headline:
        before, after = headline
        scale = [before.figure, after.figure]
        if before.key == "bleu_before":
            scale = [as_share(figure) for figure in scale]
        what = before.name.split()[0]
        shown |= {"before": before, "after": after, "what": what}
        shown |= {"heading": what[:1].upper() + what[1:]}
        shown |= {"scale": None if any(figure.value is None for figure in scale) else scale}
    return Section("run_parts.hero", shown, shown["heading"], "hero", has_heading=True)


@dataclass(frozen=True)
class End:
    """How many cases ended with a status, and why; a reason without a count is a remark."""

    status: Status
    count: int
    reasons: Sequence[tuple[str, int | None]] = ()
    is_shown: bool = True

    @property
    def css(self) -> str:
        """The class of its colour."""
        return STATUSES[self.status].css_class

    @property
    def meaning(self) -> str:
        """What the status means."""
        return STATUSES[self.status].meaning


def _how_it_ended(figures: Summary, results: Sequence[Result], climbed: Ladder | None) -> Section:
    ends = [
        End(status, count, _reasons(figures, status)) for status, count in status_counts(figures)
    ]
    # What a level proves stands with the ladder.
    shown = {"ends": ends, "proved": robust_lines(results) if climbed is None else []}
    cases = f"the {plural(figures.cases, ('case', 'cases'))}" if ends else "the cases"
    return Section("run_parts.ended", shown, f"How {cases} ended")


def _reasons(figures: Summary, status: Status) -> list[tuple[str, int | None]]:
    """List why cases ended so, where that is said, each with its count."""
    is_listed = STATUSES[status].reasons != "untried"
    reasons = figures.reasons.get(status, {}) if is_listed else {}
    more = len(reasons) - MAX_REASONS
    others = [(plural(more, "other reasons"), None)] if more > 0 else []
    return [*list(reasons.items())[:MAX_REASONS], *others]


def _cases(
    figures: Summary, manifest: Mapping[str, Any], has_rebuilt: bool, climbed: Ladder | None
) -> Section:
    """Return the frame of the list; after a ladder it begins with the failures alone."""
    has_failures = climbed is not None and climbed.broken > 0
    statuses = [
        End(status, count, is_shown=not has_failures or status == "broken")
        for status, count in status_counts(figures)
    ]
    has_pictures = manifest.get("kind") == "picture"
    searched, changed = ("labels, ids", "Largest change") if has_pictures else TEXT_WORDS
    if answers_texts(manifest):
        searched = "texts, ids"
    sorts = [
        *([GENTLEST] if has_failures else []),
        *(("clearest", "Clearest first"), ("run", "Order of the run")),
        *(("queries", "Queries"), ("words", changed)),
        *(() if answers_texts(manifest) else CONFIDENCES),
    ]
    shown = {
        "statuses": statuses,
        "levels": level_chips(climbed),
        "searched": searched,
        "sorts": sorts,
        "explained": _explained(has_pictures, has_rebuilt),
    }
    return Section(
        "run_parts.cases", shown, "Failures" if has_failures else "Cases", anchor="cases"
    )


def _explained(has_pictures: bool, has_rebuilt: bool) -> str:
    """Say what the list of cases shows, where that is more than a text and its edits."""
    if not has_pictures:
        return TEXTS_EXPLAINED if has_rebuilt else ""
    return PICTURES_EXPLAINED.format(
        rebuilt="its reconstruction by the generator, " if has_rebuilt else "",
        their="the adversary's" if has_rebuilt else "their",
    )


def _trust(facts: Sequence[Fact]) -> Section:
    """List what the figures rest on; what is missing comes last, as missing."""
    known = [fact for fact in facts if fact.value is not None]
    shown = {"facts": known, "missing": missing(facts)}
    return Section("run_parts.trust", shown, "What the figures rest on", "run")


_FACTS = (
    *("target", "fingerprint", "attack", "settings", "helpers", "goal", "data", "split", "only"),
    *("limit", "seed", "budget", "labels", "reference", "started", "versions"),
)


def _how_it_was_run(manifest: Mapping[str, Any]) -> Section:
    settings = {name: manifest.get(name) for name in _FACTS}
    return Section("run_parts.how_it_was_run", settings, "How it was run", "run")

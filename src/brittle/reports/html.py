"""A run as one self-contained page: it opens from disk, loads nothing, and escapes everything.

The summary, figures and tables are plain HTML and work without JavaScript; the page builds the list
of cases from a block of JSON (embedded_rows.py).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from brittle.formatting import number, plural
from brittle.metrics.bleu import as_share
from brittle.metrics.confusion import confusion
from brittle.metrics.ladder import Ladder, ladder
from brittle.metrics.summary import Summary
from brittle.reports.character_edits import character_edits_section
from brittle.reports.contents import with_contents
from brittle.reports.embedded_rows import embedded_rows
from brittle.reports.escaping import escape, isolate
from brittle.reports.figures import scale_figure, status_bar
from brittle.reports.kept_items import cost_name
from brittle.reports.ladder import run_readings, verdict
from brittle.reports.ladder_page import embedded_levels, ladder_section, level_chips
from brittle.reports.notes import notes
from brittle.reports.page import asset, page, plain, style_sheet
from brittle.reports.stored import StoredRun
from brittle.reports.success_curves import curves_section
from brittle.reports.summaries import summarize
from brittle.reports.summary_lines import (
    SummaryLine,
    answers_texts,
    describe_run,
    describe_target,
    format_effort,
    status_counts,
    summary_lines,
)
from brittle.reports.tables import confusion_section, parts_table, words_table
from brittle.reports.trust import Fact, missing, robust_lines, trust_facts
from brittle.reports.validity import validity_section
from brittle.results import Result
from brittle.statuses import STATUSES, Status
from brittle.validity.readings import Reading

MAX_REASONS = 5
SCRIPT = ("elements", "values", "rows", "texts", "path", "saving", "list")
"""The files in `script/`, in reading order."""
TEXT_WORDS = ("texts, labels, ids", "Words changed")
CONFIDENCES = (
    '<option value="before">Confidence before</option>\n'
    '<option value="after">Confidence after</option>\n'
)
GENTLEST = '<option value="gentlest">Gentlest edits first</option>\n'
PICTURES_EXPLAINED = (
    "Each case: the picture, {rebuilt}its adversary, and {their} difference, blue where a "
    "pixel became brighter and red where it became darker; its largest change has the full colour. "
    "In the corner is what the target predicts."
)
TEXTS_EXPLAINED = (
    "Below each text: what the generator makes of it, and the other sentences on the straight line "
    "from there to the adversary in the latent space."
)


def render(run: StoredRun, further: Sequence[str] = ()) -> str:
    """Render the report of a run as one HTML page; `further` sections come before the cases."""
    manifest, (results, figures) = run.manifest, summarize(run)
    has_pictures, climbed = manifest.get("kind") == "picture", ladder(results)
    warnings = _notes(notes(figures, manifest, results))
    cases = _cases(figures, manifest, any(row.kept for row in results), climbed) if results else ""
    if climbed is None:
        sections = [_header(run, climbed), warnings]
    else:
        ladder_part = _ladder(climbed, run_readings(run, results), manifest, warnings)
        sections = [_header(run, climbed), ladder_part, cases]
    sections += [
        _hero(figures, manifest, run.totals, results),
        _how_it_ended(figures, results, climbed),
    ]
    if figures.success.of:
        sections.append(curves_section(results, run))
        if not has_pictures and (words := words_table(results)):
            tables = f'<div class="pair uneven">{words}{parts_table(results)}</div>'
            sections.append(f"<section><h2>What breaks it</h2>{tables}</section>")
        sections.append(character_edits_section(results))
    if figures.before.of:
        sections.append(confusion_section(confusion(results, manifest.get("labels") or ())))
    measured = (run.stored_validity, run.stored_floors, figures.success)
    sections += [validity_section(*measured), *further]
    if climbed is None:
        sections.append(cases)
    sections += [_trust(trust_facts(run, results, figures)), _how_it_was_run(manifest)]
    body = "\n".join(with_contents([section for section in sections if section]))
    levels = embedded_levels(climbed, results)
    rows = embedded_rows(results, has_pictures, run.steps(), cost_name(manifest), levels)
    return page(run.name, body, style_sheet(), _script(), rows, has_pictures)


def _script() -> str:
    """Join the parts of the page's script into one function, so that they share their names."""
    parts = "\n".join(asset(f"script/{name}.js") for name in SCRIPT)
    return f'"use strict";\n(() => {{\n{parts}}})();\n'


def _notes(lines: Sequence[str]) -> str:
    items = "".join(f"<li>{isolate(line)}</li>" for line in lines)
    return f'<ul class="notes" aria-label="Read this first">{items}</ul>' if items else ""


def _ladder(
    climbed: Ladder, read: Mapping[str, Reading], manifest: Mapping[str, Any], warnings: str
) -> str:
    what = "agreement" if manifest.get("reference") == "predictions" else "accuracy"
    return ladder_section(climbed, read, verdict(climbed), what, warnings)


def _header(run: StoredRun, climbed: Ladder | None) -> str:
    manifest = run.manifest
    facts = [describe_run(manifest), manifest.get("goal"), f"seed {manifest.get('seed')}"]
    if climbed is not None:  # the rest stands at the end of the page
        facts = [describe_target(manifest), plural(climbed.before.of, ("text", "texts"))]
    if manifest.get("budget"):
        facts.append(f"budget {plural(manifest['budget'], 'queries')}")
    spans = "".join(f"<span>{isolate(fact)}</span>" for fact in facts if fact)
    return (
        '<header><p class="mark">brittle</p>'
        f'<h1>{isolate(run.name)}</h1><p class="facts">{spans}</p></header>'
    )


def _hero(
    figures: Summary,
    manifest: Mapping[str, Any],
    totals: Mapping[str, float],
    results: Sequence[Result],
) -> str:
    """Show the headline, before and under attack, and a card for each other figure."""
    lines = summary_lines(figures, manifest, results)
    headline, rest = lines[:2], lines[2:]
    if answers_texts(manifest) and headline[0].key != "bleu_before":
        headline, rest = [], lines
    cards = "".join(
        f'<div class="card"><h3>{escape(line.name)}</h3><p class="value">{escape(line.value)}</p>'
        f'<p class="within">{escape(line.interval)}</p><p class="over">{escape(line.over)}</p>'
        "</div>"
        for line in rest
        if line.key != "characters_changed"  # it has a section of its own
    )
    return (
        f'<section class="hero">{_headline(headline)}'
        f'<div class="cards">{cards}</div>'
        f'<p class="small">{format_effort(totals)}. Ranges are 95% intervals: Wilson for rates, '
        "bootstrap for means.</p></section>"
    )


def _headline(lines: Sequence[SummaryLine]) -> str:
    """Show one figure before and under attack: accuracy, or BLEU."""
    if not lines:
        return ""
    before, after = lines
    what = before.name.split()[0]
    pair = (before.figure, after.figure)
    if before.key == "bleu_before":
        pair = (as_share(before.figure), as_share(after.figure))
    arrow = '<span class="arrow" aria-hidden="true">→</span>'
    sides = arrow.join(
        f'<div class="{css}"><p class="value">{escape(line.value)}</p><p>{when}</p>'
        f'<p class="within">{escape(line.interval)}</p><p class="over">{escape(line.over)}</p>'
        "</div>"
        for css, when, line in (
            ("before", "before", before),
            ("after", after.name.removeprefix(f"{what} "), after),
        )
    )
    return (
        f'<div class="card accuracy"><h2>{what[:1].upper() + what[1:]}</h2>'
        f'<div class="sides">{sides}</div>{scale_figure(*pair, what)}</div>'
    )


def _how_it_ended(figures: Summary, results: Sequence[Result], climbed: Ladder | None) -> str:
    counts = status_counts(figures)
    if not counts:
        return "<section><h2>How the cases ended</h2><p>No case has finished yet.</p></section>"
    items = "".join(
        f'<li class="{STATUSES[status].css_class}"><b>{number(count)}</b> {status} '
        f"<span>{STATUSES[status].meaning}{_reasons(figures, status)}</span></li>"
        for status, count in counts
    )
    # What a level proves stands with the ladder.
    lines = robust_lines(results) if climbed is None else []
    proved = "".join(f'<p class="small">{escape(line)}.</p>' for line in lines)
    return (
        f"<section><h2>How the {plural(figures.cases, ('case', 'cases'))} ended</h2>"
        f'{status_bar(counts)}<ul class="legend">{items}</ul>{proved}</section>'
    )


def _reasons(figures: Summary, status: Status) -> str:
    """List why cases ended so, where that is said, each with its count if there are several."""
    is_listed = STATUSES[status].reasons != "untried"
    reasons = figures.reasons.get(status, {}) if is_listed else {}
    counts = [f" ({number(n)})" if len(reasons) > 1 else "" for n in reasons.values()]
    items = [f"{isolate(reason)}{n}" for reason, n in zip(reasons, counts)]
    more = len(items) - MAX_REASONS
    others = [plural(more, "other reasons")] if more > 0 else []
    return ": " + ", ".join(items[:MAX_REASONS] + others) if items else ""


def _cases(
    figures: Summary, manifest: Mapping[str, Any], has_rebuilt: bool, climbed: Ladder | None
) -> str:
    """Return the frame of the list; after a ladder it begins with the failures alone."""
    has_failures = climbed is not None and climbed.broken > 0
    chips = "".join(
        f'<label class="chip {STATUSES[status].css_class}"><input type="checkbox" value="{status}"'
        f"{'' if has_failures and status != 'broken' else ' checked'}>"
        f"{status} <b>{number(count)}</b></label>"
        for status, count in status_counts(figures)
    )
    has_pictures = manifest.get("kind") == "picture"
    searched, changed = ("labels, ids", "Largest change") if has_pictures else TEXT_WORDS
    if answers_texts(manifest):
        searched = "texts, ids"
    return asset("cases.html").format(
        heading="Failures" if has_failures else "Cases",
        sorts=GENTLEST if has_failures else "",
        chips=chips,
        levels=level_chips(climbed) if climbed is not None else "",
        searched=searched,
        changed=changed,
        confidences="" if answers_texts(manifest) else CONFIDENCES,
        explained=_explained(has_pictures, has_rebuilt),
    )


def _explained(has_pictures: bool, has_rebuilt: bool) -> str:
    """Say what the list of cases shows, where that is more than a text and its edits."""
    if not (has_pictures or has_rebuilt):
        return ""
    of_picture = PICTURES_EXPLAINED.format(
        rebuilt="its reconstruction by the generator, " if has_rebuilt else "",
        their="the adversary's" if has_rebuilt else "their",
    )
    return f'<p class="small">{of_picture if has_pictures else TEXTS_EXPLAINED}</p>'


def _trust(facts: Sequence[Fact]) -> str:
    """List what the figures rest on; what is missing comes last, as missing."""
    rows = "".join(
        f"<dt>{escape(fact.name)}</dt><dd>{isolate(fact.value)}</dd>"
        for fact in facts
        if fact.value is not None
    )
    lacking = missing(facts)
    last = f"<dt>missing</dt><dd>{escape(', '.join(lacking))}</dd>" if lacking else ""
    return f'<section class="run"><h2>What the figures rest on</h2><dl>{rows}{last}</dl></section>'


_FACTS = (
    *(
        "target",
        "fingerprint",
        "attack",
        "settings",
        "helpers",
        "goal",
        "data",
        "split",
        "only",
        "limit",
    ),
    *("seed", "budget", "labels", "reference", "started", "versions"),
)


def _how_it_was_run(manifest: Mapping[str, Any]) -> str:
    rows = "".join(
        f"<dt>{name}</dt><dd>{isolate(plain(manifest[name]))}</dd>"
        for name in _FACTS
        if manifest.get(name) not in (None, "", {}, [])
    )
    return f'<section class="run"><h2>How it was run</h2><dl>{rows}</dl></section>'

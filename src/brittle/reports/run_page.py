"""The page of a run: the result in one sentence, the failures, then everything that explains them.

A run as one self-contained page: it opens from disk, loads nothing, and escapes everything.

The summary, figures and tables are plain HTML and work without JavaScript; the page builds the list
of cases from a block of JSON (embedded_rows.py). Markup stands in templates/; what is here says
what a page shows, in its order.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from brittle.formatting import number, plural
from brittle.metrics.bleu import as_share
from brittle.metrics.grid import confusion
from brittle.metrics.ladder import Ladder, ladder
from brittle.metrics.summary import Summary
from brittle.reports.cases import embedded_rows
from brittle.reports.endings import endings
from brittle.reports.kept import cost_name
from brittle.reports.ladder import run_readings, verdict
from brittle.reports.ladder_page import embedded_levels, ladder_figures, ladder_section, level_chips
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
    summary_lines,
)
from brittle.reports.trust import Fact, open_questions, robust_lines, trust_facts
from brittle.reports.validity import validity_section
from brittle.reports.what_breaks import breaks_section, character_edits_section, confusion_section
from brittle.results import Result

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
    """Render the report of a run as one HTML page.

    First the result and the failures, then what explains them; `further` sections come before what
    the figures rest on. How it was run stands folded at the end.
    """
    manifest, (results, figures) = run.manifest, summarize(run)
    has_pictures, climbed = manifest.get("kind") == "picture", ladder(results)
    warnings = notes(figures, manifest, results)
    sections = [
        *_result(run, results, figures, climbed, warnings),
        *_explanations(run, results, figures, climbed),
        *further,
        _trust(trust_facts(run, results, figures)),
        _how_it_was_run(run),
    ]
    levels = embedded_levels(climbed, results)
    return render_page(
        "run.html.jinja",
        run.name,
        script=joined_script(*SCRIPT),
        data=embedded_rows(results, has_pictures, run.steps(), cost_name(manifest), levels),
        has_pictures=has_pictures,
        facts=_facts(manifest, climbed),
        min_entries=MIN_ENTRIES,
        sections=anchored(section for section in sections if section is not None),
    )


def _result(
    run: StoredRun,
    results: Sequence[Result],
    figures: Summary,
    climbed: Ladder | None,
    warnings: Sequence[str],
) -> list[Section | None]:
    """Return what comes first: the ladder, or the accuracies, and the cases."""
    manifest = run.manifest
    has_rebuilt = any(row.kept for row in results)
    cases = _cases(figures, manifest, has_rebuilt, climbed) if results else None
    if climbed is None:
        sentence = result_sentence(run, figures)
        return [_hero(figures, manifest, run.totals, results, sentence, warnings), cases]
    what = "agreement" if manifest.get("reference") == "predictions" else "accuracy"
    read = run_readings(run, results)
    return [ladder_section(climbed, read, verdict(climbed), what, warnings), cases]


def _explanations(
    run: StoredRun, results: Sequence[Result], figures: Summary, climbed: Ladder | None
) -> list[Section | None]:
    """Return what explains the result: charts, figures, words, labels, and what people say."""
    manifest = run.manifest
    sections: list[Section | None] = []
    if figures.success.of:
        sections.append(curves_section(results, run))
    if climbed is not None:
        sections.append(ladder_figures(climbed, run_readings(run, results)))
        sections.append(_hero(figures, manifest, run.totals, results))
    sections.append(_how_it_ended(figures, results, climbed))
    if figures.success.of:
        is_picture = manifest.get("kind") == "picture"
        sections.append(None if is_picture else breaks_section(results))
        sections.append(character_edits_section(results))
    if figures.before.of:
        sections.append(confusion_section(confusion(results, manifest.get("labels") or ())))
    validity = validity_section(run.stored_validity, run.stored_floors, figures.success)
    return [*sections, validity]


def result_sentence(run: StoredRun, figures: Summary) -> str:
    """Say in one sentence what a run without a ladder found."""
    if not figures.cases:
        return "No case has finished yet."
    attack, success = run.manifest.get("attack"), figures.success
    what = "picture" if run.manifest.get("kind") == "picture" else "text"
    if not success.of:
        return f"No {what} could be attacked."
    whole = plural(success.of, (what, f"{what}s"))
    return f"{attack} broke {number(success.count)} of the {whole} that it attacked."


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
    sentence: str = "",
    warnings: Sequence[str] = (),
) -> Section:
    """Show the accuracies before and under attack, and a card for each other figure.

    `sentence` says above them what the run found; `warnings` stand between.
    """
    lines = summary_lines(figures, manifest, results)
    headline, rest = lines[:2], lines[2:]
    if answers_texts(manifest) and headline[0].key != "bleu_before":
        headline, rest = [], lines
    shown: dict[str, Any] = {
        # The share of characters has a section of its own.
        "cards": [line for line in rest if line.key != "characters_changed"],
        "effort": format_effort(totals),
        "sentence": sentence,
        "notes": warnings,
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


def _how_it_ended(figures: Summary, results: Sequence[Result], climbed: Ladder | None) -> Section:
    ends = endings(figures)
    # What a level proves stands with the ladder.
    shown = {"ends": ends, "proved": robust_lines(results) if climbed is None else []}
    cases = f"the {plural(figures.cases, ('case', 'cases'))}" if ends else "the cases"
    return Section("run_parts.ended", shown, f"How {cases} ended")


def _cases(
    figures: Summary, manifest: Mapping[str, Any], has_rebuilt: bool, climbed: Ladder | None
) -> Section:
    """Return the frame of the list; where something broke, it begins with the failures alone."""
    has_failures = figures.statuses["broken"] > 0
    chips = [
        replace(one, is_shown=not has_failures or one.status == "broken")
        for one in endings(figures)
    ]
    has_pictures = manifest.get("kind") == "picture"
    searched, changed = ("labels, ids", "Largest change") if has_pictures else TEXT_WORDS
    if answers_texts(manifest):
        searched = "texts, ids"
    sorts = [
        *([GENTLEST] if climbed is not None and has_failures else []),
        *(("clearest", "Clearest first"), ("run", "Order of the run")),
        *(("queries", "Queries"), ("words", changed)),
        *(() if answers_texts(manifest) else CONFIDENCES),
    ]
    shown = {
        "statuses": chips,
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
    """List what the figures rest on; what nobody has checked yet comes last, as questions."""
    known = [fact for fact in facts if fact.value is not None and not fact.is_setting]
    shown = {"facts": known, "questions": open_questions(facts)}
    return Section("run_parts.trust", shown, "What the figures rest on", "run")


_FACTS = (
    *("target", "fingerprint", "attack", "settings", "helpers", "goal", "data", "split", "content"),
    *("only", "limit", "seed", "budget", "labels", "reference", "started", "versions"),
)


def _how_it_was_run(run: StoredRun) -> Section:
    """List the settings, folded: who repeats the run needs them, and nobody else."""
    settings = {"command": run.command} | {name: run.manifest.get(name) for name in _FACTS}
    heading = "Settings, seed and command"
    return Section("run_parts.how_it_was_run", settings, heading, "run", has_heading=True)

"""A run's summary as plain text and as data."""

from __future__ import annotations

import textwrap
from collections.abc import Mapping, Sequence
from dataclasses import asdict, replace
from typing import Any

from brittle.errors import MissingPackage
from brittle.metrics.bleu import bleu_figures
from brittle.metrics.curves import SHOWN, success_at_limit
from brittle.metrics.ladder import ladder, paired_levels
from brittle.metrics.paired import paired
from brittle.metrics.summary import (
    Summary,
    reconstructions_kept,
    robust_to_words,
    success_per_draw,
    summary,
)
from brittle.metrics.words import characters_share, is_by_characters, operations
from brittle.redaction import visible
from brittle.reports.kept import kept_curves
from brittle.reports.ladder import held_line, ladder_json, run_readings, rung_lines, verdict
from brittle.reports.notes import notes
from brittle.reports.stored import StoredRun
from brittle.reports.summary_lines import (
    answers_texts,
    closing_lines,
    describe_run,
    goes_by_goal,
    summary_lines,
)
from brittle.reports.trust import short_lines, trust_facts
from brittle.results import Result, Step
from brittle.validity.figures import LevelReading

FINISHES_FIRST = "rules"
"""The attack whose first candidate is the finished text: whether that works is a figure too."""


def summarize(run: StoredRun) -> tuple[list[Result], Summary]:
    """Return the rows of a stored run, and their summary against the number of planned cases."""
    results, manifest = run.results(), run.manifest
    steps = run.steps() if goes_by_goal(manifest) else ()
    figures = summary(results, manifest.get("examples"), steps=steps)
    if manifest.get("attack") == FINISHES_FIRST:
        figures = replace(figures, at_limit=success_at_limit(results, run.steps()))
    validity = run.stored_validity
    if validity is not None:
        valid, own = validity.valid_success(figures.success), validity.figure
        if (validity.broken, validity.attacked) != (figures.success.count, figures.success.of):
            own = replace(own, over=f"{own.over}, before the run went on")
        figures = replace(figures, validity=own, valid_success=valid)
    per_draw, rebuilt = success_per_draw(results), reconstructions_kept(results)
    return results, replace(figures, per_draw=per_draw, rebuilt=rebuilt)


def winning_steps(run: StoredRun, results: Sequence[Result]) -> Sequence[Step]:
    """Return the steps of a search with costs, which goes on after a win; () of any other."""
    return run.steps() if any(row.cost is not None for row in results) else ()


def summary_text(run: StoredRun) -> str:
    """Write the summary as plain text for 80 columns."""
    manifest, (results, figures) = run.manifest, summarize(run)
    read = run_readings(run, results)
    text = [f"{run.name}: {describe_run(manifest)}", *_ladder_text(results, read)]
    for line in summary_lines(figures, manifest, results):
        interval = f"[{line.interval}]" if line.interval else ""
        text.append(f"  {line.name:<22}{line.value:>7}  {interval:<14}{line.over}")
    text += [
        _wrapped("  ", line)
        for line in closing_lines(
            results, figures, run.totals, manifest, winning_steps(run, results), read
        )
    ]
    text += [_wrapped("  ! ", note) for note in notes(figures, manifest, results)]
    facts = trust_facts(run, results, figures)
    text += ["  trust", *(_wrapped("    ", line) for line in short_lines(facts))]
    return visible("\n".join(text))


def _ladder_text(results: Sequence[Result], read: Mapping[str, LevelReading]) -> list[str]:
    """Write the ladder of a run, if it has one."""
    climbed = ladder(results)
    if climbed is None:
        return []
    lines = []
    for line in rung_lines(climbed, read):
        broken = f"{line.broken} broken"
        lines.append(f"  after {line.title:<16}{line.accuracy:>7}  {broken:<18}{line.validity}")
    return [_wrapped("  ", verdict(climbed)), *lines, _wrapped("  ", held_line(climbed))]


def _ladder_json(run: StoredRun, results: Sequence[Result]) -> dict[str, Any] | None:
    climbed = ladder(results)
    return None if climbed is None else ladder_json(climbed, run_readings(run, results))


def summary_json(run: StoredRun) -> dict[str, Any]:
    """Return the summary as plain data for `--json`; a figure over nothing has the value None."""
    manifest, (results, figures) = run.manifest, summarize(run)
    is_text = manifest.get("kind", "text") == "text"
    return {
        "run": run.name,
        "manifest": dict(manifest),
        "complete": figures.complete,
        "cases": figures.cases,
        "planned": figures.planned,
        "statuses": dict(figures.statuses),
        "reasons": {status: dict(counts) for status, counts in figures.reasons.items()},
        "accuracy_before": asdict(figures.before),
        "accuracy_after": asdict(figures.after),
        "accuracy_after_by_label": asdict(figures.after_by_label),
        "bleu": _bleu_json(results) if answers_texts(manifest) else None,
        "success": asdict(figures.success),
        **_validity_json(figures),
        **({"success_at_limit": asdict(figures.at_limit)} if figures.at_limit else {}),
        **({"success_per_draw": asdict(figures.per_draw)} if figures.per_draw else {}),
        **({"reconstructions_kept": asdict(figures.rebuilt)} if figures.rebuilt else {}),
        "queries": asdict(figures.queries),
        **(_text_changes(results, figures) if is_text else _picture_changes(figures)),
        "cost": asdict(figures.cost) if figures.cost.of else None,
        "success_by_kept": _kept_json(results, winning_steps(run, results), manifest),
        "totals": dict(run.totals),
        "notes": notes(figures, manifest, results),
        "ladder": _ladder_json(run, results),
        "robust": [asdict(bounds) for bounds in robust_to_words(results)],
        "trust": {fact.name: fact.value for fact in trust_facts(run, results, figures)},
    }


def _validity_json(figures: Summary) -> dict[str, Any]:
    measured = {"validity": figures.validity, "valid_success": figures.valid_success}
    return {name: asdict(figure) for name, figure in measured.items() if figure is not None}


def _text_changes(results: Sequence[Result], figures: Summary) -> dict[str, Any]:
    by_characters = is_by_characters(results)
    return {
        "words_changed": asdict(figures.words),
        "share_changed": asdict(figures.share),
        "characters_changed": asdict(characters_share(results)),
        "character_edits": operations(results).counts if by_characters else None,
    }


def _picture_changes(figures: Summary) -> dict[str, Any]:
    return {name: asdict(figure) for name, figure in figures.measures.items()}


def _kept_json(
    results: Sequence[Result], steps: Sequence[Step], manifest: Mapping[str, Any]
) -> dict[str, Any]:
    """Return by measure the success at a few values, with the value under "least"."""
    return {
        curve.measure: [
            {"least": value} | asdict(curve.figure(value)) for value in SHOWN[curve.measure]
        ]
        for curve in kept_curves(results, steps, manifest)
    }


def _bleu_json(results: Sequence[Result]) -> dict[str, Any] | None:
    try:
        bleu = bleu_figures(results)
    except MissingPackage:
        return None
    return None if bleu is None else asdict(bleu)


def comparison_json(runs: Sequence[StoredRun], level: float = 0.05) -> dict[str, Any]:
    """Return several summaries as plain data, and every later run paired with the first.

    `significant` is what the test named in `decides` says at that level. `levels` compares what is
    left of the accuracy after each level of edits, if both runs climbed the ladder.
    """
    first = runs[0].results() if runs else []
    return {
        "runs": [summary_json(run) for run in runs],
        "decides": {"test": "McNemar, exact, two-sided", "level": level},
        "paired": [
            {"a": runs[0].name, "b": run.name} | _paired_json(first, run.results(), level)
            for run in runs[1:]
        ],
    }


def _paired_json(a: Sequence[Result], b: Sequence[Result], level: float) -> dict[str, Any]:
    pair = paired(a, b, 1 - level)
    data = asdict(pair)
    for name in ("before", "accuracy", "success"):
        data[name]["significant"] = getattr(pair, name).is_significant(level)
    data["levels"] = {
        name: asdict(after) | {"significant": after.is_significant(level)}
        for name, after in paired_levels(a, b, 1 - level).items()
    }
    return data


def _wrapped(indent: str, text: str) -> str:
    return textwrap.fill(text, 80, initial_indent=indent, subsequent_indent=" " * len(indent))

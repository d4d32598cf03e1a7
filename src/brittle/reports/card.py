"""The model card of a run: its figures, what they rest on, and metadata that a hub can read."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from brittle.formatting import number, percent, plural
from brittle.levels import LEVELS
from brittle.metrics.ladder import Ladder, Rung, ladder
from brittle.metrics.summary import Figure, Summary, robust_to_words
from brittle.redaction import visible
from brittle.reports.endings import format_statuses
from brittle.reports.ladder import (
    held_line,
    language_line,
    reading_line,
    run_readings,
    valid_estimate,
    verdict,
)
from brittle.reports.ladder_page import (
    estimate_text,
    how_estimated,
    proved_sentence,
    reading_text,
)
from brittle.reports.notes import notes
from brittle.reports.stored import StoredRun
from brittle.reports.summaries import summarize
from brittle.reports.summary_lines import (
    answers_texts,
    describe_run,
    format_interval,
    summary_lines,
)
from brittle.reports.table import Cell, Column, Table, in_markdown
from brittle.reports.trust import robust_lines, trust_facts
from brittle.results import Result
from brittle.validity.figures import LevelReading

LADDER_HEADS = (
    *("edits", "what they do", "accuracy left", "95% interval", "broken at this level"),
    *("valid, and who judged it", "every text of this level was tried, none breaks"),
)
NOT_SAID = (
    "Accuracy under attack is an upper bound on robustness: a stronger attack, or a larger budget, "
    "can only lower it. What is proved is proved of the space named above, on this target, for "
    "these examples; it says nothing of other edits. Whether adversarial texts keep their meaning "
    "is what validity measures, and nothing else here does."
)


def card(run: StoredRun) -> str:
    """Write the card as Markdown, with the metadata of a model card before it."""
    results, figures = summarize(run)
    lines = summary_lines(figures, run.manifest, results)
    facts = [
        (fact.name, fact.value or Cell("missing", strong=True))
        for fact in trust_facts(run, results, figures)
    ]
    climbed = ladder(results)
    proved = robust_lines(results) if climbed is None else []
    parts = [
        "---\n" + "\n".join(_metadata(run, results, figures)) + "\n---",
        f"# Robustness of {in_markdown(run.manifest.get('target'))}",
        f"{in_markdown(describe_run(run.manifest))}. Run `{_in_code(run.name)}`.",
        *(() if climbed is None else _ladder(climbed, run_readings(run, results))),
        _table(
            ("figure", "value", "95% interval", "over"),
            [(line.name, line.value, line.interval, line.over) for line in lines],
        ),
        f"How the cases ended: {in_markdown(format_statuses(figures))}.",
        *(f"{in_markdown(line)}." for line in proved),
        "## What the figures rest on",
        _table(("fact", "value"), facts),
        *(f"> {in_markdown(note)}" for note in notes(figures, run.manifest, results)),
        "## What the figures do not say",
        NOT_SAID,
    ]
    return "\n\n".join(parts) + "\n"


def _ladder(climbed: Ladder, read: Mapping[str, LevelReading]) -> Iterator[str]:
    """Yield the ladder: the finding, a table from gentle to rough, who read, and the estimate."""
    yield f"**{in_markdown(verdict(climbed))}**"
    before = climbed.before
    right = f"{number(before.count)} of {number(before.of)} right"
    rows: list[tuple[str, ...]] = [
        ("none", "the texts as they are", *_shares(before), right, "", "")
    ]
    rows += [_rung(rung, climbed, read.get(rung.level)) for rung in climbed.rungs]
    yield _table(LADDER_HEADS, rows)
    lines = [held_line(climbed), language_line(climbed), reading_line(climbed, read)]
    yield "\n".join(f"- {in_markdown(line)}." for line in lines if line)
    estimate = valid_estimate(climbed, read)
    if estimate.value is not None:
        value, interval = estimate_text(estimate)
        cases = plural(estimate.of, estimate.over)
        yield f"Validly broken, estimate: **{value}** ({interval}) of {cases}."
    sentences = [how_estimated(climbed, read), proved_sentence(climbed)]
    yield from (in_markdown(sentence) for sentence in sentences if sentence is not None)


def _rung(rung: Rung, climbed: Ladder, reading: LevelReading | None) -> tuple[str, ...]:
    broken = f"{number(rung.broken)} of {number(climbed.attacked)}"
    proved = f"{number(rung.proved)} of {number(rung.tried)}"
    said = reading_text(reading, with_label=True)
    about = LEVELS[rung.level].about
    return rung.title, about, *_shares(rung.standing), broken, said, proved


def _shares(figure: Figure) -> tuple[str, str]:
    return percent(figure.value), format_interval(figure, percent)


def _metadata(run: StoredRun, results: Sequence[Result], figures: Summary) -> Iterator[str]:
    """Yield lines of YAML: the entry `model-index` of a model card."""
    manifest = run.manifest
    yield "model-index:"
    yield f"- name: {_quoted(manifest.get('target'))}"
    yield "  results:"
    yield "  - task:"
    yield f"      type: {_task(manifest)}"
    yield "    dataset:"
    yield f"      name: {_quoted(manifest.get('data'))}"
    yield f"      type: {_quoted(manifest.get('data'))}"
    if manifest.get("split"):
        yield f"      split: {_quoted(manifest['split'])}"
    yield "    metrics:"
    for kind, name, figure in _measured(run, results, figures):
        if figure.value is not None:
            yield f"    - type: {kind}"
            yield f"      name: {_quoted(name)}"
            yield f"      value: {figure.value:.4f}"
    yield "    source:"
    yield f"      name: {_quoted('brittle')}"


def _task(manifest: Mapping[str, Any]) -> str:
    """Name what the target does, as a hub does."""
    if answers_texts(manifest):
        return "translation"
    return f"{'image' if manifest.get('kind') == 'picture' else 'text'}-classification"


def _measured(
    run: StoredRun, results: Sequence[Result], figures: Summary
) -> Iterator[tuple[str, str, Figure]]:
    attack = run.manifest.get("attack")
    yield "accuracy", "accuracy before attack", figures.before
    yield "accuracy", f"accuracy under {attack}", figures.after
    yield "attack_success", f"success of {attack}", figures.success
    climbed = ladder(results)
    if climbed is not None:
        for rung in climbed.rungs:
            name = f"accuracy under {attack} with edits up to {rung.title}"
            yield "accuracy", name, rung.standing
        estimate = valid_estimate(climbed, run_readings(run, results))
        yield "validly_broken", f"validly broken by {attack}, estimate", estimate
    if figures.validity is not None and figures.valid_success is not None:
        yield "validity", f"validity of what {attack} found", figures.validity
        yield "valid_success", f"valid success of {attack}", figures.valid_success
    for bounds in robust_to_words(results) if climbed is None else ():
        swaps = f"every swap of up to {plural(bounds.words, 'words')} by {attack}"
        yield "withstands_swaps", f"attacked cases that withstand {swaps}", bounds.proved
        if bounds.unknown:
            yield "unbroken_by_swaps", f"the same, and cases not decided, {swaps}", bounds.unbroken


def _table(head: Sequence[str], rows: Sequence[Sequence[Any]]) -> str:
    return Table([Column(name) for name in head], rows).markdown()


def _in_code(text: str) -> str:
    """Write text that does not end the code that it stands in."""
    return " ".join(visible(text).split()).replace("`", "'").replace("<", "&lt;")


def _quoted(value: Any) -> str:
    """Write a string that YAML reads as one: JSON's strings are."""
    return json.dumps(visible(str(value)))

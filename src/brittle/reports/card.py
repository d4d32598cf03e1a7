"""The model card of a run: its figures, what they rest on, and metadata that a hub can read."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from brittle.metrics.proved import robust_to_words
from brittle.metrics.summary import Figure, Summary
from brittle.reports.escaping import visible
from brittle.reports.notes import notes
from brittle.reports.stored import StoredRun
from brittle.reports.summaries import summarize
from brittle.reports.summary_lines import (
    answers_texts,
    describe_run,
    format_statuses,
    summary_lines,
)
from brittle.reports.trust import robust_lines, trust_facts
from brittle.results import Result

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
    facts = trust_facts(run, results, figures)
    parts = [
        "---\n" + "\n".join(_metadata(run, results, figures)) + "\n---",
        f"# Robustness of {_inline(run.manifest.get('target'))}",
        f"{_inline(describe_run(run.manifest))}. Run `{_inline(run.name)}`.",
        _table(
            ("figure", "value", "95% interval", "over"),
            [(line.name, line.value, line.interval, line.over) for line in lines],
        ),
        f"How the cases ended: {_inline(format_statuses(figures))}.",
        *(f"{_inline(line)}." for line in robust_lines(results)),
        "## What the figures rest on",
        _table(("fact", "value"), [(f.name, f.value or "**missing**") for f in facts]),
        *(f"> {_inline(note)}" for note in notes(figures, run.manifest, results)),
        "## What the figures do not say",
        NOT_SAID,
    ]
    return "\n\n".join(parts) + "\n"


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
    for kind, name, figure in _measured(manifest.get("attack"), results, figures):
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
    attack: Any, results: Sequence[Result], figures: Summary
) -> Iterator[tuple[str, str, Figure]]:
    yield "accuracy", "accuracy before attack", figures.before
    yield "accuracy", f"accuracy under {attack}", figures.after
    yield "attack_success", f"success of {attack}", figures.success
    if figures.validity is not None and figures.valid_success is not None:
        yield "validity", f"validity of what {attack} found", figures.validity
        yield "valid_success", f"valid success of {attack}", figures.valid_success
    for bounds in robust_to_words(results):
        words = f"{bounds.words} word{'s' if bounds.words > 1 else ''} swapped"
        yield "proved_accuracy", f"proved robust to {words}", bounds.proved
        yield "unbroken_accuracy", f"not broken with {words}", bounds.unbroken


def _table(head: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    lines = [head, ["---"] * len(head), *rows]
    return "\n".join(f"| {' | '.join(map(_inline, cells))} |" for cells in lines)


def _inline(value: Any) -> str:
    """Write text that neither ends a line or a cell, nor becomes markup."""
    text = " ".join(visible(str(value)).split())
    return text.replace("|", "\\|").replace("<", "&lt;").replace("`", "'")


def _quoted(value: Any) -> str:
    """Write a string that YAML reads as one: JSON's strings are."""
    return json.dumps(visible(str(value)))

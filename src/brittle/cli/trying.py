"""One sentence under several attacks, with all that was found on the way."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from brittle.data.dataset import Dataset
from brittle.data.example import Example
from brittle.results import Result, Step
from brittle.runs.job import Job
from brittle.runs.rows import result_of, steps_of
from brittle.runs.runner import search
from brittle.targets.protocols import Classifies

QUICK = ("pwws", "genetic", "random-swap")
"""The attacks that need nothing but the sentence."""

STYLES = {"broken": "red", "held": "green", "out of budget": "yellow"}

Found = list[tuple[Result, list[Step]]]


def try_attacks(
    target: Classifies,
    sentence: str,
    names: Sequence[str] = QUICK,
    *,
    label: str | None = None,
    seed: int = 0,
    settings: Mapping[str, Any] | None = None,
) -> Found:
    """Attack one sentence with each attack; nothing is stored."""
    labels = () if label is None else (label,)
    dataset = Dataset("sentence", "all", (Example.of(sentence, label),), labels)
    found = []
    for name in names:
        job = Job.of(target, dataset, name, settings or {}, None, None, seed, None)
        (case,) = job.cases(dataset, ["sentence"], set())
        outcome = search(job, case)
        found.append((result_of(outcome, job), list(steps_of(outcome, target.labels))))
    return found


def shown(found: Found) -> Any:
    """Make what a person sees: the prediction, then each attack's way through the sentence."""
    from rich.console import Group
    from rich.text import Text

    from brittle.formatting import percent, plural
    from brittle.reports.terminal import Highlighted

    first = found[0][0]
    parts: list[Any] = [
        Text(first.original),
        Text(f"predicted {first.predicted} ({percent(first.confidence)})\n", style="dim"),
    ]
    for result, steps in found:
        told = f"{result.attack}: {result.status}"
        told += f" ({result.reason})" if result.reason else ""
        told += f", {result.queries} queries"
        if result.adversarial_label is not None:
            told += f", {plural(result.words_changed, ('word', 'words'))} changed"
        parts.append(Text(told, style=f"bold {STYLES.get(result.status, '')}".rstrip()))
        if result.edits:
            parts.append(Highlighted(result))
        for step in steps[1:]:
            swaps = ", ".join(f"{edit.old} → {edit.new}" for edit in step.edits)
            line = f"  query {step.query}: {step.label} {percent(step.confidence)}  {swaps}"
            parts.append(Text(line, style="dim"))
        parts.append(Text(""))
    return Group(*parts)

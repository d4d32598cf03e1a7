"""The path of a case for the page: its steps, each as what it changed since the step before.

A path is `[[field, start, stop, new, …], total, step, …]`. The first list has every edit of the
path once. `total` counts the stored steps, the original included; of very many, some in between are
left out. A step is `[query, label, confidence, [edits that came], [edits that went]]`, followed by
its cost and its answer where there are any. Edits are indices into the first list, label and answer
into the strings of the page.
"""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Callable, Iterable, Sequence
from typing import Any

from brittle.edits import Edit
from brittle.formatting import rounded
from brittle.results import Step

MAX_STEPS = 40


def steps_by_case(steps: Iterable[Step]) -> dict[str, list[Step]]:
    """Group the steps of a run by case, in the order of their queries."""
    grouped: dict[str, list[Step]] = defaultdict(list)
    for step in steps:
        grouped[step.case].append(step)
    return {case: sorted(own, key=lambda step: step.query) for case, own in grouped.items()}


def embedded_path(
    steps: Sequence[Step],
    flatten: Callable[[Edit], list[Any]],
    index: Callable[[str | None], int],
) -> list[Any]:
    """Return the path of one case, or an empty list if nothing but the original was ever best.

    `flatten` writes an edit as the row does, and `index` finds a string in the table of the page.
    """
    if len(steps) < 2:
        return []
    numbers: dict[Edit, int] = {}
    rows: list[list[Any]] = []
    before: set[int] = set()
    for step in _thinned(steps):
        now = {numbers.setdefault(edit, len(numbers)) for edit in step.edits}
        row: list[Any] = [step.query, index(step.label), rounded(step.confidence)]
        row += [sorted(now - before), sorted(before - now)]
        if step.cost is not None or step.answer is not None:
            row += [rounded(step.cost), index(step.answer)]
        rows.append(row)
        before = now
    return [[value for edit in numbers for value in flatten(edit)], len(steps), *rows]


def _thinned(steps: Sequence[Step]) -> Sequence[Step]:
    """Keep at most `MAX_STEPS` steps, always the first and the last."""
    if len(steps) <= MAX_STEPS:
        return steps
    stride = (len(steps) - 1) / (MAX_STEPS - 1)
    return [steps[math.floor(n * stride + 0.5)] for n in range(MAX_STEPS)]

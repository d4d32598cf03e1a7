"""Which label is predicted for which reference, before the attack and under it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from brittle.metrics.summary import is_judged
from brittle.results import Result

Matrix = tuple[tuple[int, ...], ...]


@dataclass(frozen=True)
class Confusion:
    """Two tables of counts over the same `of` cases: rows are references, columns predictions."""

    labels: tuple[str, ...]
    before: Matrix
    after: Matrix
    of: int


def confusion(results: Sequence[Result], labels: Sequence[str] = ()) -> Confusion:
    """Count reference against prediction, on the originals and under attack.

    Under attack, the prediction of a broken case is that on its adversarial text, and that of any
    other case the one on its original. Labels that occur only in the rows come after `labels`,
    sorted.

    >>> from brittle.metrics.samples import sample_results
    >>> tables = confusion(sample_results(), ["negative", "positive"])
    >>> tables.before, tables.after
    (((3, 0), (1, 3)), ((2, 1), (3, 1)))
    """
    judged = [r for r in results if is_judged(r)]
    before = [(str(r.label), str(r.predicted)) for r in judged]
    after = [(label, _under_attack(r, predicted)) for r, (label, predicted) in zip(judged, before)]
    used = {name for pair in before + after for name in pair}
    names = (*labels, *sorted(used.difference(labels)))
    return Confusion(names, _count(before, names), _count(after, names), len(judged))


def _under_attack(result: Result, predicted: str) -> str:
    if result.status == "broken" and result.adversarial_label is not None:
        return result.adversarial_label
    return predicted


def _count(pairs: Sequence[tuple[str, str]], names: Sequence[str]) -> Matrix:
    index = {name: i for i, name in enumerate(names)}
    table = [[0] * len(names) for _ in names]
    for label, predicted in pairs:
        table[index[label]][index[predicted]] += 1
    return tuple(tuple(row) for row in table)

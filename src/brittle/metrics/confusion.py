"""Which labels are taken for which, before the attack and under it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from brittle.metrics.summary import is_judged
from brittle.results import Result

Matrix = tuple[tuple[int, ...], ...]


@dataclass(frozen=True)
class Confusion:
    """Two tables of counts over the same cases: rows are the reference, columns the prediction."""

    labels: tuple[str, ...]
    before: Matrix
    after: Matrix
    of: int


def confusion(results: Sequence[Result], labels: Sequence[str] = ()) -> Confusion:
    """Count reference against prediction, on the originals and under attack.

    Under attack a broken case counts as what its adversarial text is taken for, every other case as
    its original is. Labels that only the rows know come after the given ones, sorted.

    >>> from brittle.metrics.samples import sample_results
    >>> tables = confusion(sample_results(), ["negative", "positive"])
    >>> tables.before, tables.after
    (((3, 0), (1, 3)), ((2, 1), (3, 1)))
    """
    judged = [r for r in results if is_judged(r)]
    before = [(str(r.label), str(r.predicted)) for r in judged]
    after = [(label, _under_attack(r, now)) for r, (label, now) in zip(judged, before)]
    used = {name for pair in before + after for name in pair}
    names = (*labels, *sorted(used.difference(labels)))
    return Confusion(names, _counted(before, names), _counted(after, names), len(judged))


def _under_attack(result: Result, predicted: str) -> str:
    if result.status == "broken" and result.adversarial_label is not None:
        return result.adversarial_label
    return predicted


def _counted(pairs: Sequence[tuple[str, str]], names: Sequence[str]) -> Matrix:
    index = {name: i for i, name in enumerate(names)}
    table = [[0] * len(names) for _ in names]
    for label, predicted in pairs:
        table[index[label]][index[predicted]] += 1
    return tuple(tuple(row) for row in table)

"""Tables of counts: accuracy of targets under attacks, and labels before and after.

The accuracy of every target under every attack, as a table. Which label is predicted for which
reference, before the attack and under it.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from brittle.errors import UsageError
from brittle.metrics.summary import Figure, is_judged, is_right_after, rate
from brittle.results import Result


@dataclass(frozen=True)
class AttackedTarget:
    """The results of one run, and the names of its row and column in the grid.

    Runs of one attack with different settings need different names.
    """

    target: str
    attack: str
    results: Sequence[Result]


@dataclass(frozen=True)
class Grid:
    """Accuracy under attack by target and attack, and `clean`: the accuracy before any attack.

    `shared` counts the examples answered in every run. `uneven` lists the cells (target, attack)
    over other examples than most runs: they cannot be compared with the rest case by case.
    """

    targets: tuple[str, ...]
    attacks: tuple[str, ...]
    clean: Mapping[str, Figure]
    cells: Mapping[tuple[str, str], Figure]
    shared: int
    uneven: tuple[tuple[str, str], ...]


def grid(runs: Sequence[AttackedTarget], shared_only: bool = False) -> Grid:
    """Compute the accuracies of several runs, with Wilson intervals.

    Rows and columns are in the order of the runs; a pair that no run covers has no cell. Every
    figure is over the examples that its own runs answered, or, with `shared_only`, over those that
    all runs answered, so that all figures are over the same cases.

    >>> from brittle.metrics.samples import sample_results
    >>> rows = sample_results()
    >>> cells = [AttackedTarget("plain", "pwws", rows), AttackedTarget("hard", "pwws", rows[2:])]
    >>> table = grid(cells)
    >>> table.clean["plain"].count, table.cells["plain", "pwws"].count, table.shared
    (6, 3, 5)
    >>> table.uneven
    (('hard', 'pwws'),)
    """
    judged = {
        (run.target, run.attack): {r.case: r for r in run.results if is_judged(r)} for run in runs
    }
    if len(judged) < len(runs):
        pairs = [(run.target, run.attack) for run in runs]
        target, attack = next(pair for pair in pairs if pairs.count(pair) > 1)
        raise UsageError(
            f"Got two runs of attack {attack!r} on target {target!r}; expected one for "
            "each cell. Give them different names, or leave one out."
        )
    covered = {pair: frozenset(rows) for pair, rows in judged.items()}
    shared = frozenset.intersection(*covered.values()) if judged else frozenset()
    # The examples of most runs; of several such sets the largest, then the first.
    sets = list(covered.values())
    usual = max(sets, key=lambda cases: (sets.count(cases), len(cases)), default=frozenset())
    uneven = tuple(pair for pair, cases in covered.items() if cases != usual)
    if shared_only:
        judged = {
            pair: {case: row for case, row in rows.items() if case in shared}
            for pair, rows in judged.items()
        }
    targets = tuple(dict.fromkeys(run.target for run in runs))
    return Grid(
        targets,
        tuple(dict.fromkeys(run.attack for run in runs)),
        {target: _clean(target, judged) for target in targets},
        {pair: _under_attack(rows) for pair, rows in judged.items()},
        len(shared),
        uneven,
    )


def _clean(target: str, judged: Mapping[tuple[str, str], Mapping[str, Result]]) -> Figure:
    """Compute the accuracy on the originals, each counted once, over all runs of a target."""
    rows: dict[str, Result] = {}
    for (name, _), run_rows in judged.items():
        if name == target:
            rows = {**run_rows, **rows}
    right = sum(row.predicted == row.label for row in rows.values())
    return rate(right, len(rows), "examples answered")


def _under_attack(rows: Mapping[str, Result]) -> Figure:
    return rate(sum(map(is_right_after, rows.values())), len(rows), "examples answered")


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
    after = [
        (label, _confusion_under_attack(r, predicted))
        for r, (label, predicted) in zip(judged, before)
    ]
    used = {name for pair in before + after for name in pair}
    names = (*labels, *sorted(used.difference(labels)))
    return Confusion(names, _count(before, names), _count(after, names), len(judged))


def _confusion_under_attack(result: Result, predicted: str) -> str:
    if result.status == "broken" and result.adversarial_label is not None:
        return result.adversarial_label
    return predicted


def _count(pairs: Sequence[tuple[str, str]], names: Sequence[str]) -> Matrix:
    index = {name: i for i, name in enumerate(names)}
    table = [[0] * len(names) for _ in names]
    for label, predicted in pairs:
        table[index[label]][index[predicted]] += 1
    return tuple(tuple(row) for row in table)

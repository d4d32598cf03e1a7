"""Accuracy of every target under every attack, beside each other."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from brittle.errors import UsageError
from brittle.metrics.summary import Figure, is_judged, is_right_after, rate
from brittle.results import Result


@dataclass(frozen=True)
class AttackedTarget:
    """The rows of one run, and the names of its row and column in the grid.

    Runs of one attack with other settings need other names.
    """

    target: str
    attack: str
    results: Sequence[Result]


@dataclass(frozen=True)
class Grid:
    """Accuracy under attack by target and attack, and `clean`: before any attack.

    `shared` counts the examples answered in every run. `uneven` lists the cells (target, attack)
    over other examples than most runs are over: they do not compare with the rest case by case.
    """

    targets: tuple[str, ...]
    attacks: tuple[str, ...]
    clean: Mapping[str, Figure]
    cells: Mapping[tuple[str, str], Figure]
    shared: int
    uneven: tuple[tuple[str, str], ...]


def grid(runs: Sequence[AttackedTarget], shared_only: bool = False, level: float = 0.95) -> Grid:
    """Set the accuracies of several runs beside each other, with Wilson intervals.

    Rows and columns come in the order of the runs; a pair that no run covers has no cell. Every
    figure is over the examples its own runs answered, or, with `shared_only`, over those that all
    runs answered, so that all are over the same cases.

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
            f"Got two runs of attack {attack!r} on target {target!r}; expected one for each cell. "
            "Name them apart, or leave one out."
        )
    covered = {pair: frozenset(rows) for pair, rows in judged.items()}
    shared = frozenset.intersection(*covered.values()) if judged else frozenset()
    usual = _usual(list(covered.values()))
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
        {target: _clean(target, judged, level) for target in targets},
        {pair: _under_attack(rows, level) for pair, rows in judged.items()},
        len(shared),
        uneven,
    )


def _usual(covered: Sequence[frozenset[str]]) -> frozenset[str]:
    """Give the examples most runs are over; of several such sets the largest, then the first."""
    return max(covered, key=lambda cases: (covered.count(cases), len(cases)), default=frozenset())


def _clean(
    target: str, judged: Mapping[tuple[str, str], Mapping[str, Result]], level: float
) -> Figure:
    """Count the originals that are right, each once, over all runs of a target."""
    rows: dict[str, Result] = {}
    for (name, _), found in judged.items():
        if name == target:
            rows = {**found, **rows}
    right = sum(row.predicted == row.label for row in rows.values())
    return rate(right, len(rows), "examples answered", level)


def _under_attack(rows: Mapping[str, Result], level: float) -> Figure:
    right = sum(is_right_after(row) for row in rows.values())
    return rate(right, len(rows), "examples answered", level)

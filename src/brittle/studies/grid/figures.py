"""The figures of a grid: success by attack and target, the best attention attack, paired tests."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import combinations

from brittle.metrics.clusters import mean_by_text
from brittle.metrics.holm import holm
from brittle.metrics.paired import Contrast, contrast
from brittle.metrics.summary import ATTACKED, Figure, rate
from brittle.studies.grid.row_names import split_row
from brittle.studies.grid.study import CellRow, GridCell, GridStudy

ATTENTION = ("asmin-", "asmax-")
"""How the names of attacks begin that choose a word by its attention: the best of them is A*."""

Best = Mapping[str, tuple[str, Figure]]
"""By target the best of the attention attacks, with its success."""


@dataclass(frozen=True)
class PairedTest:
    """Two targets under one attack, over the cases attacked on both: b's success minus a's.

    Of an attack that counts draws there is the mean difference of the shares that won, with an
    interval over texts, and no test. `p_holm` is corrected for all tests of the grid.
    """

    attack: str
    a: str
    b: str
    of: int
    difference: float | None
    low: float | None
    high: float | None
    contrast: Contrast | None = None
    p_holm: float | None = None


def success(cell: GridCell) -> Figure:
    """Return the share of the attacked cases that are broken, with Wilson's interval.

    Of an attack that counts draws it is the mean share of draws that won, over texts.
    """
    attacked = _attacked(cell)
    if _counts_draws(attacked):
        return mean_by_text([(case, _share(row)) for case, row in attacked.items()], "texts")
    broken = sum(row.status == "broken" for row in attacked.values())
    return rate(broken, len(attacked), "attacked cases")


def best_attention(study: GridStudy, target: str) -> tuple[str, Figure] | None:
    """Return the attention attack with the highest success on a target; the first of equals."""
    figures = {
        row: success(study.cells[row][target])
        for row in study.attacks
        if split_row(row)[0].lower().startswith(ATTENTION) and target in study.cells[row]
    }
    rates = {row: figure.value for row, figure in figures.items() if figure.value is not None}
    if not rates:
        return None
    best = max(rates, key=lambda row: rates[row])
    return best, figures[best]


def best_by_target(study: GridStudy) -> Best:
    """Return the best of the attention attacks on every target that one of them attacked."""
    found = {target.name: best_attention(study, target.name) for target in study.results.targets}
    return {name: best for name, best in found.items() if best is not None}


def accuracy_by_target(study: GridStudy) -> dict[str, Figure]:
    """Return the accuracy of every target on the texts that cases were taken from."""
    scored = study.results.scored
    return {name: rate(count, scored, "texts") for name, count in study.results.right.items()}


def skipped(cell: GridCell) -> Counter[str]:
    """Count the cases that were not attacked, by reason."""
    return Counter(row.reason for row in cell.rows if row.status not in ATTACKED)


def paired_tests(study: GridStudy) -> list[PairedTest]:
    """Compare every two targets under every attack by McNemar's exact test, Holm-corrected.

    Targets on which no case was attacked by both are not compared.
    """
    names = [target.name for target in study.targets]
    tests = [
        _compare(row, a, b, study.cells[row][a], study.cells[row][b])
        for row in study.attacks
        for a, b in combinations(names, 2)
        if a in study.cells[row] and b in study.cells[row]
    ]
    tests = [test for test in tests if test.of]
    tested = [test.contrast.p for test in tests if test.contrast is not None]
    corrected = iter(holm(tested))
    return [
        test if test.contrast is None else replace(test, p_holm=next(corrected)) for test in tests
    ]


def _compare(row: str, a: str, b: str, cell_a: GridCell, cell_b: GridCell) -> PairedTest:
    rows_a, rows_b = _attacked(cell_a), _attacked(cell_b)
    shared = [(case, rows_a[case], rows_b[case]) for case in rows_a if case in rows_b]
    if _counts_draws(rows_a) and _counts_draws(rows_b):
        values = [(case, _share(y) - _share(x)) for case, x, y in shared]
        mean = mean_by_text(values, "texts")
        return PairedTest(row, a, b, len(shared), mean.value, mean.low, mean.high)
    both = contrast([(x.status == "broken", y.status == "broken") for _, x, y in shared])
    return PairedTest(row, a, b, both.of, both.difference, both.low, both.high, both)


def _attacked(cell: GridCell) -> dict[str, CellRow]:
    return {row.case: row for row in cell.rows if row.status in ATTACKED}


def _counts_draws(rows: dict[str, CellRow]) -> bool:
    return bool(rows) and all(row.tried for row in rows.values())


def _share(row: CellRow) -> float:
    assert row.tried is not None and row.won is not None
    return row.won / row.tried


def mean_queries(cell: GridCell) -> float | None:
    """Return the mean number of queries of the attacked cases."""
    queries: Sequence[int] = [row.queries for row in _attacked(cell).values()]
    return sum(queries) / len(queries) if queries else None

"""A grid of targets and attacks: its facts, its results, and the figures that follow.

The name of a row: an attack, and its own settings behind it. A grid as it is stored: the cases, and
what every attack did to every target on them. The figures of a grid: success by attack and target,
the best attention attack, paired tests.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import combinations
from typing import Any

from brittle.metrics.intervals import holm
from brittle.metrics.paired import Contrast, contrast
from brittle.metrics.summary import ATTACKED, Figure, mean_by_text, rate
from brittle.safety.schema import Count, FileName, Malformed, parse
from brittle.statuses import Status
from brittle.studies.pools import Member
from brittle.studies.study import SUFFIX as SUFFIX
from brittle.studies.study import Study, check_known


def split_row(row: str) -> tuple[str, list[str]]:
    """Split an attack into its name and its own settings.

    >>> split_row("gs-ec:nearest=50"), split_row("python:mine:shout:times=2")
    (('gs-ec', ['nearest=50']), ('python:mine:shout', ['times=2']))
    """
    parts = row.split(":")
    own = [part for part in parts if "=" in part]
    return ":".join(part for part in parts if "=" not in part), own


Fields = tuple[tuple[str, str], ...]


@dataclass(frozen=True)
class GridCase:
    """One example that is attacked on every target."""

    case: str
    label: str
    fields: Fields


@dataclass(frozen=True)
class CellRow:
    """The outcome of one case in one cell; `adversarial` is there if the case is broken.

    An attack that draws candidates counts how many it `tried` and how many `won`.
    """

    case: str
    status: Status
    reason: str
    queries: Count
    tried: Count | None = None
    won: Count | None = None
    adversarial: Fields | None = None


@dataclass(frozen=True)
class GridCell:
    """What one attack did to one target: the file of its run, its rows, and its cost.

    `sent` counts the items that the target computed in this run. Attacks on one target share their
    answers, so that a later attack sends less than it would alone.
    """

    run: FileName
    rows: tuple[CellRow, ...]
    asked: Count
    sent: Count


@dataclass(frozen=True)
class GridFacts:
    """What a grid is about; `settings` are by attack.

    With `all_right` every target gets all cases right, without it each is attacked where it is
    right itself. No attack has edited the fields that are `locked`. `defaults` are by attack the
    settings that nobody chose, as they were; older studies have none.
    """

    pool: str
    data: str
    split: str
    seed: int
    limit: Count
    all_right: bool
    budget: Count | None
    attacks: tuple[str, ...]
    settings: Mapping[str, Mapping[str, Any]]
    locked: tuple[str, ...] = ()
    defaults: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)


@dataclass(frozen=True)
class GridResults:
    """The rows of every attack on every target, over the same cases.

    `cells` are by attack and target; where one is missing, the failures of the study (of a target)
    or `refusals` (of an attack on a target) say why. Of the `scored` texts, `right` counts those
    that each target gets right.
    """

    targets: tuple[Member, ...]
    cases: tuple[GridCase, ...]
    scored: Count
    right: Mapping[str, Count]
    cells: Mapping[str, Mapping[str, GridCell]]
    refusals: Mapping[str, str] = field(default_factory=dict)


GridStudy = Study[GridFacts, GridResults]


def cell_of(content: Mapping[str, Any]) -> GridCell:
    """Build a cell from what the result of a task says of it."""
    return parse(GridCell, {name: content[name] for name in ("run", "rows", "asked", "sent")})


def check_grid(study: GridStudy) -> None:
    """Refuse a grid whose parts do not fit together."""
    facts, results = study.facts, study.results
    names = {member.name for member in results.targets}
    cases = {case.case for case in results.cases}
    if len(names) != len(results.targets):
        raise Malformed("targets of different names", sorted(names), "targets")
    entries: Mapping[str, Mapping[str, Any]]
    entries = {"cells": results.cells, "settings": facts.settings}
    for field_name, by_attack in entries.items():
        if by_attack.keys() != set(facts.attacks):
            expected = f"entries for {', '.join(facts.attacks)}"
            raise Malformed(expected, sorted(by_attack), field_name)
    check_known("right", results.right, names)
    for name, count in results.right.items():
        if count > results.scored:
            expected = f"at most {results.scored}, the number of texts"
            raise Malformed(expected, count, f"right.{name}")
    for attack, by_target in results.cells.items():
        check_known(f"cells.{attack}", by_target, names)
        for target, cell in by_target.items():
            check_known(f"cells.{attack}.{target}", {row.case for row in cell.rows}, cases)
            for row in cell.rows:
                if (row.won or 0) > (row.tried or 0) or (row.won is None) != (row.tried is None):
                    field_name = f"cells.{attack}.{target}.{row.case}.won"
                    raise Malformed(f"at most {row.tried}, the number tried", row.won, field_name)


ATTENTION = ("asmin-", "asmax-")
"""The first letters of attacks that choose a word by its attention: the best of them is A*."""

Best = Mapping[str, tuple[str, Figure]]
"""For each target the best attention attack, with its success."""


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

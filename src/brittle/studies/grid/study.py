"""A grid as it is stored: the cases, and what every attack did to every target on them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from brittle.schema import Count, FileName, Malformed, parse
from brittle.statuses import Status
from brittle.studies.pools import Member
from brittle.studies.study import SUFFIX as SUFFIX
from brittle.studies.study import Study, check_known

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
    right itself. No attack has edited the fields that are `locked`.
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

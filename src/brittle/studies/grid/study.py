"""A grid as it is stored: the cases, and what every attack did to every target on them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from brittle import files
from brittle.attacks.stored_settings import changed_settings
from brittle.errors import require
from brittle.schema import Count, FileName, Malformed, parse
from brittle.statuses import Status
from brittle.studies.grid.row_names import split_row
from brittle.studies.pools import Member
from brittle.studies.study_format import SUFFIX as SUFFIX
from brittle.studies.study_format import StudyFormat, check_known

FORMAT = StudyFormat("grid", 1, "grid", "brittle grid")
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
class Cell:
    """What one attack did to one target: the file of its run, its rows, and its cost.

    `sent` counts the items that the target computed in this run. Attacks on one target share their
    answers, so that a later attack sends less than it would alone.
    """

    run: FileName
    rows: tuple[CellRow, ...]
    asked: Count
    sent: Count


@dataclass(frozen=True)
class GridStudy:
    """The rows of every attack on every target, over the same cases.

    `cells` are by attack and target; where one is missing, `failures` (of a target) or `refusals`
    (of an attack on a target) say why. Of the `scored` texts, `right` counts those that each target
    gets right. With `all_right` every target gets all `cases` right, without it each is attacked
    where it is right itself.
    """

    name: FileName
    pool: str
    data: str
    split: str
    seed: int
    limit: Count
    all_right: bool
    budget: Count | None
    attacks: tuple[str, ...]
    settings: Mapping[str, Mapping[str, Any]]
    targets: tuple[Member, ...]
    cases: tuple[GridCase, ...]
    scored: Count
    right: Mapping[str, Count]
    cells: Mapping[str, Mapping[str, Cell]]
    failures: Mapping[str, str] = field(default_factory=dict)
    refusals: Mapping[str, str] = field(default_factory=dict)
    warnings: tuple[str, ...] = ()

    @property
    def kind(self) -> str:
        return FORMAT.kind

    def save(self, path: str | Path) -> None:
        """Write the study in one step."""
        FORMAT.save(self, path)

    @staticmethod
    def load(path: str | Path) -> GridStudy:
        """Load a study; any other file is an error."""
        study = FORMAT.load(path, GridStudy, _check)
        settings = {
            row: changed_settings(split_row(row)[0], own) for row, own in study.settings.items()
        }
        return replace(study, settings=settings)

    def frame(self) -> Any:
        """Return the cells as a pandas data frame; an empty one has no figures."""
        pandas = require("pandas", "frames", "GridStudy.frame()")
        from brittle.studies.grid.exporting import cell_rows

        return pandas.DataFrame(cell_rows(self))

    def report(self, path: str | Path) -> Path:
        """Write the HTML report, one file that needs no network."""
        from brittle.reports.studies.grid_html import render_grid
        from brittle.studies.grid.showing import reported_grid

        out = Path(path)
        out.parent.mkdir(parents=True, exist_ok=True)
        files.write_whole(out, render_grid(reported_grid(self)), errors="replace")
        return out

    def export(self, path: str | Path, texts: bool = False, exact: bool = False) -> Path:
        """Write a row for every cell, or for every case of a cell, as .csv, .jsonl or .parquet."""
        from brittle.studies.grid.exporting import export_grid

        return export_grid(self, path, texts, exact)


def cell_of(content: Mapping[str, Any]) -> Cell:
    """Build a cell from what the result of a task says of it."""
    return parse(Cell, {name: content[name] for name in ("run", "rows", "asked", "sent")})


def _check(study: GridStudy) -> None:
    """Refuse a grid whose parts do not fit together."""
    names = {member.name for member in study.targets}
    cases = {case.case for case in study.cases}
    if len(names) != len(study.targets):
        raise Malformed("targets of different names", sorted(names), "targets")
    for field_name in ("cells", "settings"):
        if getattr(study, field_name).keys() != set(study.attacks):
            expected = f"entries for {', '.join(study.attacks)}"
            raise Malformed(expected, sorted(getattr(study, field_name)), field_name)
    check_known("right", study.right, names)
    for name, count in study.right.items():
        if count > study.scored:
            raise Malformed(f"at most {study.scored}, the number of texts", count, f"right.{name}")
    for attack, by_target in study.cells.items():
        check_known(f"cells.{attack}", by_target, names)
        for target, cell in by_target.items():
            check_known(f"cells.{attack}.{target}", {row.case for row in cell.rows}, cases)
            for row in cell.rows:
                if (row.won or 0) > (row.tried or 0) or (row.won is None) != (row.tried is None):
                    field_name = f"cells.{attack}.{target}.{row.case}.won"
                    raise Malformed(f"at most {row.tried}, the number tried", row.won, field_name)

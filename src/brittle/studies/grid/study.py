"""A grid as it is stored: the cases, and what every attack did to every target on them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from brittle import files
from brittle.asks import Status
from brittle.errors import require
from brittle.studies.pools import Member
from brittle.studies.study_format import SUFFIX as SUFFIX
from brittle.studies.study_format import StudyFormat

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
    queries: int
    tried: int | None = None
    won: int | None = None
    adversarial: Fields | None = None


@dataclass(frozen=True)
class Cell:
    """What one attack did to one target: the file of its run, its rows, and its cost.

    `sent` counts the items that the target computed in this run. Attacks on one target share their
    answers, so that a later attack sends less than it would alone.
    """

    run: str
    rows: tuple[CellRow, ...]
    asked: int
    sent: int


@dataclass(frozen=True)
class GridStudy:
    """The rows of every attack on every target, over the same cases.

    `cells` are by attack and target; where one is missing, `failures` (of a target) or `refusals`
    (of an attack on a target) say why. Of the `scored` texts, `right` counts those that each target
    gets right. With `all_right` every target gets all `cases` right, without it each is attacked
    where it is right itself.
    """

    name: str
    pool: str
    data: str
    split: str
    seed: int
    limit: int
    all_right: bool
    budget: int | None
    attacks: tuple[str, ...]
    settings: Mapping[str, Mapping[str, Any]]
    targets: tuple[Member, ...]
    cases: tuple[GridCase, ...]
    scored: int
    right: Mapping[str, int]
    cells: Mapping[str, Mapping[str, Cell]]
    failures: Mapping[str, str] = field(default_factory=dict)
    refusals: Mapping[str, str] = field(default_factory=dict)
    warnings: tuple[str, ...] = ()

    @property
    def kind(self) -> str:
        return FORMAT.kind

    def save(self, path: Path) -> None:
        """Write the study in one step."""
        FORMAT.save(self, path)

    @staticmethod
    def load(path: Path) -> GridStudy:
        """Load a study; any other file is an error."""
        return FORMAT.load(path, _build)

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


def _build(content: dict[str, Any]) -> GridStudy:
    content |= {name: tuple(content[name]) for name in ("attacks", "warnings")}
    content["targets"] = tuple(Member(**member) for member in content["targets"])
    content["cases"] = tuple(
        GridCase(case["case"], case["label"], _fields(case["fields"])) for case in content["cases"]
    )
    content["cells"] = {
        attack: {target: cell_of(cell) for target, cell in by_target.items()}
        for attack, by_target in content["cells"].items()
    }
    return GridStudy(**content)


def _fields(pairs: Any) -> Fields:
    return tuple((name, value) for name, value in pairs)


def cell_of(content: Mapping[str, Any]) -> Cell:
    """Build a cell from stored JSON."""
    rows = tuple(
        CellRow(**row | {"adversarial": row["adversarial"] and _fields(row["adversarial"])})
        for row in content["rows"]
    )
    return Cell(content["run"], rows, content["asked"], content["sent"])

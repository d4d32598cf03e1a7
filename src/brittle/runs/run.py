"""A run as its user sees it: print it, look at its rows, report, export, verify."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from dataclasses import asdict, fields
from functools import partial
from pathlib import Path
from typing import Any, TypeVar, get_origin, get_type_hints

import numpy as np

from brittle.answers import TEXTS
from brittle.errors import BrittleError, UsageError, require, unknown
from brittle.files import replacing, write_whole
from brittle.goals import Goal
from brittle.kinds import KINDS
from brittle.metrics.inside import InsideRun
from brittle.opening import as_target
from brittle.picture import Picture, stack
from brittle.results import Result, Step
from brittle.runs.command import command_of
from brittle.runs.floors import keep_floors
from brittle.runs.inside import broken_cases
from brittle.runs.inside_file import inside_sections, looked_at
from brittle.runs.judge import Judge
from brittle.runs.people import Pages, annotate
from brittle.runs.store import FLOORS, VALIDITY, Store
from brittle.runs.validity import measure_validity
from brittle.runs.verifying import recheck
from brittle.spreadsheets import write_csv
from brittle.targets.registry import find_kind
from brittle.validity.floors import Floors
from brittle.validity.stored import restore_floors, restore_validity
from brittle.validity.verdicts import Thresholds, Validity

COLUMNS = tuple(
    name for name, hint in get_type_hints(Result).items() if get_origin(hint) is not tuple
)
"""What a table of results holds: all but what is nested."""
ANSWER_COLUMNS = ("answer", "adversarial_answer", "reference")
KIND_COLUMNS = {name for kind in KINDS.values() for name in kind.measures}
OPTIONAL_COLUMNS = tuple(
    field.name
    for field in fields(Result)
    if field.default is None and field.name not in {*ANSWER_COLUMNS, *KIND_COLUMNS}
)
"""Columns that only some attacks fill: they are shown if a case has a value there."""
INSIDE_CASES = 100
NEEDED = ("target", "attack", "data", "examples", "started")
"""Entries that every manifest has."""

R = TypeVar("R", Result, Step)


class Run:
    """A stored run; everything is loaded from its file.

    With `cases` it is that part of the run: rows, steps and figures are of these cases alone, the
    totals of what was computed are of the whole run.
    """

    def __init__(self, path: str | Path, cases: Iterable[str] | None = None) -> None:
        self.path = Path(path).absolute()  # a target may change the working folder
        self.cases = None if cases is None else frozenset(cases)
        with Store.read(self.path) as store:
            self.manifest = store.manifest
        missing = [name for name in NEEDED if name not in self.manifest]
        if missing:
            raise UsageError(
                f"The run file {self.path} is damaged: its manifest has no {', '.join(missing)}. "
                "Restore it from a copy, or start the run over with --new."
            )
        if self.cases is not None:
            count, planned = len(self.cases), self.manifest["examples"]
            self.manifest |= {"limit": count, "examples": count, "part_of": planned}

    @property
    def name(self) -> str:
        return self.path.stem

    @property
    def shape(self) -> tuple[int, int, int] | None:
        """The height, width and channels of its pictures; None if it is about texts."""
        shape = self.manifest.get("shape")
        return None if shape is None else (shape[0], shape[1], shape[2])

    @property
    def totals(self) -> dict[str, float]:
        with Store.read(self.path) as store:
            whole = {} if self.cases is None else {"cases": float(self.manifest["part_of"])}
            return store.totals | whole

    def measured(self, name: str) -> dict[str, Any]:
        """Return what was measured of the run later, such as its validity; {} if nothing was."""
        with Store.read(self.path) as store:
            return {} if self.cases is not None else store.measured(name)

    @property
    def command(self) -> str | None:
        """The command that makes this run again; None if it was made of live objects."""
        return command_of(self.manifest)

    @property
    def fields(self) -> tuple[str, ...]:
        """The names of the fields of its examples."""
        with Store.read(self.path) as store:
            return store.field_names()

    @property
    def wanted_mask(self) -> str | None:
        """The mask that its attack asked for; with another one a target is another target."""
        mask = (self.manifest.get("about_target") or {}).get("wanted_mask")
        return None if mask is None else str(mask)

    def results(self) -> list[Result]:
        """Return one row per finished case, in the order of the examples."""
        with Store.read(self.path) as store:
            return self._own(store.results())

    def counts(self) -> dict[str, int]:
        """Count the finished cases by status, without loading their rows."""
        if self.cases is not None:
            return dict(Counter(result.status for result in self.results()))
        with Store.read(self.path) as store:
            return store.counts()

    def steps(self) -> list[Step]:
        """Return every improvement of every case."""
        with Store.read(self.path) as store:
            return self._own(store.steps())

    def _own(self, rows: list[R]) -> list[R]:
        return rows if self.cases is None else [row for row in rows if row.case in self.cases]

    @property
    def complete(self) -> bool:
        """Tell whether every planned case is finished."""
        with Store.read(self.path) as store:
            if self.cases is not None:
                return store.finished() >= self.cases
            return len(store.finished()) == store.planned()

    def __repr__(self) -> str:
        return f"Run({str(self.path)!r})"

    def __str__(self) -> str:
        from brittle.reports.summaries import summary_text

        return summary_text(self)

    def _repr_html_(self) -> str:
        from brittle.reports.summaries import summary_html

        return summary_html(self)

    def frame(self) -> Any:
        """Return the results as a pandas data frame, one row per case."""
        pandas = require("pandas", "frames", "Run.frame()")
        columns, rows = self._table()
        return pandas.DataFrame.from_records(rows, columns=list(columns))

    def columns(self) -> tuple[str, ...]:
        """Return the columns of this run's rows: those of its kinds of items and answers.

        A cost, the counts of samples, and what is proved are among them if a case has one.
        """
        return self.columns_of(self.results())

    def rows(self) -> list[dict[str, Any]]:
        """Return the results as flat dictionaries, one per case."""
        return self._table()[1]

    def _table(self) -> tuple[tuple[str, ...], list[dict[str, Any]]]:
        """Return columns and rows, with the results loaded once."""
        results = self.results()
        columns = self.columns_of(results)
        return columns, [{name: getattr(row, name) for name in columns} for row in results]

    def columns_of(self, results: Sequence[Result]) -> tuple[str, ...]:
        """Return the columns of rows of this run that are loaded already."""
        own = self.manifest.get("kind", "text")
        others = {name for kind in KINDS.values() if kind.name != own for name in kind.measures}
        if self.manifest.get("answers") != "texts":
            others |= {*ANSWER_COLUMNS}
        for name in OPTIONAL_COLUMNS:
            if all(getattr(result, name) is None for result in results):
                others |= {name}
        return tuple(name for name in COLUMNS if name not in others)

    def answers_of(self, target: Any) -> str:
        """Return what a target must be declared to answer, to be compared with the run's own."""
        kind = find_kind(target) if isinstance(target, str) else None
        declared = callable(target) or (kind is not None and kind.answers_declared)
        return "text" if declared and self.manifest.get("answers") == TEXTS.noun else "auto"

    def verify(self, target: Any, goal: Goal | None = None) -> list[Result]:
        """Ask about every broken case again, alone; return those that no longer break.

        `goal` is needed only for a run whose goal was an object of one's own.
        """
        about: dict[str, Any] = {"fields": self.fields, "wanted_mask": self.wanted_mask}
        opened = as_target(target, shape=self.shape, answers=self.answers_of(target), **about)
        return [check.row for check in recheck(self, opened, goal) if not check.still_wins]

    def inside(
        self,
        target: Any = None,
        *,
        case: str | None = None,
        limit: int | None = INSIDE_CASES,
        layer: str = "first",
    ) -> InsideRun:
        """Look inside the target at broken cases, before and after; of one case, or of the first.

        The run's own target is opened again, unless one is handed in. What was seen is kept beside
        the run, in NAME.inside.json, and computed only for cases that are not there.
        """
        rows = broken_cases(self, case, limit)
        return looked_at(self, self._opened(target), rows, layer)

    def _opened(self, target: Any) -> Any:
        """Open the target that is handed in, or else the one that the run was made on."""
        about: dict[str, Any] = {"fields": self.fields, "shape": self.shape}
        if target is not None:
            about |= {"answers": self.answers_of(target), "wanted_mask": self.wanted_mask}
            return as_target(target, **about)
        stored = dict(self.manifest.get("about_target") or {})
        if not stored:
            raise UsageError(
                f"The run {self.name!r} was made on a live object. Hand in the target."
            )
        return as_target(stored.pop("spec"), **about, **stored)

    def annotate(
        self,
        folder: str | Path,
        *,
        count: int = 100,
        people: int = 2,
        preset: str = "standard",
        seed: int = 0,
        beside: Run | None = None,
    ) -> Pages:
        """Write a page for each person to read, to a folder; the key stays beside the run."""
        other = None if beside is None else beside.path
        settings: dict[str, Any] = {"count": count, "people": people, "seed": seed}
        return annotate(self.path, Path(folder), name=preset, beside=other, **settings)

    def validity(
        self,
        *files: str | Path,
        meaning: int = 4,
        natural: int = 3,
        unfinished: bool = False,
        judge: Any = None,
        judge_pairs: bool = False,
        calibration: Sequence[str | Path] = (),
    ) -> Validity | None:
        """Measure validity from the files that people sent back, and keep it with the run.

        Without files and without a judge, what was measured before is returned, None if nothing
        was. Files that are not finished count only if `unfinished` says so. A judge, a target or
        its name, needs files of this run, or of others: `calibration`.
        """
        if not files and judge is None:
            return self.stored_validity
        return measure_validity(
            self.path,
            [Path(file).absolute() for file in files],  # opening a judge may change the folder
            Thresholds(meaning, natural),
            unfinished,
            Judge.of(judge, self, judge_pairs),
            [Path(file).absolute() for file in calibration],
        )

    def floors(self, target: Any = None, other: Any = None, costly: bool = False) -> Floors:
        """Measure what success has to be read beside, without people, and keep it with the run.

        `other` is a classifier of another family, or its name; without it a model of the zoo is
        trained on the same data, if that has a train split. A target that is paid for is asked
        only if `costly` says so.
        """
        return keep_floors(self, partial(self._opened, target), other, costly)

    @property
    def stored_validity(self) -> Validity | None:
        """The validity that was measured of the run; None if it was not, or of a part of it."""
        if self.cases is not None:
            return None
        with Store.read(self.path) as store:
            return restore_validity(store.measured(VALIDITY))

    @property
    def stored_floors(self) -> Floors | None:
        """The floors that were measured of the run."""
        if self.cases is not None:
            return None
        with Store.read(self.path) as store:
            return restore_floors(store.measured(FLOORS))

    def report(self, path: str | Path, further: Sequence[str] = ()) -> Path:
        """Write the HTML report, one file that needs no network; `further` adds sections to it.

        What `inside` has seen is one of its sections.
        """
        from brittle.reports.html import render

        out = Path(path)
        out.parent.mkdir(parents=True, exist_ok=True)
        sections = [*inside_sections(self), *further]
        write_whole(out, render(self, sections), errors="replace")
        return out

    def card(self) -> str:
        """Return the model card of the run: its figures, and what they rest on, in Markdown."""
        from brittle.reports.card import card

        return card(self)

    def export(self, path: str | Path, exact: bool = False) -> Path:
        """Write the rows as .csv, .jsonl or .parquet; jsonl keeps fields and edits apart.

        In .csv an apostrophe stands before a text that a spreadsheet would compute (=, +, -, @),
        unless the cells are to be `exact`. A run on pictures can also be written as .npz: arrays
        of originals and adversaries.
        """
        out = Path(path)
        writers: dict[str, Callable[[Run, Path], None]]
        writers = {".csv": partial(_csv, exact=exact), ".jsonl": _jsonl, ".parquet": _parquet}
        if self.shape is not None:
            writers[".npz"] = _npz
        writer = writers.get(out.suffix)
        if writer is None:
            *others, last = writers
            raise UsageError(
                f"Got {out.name!r} to export to; expected a name that ends in "
                f"{', '.join(others)} or {last}."
            )
        out.parent.mkdir(parents=True, exist_ok=True)
        with replacing(out) as new:
            writer(self, new)
        return out


def open_run(name: str, folder: str | Path = "runs") -> Run:
    """Open a run by its name, by the start of its name if that is unique, or by its path."""
    if Path(name).suffix == ".sqlite" and Path(name).is_file():
        return Run(name)
    exact = Path(folder) / f"{name}.sqlite"
    if exact.name == f"{name}.sqlite" and exact.is_file():
        return Run(exact)  # one that is damaged says so itself
    paths = list_runs(folder)
    hits = [path for path in paths if path.stem.startswith(name)]
    if len(hits) > 1:
        raise UsageError(f"{name!r} begins several runs: {', '.join(p.stem for p in hits)}.")
    if not hits:
        stems = [path.stem for path in paths]
        raise unknown("run", name, stems, "`brittle list runs` shows those there are.")
    return Run(hits[0])


def list_runs(folder: str | Path = "runs") -> list[Path]:
    """List the files of the runs in a folder, newest last; what cannot be opened is left out."""
    return [path for path in run_paths(folder) if _is_readable(path)]


def run_paths(folder: str | Path = "runs") -> list[Path]:
    """List the files in a folder that are called like runs, newest last; empty ones are none."""
    paths = [path for path in Path(folder).glob("*.sqlite") if path.is_file()]
    paths = [path for path in paths if path.stat().st_size]
    return sorted(paths, key=lambda path: (path.stat().st_mtime, path.name))


def _is_readable(path: Path) -> bool:
    try:
        Store.read(path).close()
    except BrittleError:
        return False
    return True


def _csv(run: Run, out: Path, exact: bool) -> None:
    with out.open("w", newline="", encoding="utf-8", errors="replace") as file:
        write_csv(file, *run._table(), exact=exact)


def _jsonl(run: Run, out: Path) -> None:
    results = run.results()
    names = {*run.columns_of(results), "fields", "edits"}
    names |= {"kept"} if any(result.kept for result in results) else set()
    with out.open("w", encoding="utf-8") as file:
        for result in results:
            row = {name: value for name, value in asdict(result).items() if name in names}
            file.write(json.dumps(row) + "\n")


def _parquet(run: Run, out: Path) -> None:
    arrow = require("pyarrow", "frames", "Exporting to parquet")
    parquet = require("pyarrow.parquet", "frames", "Exporting to parquet")
    parquet.write_table(arrow.Table.from_pylist(run.rows()), out)


def _npz(run: Run, out: Path) -> None:
    """Write a picture and its adversary for every case; without an adversary, the picture again."""
    rows = run.results()
    assert run.shape is not None
    originals, adversaries = (
        stack([Picture.decode(text) for text in column], run.shape, f"The run {run.name!r}")
        for column in ([r.original for r in rows], [r.adversarial or r.original for r in rows])
    )
    names = ("case", "status", "label", "predicted", "adversarial_label")
    columns: dict[str, Any] = {
        name: np.array([str(getattr(r, name) or "") for r in rows]) for name in names
    }
    with out.open("wb") as file:  # to a path, numpy adds an ending
        np.savez_compressed(file, originals=originals, adversaries=adversaries, **columns)

"""A run as its user sees it: print it, look at its rows, report, export, verify."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import fields
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar, get_origin, get_type_hints

from brittle.answers import TEXTS
from brittle.errors import BrittleError, UsageError, require, unknown
from brittle.inside import inside_path
from brittle.kinds import KINDS
from brittle.results import Result, Step
from brittle.runs.store import Store
from brittle.safety.files import write_whole
from brittle.validity.figures import FLOORS, VALIDITY, restore_floors, restore_validity

if TYPE_CHECKING:
    # What opens a target or computes is imported where it is called: reading needs no model.
    from brittle.goals import Goal
    from brittle.inside.measures import InsideRun
    from brittle.reports.kept import Drawing
    from brittle.reports.page import Section
    from brittle.reports.table import Table
    from brittle.runs.drift import Recheck
    from brittle.validity.figures import Floors, Validity
    from brittle.validity.measuring import Pages

COLUMNS = tuple(
    name for name, hint in get_type_hints(Result).items() if get_origin(hint) is not tuple
)
"""The columns of a table of results: every field that is not nested."""
ANSWER_COLUMNS = ("answer", "adversarial_answer", "reference")
KIND_COLUMNS = {name for kind in KINDS.values() for name in kind.measures}
OPTIONAL_COLUMNS = tuple(
    field.name
    for field in fields(Result)
    if field.default is None and field.name not in {*ANSWER_COLUMNS, *KIND_COLUMNS}
)
"""Columns that only some attacks fill: shown only if a case has a value."""
INSIDE_CASES = 100
NEEDED = ("target", "attack", "data", "examples", "started")
"""Entries that every manifest has."""
SMALL: Mapping[str, Callable[[Store], Any]] = {
    "totals": lambda store: store.totals,
    "fields": lambda store: store.field_names(),
    "counts": lambda store: store.counts(),
    "planned": lambda store: store.planned(),
    "finished": lambda store: store.finished(),
    VALIDITY: lambda store: store.measured(VALIDITY),
    FLOORS: lambda store: store.measured(FLOORS),
}
"""What is loaded when a run file is opened."""

R = TypeVar("R", Result, Step)


class Run:
    """A stored run; its file is read once, and again if it has changed.

    With `cases` it is a part of the run: rows, steps and figures cover only these cases, but the
    totals of queries and time cover the whole run.
    """

    def __init__(self, path: str | Path, cases: Iterable[str] | None = None) -> None:
        self.path = Path(path).absolute()  # a target may change the working folder
        self.cases = None if cases is None else frozenset(cases)
        self._loaded: dict[str, Any] = {}
        self._is_as_stored = self._is_complete = False
        self._state = _state_of(self.path)
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
        """The height, width and channels of its pictures; None for a run on texts."""
        shape = self.manifest.get("shape")
        return None if shape is None else (shape[0], shape[1], shape[2])

    @property
    def totals(self) -> dict[str, float]:
        whole = {} if self.cases is None else {"cases": float(self.manifest["part_of"])}
        totals: dict[str, float] = self._load("totals")
        return totals | whole

    def measured(self, name: str) -> dict[str, Any]:
        """Return what was measured after the run, such as its validity; {} if nothing was."""
        if self.cases is not None:
            return {}
        return dict(self._load(name, lambda store: store.measured(name)))

    def keep_measured(self, name: str, value: Mapping[str, Any]) -> None:
        """Store a later measurement with the run."""
        with Store.resume(self.path) as store:
            store.keep_measured(name, value)

    @property
    def whole(self) -> Run:
        """The run with all its cases."""
        return self if self.cases is None else Run(self.path)

    @property
    def broken(self) -> Run:
        """The part of the run that broke: its rows and its figures are of these cases alone."""
        return Run(self.path, [row.case for row in self.results() if row.status == "broken"])

    @property
    def command(self) -> str | None:
        """The command that makes this run again; None if it was made of live objects."""
        from brittle.runs.command import command_of

        return command_of(self.manifest)

    @property
    def try_command(self) -> str | None:
        """The command that attacks a sentence of the user; None if the target has no name."""
        from brittle.runs.command import try_command_of

        return try_command_of(self.manifest)

    @property
    def fields(self) -> tuple[str, ...]:
        """The names of the fields of its examples."""
        names: tuple[str, ...] = self._load("fields")
        return names

    @property
    def wanted_mask(self) -> str | None:
        """The mask that its attack asked for; another mask makes another target."""
        mask = (self.manifest.get("about_target") or {}).get("wanted_mask")
        return None if mask is None else str(mask)

    def results(self) -> list[Result]:
        """Return one row per finished case, in the order of the examples.

        Measures that the run postponed are computed now.
        """
        self._complete()
        return self._own(self._load("results", Store.results))

    def as_stored(self) -> Run:
        """Return the same run with its rows as stored, without measuring anything."""
        if self._is_as_stored:
            return self
        run = Run(self.path, self.cases)
        run._is_as_stored = True
        return run

    def _complete(self) -> None:
        """Measure what is due, once; what was loaded is what was measured."""
        results = self._load("results", Store.results)
        if self._is_as_stored or self._is_complete:
            return
        from brittle.runs.late_measures import is_due, measure_late

        self._is_complete = True
        if is_due(self.manifest, results):
            rows = measure_late(self.path, self.manifest)
            if rows is not None:
                self._state = _state_of(self.path)
                self._loaded |= {"results": rows.results, "steps": rows.steps}

    def counts(self) -> dict[str, int]:
        """Count the finished cases by status, without loading their rows."""
        if self.cases is not None:
            return dict(Counter(result.status for result in self.results()))
        return dict(self._load("counts"))

    def steps(self) -> list[Step]:
        """Return every improvement of every case."""
        self._complete()
        return self._own(self._load("steps", Store.steps))

    def _own(self, rows: list[R]) -> list[R]:
        return [row for row in rows if self.cases is None or row.case in self.cases]

    def _load(self, name: str, load: Callable[[Store], Any] | None = None) -> Any:
        """Return something of the file; what is small is loaded along with whatever is asked for.

        Of what is small, a damaged part is an error only when it is asked for itself.
        """
        state = _state_of(self.path)
        if state != self._state:
            self._loaded, self._state, self._is_complete = {}, state, False
        if name not in self._loaded:
            with Store.read(self.path) as store:
                self._loaded[name] = (load or SMALL[name])(store)
                for other in SMALL.keys() - self._loaded:
                    with suppress(BrittleError):
                        self._loaded[other] = SMALL[other](store)
        return self._loaded[name]

    @property
    def complete(self) -> bool:
        """Tell whether every planned case is finished."""
        finished: set[str] = self._load("finished")
        if self.cases is not None:
            return finished >= self.cases
        planned: int = self._load("planned")
        return len(finished) == planned

    def __repr__(self) -> str:
        return f"Run({str(self.path)!r})"

    def __str__(self) -> str:
        from brittle.reports.summaries import summary_text

        return summary_text(self)

    def _repr_html_(self) -> str:
        from brittle.reports.notebook import summary_html

        return summary_html(self)

    def frame(self) -> Any:
        """Return the results as a pandas data frame, one row per case."""
        pandas = require("pandas", "frames", "Run.frame()")
        columns, rows = self.columns_and_rows()
        return pandas.DataFrame.from_records(rows, columns=list(columns))

    def columns(self) -> tuple[str, ...]:
        """Return the columns of this run's rows, which depend on its kinds of items and answers.

        Costs, counts of samples and proofs have columns only if a case has a value.
        """
        return self.columns_of(self.results())

    def rows(self) -> list[dict[str, Any]]:
        """Return the results as flat dictionaries, one per case."""
        return self.columns_and_rows()[1]

    def table(self, name: str = "figures") -> Table:
        """Return a table that displays and exports itself: the "figures" or the "ladder".

        Notebooks display it; `.latex()`, `.markdown()` and `.csv()` export it.
        """
        from brittle.reports.run_figures import run_table

        return run_table(self, name)

    def figure(self, name: str) -> Drawing:
        """Return a figure of the report, such as "ladder", "queries" or "words".

        Notebooks display it; `.save("ladder.svg")` writes .svg, .pdf or .png. The error for an
        unknown name lists all names.
        """
        from brittle.reports.run_figures import run_figure

        return run_figure(self, name)

    def columns_and_rows(self) -> tuple[tuple[str, ...], list[dict[str, Any]]]:
        """Return the columns and the rows; the results are loaded once."""
        results = self.results()
        columns = self.columns_of(results)
        return columns, [{name: getattr(row, name) for name in columns} for row in results]

    def columns_of(self, results: Sequence[Result]) -> tuple[str, ...]:
        """Return the columns of rows that are already loaded."""
        own = self.manifest.get("kind", "text")
        others = {name for kind in KINDS.values() if kind.name != own for name in kind.measures}
        if self.manifest.get("answers") != "texts":
            others |= {*ANSWER_COLUMNS}
        for name in OPTIONAL_COLUMNS:
            if all(getattr(result, name) is None for result in results):
                others |= {name}
        return tuple(name for name in COLUMNS if name not in others)

    def answers_of(self, target: Any) -> str:
        """Return the kind of answers that a target needs to be compared with this run's target."""
        from brittle.targets.registry import find_kind

        kind = find_kind(target) if isinstance(target, str) else None
        declared = callable(target) or (kind is not None and kind.answers_declared)
        return "text" if declared and self.manifest.get("answers") == TEXTS.noun else "auto"

    def verify(self, target: Any, goal: Goal | None = None) -> list[Result]:
        """Ask about every broken case again, alone; return the cases that no longer break.

        `goal` is needed only if the goal of the run was your own object.
        """
        from brittle.opening import as_target

        about: dict[str, Any] = {"fields": self.fields, "wanted_mask": self.wanted_mask}
        opened = as_target(target, shape=self.shape, answers=self.answers_of(target), **about)
        checked = self.recheck(opened, goal=goal)
        return [check.row for check in checked if not check.still_wins]

    def recheck(
        self, target: Any, rows: Sequence[Result] | None = None, goal: Goal | None = None
    ) -> Iterator[Recheck]:
        """Ask an open target about every adversarial text again, or about other `rows`."""
        from brittle.runs.drift import recheck

        results = self.results() if rows is None else rows
        return recheck(self.manifest, results, target, goal)

    def inside(
        self,
        target: Any = None,
        *,
        case: str | None = None,
        limit: int | None = INSIDE_CASES,
        layer: str = "first",
    ) -> InsideRun:
        """Compute vectors and attention of broken cases before and after the attack.

        `case` selects one case; the default is the first `limit` broken cases. By default the
        run's own target is opened again. The result is stored in NAME.inside.json in the folder of
        the run, and only missing cases are computed.
        """
        from brittle.inside.file import looked_at
        from brittle.inside.looking import broken_cases

        rows = broken_cases(self, case, limit)
        return looked_at(self, self._opened(target), rows, layer)

    def _opened(self, target: Any) -> Any:
        """Open the target that is handed in, or else the one that the run was made on."""
        from brittle.opening import as_target

        about: dict[str, Any] = {"fields": self.fields, "shape": self.shape}
        about["data_labels"] = tuple(self.manifest.get("labels") or ())
        if target is not None:
            about |= {"answers": self.answers_of(target), "wanted_mask": self.wanted_mask}
            return as_target(target, **about)
        stored = dict(self.manifest.get("about_target") or {})
        if not stored:
            raise UsageError(f"The run {self.name!r} attacked a live object. Pass the target.")
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
        """Write a page for each person to a folder; the key stays in the folder of the run."""
        from brittle.reports.annotation import annotation_page
        from brittle.validity.measuring import annotate

        other = None if beside is None else beside.whole
        settings: dict[str, Any] = {"count": count, "people": people, "seed": seed}
        settings |= {"name": preset, "beside": other}
        return annotate(self.whole, Path(folder), annotation_page, **settings)

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
        """Measure validity from the files that people sent back, and store it with the run.

        Without files and without a judge it returns the stored validity, or None. Unfinished files
        count only with `unfinished`. A judge is a target or its name, and needs files of this run,
        or files of other runs as `calibration`.
        """
        if not files and judge is None:
            return self.stored_validity
        from brittle.validity.figures import Thresholds
        from brittle.validity.judges import ValidityJudge
        from brittle.validity.measuring import measure_validity

        return measure_validity(
            self.whole,
            [Path(file).absolute() for file in files],  # opening a judge may change the folder
            Thresholds(meaning, natural),
            Run,
            unfinished,
            ValidityJudge.of(judge, self, judge_pairs),
            [Path(file).absolute() for file in calibration],
        )

    def floors(self, target: Any = None, other: Any = None, costly: bool = False) -> Floors:
        """Measure three baselines for the success rate that need no people, and store them.

        `other` is a classifier of another family, or its name; by default a model of the zoo is
        trained on the same data, if the data has a train split. A costly target is asked only with
        `costly`.
        """
        from brittle.validity.baselines import keep_floors

        return keep_floors(self, partial(self._opened, target), other, costly)

    @property
    def stored_validity(self) -> Validity | None:
        """The stored validity of the run; None if there is none, or for a part of a run."""
        return None if self.cases is not None else restore_validity(self._load(VALIDITY))

    @property
    def stored_floors(self) -> Floors | None:
        """The stored baselines of the run."""
        return None if self.cases is not None else restore_floors(self._load(FLOORS))

    def report(self, path: str | Path, further: Sequence[Section | None] = ()) -> Path:
        """Write the HTML report, one file that works offline; `further` adds sections.

        If `inside` was called, its results are a section, too.
        """
        from brittle.reports.run_page import render

        out = Path(path)
        out.parent.mkdir(parents=True, exist_ok=True)
        sections = [*self._inside_sections(), *further]
        write_whole(out, render(self, sections), errors="replace")
        return out

    def _inside_sections(self) -> list[Section]:
        """Return the report's section on what was seen inside the target, if there is one."""
        if not inside_path(self.path).exists():
            return []
        from brittle.inside.file import inside_sections

        return inside_sections(self)

    def card(self) -> str:
        """Return the model card of the run in Markdown: its figures and their conditions."""
        from brittle.reports.card import card

        return card(self)

    def export(self, path: str | Path, exact: bool = False) -> Path:
        """Write the rows as .csv, .jsonl or .parquet; only jsonl has separate fields and edits.

        In .csv an apostrophe is put before texts that a spreadsheet would compute (=, +, -, @),
        unless `exact` is set. A run on pictures can also be written as .npz: arrays of originals
        and adversarial pictures.
        """
        from brittle.runs.exporting import write_rows

        return write_rows(self, Path(path), exact)


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
        raise UsageError(
            f"{name!r} is the start of several names of runs: {', '.join(p.stem for p in hits)}."
        )
    if not hits:
        stems = [path.stem for path in paths]
        raise unknown("run", name, stems, "See `brittle list runs`.")
    return Run(hits[0])


def list_runs(folder: str | Path = "runs") -> list[Path]:
    """List the files of the runs in a folder, newest last; what cannot be opened is left out."""
    return [path for path in run_paths(folder) if _is_readable(path)]


def run_paths(folder: str | Path = "runs") -> list[Path]:
    """List the files in a folder that are called like runs, newest last; empty ones are none."""
    paths = [path for path in Path(folder).glob("*.sqlite") if path.is_file()]
    paths = [path for path in paths if path.stat().st_size]
    return sorted(paths, key=lambda path: (path.stat().st_mtime, path.name))


def listed_row(path: Path) -> dict[str, Any]:
    """Return a run as it stands in a list of runs; no result is loaded."""
    run = Run(path)
    manifest, counts = run.manifest, run.counts()
    return {
        "run": run.name,
        **{name: manifest[name] for name in ("target", "attack", "data")},
        "cases": f"{sum(counts.values())}/{manifest['examples']}",
        "broken": counts.get("broken", 0),
        "started": manifest["started"],
    }


def _state_of(path: Path) -> tuple[tuple[int, int] | None, ...]:
    """Return what tells whether a run was written since: of its file, and of its log."""
    states: list[tuple[int, int] | None] = []
    for file in (path, path.with_name(path.name + "-wal")):
        try:
            stat = file.stat()
        except OSError:
            states.append(None)
        else:
            states.append((stat.st_mtime_ns, stat.st_size))
    return tuple(states)


def _is_readable(path: Path) -> bool:
    try:
        Store.read(path).close()
    except BrittleError:
        return False
    return True

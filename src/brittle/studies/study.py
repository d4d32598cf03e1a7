"""A study: its name, facts, results, failures and warnings; and how it is loaded and exported.

Rows for other programs and for people: CSV, JSON lines, Markdown, or Parquet. Studies that earlier
versions stored, in the present layout.

Format 1 had all fields of a study beside each other, other ones for every kind; before there were
several kinds, the file did not name its kind.

A study: what it is about, who took part, and what was found, whatever its kind.

`Study` is the one class of all kinds. A kind (`StudyKind`) says which facts and results its studies
have and how they are shown, in one file; `KINDS` names that file. A study is stored as one JSON
file, NAME.study.json, which says at its beginning what it is; beside it lies the folder NAME with
its runs (`study_files.py`). Files of earlier layouts are read, too.
"""

from __future__ import annotations

import io
import json
import re
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import asdict, dataclass, field, fields, replace
from importlib import import_module
from pathlib import Path
from typing import Any, Generic, TypeVar

from brittle.errors import UsageError, require, unknown
from brittle.reports.study_page import StudyView
from brittle.reports.table import Column, Table
from brittle.safety import files
from brittle.safety.files import replacing, write_csv
from brittle.safety.schema import FileName, Malformed, load_json, parse
from brittle.studies import SUFFIX as SUFFIX

Rows = Sequence[Mapping[str, Any]]


def write_rows(rows: Rows, path: str | Path, exact: bool = False) -> Path:
    """Write rows as .csv, .jsonl, .md or .parquet, by the ending of the file's name.

    A cell of a .csv that a spreadsheet would compute is made a text, unless it is to be `exact`.
    """
    out = Path(path)
    if out.suffix not in (".csv", ".jsonl", ".md", ".parquet"):
        raise UsageError(
            f"Got {out.name!r} to export to; expected a name that ends in .csv, .jsonl or "
            ".parquet, or in .md."
        )
    out.parent.mkdir(parents=True, exist_ok=True)
    with replacing(out) as new:
        if out.suffix == ".parquet":
            _write_parquet(rows, new)
        else:
            text = rows_as(rows, out.suffix.removeprefix("."), exact, for_files=True)
            new.write_bytes(text.encode(errors="replace"))
    return out


def rows_as(rows: Rows, format: str, exact: bool = False, for_files: bool = False) -> str:
    """Return rows with the same keys as "csv", "jsonl" or "md".

    In files that any program may read, JSON is in ASCII, and lines of CSV end as in its standard.
    """
    names = list(rows[0]) if rows else []
    if format == "jsonl":
        return "".join(json.dumps(row, ensure_ascii=for_files) + "\n" for row in rows)
    if format == "csv":
        file = io.StringIO(newline="")
        write_csv(
            file,
            list(rows[0]) if rows else [],
            rows,
            exact=exact,
            line_end="\r\n" if for_files else "\n",
        )
        return file.getvalue()
    names = list(rows[0]) if rows else []
    columns = [Column(name, format=_in_three_digits) for name in names]
    return Table(columns, [[row[name] for name in names] for row in rows]).markdown() + "\n"


def _in_three_digits(value: Any) -> str:
    return f"{value:.3f}" if isinstance(value, float) else str(value)


def _write_parquet(rows: Rows, out: Path) -> None:
    arrow = require("pyarrow", "frames", "Exporting to parquet")
    parquet = require("pyarrow.parquet", "frames", "Exporting to parquet")
    parquet.write_table(arrow.Table.from_pylist(list(rows)), out)


FIRST_KIND = "transfer"
"""The kind of the oldest stored studies, which do not name theirs."""
FACTS: Mapping[str, frozenset[str]] = {
    "transfer": frozenset(
        {
            *("pool", "attack", "settings", "data", "split", "seed", "labels", "attacked"),
            *("max_winners", "locked"),
        }
    ),
    "grid": frozenset(
        {
            *("pool", "data", "split", "seed", "limit", "all_right", "budget", "attacks"),
            "settings",
        }
    ),
    "robustness": frozenset({"pool", "data", "split", "generator", "seed", "settings"}),
}
COMMON = frozenset({"name", "failures", "warnings"})
"""Which fields of format 1 are facts of a kind, or of every study; all others are results."""


def in_present_layout(content: dict[str, Any], present: int) -> dict[str, Any]:
    """Return the fields of a stored study as the present version stores them.

    Those of a layout or a kind that is not known stay as they are.
    """
    kind = content.get("kind", FIRST_KIND)
    if content.get("format") != 1 or not isinstance(kind, str) or kind not in FACTS:
        return {"kind": kind, "format": None, **content}
    fields = {name: value for name, value in content.items() if name not in ("kind", "format")}
    common = {name: fields.pop(name) for name in COMMON & fields.keys()}
    facts = {name: fields.pop(name) for name in FACTS[kind] & fields.keys()}
    return {"kind": kind, "format": present, **common, "facts": facts, "results": fields}


F = TypeVar("F")
R = TypeVar("R")
FORMAT = 2
KINDS: Mapping[str, str] = {
    "transfer": "brittle.studies.transfer.kind",
    "grid": "brittle.studies.grid.kind",
    "robustness": "brittle.studies.robustness.kind",
    "guard": "brittle.studies.guard.kind",
}
"""The kinds of studies, each with the module whose `KIND` says what its studies are."""
_NOTHING = object()
_KIND = re.compile(r'\{"kind": "([a-z-]+)"')


@dataclass(frozen=True, repr=False)
class Study(Generic[F, R]):
    """A study of any kind.

    `facts` are all settings that decide it, and what it was made from; `results` are what was
    measured, with the members that took part: both are dataclasses of the kind, and their fields
    read as fields of the study (`study.seed`, `study.cells`). `failures` tell by member why
    something is missing.
    """

    kind: str
    name: FileName
    facts: F
    results: R
    failures: Mapping[str, str] = field(default_factory=dict)
    warnings: tuple[str, ...] = ()

    def __getattr__(self, name: str) -> Any:
        if not name.startswith("_"):
            for part in (self.results, self.facts):
                value = getattr(part, name, _NOTHING)
                if value is not _NOTHING:
                    return value
        raise AttributeError(f"A study of this kind has no {name!r}.")

    def __repr__(self) -> str:
        return f"Study({self.kind!r}, {self.name!r})"

    def _repr_html_(self) -> str:
        from brittle.reports.notebook import study_html

        return study_html(self.view(), self.name, self.table())

    @property
    def members(self) -> tuple[str, ...]:
        """The names of all who took part."""
        return tuple(kind_named(self.kind).members(self))

    def changed(self, **changes: Any) -> Study[F, R]:
        """Return the study with other values of its fields, or of those of its facts or results."""
        own = _taken(changes, fields(self))
        parts: tuple[Any, Any] = (self.facts, self.results)
        facts, results = (replace(part, **_taken(changes, fields(part))) for part in parts)
        if changes:
            raise TypeError(f"A study of this kind has no {', '.join(changes)}.")
        return replace(self, **({"facts": facts, "results": results} | own))

    def save(self, path: str | Path) -> None:
        """Write the study in one step."""
        save_content({"kind": self.kind, "format": FORMAT, **_plain(self)}, Path(path))

    @staticmethod
    def load(path: str | Path, kind: str | None = None) -> Study[Any, Any]:
        """Load a study, of one kind if that is named; any other file is an error."""
        return load_study(path, kind)

    def view(self, **options: Any) -> StudyView:
        """Return what its page and the terminal show: figures, tables, charts and texts."""
        return kind_named(self.kind).view(self, **options)

    def summary(self, **options: Any) -> dict[str, Any]:
        """Return the figures of the study as plain values."""
        return kind_named(self.kind).summary(self, **options)

    def table(self) -> Table:
        """Return the main table, which shows and writes itself: `study.table().latex()`.

        A notebook shows it, too; `.markdown()` and `.csv()` are its other forms.
        """
        view, kind = self.view(), kind_named(self.kind)
        tables = [item for item in (*view.tables, *view.terminal) if isinstance(item, Table)]
        if tables:
            return tables[0]
        rows = kind.rows(self)
        columns = kind.frame_columns or tuple(rows[0] if rows else ())
        formats = [Column(name, format=_in_three_digits) for name in columns]
        return Table(formats, [[row[name] for name in columns] for row in rows])

    def frame(self) -> Any:
        """Return the figures as a pandas data frame."""
        pandas = require("pandas", "frames", "A study's frame()")
        kind = kind_named(self.kind)
        return pandas.DataFrame(kind.rows(self), columns=kind.frame_columns)

    def report(self, path: str | Path) -> Path:
        """Write the page of the study, one HTML file that needs no network."""
        out = Path(path)
        out.parent.mkdir(parents=True, exist_ok=True)
        files.write_whole(out, self.view().html(), errors="replace")
        return out

    def export(self, path: str | Path, texts: bool = False, exact: bool = False) -> Path:
        """Write its rows as .csv, .jsonl or .parquet: one for every figure, or for every text."""
        kind = kind_named(self.kind)
        return write_rows(kind.text_rows(self) if texts else kind.rows(self), path, exact)


@dataclass(frozen=True)
class Listed:
    """A study as a list of studies shows it: the attack in words, and how much there is of it."""

    attack: str
    texts: int
    targets: int
    sources: int | str = "-"


@dataclass(frozen=True)
class StudyKind:
    """What a kind of study is, and how its studies are checked, shown, exported and compared.

    All facts have a `pool` and `data`. `command` makes such studies, `commands` says which others
    take them. `check` refuses parts that do not fit together. `fixed` returns the facts that a
    study keeps under its name. `rows` has one row for every figure, `text_rows` one for every text;
    of the former a data frame has the `frame_columns`, if not all. `present` gives a stored study
    the names that settings have now.
    """

    name: str
    noun: str
    command: str
    commands: str
    facts: type
    results: type
    check: Callable[[Study[Any, Any]], None]
    fixed: Callable[[Any], Mapping[str, Any]]
    members: Callable[[Study[Any, Any]], Sequence[str]]
    listed: Callable[[Study[Any, Any]], Listed]
    rows: Callable[[Study[Any, Any]], Rows]
    text_rows: Callable[[Study[Any, Any]], Rows]
    summary: Callable[..., dict[str, Any]]
    view: Callable[..., StudyView]
    compared: Callable[[Sequence[Study[Any, Any]]], tuple[Any, Any]] | None = None
    present: Callable[[Study[Any, Any]], Study[Any, Any]] = lambda study: study
    frame_columns: tuple[str, ...] | None = None


def kind_named(name: str, place: str = "") -> StudyKind:
    """Return a kind of study by its name, which stands in a `place`."""
    if name not in KINDS:
        raise unknown("kind of study", name, KINDS, place)
    kind: StudyKind = import_module(KINDS[name]).KIND
    return kind


def study_of(kind: str, name: str, **values: Any) -> Study[Any, Any]:
    """Build a study from the fields of its facts and results by their names.

    >>> study = study_of(
    ...     "grid", "mine", pool="pool", data="mr", split="test", seed=0, limit=9, all_right=True,
    ...     budget=None, attacks=(), settings={}, targets=(), cases=(), scored=9, right={}, cells={}
    ... )
    >>> study.seed, study.results.scored
    (0, 9)
    """
    known = kind_named(kind)
    facts, results = (part(**_taken(values, fields(part))) for part in (known.facts, known.results))
    return Study(kind, name, facts, results, **values)


def load_study(path: str | Path, kind: str | None = None) -> Study[Any, Any]:
    """Load a study; one of another kind than the one that is named is an error."""
    wanted = kind_named(kind or stored_kind(Path(path)), f"({path})")
    try:
        content = in_present_layout(load_content(Path(path)), FORMAT)
        stored_as = content.pop("kind"), content.pop("format")
        if stored_as != (wanted.name, FORMAT):
            expected = f"kind {wanted.name}, format {FORMAT}: it has another kind, or comes from "
            raise Malformed(f"{expected}another version of brittle", list(stored_as))
        stored = parse(_Stored, content)
        facts, results = (
            parse(getattr(wanted, part), getattr(stored, part), part)
            for part in ("facts", "results")
        )
        about = (stored.failures, stored.warnings)
        study: Study[Any, Any] = Study(wanted.name, stored.name, facts, results, *about)
        wanted.check(study)
        return wanted.present(study)
    except (OSError, Malformed) as error:
        raise UsageError(
            f"{path} is not a {wanted.noun} that this version of brittle can read: "
            f"{error}. Use a file written by {wanted.command}."
        ) from error


@dataclass(frozen=True)
class _Stored:
    """A study's file without its kind, whose facts and results the kind checks."""

    name: FileName
    facts: Any
    results: Any
    failures: Mapping[str, str] = field(default_factory=dict)
    warnings: tuple[str, ...] = ()


def load_content(path: Path) -> dict[str, Any]:
    """Load the fields of a study's file, unchecked; what holds none is `Malformed`."""
    content = load_json(path)
    if not isinstance(content, dict):
        raise Malformed("an object", content)
    return content


def save_content(content: Mapping[str, Any], path: Path) -> None:
    """Write the fields of a study in one step, for its owner alone."""
    text = json.dumps(content, ensure_ascii=False)
    # UTF-8 cannot hold the lone surrogates of a message; JSON has them as \udXXX.
    files.write_whole(path, f"{text}\n", errors="backslashreplace", private=True)


def stored_kind(path: Path) -> str:
    """Return the kind of study that a file says it is, without loading the whole file."""
    try:
        with path.open(encoding="utf-8", errors="replace") as file:
            named = _KIND.match(file.read(80))
    except OSError as error:
        raise UsageError(f"The study {path} cannot be read: {error.strerror}.") from error
    return FIRST_KIND if named is None else named[1]


def check_known(what: str, names: Collection[str], known: Collection[str]) -> None:
    """Refuse names, of a field of a study, that its other fields do not know."""
    for name in names:
        if name not in known:
            raise Malformed(f"one of {', '.join(known) or 'none'}", name, what)


def _plain(study: Study[Any, Any]) -> dict[str, Any]:
    content = asdict(study)
    return {name: value for name, value in content.items() if name != "kind"}


def _taken(values: dict[str, Any], known: Sequence[Any]) -> dict[str, Any]:
    """Take out of values those of known fields."""
    return {one.name: values.pop(one.name) for one in known if one.name in values}

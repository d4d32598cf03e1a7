"""What the file of a run holds: its manifest, its rows and columns, and those of earlier layouts.

Files of earlier layouts: what differs, and how a file that is opened to write becomes a new one.

| layout | what it lacks |
|---|---|
| 1 | the present names of statuses |
| 2 | the columns of answers, costs and pictures; the present name of the journal's question |
| 3, at first | the counts of samples |
| 3 | similarity and fluency; what was proved |
| 4, at first | the number of single swaps |
| 4, then | levels of edits, and random edits of broken cases |

The rows of a run's file: from results and steps to columns, and back.

SQLite stores values of any type in any column. So what is loaded is checked, column by column; a
value that is not what belongs there is `Malformed`, or another of `files.DAMAGED`.

The manifest of a run: what is needed to understand its rows, and to run it again.

A stored manifest is a plain dictionary, since versions of brittle differ in what they write. What
they have in common is that an entry, where there is one, has the type that is given here.
"""

from __future__ import annotations

import contextlib
import json
import re
import sqlite3
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import fields, replace
from functools import cache
from typing import TYPE_CHECKING, Annotated, Any, Literal, TypedDict

from brittle.edits import Edit, edit_rows
from brittle.kinds import KINDS, Kind
from brittle.results import DAMAGED_EDITS, KeptItem, Result, Step
from brittle.safety import files
from brittle.safety.schema import (
    Check,
    Count,
    Malformed,
    Positive,
    Reader,
    Unbounded,
    field_readers,
    reader,
)
from brittle.statuses import LevelStatus, Status
from brittle.targets.options import stored_options, stored_types

FORMER_STATUSES = {"won": "broken", "lost": "held", "spent": "out of budget"}
FORMER_QUESTIONS = {"scores": "answer", "alone:scores": "alone:answer"}


def column_names(db: sqlite3.Connection, table: str) -> list[str]:
    """List the columns of a table as it stands in the file."""
    return [row[1] for row in db.execute(f"PRAGMA table_info({table})")]


def update_layout(db: sqlite3.Connection, layout: str) -> None:
    """Bring the tables to the present layout, given as SQL; one that is so already stays."""
    for former, status in FORMER_STATUSES.items():
        db.execute("UPDATE results SET status = ? WHERE status = ?", (status, former))
    for former, question in FORMER_QUESTIONS.items():
        db.execute("UPDATE answers SET question = ? WHERE question = ?", (question, former))
    for table in ("results", "steps"):
        known = column_names(db, table)
        for name, kind in _columns(layout, table):
            if name not in known:
                db.execute(f"ALTER TABLE {table} ADD COLUMN {name} {kind}")


def _columns(layout: str, table: str) -> list[tuple[str, str]]:
    """Read the names and types of a table's columns from the layout's SQL.

    >>> _columns("CREATE TABLE a (x TEXT PRIMARY KEY, y REAL, PRIMARY KEY (x)) WITHOUT ROWID;", "a")
    [('x', 'TEXT'), ('y', 'REAL')]
    """
    match = re.search(rf"CREATE TABLE {table} \((.*?)\) WITHOUT ROWID;", layout, re.DOTALL)
    content = match.group(1) if match else ""
    return re.findall(r"\b(\w+) (TEXT|REAL|INTEGER|BLOB)\b", content)


MAX_EDITS_APART = 32  # steps with more edits share equal ones in memory
READ_BEFORE = ("fields", "edits", "kept", "status", "loss", "levels")
"""Fields of rows that are checked when the row is built, and the loss, which may be infinite."""
STORED_ELSEWHERE = ("case", "fields", "original", "adversarial", "reference", "kept")
"""Fields of results that are not columns of their table: the case is `case_id`, what belongs to the
example stands with the examples, what is kept in `meta`; the adversarial text is made of edits."""
RESULT_COLUMNS = (
    "case_id",
    *(field.name for field in fields(Result) if field.name not in STORED_ELSEWHERE),
)
STEP_COLUMNS = (
    *("case_id", "number"),
    *(field.name for field in fields(Step) if field.name != "case"),
)

_READ_PAIRS, _READ_EDITS = reader(tuple[tuple[str, str], ...]), reader(tuple[Edit, ...])
_READ_STATUS, _READ_LOSS = reader(Status), reader(Unbounded)
_READ_LEVELS = reader(tuple[tuple[str, LevelStatus], ...])


def result_row(r: Result, kind: Kind) -> dict[str, Any]:
    """Return the columns of a finished case."""
    row: dict[str, Any] = {name: getattr(r, name, None) for name in RESULT_COLUMNS}
    row["case_id"] = r.case
    row["edits"] = None if r.adversarial is None else json.dumps(kind.stored(r))
    row["levels"] = json.dumps(r.levels) if r.levels else None
    # UTF-8 cannot hold lone surrogates from a model's message.
    for name in ("reason", "answer", "adversarial_answer"):
        if row[name] is not None:
            row[name] = row[name].encode("utf-8", "replace").decode("utf-8")
    return row


def load_fields(stored: str) -> tuple[tuple[str, str], ...]:
    """Load the fields of an example."""
    pairs: tuple[tuple[str, str], ...] = _READ_PAIRS(json.loads(stored))
    return pairs


def load_status(stored: Any) -> Status:
    """Load the status of a case, also by the name that it had in former layouts."""
    former = FORMER_STATUSES.get(stored, stored) if isinstance(stored, str) else stored
    status: Status = _READ_STATUS(former)
    return status


def _check_columns(row: Mapping[str, Any], kind: type) -> None:
    """Refuse a value of another type than its column: SQLite stores anything anywhere."""
    name = ""
    try:
        for name, read in _column_readers(kind):
            read(row[name])
    except Malformed as error:
        raise error.within(name) from None


@cache
def _column_readers(kind: type) -> list[tuple[str, Reader]]:
    readers = field_readers(kind).items()
    return [(name, read) for name, read in readers if name not in READ_BEFORE]


def load_result(row: dict[str, Any], kind: Kind, kept: str | None) -> Result:
    """Load a finished case from its columns, and what its search kept for the report."""
    pairs = load_fields(row["fields"])
    adversarial: str | None = None
    edits: tuple[Edit, ...] = ()
    if row["edits"] is not None:
        try:
            edits, adversarial = kind.restored(pairs, json.loads(row["edits"]))
        except files.DAMAGED:
            # One damaged row must not hide all others.
            row["reason"] = DAMAGED_EDITS
    row |= {"fields": pairs, "edits": edits, "adversarial": adversarial}
    row |= {"original": kind.joined(pairs), "case": row.pop("case_id")}
    row["status"] = load_status(row["status"])
    # The label of an example is a text only where the target answers texts.
    row["reference"] = None if row["answer"] is None else row["reference"]
    row["levels"] = _READ_LEVELS(json.loads(row["levels"] or "[]"))
    row["kept"] = ()
    with contextlib.suppress(*files.DAMAGED):
        row["kept"] = _kept_items(kept or "[]", kind, pairs)
    _check_columns(row, Result)
    for name in _measures_of_others(kind.name):
        if row[name]:
            raise Malformed(f"nothing: the run is about {kind.name}s", row[name], name)
    return Result(**row)


def _kept_items(stored: str, kind: Kind, pairs: Sequence[tuple[str, str]]) -> tuple[KeptItem, ...]:
    items: tuple[KeptItem, ...] = reader(tuple[KeptItem, ...])(json.loads(stored))
    for item in items:
        kind.joined([(pairs[0][0], item.item)])  # refuses what is no item
    return items


@cache
def _measures_of_others(kind: str) -> list[str]:
    return [name for other in KINDS.values() if other.name != kind for name in other.measures]


def step_rows(steps: Sequence[Step]) -> Iterator[dict[str, Any]]:
    """Yield the columns of improvements, which are numbered case by case."""
    number: dict[str, int] = {}
    # By identity: of a long search, most edits of a step are those of the step before.
    formatted: dict[int, str] = {}
    for s in steps:
        number[s.case] = number.get(s.case, -1) + 1
        row: dict[str, Any] = {name: getattr(s, name, None) for name in STEP_COLUMNS}
        for edit in s.edits:
            if id(edit) not in formatted:
                formatted[id(edit)] = json.dumps(edit_rows([edit]))[1:-1]
        edits = ", ".join([formatted[id(edit)] for edit in s.edits])
        yield row | {"case_id": s.case, "number": number[s.case], "edits": f"[{edits}]"}


def load_step(
    case: str, number: int, query: int, loss: float, label: str, sure: float, edits: str, *rest: Any
) -> Step:
    """Load an improvement from its columns, in their order."""
    _READ_LOSS(loss)
    applied = _READ_EDITS(json.loads(edits))
    step = Step(case, query, loss, label, sure, applied, *rest)
    _check_columns(vars(step), Step)
    return step


def with_shared_edits(steps: Iterable[Step]) -> Iterator[Step]:
    """Let steps with many edits share equal ones: those of a long search would fill memory."""
    shared: dict[Edit, Edit] = {}
    for step in steps:
        if len(step.edits) > MAX_EDITS_APART:
            edits = tuple(shared.setdefault(edit, edit) for edit in step.edits)
            yield replace(step, edits=edits)
        else:
            yield step


class ManifestColumns(TypedDict, total=False):
    """The columns of the table that the examples were read from."""

    text: tuple[str, ...]
    label: str | None


if TYPE_CHECKING:
    TargetEntries = Mapping[str, Any]
else:
    _TYPES = {"spec": str} | stored_types()
    TargetEntries = TypedDict("TargetEntries", _TYPES, total=False)
    """The name of the target and the options it was opened with."""

_OPTIONS = frozenset(("spec", *stored_options()))
AboutTarget = Annotated[
    TargetEntries,
    Check(
        lambda about: about.keys() <= _OPTIONS and (not about or "spec" in about),
        f"nothing, or spec and options out of {', '.join(sorted(_OPTIONS - {'spec'}))}",
    ),
]
"""How to open the target again; nothing for a live object."""


Amount = Annotated[float, Check(lambda amount: amount >= 0, "a number of at least 0")]


class StoredTotals(TypedDict, total=False):
    """What was computed for a run: the counters of its broker, and the time it took."""

    asked: Amount
    sent: Amount
    calls: Amount
    busy: Amount
    seconds: Amount
    tokens_read: Amount
    tokens_written: Amount
    money: Amount
    repeats: Amount


class Manifest(TypedDict, total=False):
    """The entries of a manifest; all are there in a run of this version."""

    target: str
    fingerprint: str
    attack: str
    settings: Mapping[str, Any]
    goal: str
    data: str
    split: str
    seed: int
    content: str
    label_map: Mapping[str, str]
    files: Mapping[str, str]
    only: str | None
    kind: Literal["text", "picture"]
    helpers: Mapping[str, str] | None
    goal_code: str | None
    keep: Mapping[str, tuple[float, str]] | None
    precision: str | None
    measures: Mapping[str, str]
    unmeasured: tuple[str, ...]
    toward: str | None
    confidence: float | None
    limit: Count | None
    budget: Count | None
    examples: Count
    labels: tuple[str, ...]
    answers: str
    cost_name: str | None
    shape: tuple[Positive, Positive, Positive] | None
    columns: ManifestColumns | None
    attacks: tuple[str, ...] | None
    locked: tuple[str, ...]
    reference: str
    warnings: tuple[str, ...]
    started: str
    versions: Mapping[str, str]
    about_target: AboutTarget | None

"""A run on disk: one SQLite file, one writer at a time, readable by anything that reads SQLite.

| table | a row is | columns |
|---|---|---|
| meta | a fact about the run, as JSON | key, value |
| examples | a planned case, in order | number, case_id, fields (JSON pairs), label |
| results | a finished case | the fields of `Result`; `edits` (JSON) is what its kind keeps |
| steps | an improvement of a case | case_id, number and the fields of `Step`, edits as JSON |
| answers | an answer of a costly target | question, key, payload (JSON) |

`application_id` is 0x62726974 ("brit"), `user_version` the version of this layout. The manifest is
the meta row "manifest", the counters are "totals", and "keywords" those of cases, if the goal draws
them; "tokens" are those that journalled answers took;
"validity", "floors" and "judgements" are what was measured of the run later. "kept:CASE" are
the items that a search kept for the report, a list of the fields of `KeptItem`. A case with a row
in results is finished; all its rows were written in one transaction.
"""

from __future__ import annotations

import contextlib
import json
import logging
import sqlite3
import time
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import astuple
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any

from brittle.errors import UsageError
from brittle.kinds import Kind, kind_named
from brittle.results import Result, Step
from brittle.runs.layout import (
    RESULT_COLUMNS,
    STEP_COLUMNS,
    Manifest,
    StoredTotals,
    column_names,
    load_fields,
    load_result,
    load_status,
    load_step,
    result_row,
    step_rows,
    update_layout,
    with_shared_edits,
)
from brittle.runs.sqlite_files import check_log, damaged_contents, lacks_log, translated_errors
from brittle.safety import files
from brittle.safety.schema import reader
from brittle.validity.figures import FLOORS, JUDGEMENTS, VALIDITY, Floors, Validity

if TYPE_CHECKING:
    from brittle.data.example import Example

log = logging.getLogger(__name__)

APPLICATION_ID = 0x62726974
VERSION = 4
READABLE = (1, 2, 3, 4)
SECONDS_BETWEEN_CHECKPOINTS = 2.0
MEASURED: Mapping[str, Any] = {
    VALIDITY: Validity,
    FLOORS: Floors,
    JUDGEMENTS: Mapping[str, Mapping[str, bool]],
}
TOKENS = "tokens"  # that costly answers took, written with them
KEPT = "kept:"  # before the id of a case

_LAYOUT = Path(__file__).with_name("layout.sql").read_text("utf-8")


class Store:
    """An open run file; `Store.create` and `Store.resume` write, `Store.read` only reads."""

    def __init__(self, path: Path, db: sqlite3.Connection, lock: IO[bytes] | None) -> None:
        self.path = path
        self._db = db
        self._lock = lock
        self._checkpointed = 0.0

    @staticmethod
    def create(path: Path, manifest: Mapping[str, Any], new: bool = False) -> Store:
        """Create a run; an existing one of that name is replaced only if `new`."""
        with contextlib.ExitStack() as failure:
            lock = failure.enter_context(_take_lock(path))
            if Store.exists(path, new):
                if not new:
                    raise UsageError(
                        f"The run {path.stem!r} already exists. Resume it, or start over with "
                        "--new."
                    )
                _connect(path, "ro").close()  # only a run is ever replaced
            # The whole layout and the manifest appear at once, or, after a kill, not at all.
            with translated_errors(path), files.replacing(path) as file:
                _write_empty_run(file, manifest)
                # SQLite would write the log of the former run into the new one.
                for ending in ("-wal", "-shm", "-journal"):
                    path.with_name(path.name + ending).unlink(missing_ok=True)
            store = Store(path, _connect(path, "rw"), lock)
            store._begin_writing()
            failure.pop_all()
        return store

    @staticmethod
    def resume(path: Path) -> Store:
        """Open a run to go on with it."""
        with contextlib.ExitStack() as failure:
            lock = failure.enter_context(_take_lock(path))
            if lacks_log(path):
                log.warning(
                    "%s was killed or is being written, and the file %s-wal is missing: "
                    "some cases may be lost and are attacked again.",
                    path,
                    path.name,
                )
            store = Store(path, _connect(path, "rw"), lock)
            store._begin_writing()
            failure.pop_all()
        return store

    def _begin_writing(self) -> None:
        with translated_errors(self.path):
            self._db.execute("PRAGMA journal_mode=WAL")
            self._db.execute("PRAGMA synchronous=NORMAL")
            with self._db as db:
                update_layout(db, _LAYOUT)
                db.execute(f"PRAGMA user_version={VERSION}")

    @staticmethod
    def read(path: Path) -> Store:
        """Open a run to look at it, even while it is being written."""
        return Store(path, _connect(path, "ro"), None)

    @staticmethod
    def exists(path: Path, new: bool = False) -> bool:
        """Tell whether there is a run at this path; one killed before its first write is none.

        Where the log of a run is there without the run, or a run that has nothing without its log,
        this is an error, unless it is to be replaced by a `new` one.
        """
        if not new:
            check_log(path)
        if not path.exists():
            return False
        try:
            address = f"{path.resolve().as_uri()}?mode=ro"
            with contextlib.closing(sqlite3.connect(address, uri=True)) as db:
                return bool(db.execute("SELECT count(*) FROM sqlite_master").fetchone()[0])
        except (sqlite3.Error, UnicodeDecodeError):  # it is damaged, as who reads it will say
            return True

    def close(self) -> None:
        """Close the file and free the lock; a run at rest is this one file and its lock."""
        if self._lock is not None:
            # Readers of a write-ahead log write beside it, which a read-only folder forbids.
            with contextlib.suppress(sqlite3.Error):
                self._db.execute("PRAGMA journal_mode=DELETE")
        self._db.close()
        if self._lock is not None:
            self._lock.close()
            self._lock = None

    def __enter__(self) -> Store:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    # The run as a whole.

    @property
    def manifest(self) -> dict[str, Any]:
        return self._load_meta("manifest", Manifest)

    @property
    def totals(self) -> dict[str, float]:
        return self._load_meta("totals", StoredTotals)

    @property
    def keywords(self) -> dict[str, str]:
        """The keywords that were drawn for cases, if the goal draws them."""
        return self._load_meta("keywords", Mapping[str, str])

    def keep_keywords(self, keywords: Mapping[str, str]) -> None:
        with translated_errors(self.path), self._db:
            self._write_meta("keywords", dict(keywords))

    def measured(self, name: str) -> dict[str, Any]:
        """Return what was measured of the run under a name; {} if nothing was."""
        return self._load_meta(name, MEASURED[name])

    def keep_measured(self, name: str, value: Mapping[str, Any]) -> None:
        with translated_errors(self.path), self._db:
            self._write_meta(name, dict(value))

    def amend(self, **changes: Any) -> None:
        with translated_errors(self.path), self._db:
            self._write_meta("manifest", self.manifest | changes)

    def plan(self, examples: Sequence[Example], ids: Sequence[str]) -> None:
        """Write the planned cases in order; they replace those planned before."""
        rows = (
            (number, case, json.dumps(example.fields), example.label)
            for number, (case, example) in enumerate(zip(ids, examples))
        )
        with translated_errors(self.path), self._db:
            # All anew, for a plan without a limit has another order than the first cases of one.
            self._db.execute("DELETE FROM examples")
            self._db.executemany("INSERT INTO examples VALUES (?, ?, ?, ?)", rows)

    def planned(self) -> int:
        return int(self._one("SELECT count(*) FROM examples"))

    def field_names(self) -> tuple[str, ...]:
        """Return the names of the fields of the planned cases."""
        with translated_errors(self.path):
            query = "SELECT fields FROM examples ORDER BY number LIMIT 1"
            row = self._db.execute(query).fetchone()
        with damaged_contents(self.path, "the fields of a case"):
            return tuple(name for name, _ in load_fields(row[0])) if row else ("text",)

    # Rows.

    def add(
        self, results: Sequence[Result], steps: Sequence[Step], totals: Mapping[str, float]
    ) -> None:
        """Write finished cases, their steps and the counters in one transaction."""
        kind = self._kind
        with translated_errors(self.path), self._db:
            self._insert("results", RESULT_COLUMNS, (result_row(r, kind) for r in results))
            self._insert("steps", STEP_COLUMNS, step_rows(steps))
            for result in results:
                if result.kept:
                    self._write_meta(f"{KEPT}{result.case}", list(map(astuple, result.kept)))
            self._write_meta("totals", dict(totals))
        self._checkpoint()

    def keep_values(
        self,
        name: str,
        by_case: Mapping[str, float | None],
        by_query: Mapping[tuple[str, int], float | None],
    ) -> None:
        """Write a column of cases, and of steps by case and query, that was measured later."""
        with translated_errors(self.path), self._db as db:
            rows = ((value, case) for case, value in by_case.items())
            db.executemany(f"UPDATE results SET {name} = ? WHERE case_id = ?", rows)
            places = ((value, *place) for place, value in by_query.items())
            db.executemany(f"UPDATE steps SET {name} = ? WHERE case_id = ? AND query = ?", places)

    def _insert(
        self, table: str, columns: Sequence[str], rows: Iterable[Mapping[str, Any]]
    ) -> None:
        places = ", ".join(f":{name}" for name in columns)
        self._db.executemany(f"INSERT INTO {table} ({', '.join(columns)}) VALUES ({places})", rows)

    def forget(self, status: str) -> int:
        """Remove the results of one status, so that their cases are attacked again."""
        return self._forget("SELECT case_id FROM results WHERE status = ?", status)

    def forget_cut_costs(self, budget: int) -> None:
        """Remove broken cases whose search went on after a winner, and was ended by the budget."""
        goes_on = "(cost IS NOT NULL OR tried IS NOT NULL)"
        self._forget(f"SELECT case_id FROM results WHERE {goes_on} AND queries >= ?", budget)

    def _forget(self, cases: str, value: Any) -> int:
        """Remove all that is stored of some cases, by a query for their ids; return how many."""
        with translated_errors(self.path), self._db as db:
            ids = db.execute(cases, (value,)).fetchall()
            db.executemany("DELETE FROM steps WHERE case_id = ?", ids)
            db.executemany("DELETE FROM meta WHERE key = ? || ?", [(KEPT, *row) for row in ids])
            db.executemany("DELETE FROM results WHERE case_id = ?", ids)
        return len(ids)

    def finished(self) -> set[str]:
        with translated_errors(self.path):
            return {row[0] for row in self._db.execute("SELECT case_id FROM results")}

    def counts(self) -> dict[str, int]:
        with translated_errors(self.path):
            query = "SELECT status, count(*) FROM results GROUP BY status"
            rows = self._db.execute(query).fetchall()
        with damaged_contents(self.path, "the status of a case"):
            return {load_status(status): count for status, count in rows}

    def results(self) -> list[Result]:
        """Return all results in the order of the examples."""
        kind, columns = self._kind, self._selected("results", RESULT_COLUMNS)
        with translated_errors(self.path):
            rows = self._db.execute(
                f"SELECT {columns}, e.fields, e.label FROM results r "
                "JOIN examples e USING (case_id) ORDER BY e.number"
            ).fetchall()
            stored = self._db.execute("SELECT key, value FROM meta WHERE key GLOB ?", (f"{KEPT}*",))
            kept = dict(stored.fetchall())
        names = (*RESULT_COLUMNS, "fields", "reference")
        with damaged_contents(self.path, "the texts of a case"):
            by_name = [dict(zip(names, row)) for row in rows]
            return [load_result(row, kind, kept.get(f"{KEPT}{row['case_id']}")) for row in by_name]

    def steps(self) -> list[Step]:
        """Return all steps, by case in the order of the examples."""
        columns = self._selected("steps", STEP_COLUMNS)
        with damaged_contents(self.path, "a step of a case"), translated_errors(self.path):
            rows = self._db.execute(
                f"SELECT {columns} FROM steps r JOIN examples e USING (case_id) "
                "ORDER BY e.number, r.number"
            ).fetchall()
        with damaged_contents(self.path, "a step of a case"):
            return list(with_shared_edits(load_step(*row) for row in rows))

    @property
    def _kind(self) -> Kind:
        return kind_named(self.manifest.get("kind", "text"))

    def _selected(self, table: str, columns: Sequence[str]) -> str:
        """List columns to select; those that a former layout does not have are empty."""
        with translated_errors(self.path):
            known = column_names(self._db, table)
        return ", ".join(f"r.{name}" if name in known else "NULL" for name in columns)

    # The journal of costly answers.

    def find(self, question: str, keys: Sequence[bytes]) -> dict[bytes, Any]:
        """Look up answers that were journalled."""
        payloads = {}
        query = "SELECT payload FROM answers WHERE question = ? AND key = ?"
        with translated_errors(self.path):
            for key in keys:
                row = self._db.execute(query, (question, key)).fetchone()
                if row is not None:
                    with contextlib.suppress(*files.DAMAGED):
                        payloads[key] = json.loads(row[0])  # a damaged answer is asked for again
        return payloads

    def keep(
        self,
        question: str,
        answers: Sequence[tuple[bytes, Any]],
        tokens: tuple[int, int] = (0, 0),
    ) -> None:
        """Journal answers, and the tokens that they took; then they outlive the process."""
        rows = [(question, key, json.dumps(payload)) for key, payload in answers]
        with translated_errors(self.path), self._db:
            self._db.executemany("INSERT OR REPLACE INTO answers VALUES (?, ?, ?)", rows)
            if any(tokens):
                read, written = self.tokens
                self._write_meta(TOKENS, {"read": read + tokens[0], "written": written + tokens[1]})
        self._checkpoint()

    def _checkpoint(self) -> None:
        """Now and then, move what is in the log to the run file, which may be copied alone."""
        if time.monotonic() - self._checkpointed < SECONDS_BETWEEN_CHECKPOINTS:
            return
        with translated_errors(self.path):
            self._db.execute("PRAGMA wal_checkpoint(PASSIVE)")
        self._checkpointed = time.monotonic()

    def journalled(self) -> int:
        """Count the journalled answers: what a costly target was really sent."""
        return int(self._one("SELECT count(*) FROM answers"))

    @property
    def tokens(self) -> tuple[int, int]:
        """The tokens of all journalled answers: read by the target, and written."""
        stored = self._load_meta(TOKENS, Mapping[str, int])
        return int(stored.get("read", 0)), int(stored.get("written", 0))

    def _load_meta(self, key: str, kind: Any) -> dict[str, Any]:
        """Load a fact about the run, which is checked to be of a type; {} if there is none."""
        with translated_errors(self.path):
            row = self._db.execute("SELECT value FROM meta WHERE key = ?", (key,)).fetchone()
        if row is None:
            return {}
        with damaged_contents(self.path, f"its {key}"):
            value = json.loads(row[0])
            if value:
                reader(kind)(value)
            return dict(value)

    def _write_meta(self, key: str, value: Any) -> None:
        text = json.dumps(value)
        self._db.execute("INSERT OR REPLACE INTO meta VALUES (?, ?)", (key, text))

    def _one(self, query: str) -> Any:
        with translated_errors(self.path):
            return self._db.execute(query).fetchone()[0]


def _connect(path: Path, mode: str) -> sqlite3.Connection:
    if not path.is_file():
        raise UsageError(f"There is no run at {path}. See `brittle list runs`.")
    with translated_errors(path):
        db = sqlite3.connect(f"{path.resolve().as_uri()}?mode={mode}", uri=True)
        application = db.execute("PRAGMA application_id").fetchone()[0]
        version = db.execute("PRAGMA user_version").fetchone()[0]
    if application != APPLICATION_ID or version not in READABLE:
        db.close()
    if application != APPLICATION_ID:
        what = "is an SQLite file, but" if path.stat().st_size else "is empty, and"
        raise UsageError(f"{path} {what} not a run of brittle.")
    if version not in READABLE:
        raise UsageError(
            f"{path} has layout {version}, but this version of brittle reads layouts up "
            f"to {VERSION}. Update brittle."
        )
    return db


def _take_lock(path: Path) -> IO[bytes]:
    """Take the OS lock that makes this process the only writer; the OS frees it at any end."""
    try:
        files.make_private_folder(path.parent)
        lock = files.open_private(path.with_suffix(".lock"))
    except OSError as error:
        raise UsageError(
            f"Runs cannot be written to {path.parent}: {error}. Choose another folder with --runs."
        ) from error
    try:
        files.lock(lock, wait=False)
    except OSError:
        lock.close()
        raise UsageError(
            f"Another process is writing the run {path.stem!r}. Wait for it, or choose another "
            "run with --name."
        ) from None
    return lock


@contextlib.contextmanager
def sole_writer(path: Path) -> Iterator[None]:
    """Be the only writer of a run while its files are changed as a whole."""
    with _take_lock(path):
        yield


def _write_empty_run(path: Path, manifest: Mapping[str, Any]) -> None:
    files.make_private(path)  # the files that SQLite adds are as private as this one
    with contextlib.closing(sqlite3.connect(path)) as db, db:
        db.executescript(
            f"BEGIN; {_LAYOUT} PRAGMA application_id={APPLICATION_ID}; "
            f"PRAGMA user_version={VERSION};"
        )
        db.execute("INSERT INTO meta VALUES ('manifest', ?)", (json.dumps(dict(manifest)),))

"""Similarity of the texts that break cases: measured when rows are read, then kept with the run.

One pass of MiniLM costs more than some whole attacks, and who looks at the ladder needs none. So a
run leaves similarity out, and the first reader of its rows measures all of them at once.
"""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from brittle.constraints.measures import Similar, compare
from brittle.errors import BrittleError
from brittle.kinds import kind_named
from brittle.results import Result, Step
from brittle.runs.store import Store

NAME = Similar().name


@dataclass(frozen=True)
class Rows:
    """The results and the steps of a run."""

    results: Sequence[Result]
    steps: Sequence[Step]


def is_due(manifest: Mapping[str, Any], results: Sequence[Result]) -> bool:
    """Tell whether some row of a run waits for its similarity."""
    return NAME in (manifest.get("measures") or {}) and any(map(_waits, results))


def measure_late(path: Path, manifest: Mapping[str, Any]) -> Rows | None:
    """Measure what is due, and keep it with the run; None if the encoder is not the run's own.

    A run that cannot be written, or is being written, is measured all the same.
    """
    from brittle.runs.measuring import meanings_by

    meanings = meanings_by(str(manifest["measures"][NAME]))
    if meanings is None:
        return None
    with Store.read(path) as store:
        rows = Rows(store.results(), store.steps())
    due = [row for row in rows.results if _waits(row)]
    kind, locked = kind_named(manifest.get("kind", "text")), manifest.get("locked", [])
    pairs = [(kind.item(dict(row.fields), locked), kind.adversary(row, locked)) for row in due]
    values = dict(zip((row.case for row in due), compare(Similar(), pairs, meanings)))
    winners = {row.case: row.edits for row in due}
    measured = Rows(
        [replace(r, similarity=values.get(r.case, r.similarity)) for r in rows.results],
        [
            replace(s, similarity=values[s.case]) if winners.get(s.case) == s.edits else s
            for s in rows.steps
        ],
    )
    _keep(path, values, measured.steps)
    return measured


def _waits(row: Result) -> bool:
    return row.status == "broken" and row.similarity is None and row.adversarial is not None


def _keep(path: Path, values: Mapping[str, float | None], steps: Sequence[Step]) -> None:
    """Write the values, unless the run's folder is read-only or somebody else writes the run.

    Who reads a run makes it no newer: the newest run is the one that was made last.
    """
    queries = {(s.case, s.query): s.similarity for s in steps if s.case in values}
    with suppress(BrittleError, OSError):
        times = path.stat()
        with Store.resume(path) as store:
            store.keep_values(NAME, values, queries)
        os.utime(path, ns=(times.st_atime_ns, times.st_mtime_ns))

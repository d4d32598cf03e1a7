"""Similarity of the texts that break cases: measured when rows are read, then kept with the run.

One pass of MiniLM costs more than some whole attacks, and who looks at the ladder needs none. So a
run leaves similarity out, and the first reader of its rows measures all of them at once. What
measures is imported only then.
"""

from __future__ import annotations

import logging
import os
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from brittle.errors import BrittleError
from brittle.kinds import kind_named
from brittle.results import Result, Step, has_adversary
from brittle.runs.store import Store

if TYPE_CHECKING:
    from brittle.goals.constraints import Answers

log = logging.getLogger(__name__)

NAME = "similarity"


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
    from brittle.goals.constraints import Similar, compare

    meanings = _meanings_by(str(manifest["measures"][NAME]))
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
    return has_adversary(row) and row.similarity is None


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


def _meanings_by(source: str) -> Answers | None:
    """Return who answers for meanings, if it is the helper that a run names; None if it is not."""
    from brittle.english.sentence_encoder import MeaningEncoder, can_encode_meaning
    from brittle.goals.constraints import Similar
    from brittle.runs.measuring import one_thread

    if not can_encode_meaning():
        return None
    helper = MeaningEncoder()
    if source != f"{helper.name} {helper.fingerprint}":
        return None

    def answers(_: str, items: Sequence[Any]) -> tuple[list[Any], Mapping[int, Exception]]:
        try:
            with one_thread((Similar(),)):
                return helper.meanings(items), {}
        except Exception as error:  # as in a run: what fails is not measured
            log.warning("Could not measure similarity: %s", error)
            return [None] * len(items), dict.fromkeys(range(len(items)), error)

    return answers

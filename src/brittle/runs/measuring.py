"""Similarity and fluency of adversarial texts: measured while a run goes, or when it is read.

Similarity and fluency of adversarial texts, or of every step.

Fluency is measured as cases end. Similarity, which may cost more than the attack, is measured when
rows are read, unless the search needs it.

Similarity of the texts that break cases: measured when rows are read, then kept with the run.

One pass of MiniLM costs more than some whole attacks, and who looks at the ladder needs none. So a
run leaves similarity out, and the first reader of its rows measures all of them at once.
"""

from __future__ import annotations

import logging
import os
from collections.abc import Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, nullcontext, suppress
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from brittle.engine.running import Improvement, Outcome
from brittle.english.bigrams import FluencyModel
from brittle.english.sentence_encoder import MeaningEncoder, can_encode_meaning, check_encoder
from brittle.errors import BrittleError, MissingPackage, UsageError
from brittle.goals.constraints import (
    MEASURES,
    Answers,
    Constraint,
    Measure,
    Similar,
    compare,
    constraints_of,
    strict,
)
from brittle.kinds import kind_named
from brittle.results import Result, Step, has_adversary
from brittle.runs.options import NOTHING, STEPS, Keep
from brittle.runs.store import Store
from brittle.targets.capabilities import CAPABILITIES

log = logging.getLogger(__name__)

VARIABLE = "BRITTLE_MEASURES"
Values = Mapping[tuple[str, int], Mapping[str, Any]]
"""The measures, a number or None each, of a case's item at a query number."""


@dataclass(frozen=True)
class Measuring:
    """What is measured in a run: the measures, who answers for them, and what has to be kept.

    `missing` names measures for which a package is not installed. With `every_step` improvements on
    the way are measured, too, and not only texts that break a case.
    """

    measures: tuple[Measure, ...] = ()
    helpers: tuple[Any, ...] = ()
    constraints: tuple[Constraint, ...] = ()
    missing: tuple[str, ...] = field(default=())
    every_step: bool = False

    @staticmethod
    def of(kind: str, wanted: Keep = Keep(), is_strict: bool = False) -> Measuring:
        """Choose what is measured on items of a kind; refuse constraints that cannot be checked.

        What the constraints need is measured in any case. The variable BRITTLE_MEASURES names the
        measures instead of all.
        """
        measured = wanted.measured
        constraints = constraints_of(wanted.meaning, wanted.fluent)
        if is_strict:
            constraints = strict(constraints)
        if kind != "text":
            if constraints:
                raise UsageError(
                    "--keep-meaning and --keep-fluent are for texts, and the data holds "
                    f"{kind}s. Leave them out."
                )
            return Measuring()
        needed = [constraint.measure for constraint in constraints]
        names = [] if measured == NOTHING else _default_names()
        chosen = [m for m in MEASURES if m in needed or m.name in names]
        helpers = {"fluency": FluencyModel()} | (
            {"meaning": MeaningEncoder()} if can_encode_meaning() else {}
        )
        for constraint in constraints:
            if constraint.measure.question not in helpers:
                raise _missing(constraint.measure)
        there = tuple(measure for measure in chosen if measure.question in helpers)
        missing = tuple(measure.name for measure in chosen if measure not in there)
        if any(measure.question == "meaning" for measure in there):
            check_encoder()  # else a strange package would end the run at its first broken case
        brought = tuple(helpers[m.question] for m in there)
        return Measuring(there, brought, constraints, missing, measured == STEPS)

    @property
    def sources(self) -> dict[str, str]:
        """Return by measure the helper that answers for it."""
        pairs = zip(self.measures, self.helpers)
        return {measure.name: f"{helper.name} {helper.fingerprint}" for measure, helper in pairs}

    @property
    def kept(self) -> dict[str, list[Any]]:
        """Return by measure the least that has to be kept, and who answers for it."""
        named = {constraint.measure.name: constraint.least for constraint in self.constraints}
        return {name: [least, self.sources[name]] for name, least in named.items()}

    def values(self, ended: Sequence[Outcome], answers: Answers) -> Values:
        """Measure the texts of cases that ended, each against its original, at once."""
        texts = _improvements if self.every_step else _winners
        rows = [(outcome, step) for outcome in ended for step in texts(outcome)]
        values: dict[tuple[str, int], dict[str, Any]] = {
            (outcome.case.id, step.query): {} for outcome, step in rows
        }
        for measure in self.measures:
            now = [(o, step) for o, step in rows if not self._is_late(measure, step)]
            pairs = [(outcome.case.item, step.item) for outcome, step in now]
            with _one_thread((measure,) if pairs else ()):
                for (outcome, step), value in zip(now, compare(measure, pairs, answers)):
                    values[outcome.case.id, step.query][measure.name] = value
        return values

    def _is_late(self, measure: Measure, step: Improvement) -> bool:
        """Tell whether a measure waits until the rows are read: similarity, which is expensive.

        Constraints and searches with costs, which have several winners, need it at once.
        """
        needs_now = self.every_step or any(c.measure == measure for c in self.constraints)
        has_cost = step.cost is not None and step.level is None
        return isinstance(measure, Similar) and not (needs_now or has_cost)


def meanings_by(source: str) -> Answers | None:
    """Return who answers for meanings, if it is the helper that a run names; None if it is not."""
    if not can_encode_meaning():
        return None
    helper = MeaningEncoder()
    if source != f"{helper.name} {helper.fingerprint}":
        return None

    def answers(_: str, items: Sequence[Any]) -> tuple[list[Any], Mapping[int, Exception]]:
        try:
            with _one_thread((Similar(),)):
                return helper.meanings(items), {}
        except Exception as error:  # as in a run: what fails is not measured
            log.warning("Similarity could not be measured: %s", error)
            return [None] * len(items), dict.fromkeys(range(len(items)), error)

    return answers


def _default_names() -> list[str]:
    """List the measures that are taken without being asked for."""
    return os.environ.get(VARIABLE, ",".join(m.name for m in MEASURES)).split(",")


def _winners(outcome: Outcome) -> Iterator[Improvement]:
    """Yield what breaks a case; of a search that goes on after a win, all winners on the way."""
    if outcome.status == "broken":
        yield from (step for step in _improvements(outcome) if step.cost is not None)
        if outcome.best is not None and outcome.best.cost is None:
            yield outcome.best


def _improvements(outcome: Outcome) -> Iterator[Improvement]:
    yield from outcome.steps
    queries = {step.query for step in outcome.steps}
    if outcome.best is not None and outcome.best.query not in queries:
        yield outcome.best


def _one_thread(measures: Sequence[Measure]) -> AbstractContextManager[object]:
    """Let torch use one thread while meanings are compared.

    The passes are short. Several threads would mostly wait for each other, which takes three
    times the processor time if other processes need the cores, and saves little time if not.
    """
    if all(measure.question != "meaning" for measure in measures):
        return nullcontext()
    from brittle.zoo.restoring import ThreadUse  # imports torch

    return ThreadUse(1)


def _missing(measure: Measure) -> MissingPackage:
    remedy = next(c.remedy for c in CAPABILITIES if c.question == measure.question)
    return MissingPackage(
        f"The constraint on {measure.name} needs a package that is not installed. {remedy}"
    )


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

"""Similarity and fluency of adversarial texts, or of every step, measured while a run goes.

Fluency is measured as cases end. Similarity, which may cost more than the attack, waits until rows
are read (`late_measures`), unless the search needs it.
"""

from __future__ import annotations

import logging
import os
from collections.abc import Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass, field
from typing import Any

from brittle.engine.running import Improvement, Outcome
from brittle.english.bigrams import FluencyModel
from brittle.english.sentence_encoder import MeaningEncoder, can_encode_meaning, check_encoder
from brittle.errors import MissingPackage, UsageError
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
from brittle.runs.options import NOTHING, STEPS, Keep
from brittle.targets.capabilities import CAPABILITIES

log = logging.getLogger(__name__)

VARIABLE = "BRITTLE_MEASURES"
Values = Mapping[tuple[str, int], Mapping[str, Any]]
"""The measures (a number or None) of a case's item at a query number."""


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
                    "--keep-meaning and --keep-fluent work on texts, but the data "
                    f"contains {kind}s. Leave them out."
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
            with one_thread((measure,) if pairs else ()):
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


def one_thread(measures: Sequence[Measure]) -> AbstractContextManager[object]:
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

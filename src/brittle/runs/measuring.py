"""Similarity and fluency of adversarial texts, or of every step, measured as cases end."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass, field
from typing import Any

from brittle.constraints import MEASURES, Constraint, Measure, compare, constraints_of, strict
from brittle.constraints.measures import Answers
from brittle.engine.outcomes import Improvement, Outcome
from brittle.english.bigrams import FluencyModel
from brittle.english.sentence_encoder import MeaningEncoder, can_encode_meaning, check_encoder
from brittle.errors import MissingPackage, UsageError
from brittle.runs.options import NOTHING, STEPS, Keep
from brittle.targets.capabilities import CAPABILITIES

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
        pairs = [(outcome.case.item, step.item) for outcome, step in rows]
        with _one_thread(self.measures if pairs else ()):
            columns = {measure.name: compare(measure, pairs, answers) for measure in self.measures}
        return {
            (outcome.case.id, step.query): {name: values[n] for name, values in columns.items()}
            for n, (outcome, step) in enumerate(rows)
        }


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
    from brittle.zoo.threads import ThreadUse  # imports torch

    return ThreadUse(1)


def _missing(measure: Measure) -> MissingPackage:
    remedy = next(c.remedy for c in CAPABILITIES if c.question == measure.question)
    return MissingPackage(
        f"The constraint on {measure.name} needs a package that is not installed. {remedy}"
    )

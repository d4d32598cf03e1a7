"""Similarity and fluency of every step and every adversarial text, measured as cases end."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from brittle.constraints import MEASURES, Keep, Measure, compare, keep, strict
from brittle.constraints.measures import Answers
from brittle.engine.outcomes import Improvement, Outcome
from brittle.english.bigrams import FluencyModel
from brittle.english.sentence_encoder import MeaningEncoder, can_encode_meaning
from brittle.errors import MissingPackage, UsageError
from brittle.targets.capabilities import CAPABILITIES

VARIABLE = "BRITTLE_MEASURES"
Values = Mapping[tuple[str, int], Mapping[str, Any]]
"""The measures, a number or None each, of a case's item at a query number."""


@dataclass(frozen=True)
class Measuring:
    """What is measured in a run: the measures, who answers for them, and what has to be kept.

    `missing` names measures for which a package is not installed.
    """

    measures: tuple[Measure, ...] = ()
    helpers: tuple[Any, ...] = ()
    constraints: tuple[Keep, ...] = ()
    missing: tuple[str, ...] = field(default=())

    @staticmethod
    def of(
        kind: str,
        meaning: float | None = None,
        fluent: float | None = None,
        is_strict: bool = False,
        measured: bool = True,
    ) -> Measuring:
        """Choose what is measured on items of a kind; refuse constraints that cannot be checked.

        Without `measured` only what the constraints need is measured; the variable BRITTLE_MEASURES
        names what is measured instead of all.
        """
        constraints = keep(meaning, fluent)
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
        wanted = [m for m in MEASURES if m in needed or (measured and m.name in _default_names())]
        helpers = {"fluency": FluencyModel()} | (
            {"meaning": MeaningEncoder()} if can_encode_meaning() else {}
        )
        for constraint in constraints:
            if constraint.measure.question not in helpers:
                raise _missing(constraint.measure)
        there = tuple(measure for measure in wanted if measure.question in helpers)
        missing = tuple(measure.name for measure in wanted if measure not in there)
        return Measuring(there, tuple(helpers[m.question] for m in there), constraints, missing)

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
        """Measure all improvements of cases that ended, each against its original, at once."""
        rows = [(outcome, step) for outcome in ended for step in _improvements(outcome)]
        pairs = [(outcome.case.item, step.item) for outcome, step in rows]
        columns = {measure.name: compare(measure, pairs, answers) for measure in self.measures}
        return {
            (outcome.case.id, step.query): {name: values[n] for name, values in columns.items()}
            for n, (outcome, step) in enumerate(rows)
        }


def _default_names() -> list[str]:
    """List the measures that are taken without being asked for."""
    return os.environ.get(VARIABLE, ",".join(m.name for m in MEASURES)).split(",")


def _improvements(outcome: Outcome) -> Iterator[Improvement]:
    yield from outcome.steps
    queries = {step.query for step in outcome.steps}
    if outcome.best is not None and outcome.best.query not in queries:
        yield outcome.best


def _missing(measure: Measure) -> MissingPackage:
    remedy = next(c.remedy for c in CAPABILITIES if c.question == measure.question)
    return MissingPackage(
        f"The constraint on {measure.name} needs a package that is not installed. {remedy}"
    )

"""What the page reads of the tasks about texts: distances of classifiers, probes that passed."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from brittle.data import case_ids
from brittle.metrics.summary import Figure, mean, rate
from brittle.studies.robustness.case import CaseRow
from brittle.studies.robustness.study import RobustnessStudy
from brittle_papers.data import load_split
from brittle_papers.natural_texts import plan, probes
from brittle_papers.natural_texts.stages import load_study
from brittle_papers.results import PaperResults


@dataclass(frozen=True)
class Compared:
    """The study of the classifiers, and what follows of it."""

    study: RobustnessStudy

    @property
    def names(self) -> list[str]:
        """The classifiers in the paper's order."""
        return [name for name in plan.CLASSIFIERS if name in self.study.targets]

    def distance(self, name: str) -> Figure:
        """Return the mean Δz over the cases of a classifier with an adversary."""
        found = [f for f in self.study.results.figures if f.target == name]
        if not found or found[0].mean is None or found[0].interval is None:
            return mean([], "cases with an adversary")
        figure = found[0]
        assert figure.mean is not None and figure.interval is not None
        over = "cases with an adversary"
        return Figure(figure.mean, *figure.interval, None, figure.found, over)

    def largest(self, name: str) -> Figure:
        """Return the share of cases in which Δz is the largest; level ones share a case."""
        cases = zip(*(self.study.distances[other] for other in self.names), strict=True)
        n = self.names.index(name)
        wins = []
        for case in cases:
            known = [d for d in case if d is not None]
            if len(known) == len(case):
                top = max(known)
                wins.append(1 / known.count(top) if known[n] == top else 0.0)
        return mean(wins, "cases with a distance for all")

    def farther(self, weak: str, strong: str) -> Figure:
        """Return how often Δz of the stronger one is larger, of the cases where they differ."""
        pairs = zip(self.study.distances[weak], self.study.distances[strong], strict=True)
        known = [(a, b) for a, b in pairs if a is not None and b is not None and a != b]
        return rate(sum(b > a for a, b in known), len(known), "cases that differ")

    def held(self, name: str) -> int:
        """Count the cases without an adversary within the radius."""
        return sum(d == float("inf") for d in self.study.distances[name])


def compared(found: PaperResults) -> Compared:
    """Load the study of the classifiers."""
    return Compared(load_study(found.folder, found.results[plan.ROBUSTNESS]))


def premises(found: PaperResults) -> Mapping[str, str]:
    """Return the premise of every example of the test split, by the id of its case."""
    dataset = load_split(found.folder, found.results[plan.DATA], "test")
    ids = case_ids(dataset.examples)
    return {case: dict(e.fields)[plan.PREMISE] for case, e in zip(ids, dataset.examples)}


def shown_cases(study: RobustnessStudy, count: int) -> Sequence[CaseRow]:
    """Choose cases for the list: an adversary of every classifier, as many of each label."""
    whole = [c for c in study.cases if all(r.distance is not None for r in c.rows.values())]
    by_label: dict[str | None, list[CaseRow]] = {}
    for case in whole:
        by_label.setdefault(case.label, []).append(case)
    ranked = [
        (place, str(label), case)
        for label, cases in by_label.items()
        for place, case in enumerate(cases)
    ]
    ranked.sort(key=lambda row: row[:2])
    return [case for _, _, case in ranked[:count]]


def probed(found: PaperResults, probe: str) -> dict[str, Figure]:
    """Return by translator how often a probe passed for a neighbour of a sentence."""
    names = [n for n in probes.TRANSLATORS if plan.PROBES[n, probe] in found.results]
    return {name: found.success(plan.PROBES[name, probe]) for name in names}

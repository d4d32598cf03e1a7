"""What the page reads of the tasks about texts: distances of classifiers, probes that passed."""

from __future__ import annotations

import tomllib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache, cached_property
from itertools import pairwise
from pathlib import Path

from brittle.data import case_ids
from brittle.metrics.paired import Contrast
from brittle.metrics.summary import Figure, mean, rate
from brittle.results import Result
from brittle.studies.robustness.case import CaseRow
from brittle.studies.robustness.study import RobustnessStudy
from brittle_papers.data import load_split
from brittle_papers.natural_texts import stages
from brittle_papers.natural_texts.stages import load_study
from brittle_papers.results import PaperResults

AVERAGE, LSTM, TREE = CLASSIFIERS = ("average", "LSTM", "TreeLSTM")
"""The classifiers in the paper's order: the stronger, the later."""


@dataclass(frozen=True)
class Compared:
    """The study of the classifiers, and what follows of it."""

    study: RobustnessStudy

    @property
    def names(self) -> list[str]:
        """The classifiers in the paper's order."""
        return [name for name in CLASSIFIERS if name in self.study.targets]

    def distance(self, name: str) -> Figure:
        """Return the mean Δz over the cases of a classifier with an adversary."""
        found = [f for f in self.study.results.figures if f.target == name]
        if not found or found[0].mean is None or found[0].interval is None:
            return mean([], "cases with an adversary")
        figure = found[0]
        assert figure.mean is not None and figure.interval is not None
        over = "cases with an adversary"
        return Figure(figure.mean, *figure.interval, None, figure.found, over)

    def largest(self, name: str) -> Figure | None:
        """Return the share of cases in which Δz is the largest; level ones share a case.

        None for a classifier that was not compared.
        """
        if name not in self.names:
            return None
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

    def level(self, weak: str, strong: str) -> Figure:
        """Return how often both have the very same Δz, by the same sample of their cloud."""
        pairs = zip(self.study.distances[weak], self.study.distances[strong], strict=True)
        known = [(a, b) for a, b in pairs if a is not None and b is not None]
        return rate(sum(a == b for a, b in known), len(known), "cases with both")

    def held(self, name: str) -> int:
        """Count the cases without an adversary within the radius."""
        return sum(d == float("inf") for d in self.study.distances[name])


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


@dataclass(frozen=True)
class TextResults(PaperResults):
    """The results of the tasks; what is loaded is kept."""

    @cached_property
    def compared(self) -> Compared:
        """The study of the classifiers."""
        return Compared(load_study(self.folder, self.results["robustness for entailment"]))

    def more_accurate(self) -> Mapping[str, Contrast] | None:
        """Compare the accuracy of each classifier with that of the one before it."""
        task = "accuracy of {} for entailment"
        names = [name for name in CLASSIFIERS if task.format(name) in self.results]
        return {
            f"{b} less {a}": self.compare_accuracy(task.format(a), task.format(b))
            for a, b in pairwise(names)
        } or None

    def farther(self) -> Mapping[str, Figure]:
        """Compute how often each classifier's Δz is larger than that of the one before it."""
        return {
            f"{b} farther than {a} in": self.compared.farther(a, b)
            for a, b in pairwise(self.compared.names)
        }

    @cached_property
    def premises(self) -> Mapping[str, str]:
        """The premise of every example of the test split, by the id of its case."""
        dataset = load_split(self.folder, self.results["data for entailment"], "test")
        ids = case_ids(dataset.examples)
        return {case: dict(e.fields)["premise"] for case, e in zip(ids, dataset.examples)}

    def probed(self, probe: str) -> dict[str, Figure]:
        """Compute by translator how often a probe passed for a neighbour of a sentence."""
        tasks = {name: f"{probe}, {name}" for name in stages.TRANSLATORS}
        return {name: self.success(task) for name, task in tasks.items() if task in self.results}

    def winners(self, probe: str, translator: str) -> list[Result]:
        """Return the sentences that passed a probe of a translator, with their translations."""
        return [row for row in self.rows(f"{probe}, {translator}") if row.status == "broken"]

    def read(self, translator: str) -> list[bool]:
        """Return what a reading says of the verbs that the probe calls dropped; not all are read.

        True is a verb that nothing in the translation says.
        """
        found = self.winners(stages.DROPPED, translator)
        keys = [(str(row.adversarial), str(row.adversarial_answer)) for row in found]
        return [readings()[key] for key in keys if key in readings()]

    def confirmed(self, translator: str) -> Figure:
        """Compute in how many searches a reading confirmed the dropped verb."""
        searched = self.probed(stages.DROPPED)[translator].of
        return rate(sum(self.read(translator)), searched, "searches")


@cache
def readings() -> Mapping[tuple[str, str], bool]:
    """Load what was read: by source and translation, whether a verb is dropped."""
    file = Path(__file__).parent / "readings.toml"
    rows = tomllib.loads(file.read_text("utf-8"))["read"]
    return {(row["source"], row["translation"]): row["is_dropped"] for row in rows}

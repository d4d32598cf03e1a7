"""What the page of the natural adversaries reads from its tasks, and the 80 classifiers.

The 80 classifiers of Figure 4: one hidden layer, and what differs from one to the next.

The paper says that its 80 differ in layer sizes, regularisation and amount of training data, and
shows ten numbers of neurons and ten dropout rates; the other sixty are our choice.

What the page of the natural adversaries reads from its tasks: runs, studies, and figures.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property

from brittle.metrics.paired import rank_correlation
from brittle.metrics.robustness import SignTest, TargetRobustness, accuracy_correlation, sign_test
from brittle.metrics.summary import ATTACKED, Figure, mean_by_text, rate
from brittle.runs.run import Run
from brittle.studies.robustness.study import RobustnessStudy
from brittle_papers.natural.searches import HYBRID, ITERATIVE, Rows, ratio, rows_of
from brittle_papers.results import PaperResults
from brittle_papers.spec import load_spec

NEURONS = tuple(2**n for n in range(1, 11))
DROPOUTS = tuple(n / 10 for n in range(10))
SOME_NEURONS = (4, 8, 16, 32, 64)
DROPOUT_NEURONS = 128
"""The hidden layer whose dropout is varied (Figure 4b); the paper does not say its own."""
DATA_SHARES = {0.002: 60, 0.005: 40, 0.01: 30, 0.05: 15, 0.2: 8, 0.5: 5}
"""Shares of the train split, each with its epochs: fewer pictures are seen more often."""
DECAYS = (0.3, 1.0, 3.0, 10.0)
EPOCHS, BATCH, SMALL_BATCH = 4, 256, 32
ACCURATE = 0.93
"""The accuracy above which nearly all of the paper's classifiers lie (Figure 4c)."""
KINDS = ("neurons", "dropout", "data", "weight decay")
NEURONS_KIND, DROPOUT_KIND, DATA_KIND, DECAY_KIND = KINDS


@dataclass(frozen=True)
class DigitClassifier:
    """One classifier: what it stands for, and the settings of its network."""

    kind: str
    settings: Mapping[str, int | float] = field(default_factory=dict)

    @property
    def line(self) -> str:
        """The settings as a model's name has them."""
        return ",".join(f"{name}={value:g}" for name, value in self.settings.items())


def classifiers() -> list[DigitClassifier]:
    """List the 80; the first ten differ by their neurons alone."""
    by_neurons = [_of(NEURONS_KIND, hidden=n) for n in NEURONS]
    by_dropout = [
        _of(DROPOUT_KIND, hidden=DROPOUT_NEURONS, dropout=rate) for rate in DROPOUTS if rate
    ]
    by_dropout += [_of(DROPOUT_KIND, hidden=n, dropout=0.5) for n in SOME_NEURONS]
    by_data = [_of_share(hidden=n, data_share=s) for n in SOME_NEURONS for s in DATA_SHARES]
    by_data += [_of_share(hidden=DROPOUT_NEURONS, data_share=s, dropout=0.5) for s in DATA_SHARES]
    by_decay = [_of(DECAY_KIND, hidden=n, decay=d) for n in SOME_NEURONS for d in DECAYS]
    return [*by_neurons, *by_dropout, *by_data, *by_decay]


def _of(kind: str, **settings: int | float) -> DigitClassifier:
    return DigitClassifier(kind, {**settings, "batch": BATCH, "epochs": EPOCHS})


def _of_share(**settings: int | float) -> DigitClassifier:
    epochs = DATA_SHARES[settings["data_share"]]
    batch = BATCH if settings["data_share"] >= 0.05 else SMALL_BATCH
    return DigitClassifier(
        DATA_KIND, {**settings, "batch": batch, "epochs": epochs, "patience": epochs}
    )


def dropout_classifiers(among: Sequence[DigitClassifier]) -> dict[float, DigitClassifier]:
    """Return those of Figure 4b by their dropout; the one without is among the neurons'."""
    return {
        c.settings.get("dropout", 0.0): c
        for c in sorted(among, key=lambda c: -c.settings.get("dropout", 0.0))
        if c.settings["hidden"] == DROPOUT_NEURONS and c.kind in (NEURONS_KIND, DROPOUT_KIND)
    }


FOREST, LENET = TARGETS = ("forest", "LeNet")
"""The two classifiers of Tables 1 and 6, in the paper's order."""
MLP = "MLP"
MIN_TREND = 4
"""With fewer classifiers the order of one digit's adversaries says nothing."""


@dataclass(frozen=True)
class NaturalResults(PaperResults):
    """The results of the tasks; what is loaded is kept."""

    def runs(self, task: str) -> dict[str, Rows]:
        """Return the rows of the runs of a task, by name and case."""
        if task not in self._runs:
            files = self.results[task]["runs"]
            self._runs[task] = rows_of({n: Run(self.folder / file) for n, file in files.items()})
        return self._runs[task]

    @cached_property
    def _runs(self) -> dict[str, dict[str, Rows]]:
        return {}

    def searches(self, target: str) -> dict[str, Rows]:
        """Return the rows of the three searches on a target."""
        return self.runs(f"searches on {target}")

    def ratio(self, target: str, measure: str, a: str, b: str) -> Figure:
        """Compute the mean cost or queries of search a over that of search b on a target."""
        return ratio(self.searches(target), measure, a, b)

    def hybrid_over_iterative(self, measure: str) -> Mapping[str, Figure]:
        """Compute this ratio of hybrid over iterative search on both targets."""
        return {target: self.ratio(target, measure, HYBRID, ITERATIVE) for target in TARGETS}

    @cached_property
    def table_6(self) -> RobustnessStudy:
        return self._study("robustness of two")

    @cached_property
    def figure_4(self) -> RobustnessStudy:
        return self._study("robustness of all")

    def _study(self, task: str) -> RobustnessStudy:
        return RobustnessStudy.load(self.folder / self.results[task]["study"], "robustness")

    @property
    def classifiers(self) -> list[DigitClassifier]:
        every = load_spec(self.request.paper).scale(self.request.scale)["every"]
        return classifiers()[::every]

    @cached_property
    def robustness(self) -> Mapping[str, TargetRobustness]:
        """The figures of the classifiers of Figure 4, by their line."""
        return {figure.target: figure for figure in self.figure_4.figures}

    @property
    def by_neurons(self) -> list[DigitClassifier]:
        return [c for c in self.classifiers if c.kind == NEURONS_KIND]

    @property
    def by_dropout(self) -> dict[float, DigitClassifier]:
        return dropout_classifiers(self.classifiers)

    def correlation(self, among: str) -> Figure:
        """Compute the rank correlation of accuracy and mean Δz over classifiers.

        They are all, those that differ in neurons or in dropout, or those that are accurate.
        """
        chosen = {"all": self.classifiers, "neurons": self.by_neurons}
        chosen["accurate"] = [
            c for c in self.classifiers if (self.robustness[c.line].accuracy or 0.0) >= ACCURATE
        ]
        chosen["dropout"] = list(self.by_dropout.values())
        found = accuracy_correlation([self.robustness[c.line] for c in chosen[among]])
        if found is None:
            return Figure(None, None, None, None, len(chosen[among]), "classifiers")
        value, (low, high) = found
        return Figure(value, low, high, None, len(chosen[among]), "classifiers")

    @cached_property
    def digit_trend(self) -> Figure:
        """The mean over digits of the rank correlation of neurons and Δz."""
        values = []
        for n, case in enumerate(self.figure_4.cases):
            pairs = [
                (c.settings["hidden"], self.figure_4.distances[c.line][n]) for c in self.by_neurons
            ]
            known = [(a, d) for a, d in pairs if d is not None and math.isfinite(d)]
            value = rank_correlation(*zip(*known)) if len(known) >= MIN_TREND else None
            if value is not None:
                values.append((case.case, value))
        return mean_by_text(values, "digits")

    @cached_property
    def difference(self) -> Figure:
        """The mean of LeNet's Δz minus the forest's, over digits with both."""
        cases = [case.case for case in self.table_6.cases]
        a, b = (self.table_6.distances[name] for name in TARGETS)
        pairs = [(case, x, y) for case, x, y in zip(cases, a, b) if x is not None and y is not None]
        gaps = [(case, y - x) for case, x, y in pairs if math.isfinite(x) and math.isfinite(y)]
        return mean_by_text(gaps, "digits")

    @cached_property
    def sign_test(self) -> SignTest:
        return sign_test(self.table_6.distances, *TARGETS)

    def _of_table_6(self, target: str) -> TargetRobustness:
        by_target: dict[str, TargetRobustness] = {f.target: f for f in self.table_6.figures}
        return by_target[target]

    def mean_distance(self, target: str) -> Figure:
        """Compute the mean Δz of a target over the digits with an adversary."""
        own = self._of_table_6(target)
        low, high = own.interval or (None, None)
        return Figure(own.mean, low, high, None, own.found, "digits")

    def accuracy_of(self, target: str) -> Figure:
        scored = self.table_6.scored
        right = round((self._of_table_6(target).accuracy or 0.0) * scored)
        return rate(right, scored, "pictures")

    def largest(self, target: str) -> Figure:
        """Compute in how many digits a target's Δz is the largest; level ones count half."""
        cases = [case.case for case in self.table_6.cases]
        rows = zip(cases, *(self.table_6.distances[name] for name in TARGETS))
        own = TARGETS.index(target)
        shares = [
            (case, distances.count(max(distances)) ** -1 * (distances[own] == max(distances)))
            for case, *distances in rows
            if None not in distances
        ]
        return mean_by_text(shares, "digits")

    @cached_property
    def found(self) -> Figure:
        """In how many of the digits that were searched around an adversary was found."""
        rows = [r for t in TARGETS for r in self.searches(t)[HYBRID].values()]
        attacked = [row for row in rows if row.status in ATTACKED]
        broken = sum(row.status == "broken" for row in attacked)
        return rate(broken, len(attacked), "searches")

    @cached_property
    def closer(self) -> Figure:
        """In how many digits the forest's adversary is nearer in pixels than LeNet's."""
        forest, lenet = (self.searches(name)[HYBRID] for name in TARGETS)
        pairs = [
            (forest[case].l2, lenet[case].l2)
            for case in forest
            if forest[case].cost is not None and case in lenet and lenet[case].cost is not None
        ]
        return rate(sum((a or 0.0) < (b or 0.0) for a, b in pairs), len(pairs), "digits")

    def kept(self, target: str, steps: int) -> Figure:
        """Compute on how many pictures a target predicts the same for the reconstruction."""
        bits = self.results["reconstructions"]["kept"][str(steps)][target]
        return rate(bits.count("1"), len(bits), "pictures")

    def not_kept(self, target: str, steps: int) -> Figure:
        """Compute on how many pictures it does not."""
        kept = self.kept(target, steps)
        return rate(kept.of - (kept.count or 0), kept.of, "pictures")

    def off_curve(self, name: str) -> Figure:
        """Compute the mean distance of points from the curve."""
        values = self.results["curve"]["off_curve"][name]
        return mean_by_text([(str(n), value) for n, value in enumerate(values)], "points")

    @cached_property
    def nearer_to_curve(self) -> Figure:
        """How much farther from the curve the nearest adversaries are than the natural ones."""
        off = self.results["curve"]["off_curve"]
        pairs = enumerate(zip(off["nearest"], off["natural"], strict=True))
        return mean_by_text([(str(n), a - b) for n, (a, b) in pairs], "points")

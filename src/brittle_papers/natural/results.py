"""What the page of the natural adversaries reads from its tasks, and the 80 classifiers.

The 80 classifiers of Figure 4: one hidden layer, and what differs from one to the next.

The paper says that its 80 differ in layer sizes, regularisation and amount of training data, and
shows ten numbers of neurons and ten dropout rates; the other sixty are our choice. Most of the 80
are less accurate than the paper's, so more accurate networks are measured, too; and those that
differ in dropout are trained several times, because they are nearly level.

What the page of the natural adversaries reads from its tasks: runs, studies, and figures.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property

import numpy as np

from brittle.metrics.paired import rank_correlation
from brittle.metrics.robustness import SignTest, TargetRobustness, accuracy_correlation, sign_test
from brittle.metrics.summary import ATTACKED, Figure, mean_by_text, rate
from brittle.runs.run import Run
from brittle.studies.robustness.study import RobustnessStudy
from brittle_papers.natural.searches import HYBRID, ITERATIVE, Rows, ratio, rows_of, speedup_at
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
ACCURATE = {"accurate, 93%": 0.93, "accurate, 95%": 0.95}
"""Nearly all of the paper's classifiers have at least the first of these (Figure 4c)."""
LARGE = (64, 128, 256, 512, 1024)
DROPOUT_TRAININGS = 3
KINDS = ("neurons", "dropout", "data", "weight decay", "more accurate")
NEURONS_KIND, DROPOUT_KIND, DATA_KIND, DECAY_KIND, ACCURATE_KIND = KINDS


@dataclass(frozen=True)
class DigitClassifier:
    """One classifier: what it stands for, and the settings of its network."""

    kind: str
    settings: Mapping[str, int | float] = field(default_factory=dict)

    seed: int = 0

    @property
    def line(self) -> str:
        """The settings as a model's name has them."""
        return ",".join(f"{name}={value:g}" for name, value in self.settings.items())

    @property
    def name(self) -> str:
        """The settings, and which training it is if it is not the first."""
        return f"{self.line}#{self.seed}" if self.seed else self.line


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


def accurate_classifiers() -> list[DigitClassifier]:
    """List more networks that should be accurate: large ones that are trained for longer."""
    longer = [
        (n, {"dropout": 0.5 * drops, "epochs": epochs})
        for n in LARGE
        for drops, epochs in ((0, 8), (1, 8), (0, 16))
    ]
    dropped = [(n, {"dropout": 0.5, "epochs": EPOCHS}) for n in LARGE[2:]]
    halved = [(n, {"data_share": 0.5, "epochs": 8}) for n in LARGE[2:]]
    return [
        DigitClassifier(
            ACCURATE_KIND,
            {"hidden": n, **{k: v for k, v in more.items() if v}, "batch": BATCH},
        )
        for n, more in [*longer, *dropped, *halved]
    ]


def repeated_classifiers(among: Sequence[DigitClassifier]) -> list[DigitClassifier]:
    """Return the further trainings of the networks that differ in dropout."""
    return [
        replace(classifier, seed=seed)
        for seed in range(1, DROPOUT_TRAININGS)
        for classifier in dropout_classifiers(among).values()
    ]


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
PAPER_DISTANCES = {FOREST: 1.24, LENET: 1.61}
"""The mean Δz of the paper's Table 6."""
BOTH = "both"
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

    def speedup(self, target: str) -> Figure:
        """Compute how many times fewer shells hybrid search asks, at the paper's mean Δz.

        `both` is the mean of the paper's two classifiers, each at its own distance.
        """
        targets = TARGETS if target == BOTH else (target,)
        return speedup_at([(self.searches(t), PAPER_DISTANCES[t]) for t in targets])

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

    @property
    def accurate_classifiers(self) -> list[DigitClassifier]:
        every = load_spec(self.request.paper).scale(self.request.scale)["every"]
        return accurate_classifiers()[::every]

    @cached_property
    def more(self) -> RobustnessStudy:
        return self._study("robustness of more")

    @cached_property
    def robustness(self) -> Mapping[str, TargetRobustness]:
        """The figures of the classifiers of Figure 4 and of the further ones, by their name."""
        figures = [*self.figure_4.figures, *self.more.figures]
        return {figure.target: figure for figure in figures}

    def lost(self, classifier: DigitClassifier) -> int:
        """Count the digits whose reconstruction a classifier predicts otherwise."""
        is_first = classifier.name in self.figure_4.targets
        study = self.figure_4 if is_first else self.more
        return int(study.lost(classifier.name))

    @property
    def by_neurons(self) -> list[DigitClassifier]:
        return [c for c in self.classifiers if c.kind == NEURONS_KIND]

    @property
    def by_dropout(self) -> dict[float, DigitClassifier]:
        return dropout_classifiers(self.classifiers)

    def correlation(self, among: str) -> Figure:
        """Compute the rank correlation of accuracy and mean Δz over classifiers.

        They are the 80 (`all`), those that differ in `neurons` or in `dropout`, or all that were
        measured and are as accurate as a name of ACCURATE says.
        """
        chosen = self._figures_of(among)
        found = accuracy_correlation(chosen)
        if found is None:
            return Figure(None, None, None, None, len(chosen), "classifiers")
        value, (low, high) = found
        return Figure(value, low, high, None, len(chosen), "classifiers")

    def _figures_of(self, among: str) -> list[TargetRobustness]:
        if among == "dropout":
            return [self.over_trainings(c) for c in self.by_dropout.values()]
        if among in ("all", "neurons"):
            chosen = self.by_neurons if among == "neurons" else self.classifiers
            return [self.robustness[c.name] for c in chosen]
        both = [*self.classifiers, *self.accurate_classifiers]
        return [
            f for c in both if ((f := self.robustness[c.name]).accuracy or 0.0) >= ACCURATE[among]
        ]

    def over_trainings(self, classifier: DigitClassifier) -> TargetRobustness:
        """Return the figures of a classifier as means over its trainings."""
        trainings = [replace(classifier, seed=seed) for seed in range(DROPOUT_TRAININGS)]
        own = [self.robustness[c.name] for c in trainings if c.name in self.robustness]
        means = [figure.mean for figure in own if figure.mean is not None]
        accuracies = [figure.accuracy for figure in own if figure.accuracy is not None]
        return replace(
            own[0],
            mean=float(np.mean(means)) if means else None,
            accuracy=float(np.mean(accuracies)) if accuracies else None,
        )

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

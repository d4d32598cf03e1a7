"""What the page of the transfer paper reads from its stages: studies, curves and tried rules."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from brittle.candidates.rules import Rules, load_rules
from brittle.formatting import NO_VALUE
from brittle.metrics.summary import ATTACKED, Figure, rate, rate_by_text
from brittle.runs.run import Run
from brittle.studies.rules.evaluation import (
    ALL,
    SHARES,
    Count,
    RuledText,
    by_class,
    gain_of_rules,
    load_rows,
    success,
    try_name,
    words_changed,
)
from brittle.studies.transfer.factors import (
    FACTORS,
    StudyTables,
    diagonal_of,
    differing,
    factor_means,
    study_tables,
)
from brittle.studies.transfer.study import (
    Counts,
    TransferStudy,
    cases_of,
    counts_of,
    intervals,
    paired_intervals,
    restricted,
)
from brittle.workflow.tasks import Task
from brittle_papers.page import TableCell
from brittle_papers.results import PaperResults
from brittle_papers.transfer import stages

PWWS, GENETIC = ATTACKS = ("pwws", "genetic")
SAME_MODELS = "pwws, same models"
VECTORS = "word vectors"
"""One-layer models of words with each kind of word vectors, attacked by PWWS."""
ENSEMBLES: Mapping[str, str] = {PWWS: "ensembles", GENETIC: "ensembles by genetic"}
"""The tasks that select and attack ensembles, by the attack."""
RULE_MEMBERS = 6
"""The members of the rules of Tables 5 and 6."""
Array = NDArray[np.float64]
Statistic = Callable[[Array], Array]
"""From matrices (resamples × sources × targets) to values (resamples × values)."""


def mean_rate(value: float, low: float, high: float, of: int, over: str) -> Figure:
    """Build the figure of a mean of rates; an empty one has no value."""
    if np.isnan(value):
        return Figure(None, None, None, None, of, over)
    return Figure(float(value), float(low), float(high), None, of, over)


def percent_of(figure: Figure) -> str:
    return NO_VALUE if figure.value is None else f"{figure.value:.1%}"


@dataclass(frozen=True)
class TransferPaperResults(PaperResults):
    """The results of the stages; what took long to load or to draw is kept."""

    @cached_property
    def studies(self) -> Mapping[str, TransferStudy]:
        """The transfer studies by attack; those of ensembles and of word vectors by their task.

        Where the genetic attack ran on fewer models, that of PWWS on these is under `SAME_MODELS`.
        """
        stored = {attack: f"transfer by {attack}" for attack in ATTACKS}
        stored |= {task: task for task in (*ENSEMBLES.values(), VECTORS)}
        studies = {
            name: stages.load_study(self.folder, self.results[task])
            for name, task in stored.items()
            if task in self.results
        }
        if GENETIC in studies:
            names = {member.name for member in studies[GENETIC].sources}
            if names != {member.name for member in studies[PWWS].sources}:
                studies[SAME_MODELS] = restricted(studies[PWWS], names)
        return studies

    @cached_property
    def counts(self) -> Mapping[str, Counts]:
        return {name: counts_of(study) for name, study in self.studies.items()}

    @cached_property
    def tables(self) -> Mapping[tuple[str, bool], StudyTables]:
        """The tables by attack, over all texts or (True) those that a target had right."""
        return {
            (attack, of_right): study_tables(
                self.studies[attack], of_right, counts=self.counts[attack]
            )
            for attack in (*ATTACKS, SAME_MODELS)
            if attack in self.studies
            for of_right in (False, True)
        }

    def estimate(
        self, study: str, statistic: Statistic, is_rate: bool = False, of_right: bool = False
    ) -> list[Figure]:
        """Compute the values of a statistic, with intervals by bootstrap over texts.

        If the values are rates, the intervals are cut at 0 and 1. With `of_right` the rates are
        over the texts whose original a target had right.
        """
        counts = self.counts[study]
        ((value, low, high),) = intervals(counts, [statistic], of_right=of_right)
        if is_rate:
            low, high = np.clip((low, high), 0.0, 1.0)
        texts = len(counts.of)
        return [
            mean_rate(x, a, b, texts, "texts")
            for x, a, b in zip(np.ravel(value), np.ravel(low), np.ravel(high))
        ]

    def compare(self, a: tuple[str, Statistic], b: tuple[str, Statistic]) -> list[Figure]:
        """Compute a statistic of study b less one of study a, paired by text.

        Each is the name of a study, and a statistic of its matrix.
        """
        cases = cases_of(self.studies[a[0]], self.studies[b[0]])
        sides = [(counts_of(self.studies[name], cases), of) for name, of in (a, b)]
        value, low, high = paired_intervals(*sides)
        return [mean_rate(*numbers, len(cases), "texts") for numbers in zip(value, low, high)]

    def distance(self, factor: str, without: str | None = None) -> Figure:
        """Compute |r − base| of a factor among word vectors, or without one kind of them."""
        study = self.studies[VECTORS]
        part = restricted(study, {m.name for m in study.sources if m.reads != without})
        marks = differing(part.sources, part.targets)
        is_diagonal = diagonal_of(part.sources, part.targets)
        counts, row = counts_of(part), FACTORS.index(factor)

        def statistic(rates: Array) -> Array:
            return factor_means(rates, marks, is_diagonal)[0][:, [row]]

        (bounds,) = intervals(counts, [statistic])
        value, low, high = (float(np.ravel(bound)[0]) for bound in bounds)
        return mean_rate(value, low, high, len(counts.of), "texts")

    @cached_property
    def attacked(self) -> Mapping[str, Mapping[str, list[tuple[str, bool]]]]:
        """By attack and source: the attacked texts, and whether each was broken."""
        found: dict[str, dict[str, list[tuple[str, bool]]]] = {}
        for attack in ATTACKS:
            if attack in self.studies:
                study = self.studies[attack]
                runs = {
                    n: Run(self.folder / study.name / file).as_stored()
                    for n, file in study.runs.items()
                }
                found[attack] = {
                    name: [
                        (r.case, r.status == "broken")
                        for r in run.results()
                        if r.status in ATTACKED
                    ]
                    for name, run in runs.items()
                }
        return found

    @property
    def models(self) -> list[str]:
        return [member.name for member in self.studies[PWWS].targets]

    def accuracy_of(self, model: str) -> Figure:
        """Compute the accuracy of a model on the texts that are attacked."""
        right, texts = self.results["transfer by pwws"]["accuracy"][model]
        return rate(right, texts, "texts")

    def success_of(self, attack: str, source: str | None = None) -> Figure:
        """Compute the success of an attack with queries, on one model or over those of all."""
        rows = [
            row
            for name, own in self.attacked[attack].items()
            if source in (None, name)
            for row in own
        ]
        return rate_by_text(rows, "attacked texts")

    @cached_property
    def ruled(self) -> Mapping[str, Mapping[str, list[RuledText]]]:
        """The texts of every set of rules, by target and set."""
        tasks = {m.name: Task(try_name(m), print) for m in self.studies[PWWS].targets}
        files = {name: task.file(self.folder / stages.TRIED) for name, task in tasks.items()}
        return {n: load_rows(json.loads(f.read_text("utf-8"))["result"]) for n, f in files.items()}

    def ruled_by_form(self, rules: str) -> dict[str, list[RuledText]]:
        """Return the texts of one set of rules on all models, and on those of a class."""
        forms = {member.name: member.form for member in self.studies[PWWS].targets}
        return by_class({name: sets[rules] for name, sets in self.ruled.items()}, forms)

    @property
    def rule_sets(self) -> Sequence[str]:
        return list(self.results["rules"]["rules"])

    @property
    def main_rules(self) -> str:
        """The rules of Tables 5 and 6: those of six members, or of the most that there are."""
        sizes = [int(name.rpartition("-")[2]) for name in self.rule_sets if name != stages.PMI]
        return stages.uawr(min(max(sizes), RULE_MEMBERS))

    def rules(self, name: str) -> Rules:
        """Load a set of rules."""
        return load_rules(self.folder / "rules" / f"{name}.rules")

    @cached_property
    def forms(self) -> Mapping[str, Mapping[str, list[RuledText]]]:
        """The texts of PMI and of the main rules, on all models and by the class of a model."""
        sets = {"pmi": stages.PMI, "uawr": self.main_rules}
        return {name: self.ruled_by_form(rules) for name, rules in sets.items()}

    @property
    def form_names(self) -> Sequence[str]:
        return list(self.forms["pmi"])

    def first_prefix(self, rules: str, form: str) -> TableCell:
        """Return the success of the first prefix that works, and its words."""
        rows = self.forms[rules][form]
        figures = success(rows, max(SHARES)), words_changed(rows, max(SHARES))
        return TableCell(figures[0], text=", ".join(percent_of(figure) for figure in figures))

    def at_the_limit(self, rules: str, form: str) -> Figure:
        """Compute the success of the text with all replacements."""
        return success(self.forms[rules][form], max(SHARES), "limit")

    def words_of(self, rules: str, form: str) -> Figure:
        """Compute the mean share of words in the first prefix that works."""
        return words_changed(self.forms[rules][form], max(SHARES))

    def by_share(self, share: float, count: Count) -> Figure:
        """Compute the success of the largest ensemble's rules at a share of words."""
        rules = self.rule_sets[0]
        if rules not in self._largest:
            self._largest[rules] = self.ruled_by_form(rules)[ALL]
        return success(self._largest[rules], share, count)

    @cached_property
    def _largest(self) -> dict[str, list[RuledText]]:
        return {}

    @property
    def curve_rows(self) -> Sequence[str]:
        """The rules of the curve and how they are applied: the first words of its tasks."""
        names = (task.rpartition(", on ")[0] for task in self.results)
        return [name for name in dict.fromkeys(names) if name.startswith("rules from ")]

    def gains_of_rules(self) -> Mapping[str, Figure]:
        """Compute the success of the main rules less that of PMI, by the class of a model."""
        pmi, uawr = self.forms["pmi"], self.forms["uawr"]
        return {form: gain_of_rules(pmi[form], uawr[form], max(SHARES)) for form in pmi}

    def ensembles(self, attack: str = PWWS) -> list[dict[str, Any]]:
        """The selected ensembles: method, members, objective, and the name of their source."""
        found: list[dict[str, Any]] = self.results[ENSEMBLES[attack]]["ensembles"]
        return found

    def ensemble_rates(self, held_out: bool, attack: str = PWWS) -> dict[tuple[str, int], Figure]:
        """Compute by method and size the mean rate on models that are no members.

        With `held_out` they are the models that are in no ensemble.
        """
        keys = self._ensemble_keys(held_out, attack)
        if not keys:
            return {}
        means = self.ensemble_means(held_out, attack)
        return dict(zip(keys, self.estimate(ENSEMBLES[attack], means, is_rate=True)))

    def compare_ensembles(
        self, pairs: Sequence[tuple[tuple[str, int], tuple[str, int]]]
    ) -> list[Figure]:
        """Compute for pairs of ensembles the rate of the second less that of the first, paired.

        An ensemble is its method and its size. The rates are on the models in no ensemble.
        """
        keys, means = self._ensemble_keys(True), self.ensemble_means(True)
        first, second = ([keys.index(pair[side]) for pair in pairs] for side in (0, 1))
        return self.estimate("ensembles", lambda r: means(r)[:, second] - means(r)[:, first])

    def _ensemble_keys(self, held_out: bool, attack: str = PWWS) -> list[tuple[str, int]]:
        if held_out and not self.results[ENSEMBLES[attack]]["held_out"]:
            return []
        return [(e["method"], len(e["members"])) for e in self.ensembles(attack)]

    def ensemble_means(self, held_out: bool, attack: str = PWWS) -> Statistic:
        """Build the statistic of the mean rate of every ensemble on models that are no members."""
        study = self.studies[ENSEMBLES[attack]]
        rows = {source.name: n for n, source in enumerate(study.sources)}
        names = [target.name for target in study.targets]
        never = set(self.results[ENSEMBLES[attack]]["held_out"])
        masks = [
            (
                rows[ensemble["name"]],
                np.array([n in never if held_out else n not in ensemble["members"] for n in names]),
            )
            for ensemble in self.ensembles(attack)
        ]
        return lambda rates: np.stack([rates[:, n, m].mean(axis=1) for n, m in masks], axis=1)

"""What the claims of the transfer paper are about: factors, classes of models, directions."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from brittle.metrics.summary import Figure, mean_by_text
from brittle.studies.rules.evaluation import ALL, SHARES, gain_of_share, success
from brittle.studies.transfer.factors import FACTORS, diagonal_of, differing, factor_means
from brittle.studies.transfer.study import TransferStudy
from brittle_papers.claims import (
    Judge,
    JudgedClaim,
    above,
    altogether,
    below,
    format_points,
    format_rate,
    interval_of,
    mostly,
    within,
)
from brittle_papers.transfer.results import (
    ENSEMBLES,
    GENETIC,
    PWWS,
    SAME_MODELS,
    Statistic,
    TransferPaperResults,
)

Array = NDArray[np.float64]
ORDER = ("input", "architecture", "embedding", "layers")
COMPARABLE, NEGLIGIBLE = 0.05, 0.01
ASYMMETRIC = 0.05
"""How far the two directions of a pair must be apart on average."""


@dataclass(frozen=True)
class TransferPaperFigures(TransferPaperResults):
    """The figures of the claims: differences of mean rates, each with its name."""

    def steps_of_factors(self, attack: str) -> Mapping[str, Figure] | None:
        """Compare |r − base| of every factor with that of the next one in the paper's order."""
        if attack not in self.studies:
            return None
        distances = _distances(self.studies[attack])
        figures = self.estimate(attack, lambda rates: -np.diff(distances(rates), axis=1))
        if any(figure.value is None for figure in figures):
            return None
        return dict(zip([f"{a} less {b}" for a, b in pairwise(ORDER)], figures))

    def crossing(
        self, by: str, one: str, others: Sequence[str], into: bool, of_right: bool = False
    ) -> Mapping[str, Figure] | None:
        """Compare one class with others: transfer into it from outside, or out of it.

        `by` is what a member's class is read from, such as its architecture. With `of_right` the
        rates are over the texts whose original a target had right.
        """
        study = self.studies[PWWS]
        sources = np.array([getattr(member, by) for member in study.sources])
        targets = np.array([getattr(member, by) for member in study.targets])
        present = [name for name in others if name in sources]
        if one not in sources or not present:
            return None

        def rate(rates: Array, name: str) -> Array:
            if into:
                return _between(rates, sources != name, targets == name)
            return _between(rates, sources == name, targets != name)

        figures = self.estimate(
            PWWS,
            lambda rates: np.stack([rate(rates, one) - rate(rates, n) for n in present], axis=1),
            of_right=of_right,
        )
        return dict(zip((f"less {name}" for name in present), figures))

    def within_architectures(self, diagonal: bool) -> Mapping[str, Figure] | None:
        """Compare the rate within each architecture with the mean of those into it."""
        study = self.studies[PWWS]
        if diagonal and not study.twin_before:
            return None
        kinds = np.array([member.architecture for member in study.sources])
        same = diagonal_of(study.sources, study.targets)
        names = list(dict.fromkeys(kinds))
        if len(names) < 2:
            return {}

        def gaps(rates: Array) -> Array:
            rates = rates if diagonal else np.where(same, np.nan, rates)
            columns = []
            for name in names:
                means = [_between(rates, kinds == other, kinds == name) for other in names]
                own = means.pop(names.index(name))
                columns.append(own - np.mean(means, axis=0))
            return np.stack(columns, axis=1)

        return dict(zip(names, self.estimate(PWWS, gaps)))

    def pretrained(self, pair: str) -> Figure | None:
        """Compare models with a pretrained part with their likes, on the texts of all others."""
        study = self.studies[PWWS]
        reads = np.array([member.reads for member in study.targets])
        names = np.array([member.name for member in study.targets])
        a, b = {
            "GloVe less Random": (reads == "GloVe", reads == "Random"),
            "ELMo less Character": (reads == "ELMo", reads == "Character"),
            "MiniLM less BERT-NOPT": (names == "MiniLM", names == "BERT-NOPT"),
        }[pair]
        if not (a.any() and b.any()):
            return None
        outside = ~np.isin(reads, reads[a | b])  # sources and targets are the same members
        return self.estimate(
            PWWS, lambda r: (_between(r, outside, a) - _between(r, outside, b))[:, None]
        )[0]


def _distances(study: TransferStudy) -> Statistic:
    """Build the statistic |r − base| of the four factors, in the order of the finding."""
    members = (study.sources, study.targets)
    marks, is_diagonal = differing(*members), diagonal_of(*members)
    rows = [FACTORS.index(name) for name in ORDER]
    return lambda rates: factor_means(rates, marks, is_diagonal)[0][:, rows]


def _mean_distance(study: TransferStudy) -> Statistic:
    """Build the statistic |r − base|, the mean over the factors."""
    distances = _distances(study)
    return lambda rates: distances(rates).mean(axis=1, keepdims=True)


def _between(rates: Array, rows: NDArray[np.bool_], columns: NDArray[np.bool_]) -> Array:
    """Average the cells of some sources and some targets, resample by resample."""
    return _mean(rates[:, rows][:, :, columns].reshape(len(rates), -1))


def _mean(cells: Array) -> Array:
    """Average the rows without their empty cells; NaN if all are empty."""
    used = ~np.isnan(cells)
    total = np.where(used, cells, 0.0).sum(axis=1)
    count = used.sum(axis=1)
    return np.asarray(np.where(count > 0, total / np.maximum(count, 1), np.nan))


def _bert_sources(results: TransferPaperFigures) -> JudgedClaim | None:
    """Judge the order of the paper's own table, which its sentence contradicts."""
    gaps = results.crossing("architecture", "BERT", ("LSTM", "CNN"), into=False)
    if gaps is None or len(gaps) < 2:
        return None
    lstm, cnn = gaps["less LSTM"], gaps["less CNN"]
    verdict = altogether([below(interval_of(lstm)), above(interval_of(cnn))])
    return JudgedClaim(verdict, f"less LSTM {format_rate(lstm)}; less CNN {format_rate(cnn)}")


def _asymmetric(results: TransferPaperFigures) -> JudgedClaim:
    """Judge by the mean of |r(s, t) − r(t, s)|; the basic bootstrap takes the noise out of it."""
    upper = np.triu_indices(len(results.studies[PWWS].sources), 1)

    def gap(rates: Array) -> Array:
        gaps = np.abs(rates - rates.transpose(0, 2, 1))[:, upper[0], upper[1]]
        return _mean(gaps)[:, None]

    figure = results.estimate(PWWS, gap)[0]
    evidence = f"{format_rate(figure)}, the mean over {len(upper[0])} pairs"
    return JudgedClaim(above(interval_of(figure), ASYMMETRIC), evidence)


def _overfit(results: TransferPaperFigures) -> JudgedClaim | None:
    if GENETIC not in results.studies:
        return None
    pwws = SAME_MODELS if SAME_MODELS in results.studies else PWWS
    sides = [(name, _mean_distance(results.studies[name])) for name in (GENETIC, pwws)]
    genetic, swaps = (results.estimate(*side)[0] for side in sides)
    gap = results.compare(*sides)[0]
    if gap.value is None:
        return None
    evidence = f"PWWS {format_rate(swaps)}, GA {format_rate(genetic)}; paired by text, "
    return JudgedClaim(above(interval_of(gap)), f"{evidence}{format_points(gap)}")


def _ensembles(results: TransferPaperFigures, attack: str = PWWS) -> JudgedClaim:
    singles = results.studies[attack]
    same = diagonal_of(singles.sources, singles.targets)
    sizes = [(e["method"], len(e["members"])) for e in results.ensembles(attack)]
    means = results.ensemble_means(held_out=False, attack=attack)

    def of_all_pairs(rates: Array) -> Array:
        return np.repeat(_mean(rates[:, ~same])[:, None], len(sizes), axis=1)

    sides = (attack, of_all_pairs), (ENSEMBLES[attack], means)
    gaps = dict(zip(sizes, results.compare(*sides)))
    gains = {f"{n} members": gap for (method, n), gap in gaps.items() if method == "genetic"}
    verdict = altogether([above(interval_of(gap)) for gap in gains.values()])
    evidence = "; ".join(f"{name} {format_points(gap)}" for name, gap in gains.items())
    return JudgedClaim(verdict, f"more than over all pairs, paired by text: {evidence}")


def _genetic_expert(results: TransferPaperFigures) -> JudgedClaim | None:
    """Judge “in most cases” over the sizes at which the two ways choose different members."""
    chosen = {(e["method"], len(e["members"])): set(e["members"]) for e in results.ensembles()}
    sizes = sorted({n for method, n in chosen if method == "genetic"})
    apart = [n for n in sizes if chosen["genetic", n] != chosen["expert", n]]
    if not results.results["ensembles"]["held_out"] or not apart:
        return None
    gaps = results.compare_ensembles([(("expert", n), ("genetic", n)) for n in apart])
    evidence = "; ".join(f"{n} members {format_points(gap)}" for n, gap in zip(apart, gaps))
    same = [str(n) for n in sizes if n not in apart]
    if same:
        evidence += f" (the same members with {' and '.join(same)})"
    return JudgedClaim(mostly([above(interval_of(gap)) for gap in gaps]), evidence)


def _six(results: TransferPaperFigures) -> JudgedClaim | None:
    if ("genetic", 7) not in results.ensemble_rates(held_out=True):
        return None
    gap = results.compare_ensembles([(("genetic", 6), ("genetic", 7))])[0]
    return JudgedClaim(within(interval_of(gap), NEGLIGIBLE), f"7 less 6, {format_points(gap)}")


def _uawr_pwws(results: TransferPaperFigures) -> JudgedClaim:
    rows = {name: sets[results.main_rules] for name, sets in results.ruled.items()}
    works = {
        (name, row.case): row.changed_words(max(SHARES)) is not None
        for name, own in rows.items()
        for row in own
        if row.is_right
    }
    gaps = [
        (case, int(works[name, case]) - int(broken))
        for name, attacked in results.attacked[PWWS].items()
        for case, broken in attacked
        if (name, case) in works
    ]
    gap = mean_by_text(gaps, "texts that were right")
    rules = success(results.ruled_by_form(results.main_rules)[ALL], max(SHARES))
    attack = results.success_of(PWWS)
    evidence = f"rules {rules.value or 0:.1%}, PWWS {attack.value or 0:.1%}; paired by text, "
    return JudgedClaim(within(interval_of(gap), COMPARABLE), f"{evidence}{format_points(gap)}")


def _words(results: TransferPaperFigures) -> JudgedClaim:
    rows = results.ruled_by_form(results.main_rules)[ALL]
    steps = {(a, b): gain_of_share(rows, a, b, "limit") for a, b in pairwise(SHARES)}
    evidence = ", ".join(f"{a:.0%} to {b:.0%} {format_points(g)}" for (a, b), g in steps.items())
    verdict = altogether([above(interval_of(gain)) for gain in steps.values()])
    return JudgedClaim(verdict, f"the text at the limit, paired: {evidence}")


JUDGES: Mapping[str, Judge[TransferPaperFigures]] = {
    "bert-sources": _bert_sources,
    "asymmetric": _asymmetric,
    "overfit": _overfit,
    "ensembles": _ensembles,
    "ensembles-genetic": partial(_ensembles, attack=GENETIC),
    "genetic-expert": _genetic_expert,
    "six": _six,
    "uawr-pwws": _uawr_pwws,
    "words": _words,
}

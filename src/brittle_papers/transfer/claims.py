"""What the claims of the transfer paper are about: factors, classes of models, directions."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from brittle.metrics.summary import Figure
from brittle.studies.rules.evaluation import ALL, SHARES, success
from brittle.studies.transfer.factors import FACTORS, diagonal_of, differing, factor_means
from brittle.studies.transfer.study import TransferStudy
from brittle_papers.claims import (
    Judge,
    JudgedClaim,
    above,
    altogether,
    difference,
    format_rate,
    within,
)
from brittle_papers.transfer.results import (
    GENETIC,
    PWWS,
    SAME_MODELS,
    Statistic,
    TransferPaperResults,
)

Array = NDArray[np.float64]
ORDER = ("input", "architecture", "embedding", "layers")
COMPARABLE, NEGLIGIBLE = 0.05, 0.01
BEYOND_CHANCE = 0.2
"""The share of pairs that must differ between the two directions; by chance it is 0.05."""


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
        self, by: str, one: str, others: Sequence[str], into: bool
    ) -> Mapping[str, Figure] | None:
        """Compare one class with others: transfer into it from outside, or out of it.

        `by` is what a member's class is read from, such as its architecture.
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

    def pretrained(self) -> Mapping[str, Figure] | None:
        """Compare models with pretrained parts with their likes, on the texts of all others."""
        study = self.studies[PWWS]
        reads = np.array([member.reads for member in study.targets])
        names = np.array([member.name for member in study.targets])
        pairs = {
            "GloVe less Random": (reads == "GloVe", reads == "Random"),
            "ELMo less Character": (reads == "ELMo", reads == "Character"),
            "MiniLM less BERT-NOPT": (names == "MiniLM", names == "BERT-NOPT"),
        }
        known = {name: pair for name, pair in pairs.items() if pair[0].any() and pair[1].any()}
        if not known:
            return None
        # Sources and targets are the same members.
        outside = {name: ~np.isin(reads, reads[a | b]) for name, (a, b) in known.items()}

        def gaps(rates: Array) -> Array:
            columns = [
                _between(rates, outside[name], a) - _between(rates, outside[name], b)
                for name, (a, b) in known.items()
            ]
            return np.stack(columns, axis=1)

        return dict(zip(known, self.estimate(PWWS, gaps)))


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


def _asymmetric(results: TransferPaperFigures) -> JudgedClaim:
    study = results.studies[PWWS]
    count = len(study.sources)
    upper = np.triu_indices(count, 1)
    figures = results.estimate(
        PWWS, lambda rates: (rates - rates.transpose(0, 2, 1))[:, upper[0], upper[1]]
    )
    apart = sum((f.low or 0.0) > 0 or (f.high or 0.0) < 0 for f in figures)
    share = apart / len(figures)
    evidence = f"the interval of r(s, t) − r(t, s) leaves out 0 for {apart} of {len(figures)} pairs"
    return JudgedClaim("agrees" if share > BEYOND_CHANCE else "disagrees", evidence)


def _overfit(results: TransferPaperFigures) -> JudgedClaim | None:
    if GENETIC not in results.studies:
        return None
    pwws = SAME_MODELS if SAME_MODELS in results.studies else PWWS
    figures = [
        results.estimate(attack, _mean_distance(results.studies[attack]))[0]
        for attack in (GENETIC, pwws)
    ]
    if any(figure.value is None for figure in figures):
        return None
    verdict = above(difference(*figures))
    return JudgedClaim(verdict, f"PWWS {format_rate(figures[1])}, GA {format_rate(figures[0])}")


def _ensembles(results: TransferPaperFigures) -> JudgedClaim:
    singles = results.studies[PWWS]
    same = diagonal_of(singles.sources, singles.targets)
    pairs = results.estimate(PWWS, lambda rates: _mean(rates[:, ~same])[:, None], True)
    rates = results.ensemble_rates(held_out=False)
    gains = {f"{n} members": f for (method, n), f in rates.items() if method == "genetic"}
    verdict = altogether([above(difference(pairs[0], figure)) for figure in gains.values()])
    evidence = "; ".join(f"{name} {format_rate(figure)}" for name, figure in gains.items())
    return JudgedClaim(verdict, f"{evidence}; all pairs {format_rate(pairs[0])}")


def _genetic_expert(results: TransferPaperFigures) -> JudgedClaim | None:
    if not results.results["ensembles"]["held_out"]:
        return None
    rates = results.ensemble_rates(held_out=True)
    sizes = sorted({n for method, n in rates if method == "genetic"})
    verdicts, parts = [], []
    for n in sizes:
        a, b = rates["expert", n], rates["genetic", n]
        verdicts.append(above(difference(a, b)))
        parts.append(f"{n} members {format_rate(b)}, expert {format_rate(a)}")
    return JudgedClaim(altogether(verdicts), "; ".join(parts))


def _six(results: TransferPaperFigures) -> JudgedClaim | None:
    rates = results.ensemble_rates(held_out=True)
    if ("genetic", 7) not in rates:
        return None
    six, seven = rates["genetic", 6], rates["genetic", 7]
    verdict = within(difference(six, seven), NEGLIGIBLE)
    return JudgedClaim(verdict, f"6 {format_rate(six)}, 7 {format_rate(seven)}")


def _uawr_pwws(results: TransferPaperFigures) -> JudgedClaim:
    rules = success(results.ruled_by_form(results.main_rules)[ALL], max(SHARES))
    attack = results.success_of(PWWS)
    verdict = within(difference(attack, rules), COMPARABLE)
    return JudgedClaim(verdict, f"rules {rules.value or 0:.1%}, PWWS {attack.value or 0:.1%}")


def _words(results: TransferPaperFigures) -> JudgedClaim:
    rows = results.ruled_by_form(results.main_rules)[ALL]
    found = {share: success(rows, share, "limit") for share in SHARES}
    verdicts = [above(difference(found[a], found[b])) for a, b in pairwise(SHARES)]
    evidence = ", ".join(f"{share:.0%}: {figure.value or 0:.1%}" for share, figure in found.items())
    return JudgedClaim(altogether(verdicts), f"the text at the limit, {evidence}")


JUDGES: Mapping[str, Judge[TransferPaperFigures]] = {
    "asymmetric": _asymmetric,
    "overfit": _overfit,
    "ensembles": _ensembles,
    "genetic-expert": _genetic_expert,
    "six": _six,
    "uawr-pwws": _uawr_pwws,
    "words": _words,
}

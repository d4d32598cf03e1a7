"""How our intervals judge the findings of the transfer paper, which are quoted in paper.toml."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from brittle.formatting import NO_VALUE
from brittle.metrics.summary import Figure
from brittle.studies.rules.evaluation import ALL, SHARES, gain_of_rules, success
from brittle.studies.transfer.classes import diagonal_of
from brittle.studies.transfer.factors import FACTORS, differing, factor_means
from brittle.studies.transfer.study import TransferStudy
from brittle_papers.claims import (
    Interval,
    Judge,
    Judgement,
    Rule,
    above,
    altogether,
    below,
    difference,
    interval_of,
    within,
)
from brittle_papers.formats import format_points as points
from brittle_papers.transfer import plan, stages
from brittle_papers.transfer.results import (
    SAME_MODELS,
    Statistic,
    TransferResults,
)

Array = NDArray[np.float64]
ORDER = ("input", "architecture", "embedding", "layers")
COMPARABLE, NEGLIGIBLE = 0.05, 0.01
BEYOND_CHANCE = 0.2
"""The share of pairs that must differ between the two directions; by chance it is 0.05."""


def rate_text(figure: Figure) -> str:
    """Format a mean rate with its interval, as the paper's tables write rates."""
    if figure.value is None or figure.low is None or figure.high is None:
        return NO_VALUE
    numbers = [f"{x:.3f}".replace("0.", ".", 1) for x in (figure.value, figure.low, figure.high)]
    return f"{numbers[0]} ({numbers[1]}–{numbers[2]})".replace("–-", " to -")


def _judge_each(rule: Rule, figures: Mapping[str, Figure], bound: float = 0.0) -> Judgement:
    """Judge a claim about several values; all are the evidence."""
    verdicts = [rule(interval_of(figure), bound) for figure in figures.values()]
    evidence = "; ".join(f"{name} {rate_text(figure)}" for name, figure in figures.items())
    return Judgement(altogether(verdicts), evidence)


def _distances(study: TransferStudy) -> Statistic:
    """Build the statistic |r − base| of the four factors, in the order of the finding."""
    members = (study.sources, study.targets)
    marks, is_diagonal = differing(*members), diagonal_of(*members)
    rows = [FACTORS.index(name) for name in ORDER]
    return lambda rates: factor_means(rates, marks, is_diagonal)[0][:, rows]


def _factors(results: TransferResults, attack: str) -> Judgement | None:
    if attack not in results.studies:
        return None
    distances = _distances(results.studies[attack])
    figures = results.estimate(attack, lambda rates: -np.diff(distances(rates), axis=1))
    if any(figure.value is None for figure in figures):
        return None
    names = [f"{a} less {b}" for a, b in pairwise(ORDER)]
    return _judge_each(above, dict(zip(names, figures)))


def _between(rates: Array, rows: NDArray[np.bool_], columns: NDArray[np.bool_]) -> Array:
    """Average the cells of some sources and some targets, resample by resample."""
    return _mean(rates[:, rows][:, :, columns].reshape(len(rates), -1))


def _mean(cells: Array) -> Array:
    """Average the rows without their empty cells; NaN if all are empty."""
    used = ~np.isnan(cells)
    total = np.where(used, cells, 0.0).sum(axis=1)
    count = used.sum(axis=1)
    return np.asarray(np.where(count > 0, total / np.maximum(count, 1), np.nan))


def _directions(
    results: TransferResults, by: Callable[..., str], one: str, others: Sequence[str], into: bool
) -> dict[str, Figure] | None:
    """Compare one class with others: transfer into it from outside, or out of it."""
    study = results.studies[plan.PWWS]
    sources = np.array([by(member) for member in study.sources])
    targets = np.array([by(member) for member in study.targets])
    present = [name for name in others if name in sources]
    if one not in sources or not present:
        return None

    def crossing(rates: Array, name: str) -> Array:
        if into:
            return _between(rates, sources != name, targets == name)
        return _between(rates, sources == name, targets != name)

    figures = results.estimate(
        plan.PWWS,
        lambda rates: np.stack(
            [crossing(rates, one) - crossing(rates, name) for name in present], axis=1
        ),
    )
    return dict(zip((f"less {name}" for name in present), figures))


def _architectures(results: TransferResults, into: bool) -> Judgement | None:
    others = ("LSTM", "BiLSTM", "CNN")
    figures = _directions(results, lambda member: member.architecture, "BERT", others, into)
    return None if figures is None else _judge_each(below, figures)


def _characters(results: TransferResults, into: bool) -> Judgement | None:
    figures = _directions(results, lambda member: member.form, "character", ("word",), into)
    return None if figures is None else _judge_each(below, figures)


def _asymmetric(results: TransferResults) -> Judgement:
    study = results.studies[plan.PWWS]
    count = len(study.sources)
    upper = np.triu_indices(count, 1)
    figures = results.estimate(
        plan.PWWS, lambda rates: (rates - rates.transpose(0, 2, 1))[:, upper[0], upper[1]]
    )
    apart = sum((f.low or 0.0) > 0 or (f.high or 0.0) < 0 for f in figures)
    share = apart / len(figures)
    evidence = f"the interval of r(s, t) − r(t, s) leaves out 0 for {apart} of {len(figures)} pairs"
    return Judgement("agrees" if share > BEYOND_CHANCE else "disagrees", evidence)


def _intra(results: TransferResults, diagonal: bool) -> Judgement | None:
    study = results.studies[plan.PWWS]
    if diagonal and not study.twin_before:
        return None
    kinds = np.array([member.architecture for member in study.sources])
    same = diagonal_of(study.sources, study.targets)
    names = list(dict.fromkeys(kinds))

    def gaps(rates: Array) -> Array:
        rates = rates if diagonal else np.where(same, np.nan, rates)
        columns = []
        for name in names:
            means = [_between(rates, kinds == other, kinds == name) for other in names]
            own = means.pop(names.index(name))
            columns.append(own - np.mean(means, axis=0))
        return np.stack(columns, axis=1)

    if len(names) < 2:
        return Judgement("undecided", "one architecture only")
    return _judge_each(above, dict(zip(names, results.estimate(plan.PWWS, gaps))))


def _mean_distance(study: TransferStudy) -> Statistic:
    """Build the statistic |r − base|, the mean over the factors."""
    distances = _distances(study)
    return lambda rates: distances(rates).mean(axis=1, keepdims=True)


def _overfit(results: TransferResults) -> Judgement | None:
    if plan.GENETIC not in results.studies:
        return None
    pwws = SAME_MODELS if SAME_MODELS in results.studies else plan.PWWS
    figures = [
        results.estimate(attack, _mean_distance(results.studies[attack]))[0]
        for attack in (plan.GENETIC, pwws)
    ]
    if any(figure.value is None for figure in figures):
        return None
    verdict = above(difference(*figures))
    return Judgement(verdict, f"PWWS {rate_text(figures[1])}, GA {rate_text(figures[0])}")


def _pretrained(results: TransferResults) -> Judgement | None:
    study = results.studies[plan.PWWS]
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
    # Both are asked about the texts of all others: sources and targets are the same members.
    outside = {name: ~np.isin(reads, reads[a | b]) for name, (a, b) in known.items()}
    figures = results.estimate(
        plan.PWWS,
        lambda rates: np.stack(
            [
                _between(rates, outside[name], a) - _between(rates, outside[name], b)
                for name, (a, b) in known.items()
            ],
            axis=1,
        ),
    )
    return _judge_each(below, dict(zip(known, figures)))


def _ensembles(results: TransferResults) -> Judgement | None:
    if plan.ENSEMBLES not in results.results:
        return None
    singles = results.studies[plan.PWWS]
    same = diagonal_of(singles.sources, singles.targets)
    pairs = results.estimate(plan.PWWS, lambda rates: _mean(rates[:, ~same])[:, None], True)
    rates = results.ensemble_rates(held_out=False)
    gains = {f"{n} members": f for (method, n), f in rates.items() if method == "genetic"}
    verdict = altogether([above(difference(pairs[0], figure)) for figure in gains.values()])
    evidence = "; ".join(f"{name} {rate_text(figure)}" for name, figure in gains.items())
    return Judgement(verdict, f"{evidence}; all pairs {rate_text(pairs[0])}")


def _genetic_expert(results: TransferResults) -> Judgement | None:
    if plan.ENSEMBLES not in results.results or not results.results[plan.ENSEMBLES]["held_out"]:
        return None
    rates = results.ensemble_rates(held_out=True)
    sizes = sorted({n for method, n in rates if method == "genetic"})
    verdicts, parts = [], []
    for n in sizes:
        a, b = rates["expert", n], rates["genetic", n]
        verdicts.append(above(difference(a, b)))
        parts.append(f"{n} members {rate_text(b)}, expert {rate_text(a)}")
    return Judgement(altogether(verdicts), "; ".join(parts))


def _six(results: TransferResults) -> Judgement | None:
    if plan.ENSEMBLES not in results.results:
        return None
    rates = results.ensemble_rates(held_out=True)
    if ("genetic", 7) not in rates:
        return None
    six, seven = rates["genetic", 6], rates["genetic", 7]
    gap: Interval = difference(six, seven)
    return Judgement(within(gap, NEGLIGIBLE), f"6 {rate_text(six)}, 7 {rate_text(seven)}")


def _uawr_pmi(results: TransferResults) -> Judgement | None:
    if plan.RULED not in results.results:
        return None
    pmi, uawr = (results.ruled_by_form(name) for name in (stages.PMI, results.main_rules))
    share = max(SHARES)
    gains = {form: gain_of_rules(pmi[form], uawr[form], share) for form in pmi}
    verdict = altogether([above(interval_of(gain)) for gain in gains.values()])
    evidence = "; ".join(f"{form} {points(gain)}" for form, gain in gains.items())
    return Judgement(verdict, evidence)


def _uawr_pwws(results: TransferResults) -> Judgement | None:
    if plan.RULED not in results.results:
        return None
    rules = success(results.ruled_by_form(results.main_rules)[ALL], max(SHARES))
    attack = results.success_of(plan.PWWS)
    verdict = within(difference(attack, rules), COMPARABLE)
    return Judgement(verdict, f"rules {rules.value or 0:.1%}, PWWS {attack.value or 0:.1%}")


def _words(results: TransferResults) -> Judgement | None:
    if plan.RULED not in results.results:
        return None
    rows = results.ruled_by_form(results.main_rules)[ALL]
    found = {share: success(rows, share, "limit") for share in SHARES}
    verdicts = [above(difference(found[a], found[b])) for a, b in pairwise(SHARES)]
    evidence = ", ".join(f"{share:.0%}: {figure.value or 0:.1%}" for share, figure in found.items())
    return Judgement(altogether(verdicts), f"the text at the limit, {evidence}")


JUDGES: Mapping[str, Judge[TransferResults]] = {
    "factors-pwws": lambda r: _factors(r, plan.PWWS),
    "factors-genetic": lambda r: _factors(r, plan.GENETIC),
    "bert-sources": lambda r: _architectures(r, into=False),
    "bert-robust": lambda r: _architectures(r, into=True),
    "asymmetric": _asymmetric,
    "intra": lambda r: _intra(r, diagonal=True),
    "intra-without-diagonal": lambda r: _intra(r, diagonal=False),
    "overfit": _overfit,
    "characters-robust": lambda r: _characters(r, into=True),
    "characters-transfer": lambda r: _characters(r, into=False),
    "pretrained": _pretrained,
    "ensembles": _ensembles,
    "genetic-expert": _genetic_expert,
    "six": _six,
    "uawr-pmi": _uawr_pmi,
    "uawr-pwws": _uawr_pwws,
    "words": _words,
}

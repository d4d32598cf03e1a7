"""How our intervals judge the paper's findings, which are quoted in paper.toml."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from brittle.formatting import NO_VALUE
from brittle.metrics.summary import Figure
from brittle_papers.claims import Judge, Judgement, Rule, above, altogether, below, interval_of
from brittle_papers.formats import format_value
from brittle_papers.natural import plan
from brittle_papers.natural.results import NaturalResults
from brittle_papers.natural.searches import HYBRID, ratio

SPEED, SIMILAR, HALF, NEARLY_ALL = 0.25, 1.1, 0.5, 0.95
"""Four times as fast, at most a tenth farther, more than half, and nearly all."""
MAX_P, OPPOSITE_P = 0.0005, 0.05


def mean_text(figure: Figure) -> str:
    """Format a mean with its interval.

    >>> mean_text(Figure(1.234, 1.0, 1.5, None, 10, "digits"))
    '1.23 (1.00 to 1.50; n = 10)'
    """
    if figure.value is None or figure.low is None or figure.high is None:
        return f"{NO_VALUE} (no case)"
    return f"{figure.value:.2f} ({figure.low:.2f} to {figure.high:.2f}; n = {figure.of:,})"


def _judge(rule: Rule, figure: Figure, bound: float = 0.0) -> Judgement:
    text = mean_text(figure) if figure.count is None else format_value(figure)
    return Judgement(rule(interval_of(figure), bound), text)


def _ratios(found: NaturalResults, measure: str, bound: float) -> Judgement:
    """Judge that hybrid over iterative is below a bound, on both targets."""
    figures = {t: ratio(found.searches(t), measure, HYBRID) for t in plan.TARGETS}
    verdict = altogether([below(interval_of(figure), bound) for figure in figures.values()])
    return Judgement(verdict, "; ".join(f"{t} {mean_text(f)}" for t, f in figures.items()))


def _sign(found: NaturalResults) -> Judgement:
    test = found.sign_test
    evidence = f"the forest's Δz is smaller on {test.smaller} digits and larger on {test.larger}"
    agrees = test.smaller > test.larger and test.p < MAX_P
    opposite = test.smaller < test.larger and test.p < OPPOSITE_P
    verdict = "agrees" if agrees else "disagrees" if opposite else "undecided"
    p = "p < 0.0001" if test.p < 0.0001 else f"p = {test.p:.4f}"
    return Judgement(verdict, f"{evidence}, {p}")  # type: ignore[arg-type]


def _trend(figure: Callable[[NaturalResults], Figure]) -> Judge[NaturalResults]:
    return lambda found: _judge(above, figure(found))


JUDGES: Mapping[str, Judge[NaturalResults]] = {
    "speed": lambda found: _ratios(found, "queries", SPEED),
    "similar": lambda found: _ratios(found, "cost", SIMILAR),
    "guaranteed": lambda found: _judge(above, found.found, NEARLY_ALL),
    "lenet-farther": _trend(lambda found: found.difference),
    "lenet-largest": lambda found: _judge(above, found.largest(plan.LENET), HALF),
    "sign-test": _sign,
    "forest-closer": lambda found: _judge(above, found.closer, HALF),
    "neurons": _trend(lambda found: found.correlation(found.by_neurons)),
    "dropout": _trend(lambda found: found.correlation(list(found.by_dropout.values()))),
    "correlation": _trend(lambda found: found.correlation(found.classifiers)),
    "one-digit": _trend(lambda found: found.digit_trend),
    "manifold": _trend(lambda found: found.nearer_to_curve),
}

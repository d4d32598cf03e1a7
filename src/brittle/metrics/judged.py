"""What a judge that errs says of a rate, corrected by people, with the error of both samples."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from brittle.errors import UsageError
from brittle.metrics.intervals import wilson
from brittle.metrics.shares import effective_count
from brittle.metrics.summary import Figure

DRAWS = 10_000
JEFFREYS, UNIFORM = 0.5, 1.0
Array = NDArray[np.float64]


@dataclass(frozen=True)
class Calibration:
    """What people said of items (the share who found each valid), and what the judge said.

    >>> calibration = Calibration((1, 1, 0, 0, 0.5), (True, False, False, False, True))
    >>> calibration.sensitivity.value, calibration.specificity.value
    (0.6, 0.8)
    """

    people: tuple[float, ...]
    judge: tuple[bool, ...]

    def __post_init__(self) -> None:
        if len(self.people) != len(self.judge):
            got = f"{len(self.people)} and {len(self.judge)}"
            raise UsageError(f"A calibration needs one answer of each for every item, got {got}.")

    @property
    def sensitivity(self) -> Figure:
        """How often the judge says valid where people do."""
        return _weighted(self.people, self.judge, "items valid to people")

    @property
    def specificity(self) -> Figure:
        """How often the judge says invalid where people do."""
        others = [1 - share for share in self.people]
        return _weighted(others, [not said for said in self.judge], "items invalid to people")

    def of_verdict(self, said: bool) -> list[float]:
        """Return what people said of the items of which the judge said this."""
        return [share for share, verdict in zip(self.people, self.judge) if verdict == said]


def _weighted(weights: Sequence[float], hits: Sequence[bool], over: str) -> Figure:
    """Return a rate over items that count by their weights; `of` is rounded."""
    total = sum(weights)
    count = sum(weight for weight, hit in zip(weights, hits) if hit)
    if not total:
        return Figure(None, None, None, None, 0, over)
    low, high = wilson(count, total)
    return Figure(count / total, low, high, None, round(total), over)


def poststratified(calibration: Calibration, valid: int, judged: int, over: str) -> Figure:
    """Return a rate from a judge of all items and people's reading of a random part of them.

    Of the items that the judge calls valid, people say which share is; of the others likewise; the
    judge says how many there are of each. The judge need not be good: one that guesses leaves what
    people said (Tenenbein, 1970; it is prediction-powered inference with its best weight). The
    three rates are drawn from their Jeffreys distributions, and the interval is that of the draws.

    >>> people = (1.0,) * 18 + (0.0,) * 32
    >>> figure = poststratified(Calibration(people, (True,) * 20 + (False,) * 30), 150, 500, "all")
    >>> round(figure.value, 3), round(figure.low, 3), round(figure.high, 3)
    (0.27, 0.213, 0.338)
    """
    shares = {said: calibration.of_verdict(said) for said in (True, False)}
    if not shares[True] and not shares[False]:
        return Figure(None, None, None, None, judged, over)
    rng = np.random.default_rng(0)
    said_valid = _draws(valid, judged, JEFFREYS, rng)
    rates, drawn = {}, {}
    for said, own in shares.items():
        rate, n = effective_count(own) if own else (0.0, 0.0)
        drawn[said] = _draws(rate * n, n, JEFFREYS, rng)
        # Of a verdict that nobody read an item of, all that is known is between 0 and 1.
        rates[said] = rate if own else 0.5
    share = valid / judged if judged else 0.0
    value = share * rates[True] + (1 - share) * rates[False]
    return _of_draws(
        value, said_valid * drawn[True] + (1 - said_valid) * drawn[False], judged, over
    )


def rogan_gladen(calibration: Calibration, valid: int, judged: int, over: str) -> Figure:
    """Return a rate from a judge whose errors were measured on items of other runs.

    (share called valid + specificity − 1) / (sensitivity + specificity − 1), cut to 0…1. It holds
    as far as the judge errs here as often as there. The error of all three rates enters: the share
    is drawn from its Jeffreys distribution, the two others with one hit and one miss added (as Lang
    and Reiczigel, 2014, do), and the interval is that of the draws.

    >>> people = (1.0,) * 40 + (0.0,) * 40
    >>> judge = (True,) * 36 + (False,) * 4 + (False,) * 38 + (True,) * 2
    >>> figure = rogan_gladen(Calibration(people, judge), 120, 400, "all")
    >>> round(figure.value, 3), round(figure.low, 3), round(figure.high, 3)
    (0.294, 0.172, 0.373)
    """
    sensitivity, specificity = calibration.sensitivity, calibration.specificity
    if sensitivity.value is None or specificity.value is None or not judged:
        return Figure(None, None, None, None, judged, over)
    if sensitivity.value + specificity.value <= 1:
        raise UsageError(
            f"The judge is no better than chance: sensitivity {sensitivity.value:.2f} and "
            f"specificity {specificity.value:.2f} add up to 1 or less. Choose another judge, or "
            "have people read."
        )
    rng = np.random.default_rng(0)
    invalid = [1 - share for share in calibration.people]
    found, refused = (
        _draws(rate * sum(weights), sum(weights), UNIFORM, rng)
        for rate, weights in (
            (sensitivity.value, calibration.people),
            (specificity.value, invalid),
        )
    )
    share = _draws(valid, judged, JEFFREYS, rng)
    youden = found + refused - 1
    # Where the draws say that the judge guesses, the rate may be anything.
    drawn = np.where(youden > 0, (share + refused - 1) / youden, rng.random(DRAWS))
    value = (valid / judged + specificity.value - 1) / (sensitivity.value + specificity.value - 1)
    return _of_draws(min(1.0, max(0.0, value)), np.clip(drawn, 0, 1), judged, over)


def _draws(count: float, of: float, prior: float, rng: np.random.Generator) -> Array:
    drawn: Array = rng.beta(count + prior, of - count + prior, DRAWS)
    return drawn


def _of_draws(value: float, drawn: Array, of: int, over: str) -> Figure:
    """Build a figure with the middle 95% of draws as its interval; the value is inside of it."""
    low, high = (float(bound) for bound in np.quantile(drawn, [0.025, 0.975]))
    return Figure(value, min(low, value), max(high, value), None, of, over)

"""What judges say: rates corrected by people, and how far people agree beyond chance.

Rates of items that several people judged: each item counts with the share who said so. What a judge
that errs says of a rate, corrected by people, with the error of both samples. How far people agree
beyond chance: Krippendorff's alpha, with what it has to be read beside.
"""

from __future__ import annotations

import math
from collections import Counter, defaultdict
from collections.abc import Callable, Hashable, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from brittle.errors import UsageError
from brittle.metrics.intervals import wilson
from brittle.metrics.summary import Figure

PRIOR_ITEMS = 4.0
"""How many items of an undivided verdict the variance gets, because few items underestimate it."""


def rate_of_shares(shares: Sequence[float], over: str, level: float = 0.95) -> Figure:
    """Return the mean of shares, each between 0 and 1, with a Wilson interval.

    The items are the sample, not the answers: two people who agree on all items add nothing. Where
    they disagree, a mean of shares varies less than a rate, and the interval uses the number of
    items that a plain rate of the same variance would need. Where every share is 0 or 1 this is
    the plain Wilson interval. The people count as given: nothing is said of other people.

    >>> figure = rate_of_shares([1, 1, 0.5, 0, 1, 1, 1, 1, 0.5, 1], "items")
    >>> figure.value, round(figure.low, 3), round(figure.high, 3), figure.of
    (0.8, 0.527, 0.935, 10)
    >>> from brittle.metrics import wilson
    >>> plain = rate_of_shares([1] * 8 + [0] * 2, "items")
    >>> (plain.low, plain.high) == wilson(8, 10)
    True
    """
    if not shares:
        return Figure(None, None, None, None, 0, over)
    rate, n = effective_count(shares)
    low, high = wilson(rate * n, n, level)
    is_plain = all(share in (0, 1) for share in shares)
    return Figure(rate, low, high, round(sum(shares)) if is_plain else None, len(shares), over)


def effective_count(shares: Sequence[float]) -> tuple[float, float]:
    """Return the mean of shares, and the number of undivided items of the same variance.

    >>> effective_count([1, 0, 0, 1])
    (0.5, 4.0)
    >>> effective_count([0.5, 1, 0, 0.5])
    (0.5, 5.333333333333333)
    """
    n = float(len(shares))
    rate = math.fsum(shares) / n
    undivided = rate * (1 - rate)
    if not undivided:
        return rate, n
    spread = math.fsum((share - rate) ** 2 for share in shares) + PRIOR_ITEMS * undivided
    return rate, max(n, n * (n + PRIOR_ITEMS) * undivided / spread)


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
            raise UsageError(f"A calibration needs one answer of each for every item; got {got}.")

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


Measure = Literal["nominal", "ordinal"]
Units = Sequence[Sequence[Any]]
"""The answers for each item, one for each person who answered."""


@dataclass(frozen=True)
class Agreement:
    """How far people agree on one question.

    `alpha` is None where it says nothing: fewer than two answers an item, or one answer for all.
    `observed` is the share of pairs of people who gave the same answer, averaged as alpha does it;
    `base_rate` is the share of the most frequent answer, `most_frequent`. With a base rate near 1
    alpha is low although nearly all agree. `items` counts those with two answers or more.
    """

    measure: Measure
    alpha: float | None
    observed: float | None
    most_frequent: Any
    base_rate: float | None
    items: int


def agreement(units: Units, measure: Measure = "nominal") -> Agreement:
    """Compute alpha, the agreement observed, and the base rate of the answers.

    >>> agreement([("yes", "yes"), ("no", "no"), ("yes", "no"), ("yes", "yes"), ("yes",)]).observed
    0.75
    """
    paired = [list(unit) for unit in units if len(unit) > 1]
    answers = Counter(answer for unit in paired for answer in unit)
    if not answers:
        return Agreement(measure, None, None, None, None, 0)
    total = sum(answers.values())
    same = sum(
        2 * sum(a == b for a, b in combinations(unit, 2)) / (len(unit) - 1) for unit in paired
    )
    # Of equally frequent answers the first by name, so that the order of the items changes nothing.
    most_frequent, count = min(answers.items(), key=lambda item: (-item[1], str(item[0])))
    alpha = krippendorff_alpha(paired, measure)
    return Agreement(measure, alpha, same / total, most_frequent, count / total, len(paired))


def krippendorff_alpha(units: Units, measure: Measure = "nominal") -> float | None:
    """Return Krippendorff's alpha: 1 − disagreement observed / disagreement expected by chance.

    1 is perfect agreement, 0 what chance gives. Items with fewer than two answers do not count.
    Ordinal answers must be comparable by <. Without two different answers alpha is not defined,
    and None is returned (Krippendorff, 2011, "Computing Krippendorff's alpha-reliability").

    >>> krippendorff_alpha([(1, 1), (2, 2), (1, 2), (2, 2)])
    0.5333333333333333
    >>> krippendorff_alpha([(1, 1), (1, 1)]) is None
    True
    """
    if measure not in ("nominal", "ordinal"):
        raise UsageError(f"Got the measure {measure!r}; expected nominal or ordinal.")
    coincidences: defaultdict[tuple[Hashable, Hashable], float] = defaultdict(float)
    for unit in units:
        for (i, a), (j, b) in ((x, y) for x in enumerate(unit) for y in enumerate(unit)):
            if i != j:
                coincidences[a, b] += 1 / (len(unit) - 1)
    totals: defaultdict[Any, float] = defaultdict(float)
    for (a, _), share in coincidences.items():
        totals[a] += share
    distance = _distances(totals, measure)
    n = sum(totals.values())
    observed = sum(share * distance(a, b) for (a, b), share in coincidences.items())
    expected = sum(totals[a] * totals[b] * distance(a, b) for a in totals for b in totals)
    return None if not expected else 1 - (n - 1) * observed / expected


def _distances(totals: Mapping[Any, float], measure: Measure) -> Callable[[Any, Any], float]:
    """Return the squared difference of two answers as a function."""
    if measure == "nominal":
        return lambda a, b: float(a != b)
    below: dict[Any, float] = {}
    count = 0.0
    for answer in sorted(totals):
        # The rank of an answer: what lies below it, and half of its own.
        below[answer] = count + totals[answer] / 2
        count += totals[answer]
    return lambda a, b: (below[a] - below[b]) ** 2

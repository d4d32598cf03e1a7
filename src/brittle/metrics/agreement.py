"""How far people agree beyond chance: Krippendorff's alpha, with what it has to be read beside."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Callable, Hashable, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import Any, Literal

from brittle.errors import UsageError

Measure = Literal["nominal", "ordinal"]
Units = Sequence[Sequence[Any]]
"""The answers of each item, one for each person who gave one."""


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

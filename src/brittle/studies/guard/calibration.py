"""The operating point of a guard: which label means caught, and the threshold of its score.

The threshold is fixed on one half of the benign texts, so that at most the rate that is asked for
is flagged there. The other half, which it has not seen, measures the rate that really comes out. A
guard that answers labels only has an operating point already: its own decision.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from random import Random
from typing import Any, Literal

from brittle.answers import find_label
from brittle.errors import UsageError, unknown
from brittle.formatting import percent, plural
from brittle.safety.schema import Share

CAUGHT_NAMES = (
    *("injection", "prompt injection", "jailbreak", "attack", "malicious", "harmful", "unsafe"),
    *("toxic", "toxicity", "offensive", "profanity", "profane", "abuse", "abusive", "hate"),
    *("hateful", "spam", "phishing", "flagged", "blocked", "caught", "bad"),
)
"""Names of labels that mean that a text is caught, in plain letters; no other is ever assumed."""
TEXTS_PER_RATE = 3
"""With 3 / rate texts, fewer than 5% of the samples hold no false positive at all."""
OWN_DECISION = 0.5
"""The threshold of a guard that answers labels only: its scores are 0 and 1."""
STEP = 0.02
"""Above the highest score of all benign texts the threshold lies within this share of the rest."""
TAIL = 0.025


@dataclass(frozen=True)
class OperatingPoint:
    """The threshold of the score from which on a text is caught, with its 95% interval.

    `by` says what fixed it: the scores of `of` benign texts, of which `flagged` reach it, or the
    labels that the guard answers. These have no interval.
    """

    threshold: Share
    low: Share
    high: Share
    by: Literal["scores", "labels"]
    flagged: int
    of: int


def caught_label(labels: Sequence[str], asked: str | None) -> tuple[str, bool]:
    """Return the label of a guard that means caught, and whether it was found by its name.

    >>> caught_label(["ham", "SPAM"], None), caught_label(["0", "1"], "1")
    (('SPAM', True), ('1', False))
    """
    if len(labels) < 2:
        raise UsageError(
            f"The guard has only one label ({', '.join(labels)}) and cannot decide; expected two "
            "or more."
        )
    if asked is not None:
        index = find_label(asked, labels)
        if index is None:
            raise unknown("label", asked, list(labels), "(of --caught)")
        return labels[index], False
    found = [label for label in labels if _plain(label) in CAUGHT_NAMES]
    if len(found) != 1:
        which = f"several of these ({', '.join(found)}) may" if found else "none of these clearly"
        means = "mean" if found else "means"
        raise UsageError(
            f"The guard has the labels {', '.join(labels)}; {which} {means} that a text is caught. "
            f"Name the one that does: --caught {(found or list(labels))[-1]}"
        )
    return found[0], True


def _plain(label: str) -> str:
    return " ".join(label.casefold().replace("_", " ").replace("-", " ").split())


def check_rate(at_fpr: float) -> float:
    """Return a false-positive rate that can be asked for."""
    if not 0 < at_fpr < 0.5:
        raise UsageError(
            f"Got a false-positive rate of {at_fpr:g}; expected a share above 0 and below 0.5, "
            "such as 0.01 or 1%."
        )
    return at_fpr


def parse_rate(text: str) -> float:
    """Return a share that is written as a number or in percent.

    >>> parse_rate("1%"), parse_rate("0.05")
    (0.01, 0.05)
    """
    number = text.strip()
    try:
        share = float(number.removesuffix("%")) / (100 if number.endswith("%") else 1)
    except ValueError as error:
        raise UsageError(
            f"Got the false-positive rate {text!r}; expected a share such as 1% or 0.01."
        ) from error
    return check_rate(share)


def split_benign(texts: Sequence[Any], at_fpr: float, seed: int) -> tuple[list[Any], list[Any]]:
    """Divide benign texts at random: half fix the threshold, half measure the rate at it.

    Too few for the rate are refused: there are to be 3 / rate texts on either side.
    """
    side = math.ceil(TEXTS_PER_RATE / at_fpr - 1e-9)
    if len(texts) < 2 * side:
        most = TEXTS_PER_RATE / max(len(texts) // 2, 1)
        other = f", or ask for a rate of {percent(most)} or more" if most < 0.5 else ""
        raise UsageError(
            f"Got {plural(len(texts), 'different benign texts')}; a false-positive rate of "
            f"{_rate(at_fpr)} needs at least {2 * side:,}: {side:,} fix the threshold "
            f"({TEXTS_PER_RATE} / rate), and {side:,} others measure the rate. Bring more benign "
            f"texts{other}."
        )
    order = list(range(len(texts)))
    Random(f"benign:{seed}").shuffle(order)
    half = len(order) // 2
    return [texts[i] for i in order[:half]], [texts[i] for i in order[half:]]


def _rate(share: float) -> str:
    return f"{100 * share:g}%"


def has_scores(scores: Sequence[float]) -> bool:
    """Tell whether a guard answers more than 0 and 1, which are labels."""
    return any(0.0 < score < 1.0 for score in scores)


def own_decision(scores: Sequence[float]) -> OperatingPoint:
    """Return the operating point of a guard that answers labels only."""
    flagged = sum(score >= OWN_DECISION for score in scores)
    return OperatingPoint(OWN_DECISION, OWN_DECISION, OWN_DECISION, "labels", flagged, len(scores))


def fix_threshold(scores: Sequence[float], at_fpr: float) -> OperatingPoint:
    """Return the lowest threshold at which at most a share `at_fpr` of benign texts is flagged.

    It lies between the scores of two texts, in as few digits as tell it from both. Its interval
    holds for any distribution of scores: the number of texts above the true quantile is binomial.

    >>> point = fix_threshold([n / 1000 for n in range(1000)], 0.01)
    >>> point.threshold, point.flagged, point.low, point.high
    (0.9895, 10, 0.982, 0.996)
    """
    falling = sorted(scores, reverse=True)
    cut = falling[math.floor(at_fpr * len(falling) + 1e-9)]
    above = [score for score in falling if score > cut]
    if cut >= 1.0:
        share = sum(score >= 1.0 for score in falling) / len(falling)
        raise UsageError(
            f"No threshold keeps the false-positive rate at {_rate(at_fpr)}: the guard gives "
            f"{percent(share)} of the benign texts a score of 1. Ask for a rate above that."
        )
    low, high = (_quantile(len(falling), at_fpr, tail) for tail in (TAIL, 1 - TAIL))
    threshold = _between(cut, min(above, default=cut + STEP * (1 - cut)))
    lowest = min(falling[min(high, len(falling) - 1)], threshold)
    highest = max(falling[low - 1] if low else 1.0, threshold)
    flagged = sum(score >= threshold for score in falling)
    return OperatingPoint(threshold, lowest, highest, "scores", flagged, len(falling))


def _between(low: float, high: float) -> float:
    """Return a number between two others, in the middle, in few digits."""
    middle = low + (high - low) / 2
    candidates = (round(middle, digits) for digits in range(2, 18))
    return next((number for number in candidates if low < number < high), high)


def _quantile(n: int, p: float, share: float) -> int:
    """Return the least count whose binomial distribution function reaches a share."""
    log_odds = math.log(p) - math.log1p(-p)
    log_chance, total = n * math.log1p(-p), 0.0
    for k in range(n + 1):
        total += math.exp(log_chance)
        if total >= share:
            return k
        log_chance += math.log(n - k) - math.log(k + 1) + log_odds if k < n else 0.0
    return n

"""Krippendorff's alpha, against the worked examples of Krippendorff (2011)."""

from __future__ import annotations

import pytest

from brittle.errors import UsageError
from brittle.metrics.judged import agreement, krippendorff_alpha


def units(*people: str) -> list[list[int]]:
    """Turn one line of answers a person into one list an item; a point is a missing answer."""
    rows = [line.split() for line in people]
    return [[int(answer) for answer in item if answer != "."] for item in zip(*rows)]


FOUR_OBSERVERS = units(
    "1 2 3 3 2 1 4 1 2 . . .",
    "1 2 3 3 2 2 4 1 2 5 . 3",
    ". 3 3 3 2 3 4 2 2 5 1 .",
    "1 2 3 3 2 4 4 1 2 5 1 .",
)


def test_the_published_examples() -> None:
    binary = units("0 1 0 0 0 0 0 0 1 0", "1 1 1 0 0 1 0 0 0 0")
    assert krippendorff_alpha(binary) == pytest.approx(0.095, abs=5e-4)
    letters = list(zip("aabbdcccedda", "babbbccceddd"))
    assert krippendorff_alpha(letters) == pytest.approx(0.692, abs=5e-4)
    assert krippendorff_alpha(FOUR_OBSERVERS) == pytest.approx(0.743, abs=5e-4)
    assert krippendorff_alpha(FOUR_OBSERVERS, "ordinal") == pytest.approx(0.815, abs=5e-4)


def test_two_people_by_hand() -> None:
    # Coincidences: yes-yes 4, no-no 2, yes-no 1 + 1; totals 5 and 3 of 8.
    pairs = [("yes", "yes"), ("yes", "yes"), ("no", "no"), ("yes", "no")]
    assert krippendorff_alpha(pairs) == pytest.approx(1 - 7 * 2 / (2 * 5 * 3))
    one = agreement(pairs)
    assert (one.observed, one.most_frequent, one.base_rate, one.items) == (0.75, "yes", 5 / 8, 4)


def test_ordinal_counts_how_far_answers_are_apart() -> None:
    near = [(1, 2), (3, 3), (5, 5), (2, 2), (4, 4)]
    far = [(1, 5), (3, 3), (5, 5), (2, 2), (4, 4)]
    close, apart = (krippendorff_alpha(pairs, "ordinal") for pairs in (near, far))
    assert close is not None and apart is not None and apart < close < 1


def test_perfect_agreement_chance_and_what_says_nothing() -> None:
    assert krippendorff_alpha([(1, 1), (2, 2), (3, 3)], "ordinal") == 1
    assert krippendorff_alpha([(1, 2), (2, 1)]) == pytest.approx(-0.5)
    assert krippendorff_alpha([(1, 1), (1, 1)]) is None
    assert krippendorff_alpha([(1,), (2,), ()]) is None
    alone = agreement([("yes",), ("no",)])
    assert (alone.alpha, alone.observed, alone.base_rate, alone.items) == (None, None, None, 0)
    with pytest.raises(UsageError, match="nominal or ordinal"):
        krippendorff_alpha([(1, 2)], "interval")  # type: ignore[arg-type]


def test_a_high_base_rate_makes_alpha_low_though_nearly_all_agree() -> None:
    one = agreement([("yes", "yes")] * 98 + [("yes", "no"), ("no", "yes")])
    assert one.observed == pytest.approx(0.98) and one.base_rate == pytest.approx(0.99)
    assert one.alpha is not None and one.alpha < 0.01

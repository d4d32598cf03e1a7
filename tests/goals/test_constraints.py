"""Similarity and fluency of pairs of texts, by answers that are invented."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import pytest

from brittle.errors import UsageError
from brittle.goals.constraints import (
    MEASURES,
    STRICT,
    Constraint,
    Fluent,
    Similar,
    compare,
    constraints_of,
    strict,
)
from brittle.text import Text

ORIGINAL = Text.of("a good film of good people")


def test_similarity_is_the_cosine_of_unit_vectors() -> None:
    a, b = np.array([1.0, 0.0]), np.array([0.6, 0.8])
    assert Similar().value((ORIGINAL, ORIGINAL), (a, b)) == 0.6
    assert Similar().value((ORIGINAL, ORIGINAL), (a, a)) == 1.0


def test_fluency_is_a_factor_per_changed_word() -> None:
    one = ORIGINAL.swap(1, "fine")
    two = one.swap(4, "fine")
    # A thousand times less likely: by one word, or by two of about 32 each.
    assert Fluent().value((ORIGINAL, one), (-10.0, -13.0)) == pytest.approx(0.001)
    assert Fluent().value((ORIGINAL, two), (-10.0, -13.0)) == pytest.approx(1000**-0.5)
    assert Fluent().value((ORIGINAL, one), (-10.0, -9.0)) == pytest.approx(10.0)


def test_pairs_are_asked_about_at_once_and_an_original_not_at_all() -> None:
    asked = []

    def answers(question: str, items: Sequence[Any]) -> tuple[list[Any], Mapping[int, Exception]]:
        asked.append((question, [str(item) for item in items]))
        # The third item, the original of the second pair, cannot be answered.
        return [-float(len(str(item))) for item in items], {2: ValueError("too odd")}

    first, second = ORIGINAL.swap(1, "fine"), ORIGINAL.swap(2, "story")
    pairs = [(ORIGINAL, first), (ORIGINAL, ORIGINAL), (ORIGINAL, second)]
    assert compare(Fluent(), pairs, answers) == [1.0, 1.0, None]
    assert asked == [("fluency", [str(ORIGINAL), str(first), str(ORIGINAL), str(second)])]
    asked.clear()
    assert compare(Fluent(), [(ORIGINAL, ORIGINAL)], answers) == [1.0] and asked == []


def test_what_has_to_be_kept() -> None:
    assert constraints_of() == ()
    assert constraints_of(0.9, 0.1) == (Constraint(Similar(), 0.9), Constraint(Fluent(), 0.1))
    assert strict(()) == STRICT and {c.measure for c in STRICT} == set(MEASURES)
    assert strict(constraints_of(meaning=0.95)) == (STRICT[0], Constraint(Similar(), 0.95))
    held = Constraint(Similar(), 0.85)
    assert held.holds(0.85) and not held.holds(0.8499) and not held.holds(None)
    for wrong in (0, -1, 1.1, "much"):
        with pytest.raises(UsageError, match=r"--keep-fluent .* expected a number above 0"):
            constraints_of(fluent=wrong)  # type: ignore[arg-type]

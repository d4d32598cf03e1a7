"""Which texts are ranked at once, and which when they are read; capitals."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import pytest

pytest.importorskip("torch")

from brittle.moves import EditRequest, EditSpace, Moves
from brittle.ranking.moves import RankedMoves, match_capitals, rank_as_needed
from brittle.text import HOLE, Text


def moves(n: int) -> RankedMoves:
    """One move of the gain n."""

    def spell_out(word: Any, edit: int) -> Any:
        return f"{word}{edit}", "swap", 0, True

    return RankedMoves(np.array([float(n)]), np.array([0]), np.array([n]), (4,), ("a",), spell_out)


def test_texts_of_a_search_that_has_ended_are_ranked_when_one_is_read() -> None:
    calls: list[list[int]] = []

    def rank(numbers: list[int]) -> Sequence[Moves]:
        calls.append(numbers)
        return [moves(n) for n in numbers]

    ended, going_on = Text.of("a film"), Text.of("a film")
    texts = [ended, going_on, ended.swap(0, "the"), going_on.swap(0, "the"), Text.of("b")]
    requests = [EditRequest(text, 0, None, EditSpace(), (0,)) for text in texts]
    scores = [[0.9, 0.1], [0.9, 0.1], [0.4, 0.6], [0.8, 0.2], [0.3, 0.7]]
    found = rank_as_needed(requests, scores, range(5), rank)
    assert calls == [[1, 3]]
    assert [found[n].gain.tolist() for n in (1, 3)] == [[1.0], [3.0]] and len(calls) == 1
    assert found[2].gain.tolist() == [2.0] and found[0][0].new == "a0" and found[2][0].new == "a2"
    assert calls == [[1, 3], [0, 2]]
    assert found[4][0].position == 4 and calls[2:] == [[4]]
    with pytest.raises(IndexError):
        found[4][1]


@pytest.mark.parametrize(
    ("new", "word", "expected"),
    [
        ("film", "good", "film"),
        ("film", "Good", "Film"),
        ("film", "GOOD", "FILM"),
        ("film", "I", "Film"),
        ("film", "McDonald", "film"),
        ("film", HOLE, "film"),
        ("NASA", "Good", "NASA"),
        ("Paris", "GOOD", "Paris"),
    ],
)
def test_only_a_word_in_lower_case_takes_the_capitals_of_another(
    new: str, word: Any, expected: str
) -> None:
    assert match_capitals(new, word) == expected

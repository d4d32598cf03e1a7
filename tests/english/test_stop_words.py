"""Stop words."""

from __future__ import annotations

import pytest

from brittle.english.stop_words import STOP_WORDS, is_stop_word
from brittle.text import words_of


@pytest.mark.parametrize("word", ["the", "The", "AND", "don't", "don’t", "it's", "not", "of", "I"])
def test_function_words_are_stop_words(word: str) -> None:
    assert is_stop_word(word)


@pytest.mark.parametrize("word", ["film", "good", "see", "system", "fire", "", "thee", "wonderful"])
def test_other_words_are_not(word: str) -> None:
    assert not is_stop_word(word)


def test_every_stop_word_can_stand_in_a_text() -> None:
    assert all(words_of(word) == [word] == [word.lower()] for word in STOP_WORDS)

"""Stop words."""

from __future__ import annotations

import pytest

from brittle.english.words import CLITICS, STOP_WORDS, is_clitic, is_stop_word
from brittle.text import words_of


@pytest.mark.parametrize("word", ["the", "The", "AND", "don't", "don’t", "it's", "not", "of", "I"])
def test_function_words_are_stop_words(word: str) -> None:
    assert is_stop_word(word)


@pytest.mark.parametrize("word", ["film", "good", "see", "system", "fire", "", "thee", "wonderful"])
def test_other_words_are_not(word: str) -> None:
    assert not is_stop_word(word)


@pytest.mark.parametrize(
    "text",
    [
        "does n't",
        "they 're",
        "we 'll",
        "it 's",
        "i 've",
        "he 'd",
        "i 'm",
        "ca n't",
        "wo n’t",
        "doesn ' t",
        "didn t",
    ],
)
def test_every_token_of_a_contraction_is_a_stop_word(text: str) -> None:
    assert all(is_stop_word(word) for word in words_of(text))


def test_only_the_second_token_is_a_clitic() -> None:
    assert STOP_WORDS > CLITICS
    assert is_clitic("n't") and is_clitic("N’T") and is_clitic("ll")
    assert not any(is_clitic(word) for word in ("not", "will", "ca", "don't", "film"))


def test_every_stop_word_can_stand_in_a_text() -> None:
    assert all(words_of(word) == [word] == [word.lower()] for word in STOP_WORDS)

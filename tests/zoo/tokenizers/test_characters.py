"""Spellings and their rows."""

from __future__ import annotations

import numpy as np
import pytest

from brittle.text import HOLE, Text
from brittle.zoo.tokenizers.characters import FIRST_ROWS, STRANGE, Spellings
from brittle.zoo.tokenizers.words import UNKNOWN, Vocabulary, packer

ALPHABET = ["e", "a", "b"]


def reader(*, both: bool = False, pairs: bool = False) -> Spellings:
    special = ["<pad>", "<unknown>", "<next>"] if pairs else ["<pad>", "<unknown>"]
    return Spellings(ALPHABET, 4, Vocabulary([*special, "abe", "be"]), both)


def spelt(read: Spellings, row: int) -> list[int]:
    return read.characters(np.array([row]))[0].tolist()


def test_the_alphabet_is_that_of_words_the_most_frequent_first() -> None:
    texts = [Text.of("be, Abe!"), Text.of({"one": "bee", "two": "x"}, locked=["two"])]
    assert Spellings.alphabet_of(texts) == ["e", "b", "A", "x"]
    assert Spellings.alphabet_of(texts, min_count=2) == ["e", "b"]


def test_words_alike_to_the_model_share_a_row() -> None:
    read = reader()
    row = read.number("abx")
    assert spelt(read, row) == [3, 4, STRANGE, 0]
    assert row == read.number("aby") == read.number("abß") != read.number("ab")
    assert read.number("abebe") == read.number("abebex")  # four characters are read
    assert read.number(HOLE) == read.number("q") == 1
    assert read.number("A") == 1  # case is read, and no capital is in this alphabet


def test_with_words_a_row_is_of_both() -> None:
    read = reader(both=True)
    one, other = read.number("abe"), read.number("abx")
    assert read.words(np.array([one, other, 1])).tolist() == [2, UNKNOWN, UNKNOWN]
    assert read.number("be") != read.number("b")


def test_texts_are_rows_and_pairs_are_parted() -> None:
    read = reader(pairs=True)
    pair = Text.of({"one": "abe", "two": "be"})
    [key] = read.sequences([pair], 10)
    row = np.frombuffer(key, np.int32).tolist()
    assert row == [read.number("abe"), 2, read.number("be")]
    assert spelt(read, 2) == [STRANGE] * 4
    assert read.sequences([Text.of("")], 10) == [packer(1)(1)]


def test_many_spellings_are_kept_apart() -> None:
    read = reader()
    words = [f"{a}{b}{c}{d}" for a in "abe" for b in "abeq" for c in "abeq" for d in "abeq"]
    rows = {read.number(word) for word in words}
    assert len(rows) == len(words)
    letters = [chr(0x4E00 + n) for n in range(FIRST_ROWS + 100)]
    wide = Spellings(letters, 4, Vocabulary(["<pad>", "<unknown>"]))
    numbers = [wide.number(letter) for letter in letters]
    assert len(wide) == len(letters) + 2 and numbers[-1] == len(wide) - 1
    assert [spelt(wide, n)[0] for n in numbers] == list(range(2, len(letters) + 2))


@pytest.mark.parametrize("word", ["", "\u0301"])
def test_a_word_without_letters_still_has_a_row(word: str) -> None:
    assert spelt(reader(), reader().number(word))[0] == STRANGE

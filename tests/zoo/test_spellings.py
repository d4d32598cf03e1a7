"""Spellings and their rows."""

from __future__ import annotations

import numpy as np
import pytest

from brittle.errors import UsageError
from brittle.text import HOLE, Text
from brittle.zoo.spellings import INITIAL_ROWS, UNKNOWN_CHARACTER, CharacterTokenizer
from brittle.zoo.tokenizers import UNKNOWN, WordTokenizer, pack_int32

ALPHABET = ["e", "a", "b"]


def reader(*, both: bool = False, pairs: bool = False) -> CharacterTokenizer:
    special = ["<pad>", "<unknown>", "<next>"] if pairs else ["<pad>", "<unknown>"]
    return CharacterTokenizer(ALPHABET, 4, WordTokenizer([*special, "abe", "be"]), both)


def spelt(read: CharacterTokenizer, row: int) -> list[int]:
    return read.characters(np.array([row]))[0].tolist()


def test_the_alphabet_is_that_of_words_the_most_frequent_first() -> None:
    texts = [Text.of("be, Abe!"), Text.of({"one": "bee", "two": "x"}, locked=["two"])]
    assert CharacterTokenizer.alphabet_of(texts) == ["e", "b", "A", "x"]
    assert CharacterTokenizer.alphabet_of(texts, min_count=2) == ["e", "b"]


def test_words_alike_to_the_model_share_a_row() -> None:
    read = reader()
    row = read.token_id("abx")
    assert spelt(read, row) == [3, 4, UNKNOWN_CHARACTER, 0]
    assert row == read.token_id("aby") == read.token_id("abß") != read.token_id("ab")
    assert read.token_id("abebe") == read.token_id("abebex")  # four characters are read
    assert read.token_id(HOLE) == read.token_id("q") == 1
    assert read.token_id("A") == 1  # case is read, and no capital is in this alphabet


def test_with_words_a_row_is_of_both() -> None:
    read = reader(both=True)
    one, other = read.token_id("abe"), read.token_id("abx")
    assert read.words(np.array([one, other, 1])).tolist() == [2, UNKNOWN, UNKNOWN]
    assert read.token_id("be") != read.token_id("b")


def test_texts_are_rows_and_pairs_are_parted() -> None:
    read = reader(pairs=True)
    pair = Text.of({"one": "abe", "two": "be"})
    [key] = read.encode([pair], 10)
    row = np.frombuffer(key, np.int32).tolist()
    assert row == [read.token_id("abe"), 2, read.token_id("be")]
    assert spelt(read, 2) == [UNKNOWN_CHARACTER] * 4
    assert read.encode([Text.of("")], 10) == [pack_int32(1)(1)]


def test_many_spellings_are_kept_apart() -> None:
    read = reader()
    words = [f"{a}{b}{c}{d}" for a in "abe" for b in "abeq" for c in "abeq" for d in "abeq"]
    rows = {read.token_id(word) for word in words}
    assert len(rows) == len(words)
    letters = [chr(0x4E00 + n) for n in range(INITIAL_ROWS + 100)]
    wide = CharacterTokenizer(letters, 4, WordTokenizer(["<pad>", "<unknown>"]))
    numbers = [wide.token_id(letter) for letter in letters]
    assert len(wide) == len(letters) + 2 and numbers[-1] == len(wide) - 1
    assert [spelt(wide, n)[0] for n in numbers] == list(range(2, len(letters) + 2))


@pytest.mark.parametrize("word", ["", "\u0301"])
def test_a_word_without_letters_still_has_a_row(word: str) -> None:
    assert spelt(reader(), reader().token_id(word))[0] == UNKNOWN_CHARACTER


def test_spellings_are_kept_up_to_a_bound_and_no_id_is_used_again() -> None:
    letters = "abcdefghijklmnopqrst"
    read = CharacterTokenizer(letters, 4, WordTokenizer(["<pad>", "<unknown>"]), max_spellings=50)
    unbounded = CharacterTokenizer(letters, 4, WordTokenizer(["<pad>", "<unknown>"]))
    spelling_of: dict[int, list[int]] = {}
    previous: list[int] = []
    for n in range(400):
        words = ["the", *(letters[(n * k) % 20] + letters[n // 20] + letters[k] for k in (3, 7))]
        [key] = read.encode([Text.of(" ".join(words))], 10)
        ids = np.frombuffer(key, np.int32).astype(np.int64)
        [other] = unbounded.encode([Text.of(" ".join(words))], 10)
        expected = unbounded.characters(np.frombuffer(other, np.int32).astype(np.int64))
        assert read.characters(ids).tolist() == expected.tolist()
        for i, row in zip(ids.tolist(), expected.tolist()):
            assert spelling_of.setdefault(i, row) == row
        # What another thread has just encoded can still be read.
        assert [spelt(read, i) for i in previous] == [spelling_of[i] for i in previous]
        previous = ids.tolist()
        assert len(read._rows.word_ids) <= INITIAL_ROWS and len(read._ids) <= 60
    assert len(read) > 400
    assert read.characters(np.array([0])).tolist() == [[0, 0, 0, 0]]
    with pytest.raises(UsageError, match=r"no longer stored.*Score fewer texts at once"):
        read.characters(np.array([2]))
    key = read.encode([Text.of("")], 10)[0]
    assert spelt(read, int(np.frombuffer(key, np.int32)[0])) == [UNKNOWN_CHARACTER, 0, 0, 0]

"""What may be done to each character, against words written out one by one."""

from __future__ import annotations

from random import Random

import numpy as np

from brittle.ranking.top_k import CharacterLayout, ragged_rows
from brittle.text import words_of

STRANGE, NOTHING, MOST = 1, 0, 6
NUMBERS = {c: n for n, c in enumerate("abc-'\u0301", 2)}
LETTERS = "abc"


def spelt(word: str) -> list[int]:
    numbers = [NUMBERS.get(c, STRANGE) for c in word[:MOST]]
    return numbers + [NOTHING] * (MOST - len(numbers))


def layout() -> CharacterLayout:
    return CharacterLayout(NUMBERS, STRANGE, NOTHING, MOST)


def random_words(count: int) -> list[str]:
    """Words of letters, strange ones, joiners and marks, as a text may have them."""
    random = Random(3)
    found: list[str] = []
    while len(found) < count:
        word = "".join(random.choices("aaabbcé7-'\u0301", k=random.randint(1, 9)))
        if words_of(word) == [word]:
            found.append(word)
    return found


def test_rows_are_characters_and_the_end_of_the_word() -> None:
    rows = layout().rows(["ab", "abcabc", "ab", "ŷ"])
    assert rows.word.tolist() == [0, 0, 0, 1, 1, 1, 1, 1, 1, 2, 2, 2, 3, 3]
    assert rows.character.tolist() == [0, 1, 2, 0, 1, 2, 3, 4, 5, 0, 1, 2, 0, 1]
    assert rows.last.tolist() == [2] * 3 + [8] * 6 + [11] * 3 + [13] * 2
    assert rows.own.tolist() == [2, 3, 0, 2, 3, 4, 2, 3, 4, 2, 3, 0, STRANGE, 0]
    assert rows.sum_after(np.arange(14)).tolist()[:4] == [3, 2, 0, 4 + 5 + 6 + 7 + 8]


def test_every_edit_of_many_words() -> None:
    words = random_words(300)
    rows = layout().rows(words)
    for n, word in enumerate(words):
        mine = np.flatnonzero(rows.word == n)
        assert len(mine) == min(len(word) + 1, MOST)
        for at, row in enumerate(mine):
            inside = at < len(word)
            flips = [word[:at] + c + word[at + 1 :] for c in LETTERS] if inside else []
            assert rows.allowed[row, 0] == inside
            assert all(words_of(new) == [new] for new in flips)
            inserts = [word[:at] + c + word[at:] for c in LETTERS]
            assert rows.allowed[row, 1] == (len(word) < MOST)
            assert all(words_of(new) == [new] for new in inserts)
            for c, new in zip(LETTERS, inserts):
                if rows.allowed[row, 1] and word[at : at + 1] != c:
                    changed = sum(a != b for a, b in zip(spelt(word), spelt(new)))
                    assert rows.changes[row, 1] == changed
            if not inside:
                assert not rows.allowed[row, 2]
                continue
            new = word[:at] + word[at + 1 :]
            changed = sum(a != b for a, b in zip(spelt(word), spelt(new)))
            again = word[at + 1 : at + 2] == word[at]  # the next deletion gives the same
            assert rows.allowed[row, 2] == (words_of(new) == [new] and changed > 0 and not again)
            assert rows.changes[row, 2] == changed or not rows.allowed[row, 2]


def test_the_first_unread_character_moves_in() -> None:
    rows = layout().rows(["abcabca", "aaaaaaa", "bbbbbbc"])
    first, runs, last = (rows.word == n for n in range(3))
    assert rows.next[first].tolist() == spelt("bcabca")
    assert rows.changes[first, 2].tolist() == [6, 5, 4, 3, 2, 1]
    assert not rows.allowed[runs, 2].any()  # nothing that is read would change
    assert rows.allowed[last, 2].tolist() == [False] * 5 + [True]


def test_what_is_no_word_is_left_alone() -> None:
    rows = layout().rows(["a b", "-a", "ok", "a\0b", "a--b"])
    assert set(rows.word[rows.allowed.any(axis=1)].tolist()) == {2}


def test_a_very_long_word_takes_no_longer() -> None:
    word = "-".join(["ab"] * 20_000)
    rows = layout().rows([word])
    assert rows.allowed[:, 2].tolist() == [True] * MOST


def test_nothing_at_all() -> None:
    rows = layout().rows([])
    assert len(rows.word) == 0 and rows.allowed.shape == (0, 3)
    assert [part.tolist() for part in ragged_rows(np.array([], dtype=np.int64))] == [[], []]

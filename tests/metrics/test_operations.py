from __future__ import annotations

from dataclasses import replace
from functools import cache

import pytest
from hypothesis import given
from hypothesis import strategies as st

from brittle.edits import Edit, characters_changed, diff
from brittle.metrics import characters_share, is_by_characters, operations
from brittle.metrics.samples import sample_results
from brittle.metrics.words import aligned
from brittle.results import Result
from brittle.text import Text


def row(source: str, **swaps: str) -> Result:
    """Make a broken row in which some words became others."""
    text = changed = Text.of(source)
    for i, word in enumerate(text.words):
        changed = changed.swap(i, swaps.get(str(word), str(word)))
    edits = diff(text, changed)
    return replace(
        sample_results()[0],
        fields=(("text", source),),
        original=source,
        edits=edits,
        characters_changed=characters_changed(edits),
    )


@pytest.mark.parametrize(
    ("old", "new", "flips", "inserts", "deletes"),
    [
        ("mood", "mooP", 1, 0, 0),
        ("mood", "moods", 0, 1, 0),
        ("mood", "smood", 0, 1, 0),
        ("mood", "mod", 0, 0, 1),
        ("mood", "modd", 1, 0, 0),
        ("form", "from", 2, 0, 0),
        ("abcd", "bcda", 0, 1, 1),
        ("funny", "comical", 5, 2, 0),
        ("kitten", "sitting", 2, 1, 0),
        ("", "new", 0, 3, 0),
        ("old", "", 0, 0, 3),
        ("same", "same", 0, 0, 0),
    ],
)
def test_by_hand(old: str, new: str, flips: int, inserts: int, deletes: int) -> None:
    assert aligned(old, new) == (flips, inserts, deletes)
    assert aligned(new, old) == (flips, deletes, inserts)


def best_way(old: str, new: str) -> tuple[int, int, int]:
    """Try every alignment; return that with the fewest operations, then with the most flips."""

    @cache
    def ways(i: int, j: int) -> frozenset[tuple[int, int, int]]:
        if i == len(old) and j == len(new):
            return frozenset({(0, 0, 0)})
        counted = set()
        if i < len(old) and j < len(new):
            changed = int(old[i] != new[j])
            counted |= {(f + changed, n, d) for f, n, d in ways(i + 1, j + 1)}
        if j < len(new):
            counted |= {(f, n + 1, d) for f, n, d in ways(i, j + 1)}
        if i < len(old):
            counted |= {(f, n, d + 1) for f, n, d in ways(i + 1, j)}
        return frozenset(counted)

    return min(ways(0, 0), key=lambda way: (sum(way), -way[0]))


@given(st.text("abc", max_size=7), st.text("abc", max_size=7))
def test_the_way_is_the_best_of_all_there_are(old: str, new: str) -> None:
    assert aligned(old, new) == best_way(old, new)


@given(st.text(max_size=12), st.text(max_size=12))
def test_the_operations_are_the_characters_changed(old: str, new: str) -> None:
    edit = Edit("text", 0, len(old), old, new)
    assert sum(aligned(old, new)) == characters_changed([edit])


def test_long_stretches_count_whole() -> None:
    assert aligned("x" * 3000, "y" * 2000) == (2000, 0, 1000)
    assert aligned("a" + "x" * 3000, "a" + "x" * 3000 + "b") == (0, 1, 0)
    edit = Edit("text", 0, 3000, "x" * 3000, "y" * 2000)
    assert characters_changed([edit]) == 3000


def test_broken_cases_are_summed_up_and_others_left_out() -> None:
    # 2 operations of 14 characters, and 1 of 10.
    first, second = (
        row("a mood so grim", mood="moop", grim="grm"),
        row("ten signs!", signs="signss"),
    )
    held = replace(first, status="held")
    counted = operations([first, second, held])
    assert counted.counts == {"flips": 1, "inserts": 1, "deletes": 1}
    assert counted.shares == pytest.approx(dict.fromkeys(counted.counts, 1 / 3))
    assert counted.share.value == pytest.approx((2 / 14 + 1 / 10) / 2)
    assert (counted.share.of, counted.share.count) == (2, None)
    assert counted.share == characters_share([first, second])


def test_every_character_of_the_original_counts() -> None:
    pair = replace(row("abc", abc="abd"), original="abc\nlocked?", fields=(("a", "abc"), ("b", "")))
    assert characters_share([pair]).value == 1 / 11


def test_nothing_broken_gives_nothing() -> None:
    counted = operations([])
    assert (counted.total, counted.share.value) == (0, None)
    assert set(counted.shares.values()) == {0.0}
    assert not is_by_characters([])


def test_words_and_characters_are_told_apart() -> None:
    typo = row("grim and gloomy", gloomy="glomy")
    swap = row("grim and gloomy", gloomy="cheerful")
    assert is_by_characters([typo]) and not is_by_characters([swap])
    assert is_by_characters([typo, typo, swap])
    assert not is_by_characters([typo, swap, swap])
    assert not is_by_characters([replace(typo, status="held")])
    # Of the longer side: a word that only grew around a letter is another word.
    assert not is_by_characters([row("a day", a="masterpiece")])
    assert not is_by_characters([replace(typo, edits=())])

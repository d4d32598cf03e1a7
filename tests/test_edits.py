"""What changed between two answers: marked where it changed, whole, and in bounded time."""

from __future__ import annotations

from difflib import SequenceMatcher
from itertools import pairwise
from random import Random
from typing import Any

import pytest

from brittle.edits import diff_strings, patch

PIECES = ["a", "b", "c", "der", "Mann", "x,", "!", "-", "  ", "\n", ".", "'", *[" "] * 4]


@pytest.mark.parametrize(
    ("old", "new", "edits"),
    [
        ("der alte Mann geht heute", "heute der alte Mann geht", [("", "heute "), (" heute", "")]),
        ("ein guter alter Film", "ein alter Film", [("guter ", "")]),
        ("ein Film", "ein Film, gut", [("", ", gut")]),
        ("Ja, gut", "Ja gut", [(", ", " ")]),
        ("", "ein Film", [("", "ein Film")]),
        ("ein Film", "", [("ein Film", "")]),
        ("ein Film", "ein Film", []),
    ],
)
def test_only_what_changed_is_marked(old: str, new: str, edits: list[tuple[str, str]]) -> None:
    assert [(edit.old, edit.new) for edit in diff_strings(old, new)] == edits


def test_the_edits_turn_one_string_into_the_other() -> None:
    rng = Random(0)
    for _ in range(2000):
        old, new = ("".join(rng.choices(PIECES, k=rng.randint(0, 15))) for _ in range(2))
        edits = diff_strings(old, new, "answer")
        assert patch({"answer": old}, edits) == {"answer": new}
        assert all(a.stop < b.start for a, b in pairwise(edits)), "neighbours are one edit"


def test_long_answers_are_matched_by_rare_words_and_by_their_ends(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    positions = []

    class Watched(SequenceMatcher[str]):
        """Notes how many positions a word is looked up at, which is the work of a step."""

        def __init__(self, *args: Any) -> None:
            super().__init__(*args)
            positions.append(max(map(len, self.b2j.values())))

    monkeypatch.setattr("brittle.edits.SequenceMatcher", Watched)
    words = ["la"] * 700
    changed = [*words[:300], "nein", *words[301:]]
    [edit] = diff_strings(" ".join(words), " ".join(changed))
    assert (edit.start, edit.old, edit.new) == (900, "la", "nein")
    assert positions == [2], "the marks at both ends, which are equal"

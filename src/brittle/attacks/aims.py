"""What the gradient attacks have in common: what they aim at, and how a new word is written."""

from __future__ import annotations

from collections.abc import Sequence

from brittle.asks import Case
from brittle.english.forms import cased
from brittle.moves import Aim, Space
from brittle.text import Text


def aim(case: Case[Text], space: Space, places: Sequence[int], text: Text) -> Aim:
    """Ask for the best edits of a text of this case, at some of its words."""
    assert case.label is not None
    return Aim(text, case.label, case.toward, space, places)


def as_written(new: str, like: str) -> str:
    """Write a word of a dictionary in the capitalisation of the word it replaces.

    A dictionary that tells cases apart proposes what it means: only what is in lower case changes.
    """
    return cased(new, like) if new == new.lower() and like != like.lower() else new


def most_characters(case: Case[Text], share: float) -> int:
    """Say how many characters a share of the words the target reads is.

    Rounded down, but at least one; none where nothing is read.
    """
    words = case.text.words
    count = sum(len(word) for i in case.places if isinstance(word := words[i], str))
    return max(1, int(share * count + 1e-9)) if count else 0

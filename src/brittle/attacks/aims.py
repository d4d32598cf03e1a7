"""What the gradient attacks have in common: what they aim at, and how a new word is written."""

from __future__ import annotations

from collections.abc import Sequence

from brittle.asks import Case
from brittle.english.forms import match_case
from brittle.moves import EditRequest, EditSpace
from brittle.text import Text


def edit_request(
    case: Case[Text], space: EditSpace, positions: Sequence[int], text: Text
) -> EditRequest:
    """Ask for the best edits of a text of this case, at some of its words."""
    assert case.label is not None
    return EditRequest(text, case.label, case.toward, space, positions)


def match_case_if_lower(new: str, like: str) -> str:
    """Write a word of a dictionary in the capitalisation of the word it replaces.

    A dictionary that tells cases apart proposes what it means: only what is in lower case changes.
    """
    return match_case(new, like) if new == new.lower() and like != like.lower() else new


def max_characters(case: Case[Text], share: float) -> int:
    """Say how many characters a share of the words the target reads is.

    Rounded down, but at least one; none where nothing is read.
    """
    words = case.text.words
    count = sum(len(word) for i in case.positions if isinstance(word := words[i], str))
    return max(1, int(share * count + 1e-9)) if count else 0

"""Spelling: an edited word must still be one word of its text, and be edited for good."""

from __future__ import annotations

from brittle.edits import distance
from brittle.english.forms import is_word


def stays_one_word(form: str) -> bool:
    """Tell whether a form can stand in a text as one word: not empty, not split by its marks.

    >>> stays_one_word("mooP"), stays_one_word("well-"), stays_one_word("")
    (True, False, False)
    """
    # Nearly all forms are letters and digits only; the pattern is for the others.
    return form.isalnum() or is_word(form)


def is_further(new: str, old: str, original: str) -> bool:
    """Tell whether an edit takes a word further from the original, and undoes no other edit.

    >>> is_further("mxxd", "moxd", "mood"), is_further("moyd", "moxd", "mood")
    (True, False)
    """
    return old == original or distance(new, original) > distance(old, original)

"""The texts that translators answer: checked, and cut where one has no end."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from brittle.errors import TargetError
from brittle.redaction import redact, short_repr
from brittle.text import Text

CHARACTERS_PER_CHARACTER, EXTRA_CHARACTERS = 20, 200
"""A translation is cut after 20 characters for each of its source, and 200 more."""


def parse_texts(answers: Any, count: int, who: str) -> list[str]:
    """Return the answers of any translator as a list of strings, one for every text."""
    if isinstance(answers, str | bytes | Mapping):
        raise TargetError(
            f"{who} gave {short_repr(answers)}, a {type(answers).__name__}, for {count} texts. "
            "Expected a list with a string for every text."
        )
    try:
        texts = list(answers)
    except TypeError as error:
        raise TargetError(
            f"{who} gave {short_repr(answers)} for {count} texts. Expected a list with a string "
            "for every text."
        ) from error
    if len(texts) != count:
        raise TargetError(
            f"{who} gave {len(texts)} answers for {count} texts. Expected one for every text, in "
            "order."
        )
    return [_check_text(text, who) for text in texts]


def max_characters(item: Text) -> int:
    """Return how long the translation of a text can be before it is cut."""
    return CHARACTERS_PER_CHARACTER * len(item.render()) + EXTRA_CHARACTERS


def cut(texts: Sequence[str], items: Sequence[Text]) -> list[str]:
    """Cut translations that are far longer than their sources: a decoder may never stop."""
    return [text[: max_characters(item)] for text, item in zip(texts, items)]


def _check_text(text: Any, who: str) -> str:
    if not isinstance(text, str):
        raise TargetError(
            f"{who} gave {short_repr(text)}, a {type(text).__name__}, as a translation. Expected "
            "a string; if it is inside of something, unpack it."
        )
    try:
        text.encode("utf-8")
    except UnicodeEncodeError as error:
        raise TargetError(f"{who} gave a translation that is no valid Unicode: {error}.") from error
    return redact(str(text))

"""All open fields of a text as one string, for attacks that edit any character of it.

The fields are joined by a character that no text has, and that stays where it is.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from brittle.asks import NO_CANDIDATES, Answer, Case, Unfit
from brittle.text import Text, with_strings

SEPARATOR = "\U0010ffff"
"""Between two fields; a code point that never stands for a character."""
SMALLEST_PROBABILITY = 1e-300


def open_string(case: Case[Text]) -> str:
    """Join the open fields of a case's text; unfit if it has none, or no character."""
    rendered = case.text.fields()
    names = [field.name for field in case.text.frame.fields if not field.locked]
    string = SEPARATOR.join(rendered[name].replace(SEPARATOR, "") for name in names)
    if not string.replace(SEPARATOR, ""):
        raise Unfit(NO_CANDIDATES)
    return string


def with_open_string(text: Text, string: str) -> Text:
    """Return the text with other strings in its open fields."""
    names = [field.name for field in text.frame.fields if not field.locked]
    return with_strings(text, dict(zip(names, string.split(SEPARATOR), strict=True)))


def margins(case: Case[Text], answer: Answer) -> NDArray[np.float64]:
    """Return how far the best other class is above the text's own, by logits.

    Where one class is aimed at, it is how far that one is above the others. Of answers that are no
    scores it is the loss.
    """
    if not isinstance(answer.answers, np.ndarray) or case.label is None:
        return answer.loss
    logit = np.log(np.maximum(answer.answers, SMALLEST_PROBABILITY))
    one = case.label if case.toward is None else case.toward
    own, others = logit[:, one], np.delete(logit, one, axis=1).max(axis=1)
    margin: NDArray[np.float64] = others - own if case.toward is None else own - others
    return margin


def stable_order(value: NDArray[np.float64]) -> Sequence[int]:
    """Return the indices of values, the highest first; of equal ones the first."""
    order: list[int] = np.argsort(-value, kind="stable").tolist()
    return order

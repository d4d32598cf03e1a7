"""A warning if texts and references of a translator are probably exchanged."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import Any

from brittle.asks import ANSWER, Case
from brittle.engine.broker import Asker
from brittle.targets.diagnosis.exchanged_sides import is_clearly_more
from brittle.targets.diagnosis.sample import DiagnosisWarning
from brittle.text import Text, words_of


def ask_exchanged_languages(
    answered: Sequence[tuple[Case[Any], str]], broker: Asker
) -> DiagnosisWarning | None:
    """Translate the references as well, if the translations look more like the texts than them."""
    pairs = [
        (case.text.render(), reference, translation)
        for case, translation in answered
        if len(case.text.frame.fields) == 1 and (reference := (case.reference or "").strip())
    ]
    likeness = [(likeness_of(t, reference), likeness_of(t, text)) for text, reference, t in pairs]
    to_text = sum(own > other for other, own in likeness)
    if not is_clearly_more(to_text, sum(other > own for other, own in likeness)):
        return None
    if broker.left is not None and broker.left < len(pairs):
        return None
    (field,) = answered[0][0].text.frame.fields
    answers, failures = broker.answer(ANSWER, [Text.of({field.name: r}) for _, r, _ in pairs])
    both = [
        (likeness[n][0], likeness_of(answers[n], text))
        for n, (text, _, _) in enumerate(pairs)
        if n not in failures
    ]
    return exchanged_languages(both)


def exchanged_languages(likeness: Sequence[tuple[float, float]]) -> DiagnosisWarning | None:
    """Warn if clearly more references are translated to their text than texts to their reference.

    `likeness` is, of each pair, that of the text's translation and the reference, and that of the
    reference's translation and the text.
    """
    exchanged = sum(after > before for before, after in likeness)
    if not is_clearly_more(exchanged, sum(before > after for before, after in likeness)):
        return None
    return DiagnosisWarning(
        "exchanged",
        f"Of {exchanged} of {len(likeness)} pairs the reference is translated to something like "
        "the text, rather than the text to something like the reference. The two sides are "
        "probably exchanged: name the column of the language that is translated from with --text, "
        "and the other with --label.",
    )


def likeness_of(text: str, other: str) -> float:
    """Return 2 · the words in common / the words of both texts, whatever their case.

    >>> likeness_of("ein Mann geht", "Ein Mann schläft dort"), likeness_of("", "")
    (0.5714285714285714, 0.0)
    """
    first, second = (Counter(word.casefold() for word in words_of(t)) for t in (text, other))
    return 2 * (first & second).total() / max(1, first.total() + second.total())

"""Classes of edits that a target undoes before it reads a text: these are found before a run.

A tokenizer that deletes invisible characters reads a text with them as the original. An attack that
inserts them then breaks nothing, which says nothing of the model. So one probe a class asks for the
answers on texts that are edited everywhere.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np

from brittle.asks import ANSWER, Case, EditClass
from brittle.engine.asking import Asker
from brittle.targets.diagnosis.samples import is_costly
from brittle.targets.protocols import HasCanonicalKeys
from brittle.text import Text

SAMPLE_SIZE, COSTLY_SAMPLE_SIZE = 8, 4
MIN_TEXTS = 3
"""Without canonical keys: how many edited texts must get the scores of their originals."""
RELATIVE_TOLERANCE = 1e-4
CERTAIN = 1 - 1e-6
"""A row with such a score proves nothing: it may be equal for a text that reads differently."""


@dataclass(frozen=True)
class ReadAlike:
    """How many of some texts a target reads as their originals when a class of edits is everywhere.

    They are compared by the target's own keys or by its answers.
    """

    texts: int
    same: int
    by: Literal["keys", "answers"]

    @property
    def is_normalised(self) -> bool:
        least = 1 if self.by == "keys" else MIN_TEXTS
        return self.same == self.texts >= least


def probe_classes(
    target: Any, classes: Mapping[str, EditClass], cases: Sequence[Case[Any]], asker: Asker
) -> dict[str, ReadAlike]:
    """Probe every class on the first texts of a run.

    Keys cost no query. The answers are asked in one batch, as ordinary queries; nothing is asked
    if the limit of the run does not allow all of it.
    """
    size = COSTLY_SAMPLE_SIZE if is_costly(target, asker) else SAMPLE_SIZE
    own = (case.item for case in cases if isinstance(case.item, Text))
    texts = list(dict.fromkeys(own))[:size]
    pairs = {
        name: [(text, edited) for text in texts if (edited := one.everywhere(text)) != text]
        for name, one in classes.items()
    }
    if isinstance(target, HasCanonicalKeys):
        return {name: _by_keys(target, own) for name, own in pairs.items()}
    count = sum(map(len, pairs.values()))
    if asker.left is not None and asker.left < count:
        return {}
    items = [*texts, *(edited for own in pairs.values() for _, edited in own)]
    answers, failures = asker.answer(ANSWER, items)
    answer_of = {item: answers[n] for n, item in enumerate(items) if n not in failures}
    return {name: _by_answers(answer_of, own) for name, own in pairs.items()}


def _by_keys(target: HasCanonicalKeys, pairs: Sequence[tuple[Text, Text]]) -> ReadAlike:
    before, after = (target.canonical([pair[n] for pair in pairs]) for n in (0, 1))
    return ReadAlike(len(pairs), sum(a == b for a, b in zip(before, after)), "keys")


def _by_answers(answer_of: Mapping[Text, Any], pairs: Sequence[tuple[Text, Text]]) -> ReadAlike:
    """Compare answers; what no edit could change is left out.

    That is an answer which is certain, and all answers if they are the same for all originals.
    """
    answered = [(answer_of[a], answer_of[b]) for a, b in pairs if {a, b} <= answer_of.keys()]
    telling = [pair for pair in answered if isinstance(pair[0], str) or max(pair[0]) < CERTAIN]
    if all(_are_equal(telling[0][0], before) for before, _ in telling[1:]):
        telling = telling[:1]
    return ReadAlike(len(telling), sum(_are_equal(*pair) for pair in telling), "answers")


def _are_equal(answer: Any, other: Any) -> bool:
    if isinstance(answer, str):
        return bool(answer == other)
    return bool(np.allclose(answer, other, rtol=RELATIVE_TOLERANCE, atol=0))

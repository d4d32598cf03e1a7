"""The texts of a diagnosis, and whether sides or languages of pairs are exchanged.

The sample of originals that every diagnosis looks at, and what a diagnosis says. The originals are
asked anyway by the run; a few of them are asked once more, alone. Warnings if a target probably
reads the two sides of pairs in the other order. A warning if texts and references of a translator
are probably exchanged.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from brittle.asks import ANSWER, Case
from brittle.engine.asking import Asker
from brittle.errors import TargetDown
from brittle.metrics.intervals import mcnemar_exact
from brittle.targets.protocols import declared_by
from brittle.text import Text, words_of

SAMPLE_SIZE, REPEATS = 32, 8
COSTLY_SAMPLE_SIZE, COSTLY_REPEATS = 8, 4


@dataclass(frozen=True)
class DiagnosisWarning:
    """A reason to doubt the results of a run: a code for programs, a message for people."""

    code: str
    message: str


@dataclass(frozen=True)
class DiagnosisSample:
    """Cases with the target's answers, and pairs of answers of those that were asked twice."""

    answered: Sequence[tuple[Case[Any], Any]]
    repeated: Sequence[tuple[Any, Any]]


def is_costly(target: Any, broker: Asker) -> bool:
    """Tell whether few cases are asked: the target is costly, or the whole run has a limit."""
    return bool(declared_by(target, "costly")) or broker.most_sent is not None


def ask_sample(
    target: Any, cases: Sequence[Case[Any]], broker: Asker, noun: str = "cases"
) -> DiagnosisSample:
    """Ask the first cases, and some of them again; `TargetDown` if none is answered.

    Of a costly target 8 cases are asked and 4 of them repeated, else 32 and 8.
    """
    costly = is_costly(target, broker)
    cases = cases[: COSTLY_SAMPLE_SIZE if costly else SAMPLE_SIZE]
    answers, failures = broker.answer(ANSWER, [case.item for case in cases])
    answered = [pair for n, pair in enumerate(zip(cases, answers)) if n not in failures]
    if cases and not answered:
        raise TargetDown(
            f"Target {target.name!r} failed on all of the first {len(cases)} {noun}. The "
            f"first failure: {failures[0]}"
        )
    # In another order and another batch: each repeat is asked alone, the last one first.
    again = answered[: COSTLY_REPEATS if costly else REPEATS][::-1]
    answers, failures = broker.alone(ANSWER, [case.item for case, _ in again])
    repeated = [(first, answers[n]) for n, (_, first) in enumerate(again) if n not in failures]
    return DiagnosisSample(answered, repeated)


MAX_CHANCE = 0.01  # of a difference that is no more than chance
MIN_WRONG = (
    7  # of the sample: fewer could not show that pairs are exchanged (0.5 ** 7 < MAX_CHANCE)
)
EXCHANGED_SAMPLE_SIZE = 128  # pairs that are asked both ways, if that many are wrong


def turned_fields(text: Text, fields: Sequence[str], name: str) -> DiagnosisWarning | None:
    """Warn if the target reads the fields of the data in another order, by their names."""
    if not isinstance(text, Text):
        return None
    own, read = [field.name for field in text.frame.fields], list(fields)
    plain, plain_read = ([n.strip().casefold() for n in names] for names in (own, read))
    if plain == plain_read or sorted(plain) != sorted(plain_read):
        return None
    return DiagnosisWarning(
        "exchanged",
        f"Target {name!r} was trained on {', '.join(read)}, in this order, but the data "
        f"has {', '.join(own)}: it reads each as the other. Use --text {','.join(read)}.",
    )


def ask_exchanged(cases: Sequence[Case[Text]], broker: Asker) -> DiagnosisWarning | None:
    """Ask labelled pairs as they are and with their two sides exchanged."""
    labelled = [c for c in cases if c.label is not None and isinstance(c.text, Text)]
    pairs = [case for case in labelled if len(case.text.frame.fields) == 2]
    if not pairs:
        return None
    texts = [case.text for case in pairs]
    rows, failures = broker.answer(ANSWER, [*texts, *map(exchange_sides, texts)])
    is_right = [
        None if n in failures else int(np.argmax(row)) == pairs[n % len(pairs)].label
        for n, row in enumerate(rows)
    ]
    both = zip(is_right[: len(pairs)], is_right[len(pairs) :])
    names = [field.name for field in texts[0].frame.fields]
    return exchanged([(a, b) for a, b in both if a is not None and b is not None], names)


def exchange_sides(text: Text) -> Text:
    """Return a pair whose two fields have each other's content."""
    (first, one), (second, other) = text.fields().items()
    return Text.of({first: other, second: one})


def exchanged(
    is_right: Sequence[tuple[bool, bool]], names: Sequence[str]
) -> DiagnosisWarning | None:
    """Warn if clearly more pairs are classified as the data says when their sides are exchanged.

    `is_right` tells of each pair whether it is right as it stands, and whether it is exchanged.
    """
    before, after = (sum(pair[n] for pair in is_right) for n in (0, 1))
    both = sum(a and b for a, b in is_right)
    if not is_clearly_more(after - both, before - both):
        return None
    return DiagnosisWarning(
        "exchanged",
        f"Only {before} of {len(is_right)} pairs get the label of the data, but {after} "
        f"do if {names[0]} and {names[1]} are exchanged. The target probably reads them "
        f"in the other order: use --text {names[1]},{names[0]}.",
    )


def is_clearly_more(gained: int, lost: int, tests: int = 1) -> bool:
    """Tell whether so many more are gained than lost that it is no chance, in one of the tests."""
    return gained > lost and mcnemar_exact(lost, gained) / 2 * tests <= MAX_CHANCE


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
        f"For {exchanged} of {len(likeness)} pairs the translation of the reference looks "
        "like the text, not the other way round. The two columns are probably exchanged: "
        "use --text for the column of the source language and --label for the other.",
    )


def likeness_of(text: str, other: str) -> float:
    """Return 2 · the words in common / the words of both texts, whatever their case.

    >>> likeness_of("ein Mann geht", "Ein Mann schläft dort"), likeness_of("", "")
    (0.5714285714285714, 0.0)
    """
    first, second = (Counter(word.casefold() for word in words_of(t)) for t in (text, other))
    return 2 * (first & second).total() / max(1, first.total() + second.total())

"""Warnings if a target probably reads the two sides of pairs in the other order."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from brittle.asks import ANSWER, Case
from brittle.engine.broker import Asker
from brittle.metrics.intervals import mcnemar_exact
from brittle.targets.diagnosis.sample import DiagnosisWarning
from brittle.text import Text

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
        f"Target {name!r} was trained on {', '.join(read)}, in this order, but the data has "
        f"{', '.join(own)}: it takes each for the other. Say --text {','.join(read)}.",
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
        f"Only {before} of {len(is_right)} pairs are classified as the data says, but {after} if "
        f"{names[0]} and {names[1]} change places. The target probably reads them in the other "
        f"order: say --text {names[1]},{names[0]}.",
    )


def is_clearly_more(gained: int, lost: int, tests: int = 1) -> bool:
    """Tell whether so many more are gained than lost that it is no chance, in one of the tests."""
    return gained > lost and mcnemar_exact(lost, gained) / 2 * tests <= MAX_CHANCE

"""Hashes for fingerprints: of a target's files, else of its contents, its code or its scores.

Scores are those of fixed sentences, in one batch, rounded: the last digits differ between machines.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Sequence

import numpy as np

from brittle.errors import BrittleError, TargetError, UsageError
from brittle.targets.protocols import Scores
from brittle.text import Text

SENTENCES = (
    "This film was wonderful, and I would gladly see it again.",
    "A dull and lifeless story with terrible acting.",
    "The food was cold but the waiter was friendly.",
    "Shares fell sharply after the bank reported heavy losses.",
    "Our team won the final match of the season in extra time.",
    "Scientists have built a faster chip for small computers.",
    "The president met foreign ministers to discuss the war.",
    "Click here now to win a free prize!",
    "I hate waiting, and nobody answered the phone.",
    "She quietly closed the door and went home.",
    "It is neither good nor bad; it simply exists.",
    "Best product ever, it works perfectly.",
)

Failures = tuple[type[BrittleError], ...]
FAILURES: Failures = (TargetError, UsageError)
"""Errors of a target on some items; others, such as that it is down, end what is under way."""

DECIMALS = 4
SIGNIFICANT_DIGITS = 12  # where only scores are known


def probe_texts(fields: Sequence[str] = ("text",)) -> list[Text]:
    """Build texts of the fixed sentences; each field of a text is another sentence."""
    count = len(SENTENCES)
    return [
        Text.of({name: SENTENCES[(i + shift) % count] for shift, name in enumerate(fields)})
        for i in range(count)
    ]


def format_rounded(scores: Scores) -> str:
    """Format scores with few decimals, for a fingerprint that also holds the target's code."""
    # Adding 0 turns −0 into 0.
    table = np.round(np.asarray(scores, dtype=np.float64), DECIMALS) + 0.0
    return repr(table.tolist())


def format_precise(scores: Scores) -> str:
    """Format scores with as many digits as are equal on different machines."""
    return " ".join(f"{score + 0.0:.{SIGNIFICANT_DIGITS}g}" for row in scores for score in row)


def hash_answers(
    noun: str, answer: Callable[[], str], *about: str | bytes, failures: Failures = FAILURES
) -> str:
    """Hash what is known of a model whose weights cannot be seen, and its answers to fixed items.

    The answers depend on weights that its code does not show. If it fails on the items, or answers
    them differently when asked again, they are left out.
    """
    try:
        first, second = answer(), answer()
    except failures:
        return hash_parts("code", *about)
    return hash_parts(noun, *about, first) if first == second else hash_parts("code", *about)


def hash_parts(*parts: str | bytes) -> str:
    """Hash strings and bytes; the boundaries between them count too."""
    digest = hashlib.sha256()
    for part in parts:
        content = part.encode("utf-8", "surrogatepass") if isinstance(part, str) else part
        digest.update(len(content).to_bytes(8, "little"))
        digest.update(content)
    return digest.hexdigest()

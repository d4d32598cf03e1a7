"""What makes a target this very target: a hash of its files, else of what it holds or does.

Where scores count, they are those on fixed sentences, in one batch, rounded: another machine's
last digits do not make another target.
"""

from __future__ import annotations

import hashlib
from collections.abc import Sequence

import numpy as np

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

DECIMALS = 4
DIGITS = 12  # where scores are all that is known


def probes(fields: Sequence[str] = ("text",)) -> list[Text]:
    """Make the fixed sentences texts with these fields; each field gets another sentence."""
    count = len(SENTENCES)
    return [
        Text.of({name: SENTENCES[(i + shift) % count] for shift, name in enumerate(fields)})
        for i in range(count)
    ]


def rounded(scores: Scores) -> str:
    """Write scores with the decimals that count beside the code of a target."""
    # Adding 0 makes −0 and 0 the same.
    table = np.round(np.asarray(scores, dtype=np.float64), DECIMALS) + 0.0
    return repr(table.tolist())


def precise(scores: Scores) -> str:
    """Write scores with as many digits as another machine's arithmetic leaves alone."""
    return " ".join(f"{score + 0.0:.{DIGITS}g}" for row in scores for score in row)


def of_parts(*parts: str | bytes) -> str:
    """Hash a list of strings and bytes; where one ends and the next begins counts too."""
    digest = hashlib.sha256()
    for part in parts:
        content = part.encode("utf-8", "surrogatepass") if isinstance(part, str) else part
        digest.update(len(content).to_bytes(8, "little"))
        digest.update(content)
    return digest.hexdigest()

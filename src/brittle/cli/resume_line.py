"""The command that goes on with a run that stopped."""

from __future__ import annotations

from collections.abc import Sequence

from brittle.errors import LimitReached, RunStopped

LIMIT_FLAG = "--max-sent"
BEGINNING_FLAGS = ("--new", "--force")  # they begin anew


def resuming_words(words: Sequence[str], error: RunStopped, limit: int | None) -> list[str]:
    """Return the words of the command that goes on: nothing begins anew, and the limit is doubled.

    >>> resuming_words(["attack", "--new", "--max-sent", "60"], LimitReached(), 60)
    ['attack', '--max-sent', '120']
    """
    kept = [word for word in words if word not in BEGINNING_FLAGS]
    if not isinstance(error, LimitReached) or limit is None:
        return kept
    for n, word in enumerate(kept):
        if word.startswith(f"{LIMIT_FLAG}="):
            del kept[n]
            break
        if word == LIMIT_FLAG:
            del kept[n : n + 2]
            break
    return [*kept, LIMIT_FLAG, str(2 * limit)]

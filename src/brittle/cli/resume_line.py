"""The command that goes on with a run that stopped."""

from __future__ import annotations

from collections.abc import Sequence

from brittle.errors import LimitReached, RunStopped

LIMIT_FLAG, NEW_FLAG = "--max-sent", "--new"


def resuming_words(words: Sequence[str], error: RunStopped, limit: int | None) -> list[str]:
    """Return the words of the command that goes on: without `--new`, and with twice the limit.

    >>> resuming_words(["attack", "--new", "--max-sent", "60"], LimitReached(), 60)
    ['attack', '--max-sent', '120']
    """
    kept = [word for word in words if word != NEW_FLAG]
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

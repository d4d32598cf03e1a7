"""How robust the target is, from both sides: what is proved, and what is not broken."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from brittle.asks import NO_CANDIDATES, NOTHING_TO_EDIT
from brittle.metrics.summary import Figure, is_judged, rate
from brittle.results import Result


@dataclass(frozen=True)
class Robust:
    """The share of examples that stay right with at most `words` words swapped for candidates.

    `proved` is the lower bound, `unbroken` the upper bound; both are over the examples answered, a
    wrong original is not robust. Of those proved, `without_candidates` have no word to swap.
    """

    words: int
    proved: Figure
    unbroken: Figure
    without_candidates: int = 0


def robust_to_words(results: Sequence[Result]) -> list[Robust]:
    """Compute both bounds for every number of words up to the largest that was proved anywhere.

    Nothing if no search noted what it proved. A text without candidates has a space of one text,
    which is proved by its own answer.

    >>> from dataclasses import replace
    >>> from brittle.metrics.samples import sample_results
    >>> rows = sample_results()
    >>> rows[3] = replace(rows[3], proved_words=1)
    >>> [bounds] = robust_to_words(rows)
    >>> bounds.words, bounds.proved.count, bounds.unbroken.count, bounds.unbroken.of
    (1, 2, 4, 7)
    >>> bounds.without_candidates
    1
    """
    most = max((row.proved_words or 0 for row in results), default=0)
    judged = [row for row in results if is_judged(row)]
    right = [row for row in judged if row.predicted == row.label]
    return [
        Robust(
            words,
            rate(sum(_is_proved(row, words) for row in right), len(judged), "examples answered"),
            rate(sum(_is_open(row, words) for row in right), len(judged), "examples answered"),
            sum(map(_is_one_text, right)),
        )
        for words in range(1, most + 1)
    ]


def _is_proved(row: Result, words: int) -> bool:
    return _is_one_text(row) or (row.proved_words or 0) >= words


def _is_one_text(row: Result) -> bool:
    return row.status == "skipped" and row.reason in (NO_CANDIDATES, NOTHING_TO_EDIT)


def _is_open(row: Result, words: int) -> bool:
    """Tell whether nothing with so few words is known to reach the goal."""
    is_broken = row.status == "broken" and row.words_changed <= words
    return not is_broken and row.proved_words != 0

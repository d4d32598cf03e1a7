"""How many cases no swap breaks, from both sides: what is proved, and what is not broken."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from brittle.asks import NO_CANDIDATES, NOTHING_TO_EDIT
from brittle.metrics.summary import ATTACKED, Figure, mean, rate
from brittle.results import Result


@dataclass(frozen=True)
class Robust:
    """How many attacked cases withstand every text with at most `words` words swapped.

    `proved` is the lower bound, `unbroken` the upper bound; the `unknown` cases between them broke
    with more words, or were not searched to the end. `single_swaps` is how large the space is: the
    mean number of texts with one word swapped, over the cases that withstand one swap. `untested`
    texts have no word to swap; they are not attacked, so both rates leave them out.
    """

    words: int
    proved: Figure
    unbroken: Figure
    single_swaps: Figure
    unknown: int = 0
    untested: int = 0


def robust_to_words(results: Sequence[Result]) -> list[Robust]:
    """Compute both bounds for every number of words up to the largest that was proved anywhere.

    Nothing if no search noted what it proved.

    >>> from dataclasses import replace
    >>> from brittle.metrics.samples import sample_results
    >>> rows = sample_results()
    >>> rows[3] = replace(rows[3], proved_words=1, single_swaps=4)
    >>> [bounds] = robust_to_words(rows)
    >>> bounds.words, bounds.proved.count, bounds.unbroken.count, bounds.unbroken.of
    (1, 1, 3, 5)
    >>> bounds.unknown, bounds.single_swaps.value, bounds.untested
    (2, 4.0, 1)
    """
    most = max((row.proved_words or 0 for row in results), default=0)
    attacked = [row for row in results if row.status in ATTACKED]
    swaps = [row.single_swaps for row in attacked if row.proved_words and row.single_swaps]
    size = mean(swaps, "cases that no single swap breaks")
    untested = sum(map(_is_one_text, results))
    bounds = []
    for words in range(1, most + 1):
        proved = sum((row.proved_words or 0) >= words for row in attacked)
        unbroken = sum(_is_open(row, words) for row in attacked)
        below, above = (
            rate(count, len(attacked), "attacked cases") for count in (proved, unbroken)
        )
        bounds.append(Robust(words, below, above, size, unbroken - proved, untested))
    return bounds


def _is_one_text(row: Result) -> bool:
    return row.status == "skipped" and row.reason in (NO_CANDIDATES, NOTHING_TO_EDIT)


def _is_open(row: Result, words: int) -> bool:
    """Tell whether nothing with so few words is known to reach the goal."""
    is_broken = row.status == "broken" and row.words_changed <= words
    return not is_broken and row.proved_words != 0

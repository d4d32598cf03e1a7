"""How a case can end: one record a status. Colours, words, counts and checks come from it.

A new status is a word in `Status` and its record in `STATUSES`; the row that the table of
docs/reference/figures.md needs is asked for by a test.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

Status = Literal[
    "broken",
    "held",
    "proved",
    "out of budget",
    "unconfirmed",
    "skipped",
    "unparsed",
    "refused",
    "error",
]
LevelStatus = Literal[
    "broken", "held", "proved", "out of budget", "no candidates", "not English", "normalised"
]
"""How a case stands at one level of edits. One that was not tried, since the case broke at a
gentler level, has none of these. At a level that is normalised the target reads edited texts as the
originals."""
Tone = Literal["red", "green", "blue", "amber", "violet", "grey", "ink"]
"""The colours of a page: a variable of its style sheet each."""
CountedAs = Literal["broken", "standing", "unfinished", "not attacked"]
"""What a case counts as. An attacked one is broken, stands, or was not searched to the end."""
Reasons = Literal["everywhere", "page", "untried"]
"""Where the reasons of cases are listed: in the line of statuses and on the page; on the page only,
since a note says them in the terminal; or, in that line, only that no candidate was tried."""


@dataclass(frozen=True)
class StatusRecord:
    """All that is known of one status.

    `meaning` explains it to a reader, `tone` is its colour on a page and `style` that in the
    terminal ("": none). `counts_as` says how it is counted; `is_judged` whether its case counts for
    the accuracies, if the target answered; `reasons` where the reasons of its cases are listed.
    """

    word: Status
    meaning: str
    tone: Tone
    style: str
    counts_as: CountedAs
    is_judged: bool
    reasons: Reasons

    @property
    def is_attacked(self) -> bool:
        """Whether the case is in the denominator of attack success."""
        return self.counts_as != "not attacked"

    @property
    def css_class(self) -> str:
        """The class of the style sheet that has its colour.

        >>> STATUSES["out of budget"].css_class
        'is-out-of-budget'
        """
        return "is-" + self.word.replace(" ", "-")


STATUSES: dict[Status, StatusRecord] = {
    record.word: record
    for record in (
        StatusRecord(
            word="broken",
            meaning="an adversarial example was found and confirmed",
            tone="red",
            style="red",
            counts_as="broken",
            is_judged=True,
            reasons="everywhere",
        ),
        StatusRecord(
            word="held",
            meaning="the attack ended without success",
            tone="green",
            style="green",
            counts_as="standing",
            is_judged=True,
            reasons="everywhere",
        ),
        StatusRecord(
            word="proved",
            meaning="no text of the whole space that was searched reaches the goal",
            tone="blue",
            style="green",
            counts_as="standing",
            is_judged=True,
            reasons="everywhere",
        ),
        StatusRecord(
            word="out of budget",
            meaning="not broken when the budget of queries ran out",
            tone="amber",
            style="yellow",
            counts_as="unfinished",
            is_judged=True,
            reasons="untried",
        ),
        StatusRecord(
            word="unconfirmed",
            meaning="not broken: a candidate reached the goal, but not when scored again alone",
            tone="violet",
            style="",
            counts_as="unfinished",
            is_judged=True,
            reasons="untried",
        ),
        StatusRecord(
            word="skipped",
            meaning="not attacked",
            tone="grey",
            style="",
            counts_as="not attacked",
            is_judged=True,
            reasons="everywhere",
        ),
        StatusRecord(
            word="unparsed",
            meaning="no label could be read from what a chat model answered",
            tone="ink",
            style="",
            counts_as="not attacked",
            is_judged=False,
            reasons="page",
        ),
        StatusRecord(
            word="refused",
            meaning="a chat model refused to answer",
            tone="ink",
            style="",
            counts_as="not attacked",
            is_judged=False,
            reasons="page",
        ),
        StatusRecord(
            word="error",
            meaning="failed, left out of every figure",
            tone="ink",
            style="",
            counts_as="not attacked",
            is_judged=False,
            reasons="page",
        ),
    )
}
"""The statuses in the order of reports, the attacked ones first.

They are words for the user; inside the search protocol `won` means: the goal is reached."""
ATTACKED: tuple[Status, ...] = tuple(word for word in STATUSES if STATUSES[word].is_attacked)
"""The statuses of the cases that attack success is over."""


def statuses_that_count_as(count: CountedAs) -> tuple[Status, ...]:
    """Return the statuses that are counted so, in the order of reports.

    >>> statuses_that_count_as("standing")
    ('held', 'proved')
    """
    return tuple(word for word, record in STATUSES.items() if record.counts_as == count)


def colour_rules() -> str:
    """Write the rules of a style sheet that give every status its colour."""
    return "".join(
        f".{record.css_class} {{ --tone: var(--{record.tone}); }}\n" for record in STATUSES.values()
    )

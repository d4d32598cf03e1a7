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
"""The status of a case at one level of edits. A level that was not tried, because the case broke
at a gentler level, has no status. At a normalised level the target undoes the edits."""
Tone = Literal["red", "green", "blue", "amber", "violet", "grey", "ink"]
"""The colours of a page: each is a variable of its style sheet."""
CountedAs = Literal["broken", "standing", "unfinished", "not attacked"]
"""What a case counts as. An attacked case is broken, held, or was not searched to the end."""
Reasons = Literal["everywhere", "page", "untried"]
"""Where the reasons of cases are listed: in the status line and on the page; on the page only,
because a note in the terminal has them; or only, in that line, that no candidate was tried."""


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
            meaning="all texts of the search space were checked, and none reaches the goal",
            tone="blue",
            style="green",
            counts_as="standing",
            is_judged=True,
            reasons="everywhere",
        ),
        StatusRecord(
            word="out of budget",
            meaning="the query budget ran out before the text broke",
            tone="amber",
            style="yellow",
            counts_as="unfinished",
            is_judged=True,
            reasons="untried",
        ),
        StatusRecord(
            word="unconfirmed",
            meaning="a candidate reached the goal, but not when it was scored again alone",
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
            meaning="the case failed and is left out of every figure",
            tone="ink",
            style="",
            counts_as="not attacked",
            is_judged=False,
            reasons="page",
        ),
    )
}
"""The statuses in the order of reports, attacked ones first.

Users see these words; inside the search protocol `won` means that the goal is reached.
"""
ATTACKED: tuple[Status, ...] = tuple(word for word in STATUSES if STATUSES[word].is_attacked)
"""The statuses that count in the denominator of attack success."""


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

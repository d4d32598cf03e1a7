"""How the cases of a run ended, for readers: a skipped case was already wrong, or was not tested.

The two are apart everywhere: what was already wrong is the model's own error, and of what was not
tested nothing is known.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from brittle.asks import UNTRIED
from brittle.formatting import number, plural
from brittle.metrics.summary import Summary
from brittle.results import DAMAGED_EDITS
from brittle.statuses import STATUSES, Status

ALREADY = "already"
"""How the reasons begin for which a case needs no attack."""
ALREADY_WRONG = "already wrong"
NOT_TESTED = "not tested"
MEANINGS = {
    ALREADY_WRONG: "the answer was wrong without any edit",
    ALREADY: "the goal was reached without any edit",
    NOT_TESTED: "the attack could change nothing in them, so nothing is known",
}
"""What endings of skipped cases mean."""
MAX_REASONS = 5


@dataclass(frozen=True)
class Ending:
    """How many cases ended so, and why; a reason without a count is a remark.

    `word` is the status or, of skipped cases, whether they were already wrong or not tested. The
    list of cases `is_shown` with it at first.
    """

    status: Status
    count: int
    reasons: Mapping[str, int] = field(default_factory=dict)
    word: str = ""
    is_shown: bool = True

    @property
    def name(self) -> str:
        """The word for readers."""
        return self.word or self.status

    @property
    def css(self) -> str:
        """The class of its colour."""
        if self.word == NOT_TESTED:
            return "is-not-tested"
        return STATUSES[self.status].css_class

    @property
    def meaning(self) -> str:
        """What it means."""
        if not self.word:
            return STATUSES[self.status].meaning
        return MEANINGS.get(self.word, MEANINGS[ALREADY])

    @property
    def listed(self) -> list[tuple[str, int | None]]:
        """Why cases ended so, each reason with its count; the own word of an ending is none."""
        if STATUSES[self.status].reasons == "untried":
            return []
        reasons = [(why, count) for why, count in self.reasons.items() if why != self.word]
        more = len(reasons) - MAX_REASONS
        others = [(plural(more, "other reasons"), None)] if more > 0 else []
        return [*reasons[:MAX_REASONS], *others]


def endings(summary: Summary) -> list[Ending]:
    """Return the endings that occur, the attacked cases first.

    >>> from brittle.metrics.samples import sample_results
    >>> from brittle.metrics.summary import summary
    >>> [(one.name, one.count) for one in endings(summary(sample_results()))][3:]
    [('already wrong', 1), ('not tested', 1), ('error', 1)]
    """
    found: list[Ending] = []
    for status in STATUSES:
        if not summary.statuses[status]:
            continue
        reasons = summary.reasons.get(status, {})
        if status == "skipped":
            found += _skipped(reasons, summary.statuses[status])
        else:
            found.append(Ending(status, summary.statuses[status], reasons))
    return found


def format_statuses(summary: Summary) -> str:
    """Write the endings that occur on one line, with the reasons of what was not tested.

    Of broken, held and proved cases there is a reason if the attack gives one.

    >>> from brittle.metrics.samples import sample_results
    >>> from brittle.metrics.summary import summary
    >>> format_statuses(summary(sample_results()))  # doctest: +NORMALIZE_WHITESPACE
    'broken 3 · held 1 · out of budget 1 · already wrong 1 · not tested 1 (nothing to edit) ·
    error 1'
    """
    parts = []
    for one in endings(summary):
        listed_at, reasons = STATUSES[one.status].reasons, dict(one.reasons)
        if listed_at != "everywhere":
            is_listed = listed_at == "untried" and UNTRIED in reasons
            reasons = {UNTRIED: reasons[UNTRIED]} if is_listed else {}
        for hidden in (DAMAGED_EDITS, one.word):
            reasons.pop(hidden, None)
        counts = [f" {number(n)}" if n < one.count else "" for n in reasons.values()]
        listed = ", ".join(reason + n for reason, n in zip(reasons, counts))
        parts.append(f"{one.name} {number(one.count)}" + (f" ({listed})" if listed else ""))
    return " · ".join(parts) or "no case has finished yet"


def skipped_as(reason: str) -> str:
    """Say what a skipped case is: its reason if it needs no attack, else not tested.

    >>> skipped_as("already wrong"), skipped_as("no candidates"), skipped_as("")
    ('already wrong', 'not tested', 'not tested')
    """
    return reason if reason.startswith(ALREADY) else NOT_TESTED


def _skipped(reasons: Mapping[str, int], total: int) -> list[Ending]:
    """Split the skipped cases into those that need no attack and those that were not tested."""
    counts: dict[str, dict[str, int]] = {}
    for reason, count in reasons.items():
        counts.setdefault(skipped_as(reason), {})[reason] = count
    unexplained = total - sum(reasons.values())
    if unexplained:
        counts.setdefault(NOT_TESTED, {})
    return [
        Ending(
            "skipped",
            sum(why.values()) + (unexplained if word == NOT_TESTED else 0),
            why,
            word,
        )
        for word, why in sorted(counts.items(), key=lambda item: (item[0] == NOT_TESTED, item[0]))
    ]

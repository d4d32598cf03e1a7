"""A guard study as it is stored: its operating point, its cases, and what every attack did."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field
from statistics import median
from typing import Any

from brittle.metrics.curves import Curve
from brittle.metrics.paired import Contrast, contrast
from brittle.metrics.summary import Figure, rate
from brittle.safety.schema import Count, Malformed, Share
from brittle.statuses import ATTACKED, Status
from brittle.studies.guard.calibration import OperatingPoint
from brittle.studies.study import Study

OVER_ATTACKS, OVER_BENIGN = "attack texts", "benign texts"
WITHOUT_LABEL: tuple[Status, ...] = ("unparsed", "refused")
"""The statuses of texts whose candidates got no label: neither a pass nor a catch."""


@dataclass(frozen=True)
class GuardFacts:
    """What a guard study is about; `pool` is the guard, `data` the two sets of texts in words.

    The fingerprints are those of the guard and of the texts.
    """

    pool: str
    data: str
    attacks: str
    benign: str
    split: str
    caught: str
    at_fpr: Share
    by: tuple[str, ...]
    limit: Count
    budget: Count
    seed: int
    fingerprints: tuple[str, ...] = ()


@dataclass(frozen=True)
class GuardCase:
    """An attack text: the score of the label that means caught, and whether it is caught."""

    case: str
    text: str
    score: Share
    is_caught: bool


@dataclass(frozen=True)
class Unscored:
    """An attack text to which the guard gave no label, with the reason: unparsed, refused …"""

    case: str
    text: str
    reason: str


@dataclass(frozen=True)
class Spent:
    """How many answers a costly guard gave in the whole study, and the tokens that they took.

    `money` is what the tokens cost, if their price is known.
    """

    answers: Count
    tokens_read: Count = 0
    tokens_written: Count = 0
    money: float | None = None


@dataclass(frozen=True)
class GuardRow:
    """How one caught text stood against one attack: the row of the run, without the original."""

    case: str
    status: Status
    reason: str
    level: str | None
    queries: Count
    words_changed: Count
    characters_changed: Count
    adversarial: str | None


@dataclass(frozen=True)
class Flags:
    """How many texts are flagged when they are edited, of those that are flagged as they are."""

    flagged: Count
    before: Count
    of: Count


@dataclass(frozen=True)
class GuardAttack:
    """One attack on the caught texts.

    `run` is the file of its run. `benign` counts the benign texts that are flagged when they are
    edited in the same way at random, `floor` the caught texts that are still caught then: both only
    for classes of edits of characters. `levels` are those at which the guard undoes the edits.
    """

    run: str
    rows: tuple[GuardRow, ...]
    is_normalised: bool = False
    benign: Flags | None = None
    floor: Flags | None = None
    normalised_levels: tuple[str, ...] = ()

    @property
    def broken(self) -> dict[str, GuardRow]:
        """The rows of the texts that evade the guard, by case."""
        return {row.case: row for row in self.rows if row.status == "broken"}

    def median_of(self, name: str) -> float | None:
        """Return the median of a column over the texts that evade the guard."""
        values = [getattr(row, name) for row in self.broken.values()]
        return float(median(values)) if values else None


@dataclass(frozen=True)
class GuardResults:
    """What was measured.

    `cases` are all attack texts that have a score, caught or not; `measured` are the benign texts
    of the side that has not fixed the threshold. `by_name` says that the label was found by its
    name. A text to which the guard gave no label counts as neither caught nor let through: those of
    attacks are `unscored`, and benign ones are counted by the reason.
    """

    point: OperatingPoint
    by_name: bool
    measured: Flags
    cases: tuple[GuardCase, ...]
    attacks: Mapping[str, GuardAttack]
    unscored: tuple[Unscored, ...] = ()
    benign_unscored: Mapping[str, Count] = field(default_factory=dict)
    spent: Spent | None = None

    @property
    def caught(self) -> list[GuardCase]:
        return [case for case in self.cases if case.is_caught]

    @property
    def reasons_without_label(self) -> dict[str, int]:
        """Count the attack texts to which the guard gave no label, by the reason."""
        return dict(Counter(one.reason for one in self.unscored))

    @property
    def false_positives(self) -> Figure:
        return rate(self.measured.flagged, self.measured.of, OVER_BENIGN)

    @property
    def before(self) -> Figure:
        """The recall at the operating point, before any attack."""
        return rate(len(self.caught), len(self.cases), OVER_ATTACKS)

    def after(self, *attacks: str) -> Figure:
        """Return the recall under some attacks, or under all: what none of them gets through."""
        kept = self.kept(*attacks)
        return rate(sum(kept.values()), len(kept), OVER_ATTACKS)

    def kept(self, *attacks: str) -> dict[str, bool]:
        """Tell by case whether a text is still caught under some attacks, or under all.

        Texts are left out that evade none of them, and have no label under one of them.
        """
        evaded, without = self.evaded(*attacks), self.without_label(*attacks)
        return {
            case.case: case.is_caught and case.case not in evaded
            for case in self.cases
            if case.case not in without
        }

    def without_label(self, *attacks: str) -> set[str]:
        """Return the cases that no attack gets past the guard, and for which it gave no label."""
        rows = [row for name in attacks or tuple(self.attacks) for row in self.attacks[name].rows]
        silent = {row.case for row in rows if row.status in WITHOUT_LABEL}
        return silent - self.evaded(*attacks)

    def evaded(self, *attacks: str) -> set[str]:
        """Return the cases that some attacks, or all, got past the guard."""
        names = attacks or tuple(self.attacks)
        return {case for name in names for case in self.attacks[name].broken}

    def lost(self, *attacks: str) -> Contrast:
        """Compare the recall under attacks with that before, text by text."""
        kept = self.kept(*attacks)
        pairs = [(one.is_caught, kept[one.case]) for one in self.cases if one.case in kept]
        return contrast(pairs)

    def evaded_by_queries(self, attack: str) -> Curve:
        """Return how many of the caught texts evade the guard within so many queries."""
        rows = self.attacks[attack].rows
        points: dict[float, int] = {}
        for count, queries in enumerate(sorted(r.queries for r in rows if r.status == "broken"), 1):
            points[queries] = count
        attacked = [row.queries for row in rows if row.status in ATTACKED]
        return Curve(tuple(points.items()), len(self.caught), max(attacked, default=0))


GuardStudy = Study[GuardFacts, GuardResults]


def check_guard(study: GuardStudy) -> None:
    """Refuse a study whose parts do not fit together."""
    results = study.results
    cases = {case.case for case in results.caught}
    if results.attacks.keys() != set(study.facts.by):
        raise Malformed(f"attacks {', '.join(study.facts.by)}", list(results.attacks), "attacks")
    for name, attack in results.attacks.items():
        if not {row.case for row in attack.rows} <= cases:
            raise Malformed("rows of caught texts", attack.run, f"attacks.{name}.rows")
        for part, flags in (("benign", attack.benign), ("floor", attack.floor)):
            if flags is not None and not max(flags.flagged, flags.before) <= flags.of:
                raise Malformed(f"at most {flags.of}", flags.flagged, f"attacks.{name}.{part}")
    if results.measured.flagged > results.measured.of:
        raise Malformed(f"at most {results.measured.of}", results.measured.flagged, "measured")


def facts_that_stay(facts: GuardFacts) -> dict[str, Any]:
    """Return what a study keeps under its name: everything that decides its figures."""
    names = ("attacks", "benign", "caught", "at_fpr", "by", "limit", "budget", "seed")
    return {name: getattr(facts, name) for name in (*names, "fingerprints")}


def format_counts(counts: Mapping[str, int]) -> str:
    """Write counts of reasons.

    >>> format_counts({"refused": 2, "unparsed": 1})
    '2 refused, 1 unparsed'
    """
    return ", ".join(f"{count:,} {reason}" for reason, count in counts.items())

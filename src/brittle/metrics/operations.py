"""The character operations of the adversarial texts: flips, inserts and deletes."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from statistics import median

from brittle.edits import count_operations
from brittle.metrics.summary import Figure, mean
from brittle.results import Result


@dataclass(frozen=True)
class Operations:
    """How many characters were flipped (replaced), inserted and deleted in broken cases.

    `share` is the mean over broken cases: the operations of a case divided by the characters of
    its original.
    """

    flips: int
    inserts: int
    deletes: int
    share: Figure

    @property
    def counts(self) -> dict[str, int]:
        return {"flips": self.flips, "inserts": self.inserts, "deletes": self.deletes}

    @property
    def shares(self) -> dict[str, float]:
        return {name: count / (self.total or 1) for name, count in self.counts.items()}

    @property
    def total(self) -> int:
        return self.flips + self.inserts + self.deletes


def operations(results: Sequence[Result], level: float = 0.95, seed: int = 0) -> Operations:
    """Count the operations that turn the old stretch of every edit into the new one.

    Characters are code points; those of the original are counted in its rendered form, with all
    its fields, gaps and line breaks between fields.

    >>> from brittle.metrics.samples import sample_results
    >>> counted = operations(sample_results())
    >>> counted.flips, counted.inserts, counted.deletes, counted.total
    (14, 2, 2, 18)
    >>> round(counted.share.value, 3), counted.share.over
    (0.306, 'broken cases')
    """
    flips = inserts = deletes = 0
    for row in _broken(results):
        for edit in row.edits:
            flipped, inserted, deleted = aligned(edit.old, edit.new)
            flips, inserts, deletes = flips + flipped, inserts + inserted, deletes + deleted
    return Operations(flips, inserts, deletes, characters_share(results, level, seed))


def characters_share(results: Sequence[Result], level: float = 0.95, seed: int = 0) -> Figure:
    """Return the mean share of the original's characters that broken cases changed.

    >>> from brittle.metrics.samples import sample_results
    >>> round(characters_share(sample_results()).value, 3)
    0.306
    """
    shares = [r.characters_changed / len(r.original) for r in _broken(results) if r.original]
    return mean(shares, "broken cases", level, seed)


def is_by_characters(results: Sequence[Result]) -> bool:
    """Tell whether edits keep words recognisable, as character attacks do.

    They do if in the median broken case at most half of the characters of the edited stretches
    changed (of old and new stretch, the longer counts). Without edits in broken cases they do not.

    >>> from brittle.metrics.samples import sample_results
    >>> is_by_characters(sample_results())
    False
    """
    changed = []
    for row in _broken(results):
        longest = sum(max(len(edit.old), len(edit.new)) for edit in row.edits)
        if longest:
            changed.append(row.characters_changed / longest)
    return bool(changed) and median(changed) <= 0.5


def aligned(old: str, new: str) -> tuple[int, int, int]:
    """Count the flips, inserts and deletes of the shortest way from one string to another.

    Of several shortest ways the one with the most flips counts, so that the counts are unique:
    inserts minus deletes is the difference of the lengths.

    >>> aligned("mood", "mooP"), aligned("mood", "moood"), aligned("mood", "mod")
    ((1, 0, 0), (0, 1, 0), (0, 0, 1))
    >>> aligned("ab", "ba"), aligned("abcd", "bcda")
    ((2, 0, 0), (0, 1, 1))
    """
    total, shifts = count_operations(old, new)
    longer = len(new) - len(old)
    return total - shifts, (shifts + longer) // 2, (shifts - longer) // 2


def _broken(results: Sequence[Result]) -> list[Result]:
    return [r for r in results if r.status == "broken"]

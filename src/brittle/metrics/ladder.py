"""The ladder: how rough an edit has to be before a model breaks."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from brittle.levels import LEVELS
from brittle.metrics.paired import Contrast, contrast
from brittle.metrics.summary import ATTACKED, Figure, is_judged, is_right_after, rate
from brittle.results import Result
from brittle.statuses import STATUSES, LevelStatus

DRAWS = 20_000
UNDONE: LevelStatus = "normalised"
"""The status of a case at a level whose edits the target undoes."""
PRIOR = 0.5  # Jeffreys' prior of a share: half a success and half a failure


@dataclass(frozen=True)
class Rung:
    """One level of the ladder in a run.

    `broken` counts the cases whose gentlest winner is of this level. `standing` is the accuracy
    under attack if only this level and gentler ones are allowed. `tried` counts the cases that were
    searched at this level, `proved` those of them in which every text of the level was tried
    without a winner; `empty` had no candidates at this level. For `normalised` cases it was left
    out, since the target reads such texts as the originals; where none was tried, nothing stands.
    """

    level: str
    title: str
    broken: int
    standing: Figure
    tried: int
    proved: int
    empty: int
    normalised: int = 0


@dataclass(frozen=True)
class Ladder:
    """What a run says about each level, from gentle to rough.

    `held` cases withstood every level, `unfinished` ones ended before all levels were searched,
    `untested` ones had nothing to change at any level. `not_english` texts had only the levels that
    need no English. Of the `checked` broken cases, `undecided` ones break under a random edit of
    the same size, too. Cases `without_label` got no answer that counts, and stand in no figure.
    """

    before: Figure
    rungs: tuple[Rung, ...]
    broken: int
    attacked: int
    held: int
    unfinished: int
    untested: int
    not_english: int
    checked: int
    undecided: int
    without_label: int = 0

    @property
    def after(self) -> Figure:
        """The accuracy under attack with all levels that say something of the target."""
        known = [rung.standing for rung in self.rungs if rung.standing.value is not None]
        return known[-1] if known else self.rungs[-1].standing


def ladder(results: Sequence[Result]) -> Ladder | None:
    """Compute the ladder of a run; None if its attack does not climb one."""
    levels = [name for name in LEVELS if any(name in dict(row.levels) for row in results)]
    if not levels:
        return None
    judged = [row for row in results if is_judged(row)]
    attacked = [row for row in results if row.status in ATTACKED]
    broken = [row for row in results if row.status == "broken"]
    over = "examples answered"
    before = rate(sum(row.predicted == row.label for row in judged), len(judged), over)
    rungs: list[Rung] = []
    for number, name in enumerate(levels):
        rougher = levels[number + 1 :]
        right = sum(_is_right_at(row, rougher) for row in judged)
        statuses = [dict(row.levels).get(name) for row in results]
        tried = [
            status
            for status in statuses
            if status not in (None, "no candidates", "not English", UNDONE)
        ]
        is_undone = UNDONE in statuses and not tried
        rungs.append(
            Rung(
                name,
                LEVELS[name].title,
                sum(row.level == name for row in broken),
                rate(0, 0, over) if is_undone else rate(right, len(judged), over),
                len(tried),
                tried.count("proved"),
                statuses.count("no candidates") + statuses.count("not English"),
                statuses.count(UNDONE),
            )
        )
    checked = [row for row in broken if row.random_edits]
    return Ladder(
        before,
        tuple(rungs),
        len(broken),
        len(attacked),
        held=sum(STATUSES[row.status].counts_as == "standing" for row in attacked),
        unfinished=sum(STATUSES[row.status].counts_as == "unfinished" for row in attacked),
        untested=sum(map(_is_untested, judged)),
        not_english=sum("not English" in dict(row.levels).values() for row in results),
        checked=len(checked),
        undecided=sum(bool(row.random_won) for row in checked),
        without_label=sum(row.status in ("unparsed", "refused") for row in results),
    )


def _is_untested(row: Result) -> bool:
    """Tell whether a right example was skipped: no edit of any level can change it."""
    return row.status == "skipped" and row.predicted == row.label


def _is_right_at(row: Result, rougher: Sequence[str]) -> bool:
    """Tell whether a case is right after a level; it may break at one of the rougher levels."""
    breaks_later = row.status == "broken" and row.predicted == row.label and row.level in rougher
    return is_right_after(row) or breaks_later


def paired_levels(
    a: Sequence[Result], b: Sequence[Result], level: float = 0.95
) -> dict[str, Contrast]:
    """Compare two runs case by case after every level that both climbed, by the levels' names.

    Like the accuracy under attack, it is over the cases that both answered.

    >>> from brittle.metrics.samples import sample_results
    >>> paired_levels(sample_results(), sample_results())
    {}
    """
    climbed = [
        {name for row in rows for name, how in row.levels if name in LEVELS and how != UNDONE}
        for rows in (a, b)
    ]
    rows_b = {row.case: row for row in b if is_judged(row)}
    pairs = [(row, rows_b[row.case]) for row in a if is_judged(row) and row.case in rows_b]
    names = [name for name in LEVELS if name in climbed[0] & climbed[1]]
    contrasts = {}
    for number, name in enumerate(names):
        rougher = names[number + 1 :]
        right = [(_is_right_at(x, rougher), _is_right_at(y, rougher)) for x, y in pairs]
        contrasts[name] = contrast(right, level)
    return contrasts


def validly_broken(ladder: Ladder, valid: Mapping[str, tuple[float, int]], seed: int = 0) -> Figure:
    """Estimate the share of attacked cases that a valid text breaks.

    `valid` says, by level, how many broken texts readers found valid, of how many they read; a
    level that nobody read counts as not valid at all. The interval is from draws: of the share of
    valid texts at each level (Jeffreys' prior), and of how many cases break at each.

    >>> from brittle.metrics.samples import sample_ladder
    >>> estimate = validly_broken(sample_ladder(), {"careful": (80, 100), "any": (10, 100)})
    >>> round(estimate.value, 3), 0 < estimate.low < estimate.value < estimate.high
    (0.38, True)
    """
    over, attacked = "attacked cases", ladder.attacked
    read = [(rung.broken, *valid[rung.level]) for rung in ladder.rungs if rung.level in valid]
    read = [row for row in read if row[2]]
    if not attacked or not read:
        return Figure(None, None, None, None, attacked, over)
    counts, kept, of = (np.array(column) for column in zip(*read))
    value = float((counts * kept / of).sum() / attacked)
    rng = np.random.default_rng(seed)
    share = rng.beta(kept + PRIOR, of - kept + PRIOR, size=(DRAWS, len(read)))
    others = attacked - counts.sum()
    mix = rng.dirichlet([*(counts + PRIOR), others + PRIOR], size=DRAWS)[:, : len(read)]
    low, high = np.quantile((share * mix).sum(axis=1), [0.025, 0.975])
    return Figure(value, float(min(low, value)), float(max(high, value)), None, attacked, over)

"""Did a model get worse? Paired questions about two runs, each with an exact test and its power.

A question has three outcomes. `fail`: the exact test, one-sided, finds a drop. `pass`: the interval
excludes a drop of the tolerated size. `cannot tell`: neither, and `cases_needed` says how many
cases would tell.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from statistics import NormalDist
from typing import Literal

from brittle.errors import UsageError
from brittle.levels import LEVELS, rank
from brittle.metrics.intervals import binomial_tail, paired_interval, wilson
from brittle.metrics.paired import Contrast, paired
from brittle.metrics.summary import ATTACKED, is_right_after, is_undone
from brittle.results import Result

Outcome = Literal["pass", "fail", "cannot tell"]
LEVEL = 0.05
"""At most this share of unchanged models fails, over all questions together."""
TOLERANCE = 0.05
"""A drop of 5 points is the smallest that a pass excludes."""
POWER = 0.8
"""`cases_needed` are enough to find a drop of the tolerated size with this probability."""
MAX_CASES_NEEDED = 1_000_000
ANY_LEVEL = "any attack"
GENTLE_ROBUSTNESS = "robustness to gentle edits"
GENTLE = "careful"
"""Gentle are the levels up to this one, whose texts nearly always keep their meaning."""


@dataclass(frozen=True)
class PairedQuestion:
    """One question about the cases of two runs, and its answer.

    `old` and `new` are shares of the `cases`, `drop` is by how much the new run is worse, and
    `highest_drop` the upper end of its one-sided interval. `p` is that of McNemar's exact test,
    one-sided, multiplied so that all questions together keep the level (Bonferroni). With these
    cases a drop of `detectable` is found with a probability of 80 %; `cases_needed` examples would
    find a drop of the tolerated size. None: no number would do, or there are no cases.
    """

    name: str
    over: str
    old: float
    new: float
    cases: int
    worse: int
    better: int
    drop: float
    highest_drop: float
    p: float
    outcome: Outcome
    detectable: float | None
    cases_needed: int | None


@dataclass(frozen=True)
class BoundQuestion:
    """Whether at most a share of the attacked cases is broken, by a level of edits or gentler ones.

    The share's Wilson interval decides, one-sided: fail if it lies above the bound, pass if below.
    """

    name: str
    bound: float
    share: float
    low: float
    high: float
    cases: int
    outcome: Outcome
    cases_needed: int | None


def worst(outcomes: Sequence[Outcome]) -> Outcome:
    """Return the outcome of several questions: any failure fails, and all must pass to pass.

    >>> worst(["pass", "cannot tell"]), worst(["pass", "fail"]), worst([])
    ('cannot tell', 'fail', 'cannot tell')
    """
    if "fail" in outcomes:
        return "fail"
    return "pass" if outcomes and set(outcomes) == {"pass"} else "cannot tell"


def paired_questions(
    old: Sequence[Result],
    new: Sequence[Result],
    level: float = LEVEL,
    tolerance: float = TOLERANCE,
    translates: bool = False,
) -> tuple[PairedQuestion, ...]:
    """Ask of two runs, case by case, whether the new one is worse.

    Clean accuracy and robustness (among cases that both have right) are two questions. The third
    is accuracy under attack, in which both meet. Half of the level belongs to the third, a quarter
    to each of the others. Translators have one question: did the attack's success rise?

    Where both runs climbed levels of edits, nearly all cases may break at the roughest one, which
    hides what changed. Robustness and accuracy are then asked of gentle edits, too (up to
    `careful`), and share their part of the level with those.

    >>> from brittle.metrics.samples import sample_results
    >>> rows = sample_results()
    >>> [(one.name, one.cases, one.outcome) for one in paired_questions(rows, rows)]
    ... # doctest: +NORMALIZE_WHITESPACE
    [('clean accuracy', 7, 'cannot tell'), ('robustness', 6, 'cannot tell'),
     ('accuracy under attack', 7, 'cannot tell')]
    """
    pair = paired(old, new)
    asked: tuple[tuple[str, str, Contrast, float], ...]
    asked = (
        ("clean accuracy", "shared cases", pair.before, 1 / 4),
        ("robustness", "cases that both have right", pair.robustness, 1 / 4),
        ("accuracy under attack", "shared cases", pair.accuracy, 1 / 2),
    )
    if all(any(GENTLE in dict(row.levels) for row in rows) for rows in (old, new)):
        gentle = paired(gently(old), gently(new))
        asked = (
            ("clean accuracy", "shared cases", pair.before, 1 / 4),
            (GENTLE_ROBUSTNESS, "cases that both have right", gentle.robustness, 1 / 8),
            ("robustness", "cases that both have right", pair.robustness, 1 / 8),
            ("accuracy after gentle edits", "shared cases", gentle.accuracy, 1 / 4),
            ("accuracy under attack", "shared cases", pair.accuracy, 1 / 4),
        )
    if translates:
        asked = (("attack success", "shared cases", pair.success, 1 / 2),)
    return tuple(
        _question(name, over, one, level, share, tolerance, pair.shared, not translates)
        for name, over, one, share in asked
    )


def _question(
    name: str,
    over: str,
    found: Contrast,
    level: float,
    share: float,
    tolerance: float,
    shared: int,
    is_good: bool,
) -> PairedQuestion:
    """Answer one question; `is_good` says whether more of what is counted is better."""
    worse, better = found.only_a, found.only_b
    if not is_good:
        worse, better = better, worse
    n = found.of
    p = min(1.0, binomial_tail(worse, worse + better) / share)
    low, high = paired_interval(
        *(found.both, found.only_a, found.only_b, found.neither), 1 - 2 * level
    )
    highest = -low if is_good else high
    outcome: Outcome = "cannot tell"
    if n and p < level:
        outcome = "fail"
    elif n and highest < tolerance:
        outcome = "pass"
    discordant = (worse + better + 1) / (n + 2)
    needed = cases_for(discordant, tolerance, level * share) if n else None
    if needed is not None:  # of all cases, of which those of this question are a part
        needed = min(MAX_CASES_NEEDED, math.ceil(needed * shared / n))
    old, new = ((found.both + only) / n if n else 0.0 for only in (found.only_a, found.only_b))
    drop = (worse - better) / n if n else 0.0
    noticed = detectable_drop(n, discordant, level * share)
    return PairedQuestion(
        name, over, old, new, n, worse, better, drop, highest, p, outcome, noticed, needed
    )


def cases_for(discordant: float, drop: float, level: float, power: float = POWER) -> int:
    """Return how many pairs find a drop by McNemar's test, one-sided (Connor, 1987).

    `discordant` is the share of cases on which two equally good models disagree. The correction
    for continuity makes up for the exact test being discrete.

    >>> cases_for(0.1, 0.05, 0.025), cases_for(0.1, 0.2, 0.025)
    (351, 47)
    """
    if not (0 < drop <= 1 and 0 < level < 1):
        raise UsageError(f"Got a drop of {drop} at level {level}; expected numbers from 0 to 1.")
    of = max(discordant, drop)
    z_level, z_power = (NormalDist().inv_cdf(share) for share in (1 - level, power))
    spread = z_level * math.sqrt(of) + z_power * math.sqrt(max(0.0, of - drop * drop))
    plain = (spread / drop) ** 2
    corrected = plain / 4 * (1 + math.sqrt(1 + 4 / (plain * drop))) ** 2
    return min(MAX_CASES_NEEDED, math.ceil(corrected))


def detectable_drop(cases: int, discordant: float, level: float) -> float | None:
    """Return the smallest drop, in whole points, that so many cases find; None if they find none.

    >>> detectable_drop(200, 0.1, 0.025), detectable_drop(4, 0.1, 0.025)
    (0.07, None)
    """
    for points in range(1, 101):
        if cases_for(discordant, points / 100, level) <= cases:
            return points / 100
    return None


def bound_questions(
    rows: Sequence[Result], bounds: Mapping[str, float], level: float = LEVEL
) -> tuple[BoundQuestion, ...]:
    """Ask whether at most these shares of the attacked cases are broken.

    `bounds` has a share for levels of edits (`careful` counts the gentler ones, too), or for
    `any attack`.

    >>> from brittle.metrics.samples import sample_results
    >>> [bound] = bound_questions(sample_results(), {"any attack": 0.2})
    >>> bound.share, bound.cases, bound.outcome
    (0.6, 5, 'fail')
    """
    return tuple(_bound(rows, name, bound, level / len(bounds)) for name, bound in bounds.items())


def _bound(rows: Sequence[Result], name: str, bound: float, level: float) -> BoundQuestion:
    if name != ANY_LEVEL and name not in LEVELS:
        raise UsageError(
            f"Got a bound for {name!r}; expected {ANY_LEVEL!r}, or a level: {', '.join(LEVELS)}."
        )
    if not 0 <= bound <= 1:
        raise UsageError(f"Got a bound of {bound:g} for {name!r}; expected a share from 0 to 1.")
    attacked = [row for row in rows if row.status in ATTACKED]
    if name != ANY_LEVEL and not any(name in dict(row.levels) for row in attacked):
        raise UsageError(
            f"Got a bound for the level {name!r}, but the attack did not try it. Attack with "
            f"auto, or bound {ANY_LEVEL!r}."
        )
    broken = sum(_is_broken_by(row, name) for row in attacked)
    n = len(attacked)
    low, high = wilson(broken, n, 1 - 2 * level)
    outcome: Outcome = "cannot tell"
    if n and low > bound:
        outcome = "fail"
    elif n and high <= bound:
        outcome = "pass"
    share = broken / n if n else 0.0
    return BoundQuestion(
        name, bound, share, low, high, n, outcome, _cases_for_bound(share, bound, level)
    )


def _is_broken_by(row: Result, level: str) -> bool:
    if row.status != "broken" or level == ANY_LEVEL:
        return row.status == "broken"
    return row.level in LEVELS and rank(str(row.level)) <= rank(level)


def _cases_for_bound(share: float, bound: float, level: float) -> int | None:
    """Return how many attacked cases with this share put the whole interval on one side."""
    if share == bound:
        return None
    cases = 1
    while cases < MAX_CASES_NEEDED:
        low, high = wilson(share * cases, cases, 1 - 2 * level)
        if low > bound or high <= bound:
            return cases
        cases = max(cases + 1, cases * 11 // 10)
    return None


def gently(rows: Sequence[Result]) -> list[Result]:
    """Return rows as they are after gentle edits: a case that breaks later is held."""
    return [
        replace(row, status="held")
        if row.status == "broken" and row.levels and not _is_broken_by(row, GENTLE)
        else row
        for row in rows
    ]


def newly_broken(old: Sequence[Result], new: Sequence[Result]) -> list[Result]:
    """Return the new run's rows of cases that were right under attack in the old run, and break.

    So are those that needed rougher edits in the old run, and break by gentle ones now.
    """
    if is_undone(old):  # no case of it was attacked
        return []
    right = {row.case for row in old if is_right_after(row)}
    gentle = {row.case for row in gently(old) if is_right_after(row)}
    return [
        row
        for row in new
        if row.status == "broken"
        and (row.case in right or (row.case in gentle and _is_broken_by(row, GENTLE)))
    ]

"""How success grows: with queries, words, distance, confidence, costs, and with what is kept.

How success grows with the cost to an attacker: queries, words changed, or a distance. How often the
finished text of the attack by rules works, computed from the steps of a run. Success against the
confidence asked for, computed from the steps of a run. What the winners of a search with costs
cost, and how that falls with the queries. Whether success would grow with a larger budget, as far
as the stored steps tell. Success against what a text keeps of its original: similarity, fluency.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right, insort
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from math import inf, isfinite
from statistics import median

from brittle.goals import is_reached
from brittle.metrics.summary import ATTACKED, Figure, rate
from brittle.results import Result, Step

Win = tuple[int, float]
"""The query number of a winner, and its cost."""


@dataclass(frozen=True)
class CostCurve:
    """The median cost of the cheapest winner so far, over the `of` broken cases, by queries.

    A case that has no winner yet counts as infinitely dear: the curve starts where more than half
    of the cases have one. `points` holds a pair (query, median) wherever the median falls; `end`
    is the most queries of a broken case.
    """

    points: tuple[tuple[int, float], ...]
    of: int
    end: int

    def cost(self, queries: int) -> float | None:
        """Return the median after so many queries a case; None before the curve starts."""
        n = bisect_right(self.points, (queries, inf))
        return self.points[n - 1][1] if n else None


def cost_by_queries(results: Sequence[Result], steps: Iterable[Step]) -> CostCurve:
    """Compute how the cost of the cheapest winner falls with the queries of a case.

    >>> from dataclasses import replace
    >>> from brittle.metrics.samples import sample_results, sample_steps
    >>> rows = [replace(row, cost=2.0) for row in sample_results()]
    >>> steps = [replace(step, cost=2.0) for step in sample_steps() if step.query > 1]
    >>> cost_by_queries(rows, steps).points
    ((22, 2.0),)
    """
    broken = [r for r in results if r.status == "broken" and r.cost is not None]
    best = {row.case: inf for row in broken}
    wins = [(*win, case) for case, own in wins_by_case(broken, steps).items() for win in own]
    costs, points = [inf] * len(broken), dict[int, float]()
    for query, cost, case in sorted(wins):
        costs.remove(best[case])
        insort(costs, cost)
        best[case] = cost
        if isfinite(middle := median(costs)) and middle < min(points.values(), default=inf):
            points[query] = middle
    end = max((row.queries for row in broken), default=0)
    return CostCurve(tuple(points.items()), len(broken), end)


def wins_by_case(results: Sequence[Result], steps: Iterable[Step]) -> dict[str, list[Win]]:
    """Return the wins of every broken case that has a cost, each cheaper than the one before.

    Of the steps of such a case those of winners, and only those, have a cost.
    """
    broken = [r for r in results if r.status == "broken" and r.cost is not None]
    wins: dict[str, list[Win]] = {row.case: [] for row in broken}
    for step in steps:
        if step.case in wins and step.cost is not None:
            wins[step.case].append((step.query, step.cost))
    return wins


@dataclass(frozen=True)
class Curve:
    """How many of the `of` attacked cases are broken at a cost of x or less.

    `points` holds a pair (x, cases broken so far) wherever the count rises. The curve is known up
    to `end`: the most queries of any attacked case, or a little beyond the last rise.
    """

    points: tuple[tuple[float, int], ...]
    of: int
    end: float

    def broken(self, x: float) -> int:
        """Count the cases broken at a cost of x or less."""
        n = bisect_right(self.points, (x, self.of))
        return self.points[n - 1][1] if n else 0

    def share(self, x: float) -> float:
        """Return the share of attacked cases broken at a cost of x or less."""
        return self.broken(x) / self.of if self.of else 0.0


def success_by_queries(results: Sequence[Result], steps: Iterable[Step]) -> Curve:
    """Compute success by the queries of one case: a budget of x would have broken this share.

    A broken case counts at the query of its adversarial text, which may come before the last query
    of its batch; a case of a search with costs at the query of its first winner, cheap or not.

    >>> from brittle.metrics.samples import sample_results, sample_steps
    >>> curve = success_by_queries(sample_results(), sample_steps())
    >>> curve.points, curve.of, curve.share(25)
    (((16, 1), (22, 2), (29, 3)), 5, 0.4)
    """
    broken = {r.case: r for r in results if r.status == "broken"}
    costs = {case: r.queries for case, r in broken.items()}
    steps = list(steps)
    for step in steps:
        if step.case in broken and step.edits == broken[step.case].edits:
            costs[step.case] = step.query
    costs |= {case: wins[0][0] for case, wins in wins_by_case(results, steps).items() if wins}
    attacked = [r for r in results if r.status in ATTACKED]
    return _curve(costs.values(), len(attacked), max((r.queries for r in attacked), default=0))


def success_by_words(results: Sequence[Result]) -> Curve:
    """Compute success by the words changed: this share is broken with x words or fewer.

    >>> from brittle.metrics.samples import sample_results
    >>> success_by_words(sample_results()).points
    ((1, 2), (2, 3))
    """
    costs = [r.words_changed for r in results if r.status == "broken"]
    attacked = sum(r.status in ATTACKED for r in results)
    return _curve(costs, attacked, max(costs, default=0) + 1)


def success_by_measure(results: Sequence[Result], measure: str) -> Curve:
    """Compute success by how far pictures were moved: `measure` is l2 or linf.

    >>> from dataclasses import replace
    >>> from brittle.metrics.samples import sample_results
    >>> moved = [replace(row, linf=0.1 * n) for n, row in enumerate(sample_results(), 1)]
    >>> success_by_measure(moved, "linf").points
    ((0.1, 1), (0.2, 2), (0.30000000000000004, 3))
    """
    broken = [getattr(r, measure) for r in results if r.status == "broken"]
    costs = [float(value) for value in broken if value is not None]
    attacked = sum(r.status in ATTACKED for r in results)
    return _curve(costs, attacked, 1.05 * max(costs, default=0.0))


def _curve(costs: Iterable[float], attacked: int, end: float) -> Curve:
    points: dict[float, int] = {}
    for count, cost in enumerate(sorted(costs), 1):
        points[cost] = count
    return Curve(tuple(points.items()), attacked, end)


FIRST_CANDIDATE = 2
"""The first query of a search; query 1 is the original."""


def success_at_limit(results: Sequence[Result], steps: Iterable[Step]) -> Figure:
    """Compute the share of attacked cases whose first candidate, the finished text, wins.

    Of a search with costs every winner's step has its cost; only winners have one.

    >>> from dataclasses import replace
    >>> from brittle.metrics.samples import sample_results
    >>> rows = [replace(row, case=str(n)) for n, row in enumerate(sample_results())]
    >>> won = [row.case for row in rows if row.status == "broken"]
    >>> steps = [Step(won[0], 2, 0.9, "negative", 0.9, (), cost=3.0)]
    >>> success_at_limit(rows, steps).count, success_at_limit(rows, steps).of
    (1, 5)
    """
    attacked = {row.case: row.status for row in results if row.status in ATTACKED}
    winners = {s.case for s in steps if s.query == FIRST_CANDIDATE and s.cost is not None}
    count = sum(attacked.get(case) == "broken" for case in winners)
    return rate(count, len(attacked), "attacked cases")


@dataclass(frozen=True)
class ConfidenceCurve:
    """How many of the `of` attacked cases reached a wrong answer of some confidence.

    `reached` holds, lowest first, the highest confidence of a wrong answer, for every case with a
    wrong answer. The curve is known up to `known`, the confidence that the run asked for (0 if it
    asked for none): there its searches stopped, though some might have reached more.
    """

    reached: tuple[float, ...]
    of: int
    known: float

    def at_least(self, confidence: float) -> int:
        """Count the cases that reached this confidence; beyond `known` there may be more."""
        return len(self.reached) - bisect_left(self.reached, confidence)

    def share(self, confidence: float) -> float | None:
        """Return the share of attacked cases that reached this confidence, or None if unknown."""
        return self.figure(confidence).value

    def figure(self, confidence: float, level: float = 0.95) -> Figure:
        """Return that share with its Wilson interval; beyond `known` it has no value."""
        if confidence > self.known:
            return Figure(None, None, None, None, self.of, "attacked cases")
        return rate(self.at_least(confidence), self.of, "attacked cases", level)


def success_by_confidence(
    results: Sequence[Result],
    steps: Iterable[Step],
    asked: float | None = None,
    toward: str | None = None,
) -> ConfidenceCurve:
    """Compute the share of attacked cases that reached a wrong answer of each confidence.

    An answer counts if its label is not the reference, or, with `toward`, if it is that label.
    `asked` is the confidence that the run's goal asked for. At `asked` the share is the run's
    success: a step that reaches the whole goal counts only in a broken case, since in other cases
    it was not confirmed. Below `asked`, a case counts if one of its steps reached the confidence.
    Steps are improvements of the loss: with two classes they miss nothing that was tried; with
    more, a candidate may be surer of one wrong class without being an improvement, so the share is
    a lower bound.

    >>> from brittle.metrics.samples import sample_results, sample_steps
    >>> curve = success_by_confidence(sample_results(), sample_steps(), asked=0.7)
    >>> curve.reached, curve.of, curve.share(0.6), curve.share(0.8)
    ((0.7, 0.7, 0.7), 5, 0.6, None)
    >>> curve.figure(0.7).count, round(curve.figure(0.7).low, 3)
    (3, 0.231)
    """
    goal = asked or 0.0
    attacked = {r.case: r for r in results if r.status in ATTACKED}
    best: dict[str, float] = {}

    def reach(row: Result, label: str | None, confidence: float | None) -> None:
        is_wrong = is_reached(label, row.label, toward)
        if confidence is None or not is_wrong or (confidence >= goal and row.status != "broken"):
            return
        best[row.case] = max(best.get(row.case, 0.0), confidence)

    for step in steps:
        if step.case in attacked:
            reach(attacked[step.case], step.label, step.confidence)
    for row in attacked.values():
        reach(row, row.adversarial_label, row.adversarial_confidence)
    return ConfidenceCurve(tuple(sorted(best.values())), len(attacked), goal)


MAX_LATE = 0.01
"""Success is flat if at most this share of attacked cases broke in the budget's last half."""


@dataclass(frozen=True)
class Flattening:
    """Whether success against the budget has flattened.

    `late` is the share of attacked cases that broke in the second half of the budget, None if no
    case ran out of it: every search ended by itself, and a larger budget changes nothing.
    """

    is_flat: bool
    late: Figure | None = None


def flattening(
    results: Sequence[Result], steps: Iterable[Step], budget: int | None = None
) -> Flattening | None:
    """Tell whether success has flattened; None if nothing was attacked.

    It is still rising if cases ran out of budget, and more than 1% of the attacked cases broke in
    the second half of the budget.

    >>> from brittle.metrics.samples import sample_results, sample_steps
    >>> rising = flattening(sample_results(), sample_steps(), 50)
    >>> rising.is_flat, rising.late.count, rising.late.of
    (False, 1, 5)
    >>> flattening(sample_results()[:4], sample_steps(), 50)
    Flattening(is_flat=True, late=None)
    """
    attacked = [row for row in results if row.status in ATTACKED]
    if not attacked:
        return None
    if all(row.status != "out of budget" for row in attacked):
        return Flattening(True)
    curve = success_by_queries(results, steps)
    whole = curve.end if budget is None else budget
    late = curve.broken(whole) - curve.broken(whole / 2)
    figure = rate(late, curve.of, "attacked cases")
    return Flattening((figure.value or 0.0) <= MAX_LATE, figure)


SHOWN = {"similarity": (0.8, 0.85, 0.9, 0.95), "fluency": (0.01, 0.05, 0.1, 0.5)}
"""The measures, and the values for which success is printed."""


@dataclass(frozen=True)
class KeptCurve:
    """How many of the `of` attacked cases are broken by a text that keeps so much.

    `kept` holds, lowest first, the most that a winning text of each broken case keeps; `unmeasured`
    counts broken cases without a value. Below `known`, the least that the run asked for, nothing is
    known: 0 if it asked for nothing.
    """

    measure: str
    kept: tuple[float, ...]
    of: int
    unmeasured: int = 0
    known: float = 0.0

    def at_least(self, value: float) -> int:
        """Count the cases broken by a text that keeps this much or more."""
        return len(self.kept) - bisect_left(self.kept, value)

    def figure(self, value: float, level: float = 0.95) -> Figure:
        """Return the share of attacked cases with its Wilson interval; unknown below `known`."""
        if value < self.known:
            return Figure(None, None, None, None, self.of, "attacked cases")
        return rate(self.at_least(value), self.of, "attacked cases", level)


def success_by_kept(
    results: Sequence[Result], steps: Iterable[Step], measure: str, least: float | None = None
) -> KeptCurve:
    """Compute the share of attacked cases that are broken and keep a value of `measure`.

    `least` is what the run asked for. A search ends at its first winner: one that has to keep more
    might find another text, so that the share is a lower bound. Of a search that goes on after a
    win, the winner that keeps most counts.

    >>> from dataclasses import replace
    >>> from brittle.metrics.samples import sample_results
    >>> rows = [replace(row, similarity=0.7 + 0.1 * n) for n, row in enumerate(sample_results())]
    >>> curve = success_by_kept(rows, [], "similarity")
    >>> curve.of, curve.at_least(0.75), round(curve.figure(0.75).value, 2)
    (5, 2, 0.4)
    """
    steps = list(steps)
    wins = {case: {query for query, _ in own} for case, own in wins_by_case(results, steps).items()}
    broken = {row.case: getattr(row, measure) for row in results if row.status == "broken"}
    best = {case: value for case, value in broken.items() if value is not None}
    for step in steps:
        value = getattr(step, measure)
        if step.case in best and value is not None and step.query in wins.get(step.case, ()):
            best[step.case] = max(best[step.case], value)
    attacked = sum(row.status in ATTACKED for row in results)
    unmeasured = len(broken) - len(best)
    return KeptCurve(measure, tuple(sorted(best.values())), attacked, unmeasured, least or 0.0)

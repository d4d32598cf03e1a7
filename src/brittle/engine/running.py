"""One case under attack: its search, its budget, what it has found, and how it ended.

One case under attack: its search, what it asks next, its budget, and what it has found. The budget
of a case: how many of its questions are asked, and when it is out of budget. How a case ended, and
what was found on the way; nothing here knows what an item is.
"""

from __future__ import annotations

import traceback
from bisect import insort
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from brittle.asks import Answer, Ask, Case, KeepItems, Note, Sample, Search, Try, Unfit, leaves
from brittle.errors import TargetDown
from brittle.goals import status_of_silence
from brittle.statuses import LevelStatus, Status

Question = tuple[Ask[Any], Sequence[Any]]
"""A plain question and its items."""


RAISED = "the attack raised"


def line_of(error: Exception) -> str:
    """Say where an attack raised an error: its own line, not that of a library it called."""
    frames = traceback.extract_tb(error.__traceback__)
    package = str(Path(__file__).parent)
    own = [frame for frame in frames if not frame.filename.startswith(package)]
    outside = [frame for frame in own if "site-packages" not in frame.filename]
    if not own:
        return ""
    frame = (outside or own)[-1]
    return f" ({Path(frame.filename).name}, line {frame.lineno}, in {frame.name})"


def all_failed(count: int, reason: str, attack: str) -> TargetDown:
    """Build the error that stops a run whose last cases all failed, by the target or the attack."""
    whose = f"attack {attack!r}" if reason.startswith(RAISED) else "target"
    return TargetDown(
        f"The last {count} cases all ended in an error; the last one: {reason}. Fix the "
        f"{whose}, then resume with --retry-errors."
    )


def cut_to_budget(questions: list[Question], left: int | None) -> tuple[list[Question], bool]:
    """Cut the questions of a round to the queries that are left; None is no limit.

    A Try is cut in order, and ends the search. A partial Probe is cut in order too, and the search
    goes on if there was anything left before this round. Any other Probe is asked whole or not at
    all. Return the questions to ask, and whether the case is out of budget after this round.
    """
    plan: list[Question] = []
    is_spent = left is not None and left <= 0
    for ask, items in questions:
        if ask.is_query and left is not None:
            if len(items) > left:
                if is_spent or not getattr(ask, "partial", False):
                    # The search ends after this round, so the answers to Probes are of no use.
                    plan = [question for question in plan if isinstance(question[0], Try)]
                    return plan + ([(ask, items[:left])] if isinstance(ask, Try) else []), True
                items = items[:left]
            left -= len(items)
        plan.append((ask, items))
    return plan, False


@dataclass(frozen=True)
class Improvement:
    """The best candidate of a case so far, at its query number.

    Of a search that goes on after a win, `cost` is a winner's; the cheapest winner is best. `level`
    is how rough the edits are, if the search says so.
    """

    query: int
    loss: float
    item: Any
    payload: Any
    cost: float | None = None
    level: str | None = None


@dataclass(frozen=True)
class ItemKept:
    """An item that the search kept for the report, with the target's answer if it was asked."""

    name: str
    item: Any
    payload: Any = None
    cost: float | None = None


@dataclass(frozen=True)
class Outcome:
    """How one case ended. `best` is the winner, or the candidate that came nearest.

    Of a search that samples, `tried` counts the samples, and `won` those that reached the goal.
    `proved_words` and `single_swaps` are what the search noted: with how many changed words nothing
    reaches the goal, and how many texts have one word changed; `levels` how the case stands at each
    level of edits that was tried, and `random_edits` how many were asked, and how many won.
    """

    case: Case[Any]
    status: Status
    reason: str
    queries: int
    steps: tuple[Improvement, ...] = ()
    best: Improvement | None = None
    tried: int | None = None
    won: int | None = None
    kept_items: tuple[ItemKept, ...] = ()
    proved_words: int | None = None
    single_swaps: int | None = None
    levels: Mapping[str, LevelStatus] = field(default_factory=dict)
    random_edits: tuple[int, int] | None = None


SOME_SILENT, ALL_SILENT = "some candidates got no label", "no candidate got a label"
"""The reasons of a case that is not broken, where the target did not always answer."""


FIRST_PART = 4
"""How many candidates of a path are asked about first."""
MAX_WINNERS = 32
"""For searches with costs: how many winners to keep, in case the cheapest fail when asked alone."""


@dataclass
class RunningCase:
    """A case whose search has begun.

    `plan` lists the plain questions of this round, each with the items that the budget allows.
    `parts` are the answers so far to a path, which is asked part by part. `has_offered` tells
    whether a candidate was tried; the original, asked about again, is none. `winners` are those to
    report, the best first: one that ended the search or, of a search with costs, the cheapest ones,
    of a search that samples, the first ones. `sampled` and `sampled_won` count the samples so far.
    `kept` is the candidate that is reported without a winner, whatever its loss. `kept_items` are
    those that the search wants in the report, by name. `proved_words`,
    `single_swaps`, `is_proved`, `reason`, `levels` and `random_edits` are what the search noted for
    the row. Where a target may give no answer, `silent` counts those of the `offered` candidates.
    """

    case: Case[Any]
    search: Search[None]
    steps: list[Improvement]
    queries: int = 1
    ask: Ask[Any] = field(default_factory=lambda: Ask(()))
    plan: list[Question] = field(default_factory=list)
    is_out_of_budget: bool = False
    has_offered: bool = False
    parts: list[Answer] = field(default_factory=list)
    winners: list[Improvement] = field(default_factory=list)
    kept: Improvement | None = None
    sampled: int | None = None
    sampled_won: int = 0
    kept_items: dict[str, list[ItemKept]] = field(default_factory=dict)
    proved_words: int | None = None
    single_swaps: int | None = None
    is_proved: bool = False
    reason: str = ""
    levels: dict[str, LevelStatus] = field(default_factory=dict)
    random_edits: tuple[int, int] | None = None
    silent: Counter[str] = field(default_factory=Counter)
    offered: int = 0

    def note_silent(self, silent: Counter[str], offered: int) -> None:
        """Count the candidates that were offered, and those that got no answer, by its label."""
        self.silent += silent
        self.offered += offered

    def advance(self, answer: Any) -> None:
        """Send the search its answer, and take its next question; what it notes is kept."""
        self.ask = self.search.send(answer)
        while isinstance(self.ask, Note):
            note = self.ask
            if note.proved_words is not None:
                self.proved_words = note.proved_words
            if note.single_swaps is not None:
                self.single_swaps = note.single_swaps
            if note.reason is not None:
                self.reason = note.reason
            if note.level is not None:
                self.levels[note.level[0]] = note.level[1]
            if note.random_edits is not None:
                self.random_edits = note.random_edits
            self.is_proved = self.is_proved or note.is_whole
            self.ask = self.search.send(None)

    @property
    def path(self) -> Sequence[Any] | None:
        """Return the candidates offered in order, or None if the question is of another kind."""
        return self.ask.items if isinstance(self.ask, Try) and self.ask.in_order else None

    @property
    def tried(self) -> int:
        """Count the candidates of the path that are answered."""
        return sum(len(answer.loss) for answer in self.parts)

    def make_plan(self, budget: int | None) -> None:
        """Plan the questions of this round, within the budget."""
        questions = []
        for leaf in leaves(self.ask):
            items = leaf.items
            if leaf is self.ask and self.path is not None:
                # Most paths win early: ask about a few, then about as many again as were tried.
                items = items[self.tried : self.tried + max(FIRST_PART, self.tried)]
            questions.append((leaf, items))
        left = None if budget is None else budget - self.queries
        self.plan, self.is_out_of_budget = cut_to_budget(questions, left)

    def judge(self, leaf: Try, items: Sequence[Any], answer: Answer) -> bool:
        """Count the queries of a Try, note improvements and winners; tell if the search is over."""
        self.has_offered = self.has_offered or any(item is not self.case.item for item in items)
        if leaf.cost is not None:
            self._judge_costs(leaf, leaf.cost, items, answer)
            return False
        if leaf.keep and len(items):
            self.kept = self._improvement(int(answer.loss.argmax()), leaf, items, answer)
        if isinstance(leaf, Sample):
            self._judge_samples(leaf, items, answer)
            return False
        wins = np.flatnonzero(answer.won)
        count, winner = len(items), -1
        if len(wins):
            winner = int(wins[0]) if leaf.in_order else int(wins[answer.loss[wins].argmax()])
            count = winner + 1 if leaf.in_order else count
        self._note_improvements(leaf, items, answer, range(count))
        if winner >= 0:
            self.winners = [self._improvement(winner, leaf, items, answer)]
        self.queries += count
        return winner >= 0

    def _judge_costs(
        self, leaf: Try, cost: Sequence[float], items: Sequence[Any], answer: Answer
    ) -> None:
        """Keep the cheapest winners; until there is one, note what comes nearer to the goal."""
        wins = np.flatnonzero(answer.won).tolist()
        first = wins[0] if wins else len(items)
        if not self.winners:
            self._note_improvements(leaf, items, answer, range(first))
        for n in wins:
            winner = self._improvement(n, leaf, items, answer)
            if not self.winners or cost[n] < (self.winners[0].cost or 0.0):
                self.steps.append(winner)
            self._keep(winner)
        self.queries += len(items)

    def _judge_samples(self, leaf: Try, items: Sequence[Any], answer: Answer) -> None:
        """Count samples and winners; keep the first winners, and note what comes before them."""
        wins = np.flatnonzero(answer.won).tolist()
        if not self.winners:
            self._note_improvements(leaf, items, answer, range(wins[0] if wins else len(items)))
        for n in wins[: MAX_WINNERS - len(self.winners)]:
            self.winners.append(self._improvement(n, leaf, items, answer))
        self.queries += len(items)
        self.sampled = (self.sampled or 0) + len(items)
        self.sampled_won += len(wins)

    def _keep(self, winner: Improvement) -> None:
        """Keep a winner if it is among the cheapest; of equal items only the cheapest is kept."""
        last = self.winners[-1] if len(self.winners) >= MAX_WINNERS else None
        if last is not None and (winner.cost, winner.query) >= (last.cost, last.query):
            return
        key = winner.item.key
        same = next((w for w in self.winners if w.item.key == key), None)
        if same is not None:
            if (winner.cost, winner.query) >= (same.cost, same.query):
                return
            self.winners.remove(same)
        insort(self.winners, winner, key=lambda w: (w.cost, w.query))
        del self.winners[MAX_WINNERS:]

    def keep(self, ask: KeepItems) -> None:
        """Keep items for the report, in place of those of the same name."""
        rows = zip(ask.items, ask.answers, ask.cost)
        self.kept_items[ask.name] = [ItemKept(ask.name, *row) for row in rows]

    def drop_step(self, query: int) -> None:
        """Take back what a query seemed to show, if a search with costs goes on without it."""
        if self.winners:
            self.steps = [step for step in self.steps if step.query != query]

    def _note_improvements(
        self, leaf: Try, items: Sequence[Any], answer: Answer, numbers: Iterable[int]
    ) -> None:
        best_loss = self.steps[-1].loss
        for n in numbers:
            # The original, asked about again, gains nothing but rounding.
            if answer.loss[n] > best_loss and items[n] is not self.case.item:
                best_loss = float(answer.loss[n])
                self.steps.append(self._improvement(n, leaf, items, answer))

    def _improvement(self, n: int, leaf: Try, items: Sequence[Any], answer: Answer) -> Improvement:
        query, loss = self.queries + n + 1, float(answer.loss[n])
        # Before there is a winner, a step on the way has no cost.
        cost = float(leaf.cost[n]) if leaf.cost is not None and answer.won[n] else None
        return Improvement(query, loss, items[n], answer.answers[n], cost, leaf.level)

    def unfit(self, unfit: Unfit) -> Outcome:
        """Build the outcome of a case that its search calls unfit."""
        if self.has_offered:
            misuse = "raised Unfit after it had tried candidates"
            return self.outcome("error", f"the attack {misuse}: {unfit}. Let the search end.")
        return self.outcome("skipped", str(unfit))

    def _without_answers(self, status: Status, reason: str) -> tuple[Status, str]:
        """Return status and reason of a case some of whose candidates got no answer."""
        if self.silent.total() < self.offered:
            return ("held", SOME_SILENT) if status == "proved" else (status, reason or SOME_SILENT)
        if len(self.silent) == 1:
            return status_of_silence(next(iter(self.silent)))[0], ALL_SILENT
        return "unparsed", ALL_SILENT

    def outcome(self, status: Status, reason: str, best: Improvement | None = None) -> Outcome:
        """Build the outcome; without a winner, `best` is what is kept, or the last improvement."""
        steps = tuple(self.steps)
        if self.silent and status in ("held", "proved", "out of budget"):
            status, reason = self._without_answers(status, reason)
        if best is not None:
            steps = (*(step for step in steps if step.query < best.query), best)
        elif self.kept is not None:
            best = self.kept
        elif len(steps) > 1:
            best = steps[-1]
        return Outcome(
            self.case,
            status,
            reason,
            self.queries,
            steps,
            best,
            tried=self.sampled,
            won=None if self.sampled is None else self.sampled_won,
            kept_items=tuple(item for own in self.kept_items.values() for item in own),
            proved_words=self.proved_words,
            single_swaps=self.single_swaps,
            levels=dict(self.levels),
            random_edits=self.random_edits,
        )

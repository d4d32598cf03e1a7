"""One case under attack: its search, what it asks next, its budget, and what it has found."""

from __future__ import annotations

from bisect import insort
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from brittle.asks import (
    Answer,
    Ask,
    Case,
    KeepItems,
    Note,
    Sample,
    Search,
    Try,
    Unfit,
    leaves,
)
from brittle.engine.budget import Question, cut_to_budget
from brittle.engine.outcomes import Improvement, ItemKept, Outcome
from brittle.statuses import LevelStatus, Status

FIRST_PART = 4
"""The number of candidates of a path that are asked about first."""
MAX_WINNERS = 32
"""Of a search with costs: how many winners are kept, in case the cheapest fail when asked alone."""


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
    the row.
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
            misuse = "called the case unfit after it had tried candidates"
            return self.outcome("error", f"the attack {misuse}: {unfit}. Let the search end.")
        return self.outcome("skipped", str(unfit))

    def outcome(self, status: Status, reason: str, best: Improvement | None = None) -> Outcome:
        """Build the outcome; without a winner, `best` is what is kept, or the last improvement."""
        steps = tuple(self.steps)
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

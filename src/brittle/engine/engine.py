"""The engine: advances many searches side by side and judges what they offer.

Every round takes the pending questions of the running cases, lets the broker answer them as one
batch, judges the answers by the goal, and sends each search its part. Budgets, wins, steps and
statuses are decided in this room and nowhere else.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from random import Random
from typing import Any

import numpy as np

from brittle.asks import (
    NOTHING_TO_EDIT,
    UNTRIED,
    Answer,
    Attack,
    Case,
    Try,
    Unfit,
    assembled,
    leaves,
    uses_budget,
)
from brittle.engine.broker import Broker
from brittle.engine.garbage import former_objects_frozen
from brittle.engine.outcomes import Improvement, Outcome
from brittle.engine.rounds import RoundAnswers, join_answers
from brittle.engine.running import RunningCase
from brittle.errors import BrittleError, Interrupted, TargetDown, message_of
from brittle.goals import Goal

TEXTS_KEPT_PER_CASE = 500
"""Under a limit on the whole run: how many texts must still be allowed for each running case."""


@dataclass
class Engine:
    """Attack cases, a sliding window of them at a time.

    Up to `admit` new cases join a round that holds fewer than `fill` items and `window` cases. If
    the texts of the whole run are limited, few cases run at a time: most texts should end in
    finished cases. After `patience` cases in a row that ended in an error the target counts as
    down. Cases of a size above `longest` are skipped. `name` is the attack's, part of every case's
    random seed.
    """

    attack: Attack
    goal: Goal
    broker: Broker
    name: str = "attack"
    budget: int | None = None
    seed: int = 0
    window: int = 256
    fill: int = 8192
    admit: int = 32
    patience: int = 25
    longest: int = 5000

    def run(self, cases: Iterable[Case[Any]]) -> Iterator[list[Outcome]]:
        """Yield, round by round, the outcomes of the cases that ended in it."""
        with former_objects_frozen():
            yield from self._rounds(iter(cases))

    def _rounds(self, source: Iterator[Case[Any]]) -> Iterator[list[Outcome]]:
        running: list[RunningCase] = []
        failing = 0
        while True:
            if self.broker.stopping.is_set():
                raise Interrupted("Stopped as asked, after the round that was under way.")
            ended: list[Outcome] = []
            fresh = list(self._admitted(source, running))
            if fresh:
                self._start(fresh, running, ended)
            elif not running:
                return
            if running:
                self._round(running, ended)
            for outcome in ended:
                failing = failing + 1 if outcome.status == "error" else 0
            if ended:
                yield ended
            if failing >= self.patience:
                raise TargetDown(
                    f"The last {failing} cases all ended in an error; the last one: "
                    f"{ended[-1].reason}. Mend the target, then resume with --retry-errors."
                )

    def _admitted(self, source: Iterator[Any], running: list[RunningCase]) -> Iterator[Case[Any]]:
        """Yield new cases while there is room; long ones need more of it, for they fill memory."""
        asked = ((len(leaf.items), r.case.text.size) for r in running for leaf in leaves(r.ask))
        items = sum(count * max(1, size // 256) for count, size in asked)
        room = 0 if items >= self.fill else 64 * self.admit
        left, vacant = self.broker.left, self.window - len(running)
        if left is not None:
            vacant = min(self.window, max(1, left // TEXTS_KEPT_PER_CASE)) - len(running)
        while room > 0 and vacant > 0 and (case := next(source, None)) is not None:
            yield case
            room -= max(64, case.text.size)
            vacant -= 1

    def _start(
        self, cases: list[Case[Any]], running: list[RunningCase], ended: list[Outcome]
    ) -> None:
        """Ask about the originals (query 1), skip what need not be attacked, begin the rest."""
        payloads, failures = self.broker.answer("scores", [case.text for case in cases])
        for number, (case, payload) in enumerate(zip(cases, payloads)):
            if number in failures:
                ended.append(Outcome(case, "error", message_of(failures[number]), 1))
                continue
            label = self.goal.reference(payload) if case.label is None else case.label
            toward = -1 if case.toward is None else case.toward
            loss, won = self.goal.judge(np.array([payload]), np.array([label]), np.array([toward]))
            start = Answer(np.array([payload]), loss, won)
            left = self.budget - 1 if self.budget is not None and uses_budget(self.attack) else None
            started = replace(case, label=label, start=start, budget=left)
            first = Improvement(1, float(loss[0]), case.text, payload)
            reason = self.goal.unfit(payload, label, toward)
            if reason is None and not 0 < case.text.size <= self.longest:
                reason = f"too long (above {self.longest})" if case.text.size else NOTHING_TO_EDIT
            if reason is not None:
                ended.append(Outcome(started, "skipped", reason, 1, (first,)))
                continue
            search = self.attack(started, Random(f"{self.seed}:{case.id}:{self.name}"))
            r = RunningCase(started, search, label, toward, [first])
            if self._advance(r, None, ended):
                running.append(r)

    def _round(self, running: list[RunningCase], ended: list[Outcome]) -> None:
        """Ask all questions of a round, one desk after another, and settle every case."""
        items: dict[str, list[Any]] = {}
        owners: dict[str, list[tuple[int, int, int]]] = {}
        for r in running:
            r.make_plan(self.budget)
            for leaf, asked in r.plan:
                if type(leaf) not in self.attack.asks:
                    raise BrittleError(
                        f"Attack {self.name!r} asks {type(leaf).__name__}, which it does not "
                        "declare. Add it to its `asks`."
                    )
                items.setdefault(leaf.question, []).extend(leaf.requests_for(asked))
                if leaf.is_query:
                    owners.setdefault(leaf.question, []).append((r.label, r.toward, len(asked)))
        start = running[0].case.start
        answers: dict[str, RoundAnswers] = {}
        for question, asked in items.items():
            answers[question] = RoundAnswers(*self.broker.answer(question, asked))
            if question in owners and start is not None:
                answers[question].judge(self.goal, owners[question], start)
        winners: list[tuple[RunningCase, Improvement]] = []
        running[:] = [r for r in running if self._settle(r, answers, winners, ended)]
        if winners:
            checked = self.broker.alone("scores", [best.item for _, best in winners])
            ended += self._confirmed(winners, *checked)

    def _settle(
        self,
        r: RunningCase,
        answers: dict[str, RoundAnswers],
        winners: list[tuple[RunningCase, Improvement]],
        ended: list[Outcome],
    ) -> bool:
        """Count and judge the answers of one case; tell whether its search goes on."""
        own: list[Any] = []
        is_decided = False
        for leaf, asked in r.plan:
            answer, failure = answers[leaf.question].next(leaf, len(asked))
            if is_decided:
                continue
            if failure is not None:
                r.queries += len(asked) if leaf.is_query else 0
                ended.append(r.outcome("error", message_of(failure)))
                is_decided = True
            elif isinstance(leaf, Try):
                winner = r.judge(leaf, asked, answer)
                if winner is not None:
                    winners.append((r, winner))
                    is_decided = True
            elif leaf.is_query:
                r.queries += len(asked)
            own.append(answer)
        if is_decided or r.is_out_of_budget:
            r.search.close()
            if not is_decided:
                reason = f"budget of {self.budget} queries" if r.has_offered else UNTRIED
                ended.append(r.outcome("out of budget", reason))
            return False
        if r.path is None:
            return self._advance(r, assembled(r.ask, iter(own)), ended)
        r.parts.append(own[0])
        if r.tried < len(r.path):
            return True
        whole, r.parts = join_answers(r.parts), []
        return self._advance(r, whole, ended)

    def _confirmed(
        self,
        winners: list[tuple[RunningCase, Improvement]],
        payloads: list[Any],
        failures: dict[int, Exception],
    ) -> Iterator[Outcome]:
        """Judge every winner by its score alone: only what still wins counts as broken."""
        for number, ((r, best), payload) in enumerate(zip(winners, payloads)):
            if number in failures:
                yield r.outcome("unconfirmed", message_of(failures[number]), best)
                continue
            loss, won = self.goal.judge(
                np.array([payload]), np.array([r.label]), np.array([r.toward])
            )
            final = replace(best, loss=float(loss[0]), payload=payload)
            if won[0]:
                yield r.outcome("broken", "", final)
            else:
                yield r.outcome("unconfirmed", "scored again alone, it no longer wins", final)

    def _advance(self, r: RunningCase, answer: Any, ended: list[Outcome]) -> bool:
        """Send a search its answer; tell whether it asks on."""
        try:
            r.ask = r.search.send(answer)
        except StopIteration:
            ended.append(r.outcome("held", ""))
            return False
        except Unfit as unfit:
            ended.append(r.unfit(unfit))
            return False
        except BrittleError:
            raise
        except Exception as error:
            ended.append(r.outcome("error", f"the attack raised {message_of(error)}"))
            return False
        return True

"""The engine: advances many searches side by side and judges what they offer.

Every round takes the pending questions of the running cases, lets the broker answer them as one
batch, judges the answers by the goal, and sends each search its part. Budgets, wins, steps and
statuses are decided in this room and nowhere else.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from random import Random
from typing import Any

from brittle.asks import (
    ANSWER,
    CANDIDATE,
    NOTHING_TO_EDIT,
    UNTRIED,
    Ask,
    Attack,
    Case,
    KeepItems,
    Try,
    Unfit,
    assembled,
    leaves,
    uses_budget,
)
from brittle.engine.broker import Broker
from brittle.engine.lowered import in_float32
from brittle.engine.rounds import (
    RoundAnswers,
    RoundAsks,
    hold_to,
    join_answers,
    judge_alone,
    judge_round,
    start_case,
)
from brittle.engine.running import (
    RAISED,
    Improvement,
    Outcome,
    RunningCase,
    all_failed,
    line_of,
)
from brittle.engine.workers import former_objects_frozen
from brittle.errors import BrittleError, Interrupted, message_of
from brittle.goals import Goal, NeedsAnswer, status_of_silence
from brittle.goals.constraints import Constraint
from brittle.statuses import Status

TEXTS_KEPT_PER_CASE = 500
"""With a limit on the whole run: how many texts must still be allowed for each running case."""


@dataclass
class Engine:
    """Attack cases, a sliding window of them at a time.

    Up to `admit` new cases join a round that holds fewer than `fill` items and `window` cases. If
    the texts of the whole run are limited, few cases run at a time: most texts should end in
    finished cases. After `patience` cases in a row that ended in an error the target counts as
    down. Cases of a size above `longest` are skipped. `name` is the attack's, part of every case's
    random seed. What breaks one of the `constraints` does not win.
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
    longest: int | None = 5000
    constraints: Sequence[Constraint] = ()

    def run(self, cases: Iterable[Case[Any]]) -> Iterator[list[Outcome]]:
        """Yield, round by round, the outcomes of the cases that ended in it."""
        with former_objects_frozen():
            yield from self._rounds(iter(cases))

    def _rounds(self, source: Iterator[Case[Any]]) -> Iterator[list[Outcome]]:
        running: list[RunningCase] = []
        failing = 0
        while True:
            if self.broker.stopping.is_set():
                raise Interrupted("Stopped on request after the current round.")
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
                yield in_float32(ended, self.goal, self.constraints, self.broker)
            if failing >= self.patience:
                raise all_failed(failing, ended[-1].reason, self.name)

    def _admitted(self, source: Iterator[Any], running: list[RunningCase]) -> Iterator[Case[Any]]:
        """Yield new cases while there is room; long ones need more of it, for they fill memory."""
        asked = ((len(leaf.items), r.case.item.size) for r in running for leaf in leaves(r.ask))
        items = sum(count * max(1, size // 256) for count, size in asked)
        room = 0 if items >= self.fill else 64 * self.admit
        left, vacant = self.broker.left, self.window - len(running)
        if left is not None:
            vacant = min(self.window, max(1, left // TEXTS_KEPT_PER_CASE)) - len(running)
        while room > 0 and vacant > 0 and (case := next(source, None)) is not None:
            yield case
            room -= max(64, case.item.size)
            vacant -= 1

    def _start(
        self, cases: list[Case[Any]], running: list[RunningCase], ended: list[Outcome]
    ) -> None:
        """Ask about the originals (query 1), skip what need not be attacked, begin the rest."""
        payloads, failures = self.broker.answer(ANSWER, [case.item for case in cases])
        left = self.budget - 1 if self.budget is not None and uses_budget(self.attack) else None
        for number, (case, payload) in enumerate(zip(cases, payloads)):
            if number in failures:
                ended.append(Outcome(case, "error", message_of(failures[number]), 1))
                continue
            status: Status = "skipped"
            case = replace(case, budget=left, is_constrained=bool(self.constraints))
            started, reason = start_case(self.goal, case, payload)
            first = Improvement(1, started.start_loss, case.item, payload)
            if isinstance(self.goal, NeedsAnswer) and (silence := self.goal.silence(payload)):
                status, reason = status_of_silence(silence)
            elif reason is None and not case.item.size:
                reason = NOTHING_TO_EDIT
            elif reason is None and self.longest is not None and case.item.size > self.longest:
                reason = f"too long (above {self.longest})"
            if reason is not None:
                ended.append(Outcome(started, status, reason, 1, (first,)))
                continue
            search = self.attack(started, Random(f"{self.seed}:{case.id}:{self.name}"))
            r = RunningCase(started, search, [first])
            if self._advance(r, None, ended):
                running.append(r)

    def _round(self, running: list[RunningCase], ended: list[Outcome]) -> None:
        """Ask all questions of a round, one desk after another, and settle every case."""
        asks: dict[str, RoundAsks] = {}
        for r in running:
            r.make_plan(self.budget)
            for leaf, items in r.plan:
                if isinstance(leaf, KeepItems):
                    continue
                if type(leaf) not in self.attack.asks:
                    raise BrittleError(
                        f"Attack {self.name!r} asks {type(leaf).__name__}, but does not "
                        "declare it. Add it to the attack's `asks`."
                    )
                asks.setdefault(self._question(leaf), RoundAsks()).add(r.case, leaf, items)
        answers: dict[str, RoundAnswers] = {}
        for question, asked in asks.items():
            payloads, failures = self.broker.answer(question, asked.requests)
            answers[question] = RoundAnswers(payloads, failures)
            if asked.cases:
                judged = judge_round(
                    self.goal, asked.cases, asked.counts, asked.items, payloads, failures
                )
                if self.constraints:
                    judged = hold_to(self.constraints, self.broker, asked, judged)
                answers[question].judged = judged
        winning: list[RunningCase] = []
        running[:] = [r for r in running if self._settle(r, answers, winning, ended)]
        while winning:
            winning = self._confirm(winning, ended)

    def _question(self, leaf: Ask[Any]) -> str:
        """Return the question of a plain ask: candidates may be scored in a lower precision."""
        is_lowered = leaf.question == ANSWER and CANDIDATE in self.broker.desks
        return CANDIDATE if is_lowered else leaf.question

    def _settle(
        self,
        r: RunningCase,
        answers: dict[str, RoundAnswers],
        winning: list[RunningCase],
        ended: list[Outcome],
    ) -> bool:
        """Count and judge the answers of one case; tell whether its search goes on."""
        own: list[Any] = []
        is_over = False
        for leaf, asked in r.plan:
            if isinstance(leaf, KeepItems):
                r.keep(leaf)
                own.append(None)
                continue
            answer, failure = answers[self._question(leaf)].next(leaf, len(asked))
            if is_over:
                continue
            if failure is not None:
                r.queries += len(asked) if leaf.is_query else 0
                r.winners = []
                ended.append(r.outcome("error", message_of(failure)))
                is_over = True
            elif isinstance(leaf, Try):
                if isinstance(self.goal, NeedsAnswer):
                    r.note_silent(self.goal.count_silent(answer.answers), len(asked))
                is_over = r.judge(leaf, asked, answer)
            elif leaf.is_query:
                r.queries += len(asked)
            own.append(answer)
        if is_over or r.is_out_of_budget:
            r.search.close()
            if not is_over and not r.winners:
                reason = f"budget of {self.budget} queries" if r.has_offered else UNTRIED
                ended.append(r.outcome("out of budget", reason))
            goes_on = False
        elif r.path is None:
            goes_on = self._advance(r, assembled(r.ask, iter(own)), ended)
        else:
            r.parts.append(own[0])
            goes_on = True
            if r.tried >= len(r.path):
                whole, r.parts = join_answers(r.parts), []
                goes_on = self._advance(r, whole, ended)
        if not goes_on and r.winners:
            winning.append(r)
        return goes_on

    def _confirm(self, winning: list[RunningCase], ended: list[Outcome]) -> list[RunningCase]:
        """Ask every best winner alone: only what still wins counts as broken.

        Return the cases whose winner failed and that have another one.
        """
        payloads, failures = self.broker.alone(ANSWER, [r.winners[0].item for r in winning])
        others = []
        for number, (r, payload) in enumerate(zip(winning, payloads)):
            best, reason = r.winners.pop(0), "scored again alone, it no longer wins"
            if number in failures:
                reason = message_of(failures[number])
            else:
                loss, won = judge_alone(self.goal, r.case, best.item, payload)
                best = replace(best, loss=loss, payload=payload)
                if won:
                    ended.append(r.outcome("broken", r.reason, best))
                    continue
            r.drop_step(best.query)
            if r.winners:
                others.append(r)
            else:
                ended.append(r.outcome("unconfirmed", reason, best))
        return others

    def _advance(self, r: RunningCase, answer: Any, ended: list[Outcome]) -> bool:
        """Send a search its answer; tell whether it asks on."""
        try:
            r.advance(answer)
        except StopIteration:
            if not r.winners:
                ended.append(r.outcome("proved" if r.is_proved else "held", r.reason))
            return False
        except Unfit as unfit:
            r.winners = []
            ended.append(r.unfit(unfit))
            return False
        except BrittleError:
            raise
        except Exception as error:
            r.winners = []
            ended.append(r.outcome("error", f"{RAISED} {message_of(error)}{line_of(error)}"))
            return False
        return True

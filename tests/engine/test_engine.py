"""The engine's rules, on plain integers: the core knows nothing of text."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from random import Random
from typing import Any, ClassVar

import numpy as np
import pytest

from brittle.asks import Case, Flips, KeepItems, Note, Probe, Search, Try, Unfit, together
from brittle.engine.broker import Broker
from brittle.engine.desks import Desk, compute_by_halves, cut_batches
from brittle.engine.engine import Engine
from brittle.engine.running import Outcome
from brittle.errors import BrittleError, Interrupted, RunStopped, TargetDown, TargetError
from brittle.goals import Untargeted
from brittle.moves import ScoredMoves
from brittle.targets.capabilities import scores_desk
from engine.numbers import Number


class Odd:
    """Says how odd numbers are: the probability of the second class grows with n mod 100."""

    name, fingerprint, labels = "odd", "odd", ("low", "high")
    parallel = 1

    def __init__(self, fails: Sequence[int] = ()) -> None:
        self.asked: list[list[int]] = []
        self.fails = fails

    def scores(self, items: Sequence[Number]) -> Any:
        self.asked.append([int(n) for n in items])
        if any(n in self.fails for n in items):
            raise ValueError("cannot read this number")
        high = np.array([n % 100 / 100 for n in items])
        return np.stack([1 - high, high], axis=1)


def searching(function: Any, *asks: type) -> Any:
    class Searches:
        def __call__(self, case: Case[Number], rng: Random) -> Search[None]:
            return function(case, rng)  # type: ignore[no-any-return]

    Searches.asks = asks or (Probe, Try)  # type: ignore[attr-defined]
    Searches.uses_budget = True  # type: ignore[attr-defined]
    return Searches()


def climb(case: Case[Number], rng: Random) -> Search[None]:
    """Add ten until the number is high."""
    number = case.text
    for _ in range(20):
        yield from Probe([Number(number + 1), Number(number + 2)])
        number = Number(number + 10)
        yield from Try([number])


def run(attack: Any, numbers: Sequence[int], target: Any = None, **options: Any) -> list[Outcome]:
    broker = Broker({"answer": scores_desk(target or Odd())})
    engine = Engine(searching(attack), Untargeted(), broker, **options)
    cases = [Case(str(i), Number(n), 0) for i, n in enumerate(numbers)]
    ended = [outcome for part in engine.run(cases) for outcome in part]
    return sorted(ended, key=lambda outcome: int(outcome.case.id))


def test_climbing_wins_and_counts_every_query() -> None:
    (outcome,) = run(climb, [15])
    assert outcome.status == "broken"
    assert outcome.best is not None and int(outcome.best.item) == 55
    assert outcome.queries == 1 + 4 * 3
    assert [step.query for step in outcome.steps] == [1, 4, 7, 10, 13]
    assert [round(step.loss, 2) for step in outcome.steps] == [0.15, 0.25, 0.35, 0.45, 0.55]


def test_a_probe_never_ends_a_search() -> None:
    def probes(case: Case[Number], rng: Random) -> Search[None]:
        answer = yield from Probe([Number(99)])
        assert answer.won[0]

    (outcome,) = run(probes, [10])
    assert (outcome.status, outcome.queries, outcome.best) == ("held", 2, None)


def test_in_order_counts_up_to_the_first_winner_but_is_asked_at_once() -> None:
    target = Odd()

    def path(case: Case[Number], rng: Random) -> Search[None]:
        yield from Try([Number(n) for n in (20, 60, 90)], in_order=True)

    (outcome,) = run(path, [10], target)
    assert outcome.best is not None
    assert (outcome.status, outcome.queries, int(outcome.best.item)) == ("broken", 3, 60)
    assert sorted(target.asked[1]) == [20, 60, 90]


def test_a_path_is_asked_part_by_part_until_it_wins() -> None:
    target, heard = Odd(), []

    def path(case: Case[Number], rng: Random) -> Search[None]:
        answer = yield from Try([Number(n) for n in range(11, 31)], in_order=True)
        heard.append([round(loss, 2) for loss in answer.loss])
        yield from Try([Number(n) for n in range(45, 65)], in_order=True)

    (outcome,) = run(path, [10], target)
    assert (outcome.status, outcome.queries) == ("broken", 1 + 20 + 7)
    assert heard == [[n / 100 for n in range(11, 31)]]
    sizes = [len(batch) for batch in target.asked]
    assert sizes == [1, 4, 4, 8, 4, 4, 4, 1]  # and the winner alone


def test_a_failure_behind_the_first_winner_of_a_path_is_none() -> None:
    def path(case: Case[Number], rng: Random) -> Search[None]:
        yield from Try([Number(n) for n in (60, 70, 37)], in_order=True)

    def other(case: Case[Number], rng: Random) -> Search[None]:
        yield from Try([Number(n) for n in (20, 37, 70)], in_order=True)

    (outcome,) = run(path, [10], Odd(fails=[37]))
    assert (outcome.status, outcome.queries) == ("broken", 2)
    (outcome,) = run(other, [10], Odd(fails=[37]))
    assert (outcome.status, outcome.queries) == ("error", 4)


def test_steps_never_go_back() -> None:
    class Three(Odd):
        labels = ("low", "middle", "high")

        def scores(self, items: Sequence[Number]) -> Any:
            table = {1: (0.7, 0.2, 0.1), 2: (0.44, 0.46, 0.1), 3: (0.4, 0.3, 0.3)}
            return np.array([table[int(n)] for n in items])

    def offers(case: Case[Number], rng: Random) -> Search[None]:
        yield from Try([Number(2), Number(3)])

    (outcome,) = run(offers, [1], Three())
    assert outcome.status == "broken"
    assert [(step.query, int(step.item)) for step in outcome.steps] == [(1, 1), (2, 2)]


def test_probes_beside_one_that_does_not_fit_are_not_paid_for() -> None:
    target = Odd()

    def one(count: int) -> Search[None]:
        yield from Probe([Number(20 + n) for n in range(count)])

    def both(case: Case[Number], rng: Random) -> Search[None]:
        yield from together([one(2), one(3)])

    (outcome,) = run(both, [10], target, budget=4)
    assert (outcome.status, outcome.queries) == ("out of budget", 1)
    assert target.asked == [[10]]


def test_a_partial_probe_is_cut_and_the_search_goes_on() -> None:
    heard: list[Any] = []

    def probes(case: Case[Number], rng: Random) -> Search[None]:
        heard.append(case.budget)
        answer = yield from Probe([Number(n) for n in (20, 21, 22)], partial=True)
        heard.append(len(answer.loss))
        yield from Probe([Number(30)], partial=True)

    (outcome,) = run(probes, [10], budget=3)
    assert heard == [2, 2]
    assert (outcome.status, outcome.queries) == ("out of budget", 3)
    assert outcome.reason == "before one candidate was tried"
    (outcome,) = run(probes, [10])
    assert heard[2:] == [None, 3] and (outcome.status, outcome.queries) == ("held", 5)


def test_an_attack_that_does_not_declare_it_never_sees_the_budget() -> None:
    heard: list[Any] = []

    @dataclass(frozen=True)
    class Plain:
        asks: ClassVar = (Probe,)

        def __call__(self, case: Case[Number], rng: Random) -> Search[None]:
            heard.append(case.budget)
            yield from Probe([Number(20)])

    engine = Engine(Plain(), Untargeted(), Broker({"answer": scores_desk(Odd())}), budget=5)
    list(engine.run([Case("0", Number(10), 0)]))
    assert heard == [None]


def test_partial_probes_asked_together_share_what_is_left() -> None:
    heard: list[Any] = []

    def one(first: int) -> Search[int]:
        answer = yield from Probe([Number(first + n) for n in range(3)], partial=True)
        return len(answer.loss)

    def several(case: Case[Number], rng: Random) -> Search[None]:
        heard.extend((yield from together([one(20), one(30), one(40)])))
        yield from Try([Number(50)])

    (outcome,) = run(several, [10], budget=6)
    assert heard == [3, 2, 0]
    assert (outcome.status, outcome.queries) == ("out of budget", 6)


def test_a_search_that_tried_a_candidate_ends_by_its_budget() -> None:
    (outcome,) = run(climb, [15], budget=5)
    assert outcome.reason == "budget of 5 queries"


def test_a_search_can_call_its_case_unfit() -> None:
    def unfit(case: Case[Number], rng: Random) -> Search[None]:
        yield from Probe([Number(20)])
        yield from Try([case.text])
        raise Unfit("no candidates")

    def late(case: Case[Number], rng: Random) -> Search[None]:
        yield from Try([Number(20)])
        raise Unfit("no candidates")

    (outcome,) = run(unfit, [10])
    assert (outcome.status, outcome.reason, outcome.queries) == ("skipped", "no candidates", 3)
    (outcome,) = run(late, [10])
    assert outcome.status == "error" and "after it had tried candidates" in outcome.reason


def test_of_several_winners_the_highest_loss_counts() -> None:
    def offers(case: Case[Number], rng: Random) -> Search[None]:
        yield from Try([Number(n) for n in (60, 90, 70)])

    (outcome,) = run(offers, [10])
    assert outcome.best is not None
    assert (int(outcome.best.item), outcome.queries) == (90, 4)


@pytest.mark.parametrize(
    ("budget", "queries", "status"),
    [
        (1, 1, "out of budget"),
        (2, 1, "out of budget"),
        (3, 3, "out of budget"),
        (4, 4, "out of budget"),
        (13, 13, "broken"),
    ],
)
def test_the_budget_is_never_passed(budget: int, queries: int, status: str) -> None:
    (outcome,) = run(climb, [15], budget=budget)
    assert (outcome.queries, outcome.status) == (queries, status)


def test_a_try_is_cut_to_the_budget_in_order() -> None:
    def offers(case: Case[Number], rng: Random) -> Search[None]:
        yield from Try([Number(n) for n in (20, 60, 90)])

    (outcome,) = run(offers, [10], budget=3)
    assert outcome.best is not None
    assert (outcome.status, outcome.queries, int(outcome.best.item)) == ("broken", 3, 60)


def test_already_wrong_and_nothing_to_edit_are_skipped() -> None:
    class Nothing(Number):
        @property
        def size(self) -> int:
            return 0

    broker = Broker({"answer": scores_desk(Odd())})
    engine = Engine(searching(climb), Untargeted(), broker)
    cases = [Case("0", Number(80), 0), Case("1", Nothing(10), 0)]
    (ended,) = engine.run(cases)
    assert [(o.status, o.reason, o.queries) for o in ended] == [
        ("skipped", "already wrong", 1),
        ("skipped", "nothing to edit", 1),
    ]


def test_without_a_label_the_prediction_is_the_reference() -> None:
    broker = Broker({"answer": scores_desk(Odd())})
    engine = Engine(searching(climb), Untargeted(), broker)
    (ended,) = engine.run([Case("0", Number(80), None)])
    assert ended[0].case.label == 1 and ended[0].status == "broken"


def test_nothing_is_computed_twice() -> None:
    target = Odd()
    run(climb, [15, 15, 15], target)
    sent = [n for batch in target.asked for n in batch]
    assert target.asked[-2:] == [[55], [55]]  # the winner is scored again, alone
    assert len(sent) - 1 == len(set(sent))


def test_results_do_not_depend_on_window_batch_or_order() -> None:
    numbers = [3, 15, 27, 40, 49, 88, 12, 12]

    def draws(case: Case[Number], rng: Random) -> Search[None]:
        for _ in range(30):
            yield from Try([Number(case.text + rng.randrange(40)) for _ in range(2)])

    def rows(numbers: Sequence[int], **options: Any) -> list[Any]:
        return [
            (o.status, o.queries, o.best and int(o.best.item))
            for o in run(draws, numbers, **options)
        ]

    base = rows(numbers)
    assert base == rows(numbers, window=1) == rows(numbers, fill=1) == rows(numbers, admit=1)
    assert any(status == "broken" for status, *_ in base)


def test_together_runs_in_lockstep_and_keeps_values() -> None:
    target = Odd()
    values: list[Any] = []

    def one(n: int) -> Search[int]:
        if n == 0:
            return -1
        for step in range(n):
            yield from Probe([Number(n + step)])
        return n

    def all_(case: Case[Number], rng: Random) -> Search[None]:
        values.append((yield from together(one(n) for n in (2, 0, 3, 1))))

    run(all_, [10], target)
    assert values == [[2, -1, 3, 1]]
    assert [sorted(batch) for batch in target.asked] == [[10], [1, 2, 3], [4], [5]]


def test_what_a_search_notes_stands_in_the_outcome_and_costs_nothing() -> None:
    def noting(case: Case[Number], rng: Random) -> Search[None]:
        yield from Note(reason="first")
        yield from Try([Number(case.text + 1)])
        yield from Note(proved_words=1)
        yield from Note(reason="then")
        yield from Try([Number(case.text + 10)])
        yield from Note(proved_words=2, is_whole=True)

    proved, broken, at_once = run(noting, [10, 45, 50])
    assert (proved.status, proved.reason, proved.proved_words) == ("proved", "then", 2)
    assert (broken.status, broken.reason, broken.proved_words) == ("broken", "then", 1)
    assert (at_once.status, at_once.reason, at_once.proved_words) == ("broken", "first", None)
    assert [outcome.queries for outcome in (proved, broken, at_once)] == [3, 3, 2]
    [cut] = run(noting, [10], budget=2)
    assert (cut.status, cut.proved_words) == ("out of budget", 1)


def test_a_proof_that_is_not_the_end_proves_nothing() -> None:
    def going_on(case: Case[Number], rng: Random) -> Search[None]:
        yield from Note(is_whole=True)
        yield from Try([Number(60)])

    [outcome] = run(going_on, [10])
    assert outcome.status == "broken"


def test_a_note_inside_together_is_named() -> None:
    def one() -> Search[None]:
        yield from Note(proved_words=1)

    def all_(case: Case[Number], rng: Random) -> Search[None]:
        yield from together([one()])

    with pytest.raises(BrittleError, match="asks Note, but does not declare"):
        run(all_, [10])


def test_a_failing_item_costs_only_its_own_case() -> None:
    target = Odd(fails=[38])
    outcomes = run(climb, [15, 27, 3], target)
    assert [o.status for o in outcomes] == ["broken", "error", "broken"]
    assert "ValueError: cannot read this number" in outcomes[1].reason


def test_a_round_in_which_everything_fails_ends_its_cases_whatever_the_classes() -> None:
    class Three(Odd):
        labels = ("low", "middle", "high")

        def scores(self, items: Sequence[Number]) -> Any:
            rows = super().scores(items)
            return np.insert(rows[:, ::-1], 1, 0.0, axis=1)

    broker = Broker({"answer": scores_desk(Three(fails=range(16, 100)))})
    engine = Engine(searching(climb), Untargeted(), broker)
    (ended,) = engine.run([Case("0", Number(15), 2)])
    assert [outcome.status for outcome in ended] == ["error"]


def test_a_target_that_only_fails_stops_the_run() -> None:
    with pytest.raises(TargetDown, match="last 5 cases all ended in an error"):
        run(climb, [15] * 40, Odd(fails=range(100)), patience=5, admit=5)


def test_a_search_that_raises_is_an_error_of_its_case() -> None:
    def broken(case: Case[Number], rng: Random) -> Search[None]:
        yield from Probe([Number(1)])
        raise KeyError("oops")

    (outcome,) = run(broken, [15])
    where = f"(test_engine.py, line {broken.__code__.co_firstlineno + 2}, in broken)"
    assert (outcome.status, outcome.reason) == (
        "error",
        f"the attack raised KeyError: 'oops' {where}",
    )


def test_asking_what_is_not_declared_is_refused() -> None:
    broker = Broker({"answer": scores_desk(Odd())})
    engine = Engine(searching(climb, Try), Untargeted(), broker)
    with pytest.raises(BrittleError, match="asks Probe, but does not declare"):
        list(engine.run([Case("0", Number(1), 0)]))


def test_a_winner_that_does_not_win_alone_is_unconfirmed() -> None:
    class Moody(Odd):
        def scores(self, items: Sequence[Number]) -> Any:
            rows = super().scores(items)
            return rows[:, ::-1] if list(items) == [90] and len(self.asked) > 2 else rows

    def offers(case: Case[Number], rng: Random) -> Search[None]:
        yield from Try([Number(80), Number(90)])

    (outcome,) = run(offers, [10], Moody())
    assert outcome.status == "unconfirmed"


@pytest.mark.parametrize(
    "answer", [np.zeros((1, 3)), np.zeros((7, 2)), np.full((1, 2), np.nan), "text", None]
)
def test_unusable_answers_are_errors_of_their_case(answer: Any) -> None:
    class Bad(Odd):
        def scores(self, items: Sequence[Number]) -> Any:
            return answer

    (outcome,) = run(climb, [15], Bad())
    assert outcome.status == "error"


def test_the_limit_on_what_is_sent_stops_the_run_and_keeps_what_was_paid() -> None:
    target = Odd()
    broker = Broker({"answer": scores_desk(target)}, most_sent=6)
    engine = Engine(searching(climb), Untargeted(), broker)
    with pytest.raises(RunStopped, match="limit of 6 items"):
        list(engine.run([Case(str(i), Number(i * 10), 0) for i in range(4)]))
    assert sum(map(len, target.asked)) == 6 == broker.totals.sent


def test_a_limit_below_what_was_sent_sends_nothing() -> None:
    target = Odd()
    broker = Broker({"answer": scores_desk(target)}, most_sent=5)
    broker.totals.sent = 9
    with pytest.raises(RunStopped, match="limit of 5 items"):
        broker.answer("answer", [Number(n) for n in range(20)])
    assert target.asked == []


def test_what_halving_sends_again_is_counted() -> None:
    broker = Broker({"answer": scores_desk(Odd(fails=[3]))})
    _, failures = broker.answer("answer", [Number(n) for n in range(4)])
    assert list(failures) == [3] and broker.totals.sent == 4 + 2 + 2 + 1 + 1


def test_stopping_ends_the_run_between_rounds() -> None:
    broker = Broker({"answer": scores_desk(Odd())})
    broker.stopping.set()
    with pytest.raises(Interrupted):
        list(Engine(searching(climb), Untargeted(), broker).run([Case("0", Number(1), 0)]))


def test_a_hanging_target_stops_the_run() -> None:
    import threading

    release = threading.Event()

    class Hangs(Odd):
        def scores(self, items: Sequence[Number]) -> Any:
            release.wait(5)
            return super().scores(items)

    broker = Broker({"answer": scores_desk(Hangs())}, watchdog=0.05)
    with pytest.raises(TargetDown, match="seems to hang"):
        list(Engine(searching(climb), Untargeted(), broker).run([Case("0", Number(1), 0)]))
    release.set()


def test_canonical_keys_give_one_answer_to_what_the_target_cannot_tell_apart() -> None:
    class Rounds(Odd):
        def canonical(self, items: Sequence[Number]) -> list[bytes]:
            return [str(n // 10).encode() for n in items]

    target = Rounds()
    broker = Broker({"answer": scores_desk(target)})
    payloads, failures = broker.answer("answer", [Number(n) for n in (11, 12, 19, 25)])
    assert failures == {} and payloads[0] == payloads[1] == payloads[2] != payloads[3]
    assert sum(map(len, target.asked)) == 2


def test_the_cache_forgets_the_oldest_and_stays_small() -> None:
    target = Odd()
    broker = Broker({"answer": scores_desk(target)}, cache_size=10)
    for start in range(0, 100, 5):
        broker.answer("answer", [Number(n) for n in range(start, start + 5)])
    broker.answer("answer", [Number(99)])
    assert sum(map(len, target.asked)) == 100
    broker.answer("answer", [Number(0)])
    assert sum(map(len, target.asked)) == 101


def test_batches_are_sorted_by_size_and_parallel_workers_share_them() -> None:
    class Sized(Number):
        @property
        def size(self) -> int:
            return 100 - int(self)

    target = Odd()
    target.parallel = 2
    broker = Broker({"answer": scores_desk(target)})
    broker.answer("answer", [Sized(n) for n in (1, 4, 2, 3)])
    assert sorted(target.asked) == [[2, 1], [4, 3]]
    target.asked.clear()
    broker.answer("answer", [Sized(n) for n in (97, 50, 98, 96, 95)])  # of sizes 2, 3, 4, 5 and 50
    assert sorted(target.asked) == [[50], [98, 97, 96, 95]]


@pytest.mark.parametrize(
    ("own", "wanted", "largest"), [(None, 7, 7), (16, 7, 7), (5, 7, 5), (16, None, 16)]
)
def test_the_smaller_of_two_batch_sizes_holds(
    own: int | None, wanted: int | None, largest: int
) -> None:
    sizes: list[int] = []

    def compute(items: Sequence[Any]) -> list[int]:
        sizes.append(len(items))
        return [0] * len(items)

    broker = Broker({"tags": Desk(compute, batch=own)}, batch=wanted)
    broker.answer("tags", [Number(n) for n in range(40)])
    broker.close()
    assert max(sizes) == largest


def test_batches_hold_every_item_once_and_are_never_too_large() -> None:
    rng = Random(0)
    for _ in range(500):
        sizes = sorted(rng.randrange(9) for _ in range(rng.randrange(40)))
        most, workers = rng.randrange(1, 12), rng.randrange(1, 5)
        batches = cut_batches(list(range(len(sizes))), sizes, most, workers)
        assert [n for batch in batches for n in batch] == list(range(len(sizes)))
        assert all(0 < len(batch) <= most for batch in batches)
        assert len(batches) <= max(workers, -(-len(sizes) // most))


def test_helpers_are_not_queries() -> None:
    broker = Broker({"answer": scores_desk(Odd()), "tags": Desk(lambda items: ["N"] * len(items))})
    assert broker.answer("tags", [Number(1)]) == (["N"], {})
    assert broker.totals.sent == 0


def test_desk_errors_name_shape_and_expectation() -> None:
    class Wide(Odd):
        def scores(self, items: Sequence[Number]) -> Any:
            return np.zeros((len(items), 5))

    _, failures = Broker({"answer": scores_desk(Wide())}).answer("answer", [Number(1)])
    assert isinstance(failures[0], TargetError)
    assert "shape (1, 5) for 1 texts; expected (1, 2)" in str(failures[0])


def test_the_original_asked_again_is_no_improvement() -> None:
    """The pass that finds edits may differ from plain scoring in the last digits; no gain."""

    class Again:
        asks = (Flips,)

        def __call__(self, case: Case[Number], rng: Random) -> Search[None]:
            answer = yield from Flips([case.text], lambda item: item)
            assert answer.moves == ["its edits"] and answer.loss[0] > case.start_loss

    desks = {
        "answer": Desk(lambda items: [[0.6, 0.4]] * len(items)),
        "flips": Desk(
            lambda items: [ScoredMoves([0.6 - 1e-9, 0.4 + 1e-9], "its edits")] * len(items)
        ),
    }
    [[ended]] = list(Engine(Again(), Untargeted(), Broker(desks)).run([Case("0", Number(1), 0)]))
    assert ended.status == "held" and ended.best is None and ended.queries == 2


def test_nothing_is_asked_of_a_desk_that_fails_on_nothing() -> None:
    def refuses_nothing(items: Sequence[Any]) -> list[Any]:
        return [np.stack([np.zeros(2) for _ in items])[0]] * len(items)  # numpy stacks at least one

    assert Broker({"answer": Desk(refuses_nothing)}).answer("answer", []) == ([], {})
    assert compute_by_halves(refuses_nothing, []) == ([], {})


def test_notes_are_kept_with_the_case_and_ask_nobody() -> None:
    def noting(case: Case[Number], rng: Random) -> Search[None]:
        def part(n: int) -> Search[int]:
            yield from KeepItems(f"part {n}", [Number(n)], cost=[0.5])
            return n

        answer = yield from Probe([Number(7)])
        yield from KeepItems("first", [Number(7)], answer.answers)
        assert (yield from together([part(1), part(2)])) == [1, 2]
        yield from KeepItems("first", [Number(8), Number(9)])
        if case.text == 3:
            raise Unfit("noted")

    target = Odd()
    for outcome, status in zip(run(noting, [5, 3], target), ("held", "skipped")):
        assert (outcome.status, outcome.queries) == (status, 2)
        kept = [(noted.name, int(noted.item), noted.cost) for noted in outcome.kept_items]
        assert kept == [
            ("first", 8, None),
            ("first", 9, None),
            ("part 1", 1, 0.5),
            ("part 2", 2, 0.5),
        ]
    assert sorted(n for asked in target.asked for n in asked) == [3, 5, 7]

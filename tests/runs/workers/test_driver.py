"""Driver and workers in one process: equal rows, limits, stops, deaths, and a target of many."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
import pytest

from brittle.asks import ANSWER
from brittle.data.dataset import Dataset
from brittle.data.example import as_examples, case_ids
from brittle.engine.broker import Broker
from brittle.engine.engine import Engine
from brittle.errors import Interrupted, LimitReached, RunStopped, TargetDown, UsageError
from brittle.runs.job import Job
from brittle.runs.workers.driver import MAX_DEATHS_IN_A_ROW, Dealing, Driver
from brittle.runs.workers.setup import packed
from brittle.runs.workers.starting import WorkerAsker, Workforce, make_setup
from brittle.targets.options import Target
from brittle.testing import FakeTarget
from brittle.text import Text
from brittle.workflow.backends import Workers
from runs.workers.threads import Death, WorkerThreads, attack, limits_of

WEIGHTS = {"good": 2.0, "great": 2.0, "bad": -2.0}
FILMS = [
    (f"a good film of {i} great scenes{' and a wonderful story' * (i % 3)}", "positive")
    for i in range(40)
]


def target() -> FakeTarget:
    return FakeTarget(WEIGHTS, spread=0.4)


@dataclass
class Deadly(FakeTarget):
    """Kills its process when it reads a word, or at a call; `kills` is shared by all replicas."""

    word: str = ""
    deadly_call: int = 1 << 30
    kills: ClassVar[list[str]] = []

    def scores(self, items: Sequence[Text]) -> Any:
        if any(self.word and self.word in str(item) for item in items):
            raise Death
        if len(self.calls) == self.deadly_call and self.kills:
            self.kills.pop()
            raise Death
        return super().scores(items)


@dataclass
class Costly(FakeTarget):
    """Is paid for; nobody may copy it."""

    costly = True
    in_process = False

    def __reduce__(self) -> Any:
        raise TypeError("a copy of an endpoint")


@dataclass
class Failing(FakeTarget):
    """Answers nothing at all."""

    def scores(self, items: Sequence[Text]) -> Any:
        raise ValueError("out of order")


@dataclass
class Other(FakeTarget):
    """Cannot be opened where workers are."""

    def __setstate__(self, state: Any) -> None:
        raise UsageError("no such model here")


@pytest.mark.parametrize(("name", "workers"), [("pwws", 1), ("pwws", 3), ("genetic", 2)])
def test_rows_and_steps_are_those_of_one_process(name: str, workers: int) -> None:
    films = FILMS[:30] if name == "pwws" else FILMS[:4]
    alone, shared = attack(target(), films, name), attack(target(), films, name, workers=workers)
    assert shared.error is None and shared.rows == alone.rows
    assert {s.case for s in shared.steps} == {s.case for s in alone.steps}
    assert len(shared.steps) == len(alone.steps) and shared.broker.totals.asked > len(films)
    assert shared.broker.totals.asked == alone.broker.totals.asked
    assert {*{row.status for row in alone.results}} >= {"broken"}


def test_the_limit_holds_for_all_workers_together() -> None:
    shared = attack(target(), FILMS, workers=3, most_sent=900)
    assert isinstance(shared.error, LimitReached) and "limit of 900" in str(shared.error)
    assert shared.broker.totals.sent <= 900
    alone = attack(target(), FILMS, most_sent=900)
    whole = attack(target(), FILMS).rows
    assert len(shared.rows) >= 0.5 * len(alone.rows) > 2
    assert all(whole[case] == row for case, row in shared.rows.items())


def test_a_costly_target_is_asked_by_the_driver_alone_and_as_often_as_by_one_process() -> None:
    paid = Costly(WEIGHTS, spread=0.4)
    shared = attack(paid, FILMS[:30], workers=3)
    single = Costly(WEIGHTS, spread=0.4)
    alone = attack(single, FILMS[:30])
    assert shared.error is None and shared.rows == alone.rows
    assert sum(paid.calls) == sum(single.calls) == shared.broker.totals.sent
    limited = attack(Costly(WEIGHTS, spread=0.4), FILMS, workers=2, most_sent=100)
    assert isinstance(limited.error, LimitReached) and limited.broker.totals.sent == 100


def test_a_stop_reaches_all_workers_and_finished_cases_are_kept() -> None:
    for kind in (FakeTarget, Costly):
        stopped = attack(kind(WEIGHTS, spread=0.4), FILMS, workers=2, stop_after=3)
        assert isinstance(stopped.error, Interrupted) and "Stopped on request" in str(stopped.error)
        assert 3 <= len(stopped.rows) < len(FILMS)


def test_a_target_that_fails_for_all_is_down_after_as_many_cases_as_in_one_process() -> None:
    shared = attack(target(), FILMS, workers=2, replica=Failing(WEIGHTS))
    assert isinstance(shared.error, TargetDown) and "out of order" in str(shared.error)
    assert Engine.patience <= len(shared.rows) < len(FILMS)
    assert {row.status for row in shared.results} == {"error"}


def test_a_worker_that_dies_is_named_and_its_cases_are_attacked_by_others() -> None:
    Deadly.kills[:] = ["one"]
    mortal = Deadly(WEIGHTS, spread=0.4, deadly_call=5)
    shared = attack(target(), FILMS[:30], workers=2, replica=mortal, batch=64)
    assert shared.error is None and shared.rows == attack(target(), FILMS[:30]).rows
    assert len(shared.warnings) == 1 and "died (killed in a test)" in shared.warnings[0]
    assert shared.warnings[0].startswith("Worker ") and "process" in shared.warnings[0]
    assert shared.driver is not None and isinstance(shared.driver.group, WorkerThreads)
    assert len(shared.driver.group.started) == 3


def test_a_case_that_kills_its_worker_ends_as_an_error_and_no_other_does() -> None:
    films = [*FILMS[:24], ("a good film that crashes", "positive")]
    shared = attack(target(), films, workers=2, replica=Deadly(WEIGHTS, spread=0.4, word="crash"))
    alone = attack(target(), films).rows
    wrong = [row for row in shared.results if row.status == "error"]
    assert shared.error is None and [row.original for row in wrong] == [films[-1][0]]
    assert wrong[0].reason == "its worker died again while it alone was attacked (killed in a test)"
    assert len(shared.warnings) == 3 and "counts as an error" in shared.warnings[-1]
    others = {case: row for case, row in shared.rows.items() if row.status != "error"}
    assert others == {case: row for case, row in alone.items() if case in others}
    assert len(shared.rows) == len(films)


def test_workers_that_all_die_stop_the_run() -> None:
    Deadly.kills[:] = ["all"] * MAX_DEATHS_IN_A_ROW
    shared = attack(target(), FILMS, workers=2, replica=Deadly(WEIGHTS, deadly_call=0))
    assert isinstance(shared.error, RunStopped) and "use fewer --workers" in str(shared.error)
    assert shared.driver is not None and isinstance(shared.driver.group, WorkerThreads)
    assert len(shared.driver.group.started) == 2 + MAX_DEATHS_IN_A_ROW - 1


def test_a_worker_that_cannot_open_the_target_says_so() -> None:
    shared = attack(target(), FILMS[:20], workers=2, replica=Other(WEIGHTS))
    assert type(shared.error) is UsageError
    assert "could not open the target: no such model here" in str(shared.error)
    assert "Worker 1" in str(shared.error) or "Worker 2" in str(shared.error)


def test_what_cannot_be_sent_is_named() -> None:
    class Local(FakeTarget):
        """A class that pickle does not find."""

    local = attack(Local(WEIGHTS), FILMS[:3], workers=2)
    assert type(local.error) is UsageError
    assert str(local.error).startswith("The target 'fake' is a live object that cannot be sent")
    assert "workers=1" in str(local.error)


def test_nobody_waits_for_a_worker_that_finds_no_place() -> None:
    class OneStarts(WorkerThreads):
        """A cluster with room for one worker."""

        def start(self, number: int) -> None:
            if number == 1:
                super().start(number)

    shared = attack(target(), FILMS[:12], workers=2, group=OneStarts)
    assert shared.error is None and shared.rows == attack(target(), FILMS[:12]).rows


def begun(replica: Any, workers: int = 2, **limits: Any) -> tuple[WorkerAsker, list[str], Driver]:
    """Start workers that deal no cases yet, and return who asks them, and the warnings."""
    rows = tuple(as_examples(FILMS))
    dataset = Dataset("examples", "all", rows, ("positive",))
    job = Job.of(target(), dataset, "key", {})
    broker = Broker(job.desks, **limits)
    origin = Target(replica)
    setup = make_setup(Workforce(Workers(workers), origin, limits_of(broker)), job, workers)
    warnings: list[str] = []
    cases = job.cases(dataset, case_ids(rows), set())
    dealing = Dealing(cases, len(rows), workers)
    driver = Driver(WorkerThreads(packed(setup)), dealing, broker, job, workers, warnings.append)
    driver.start()
    return WorkerAsker(driver), warnings, driver


def test_a_worker_answers_what_the_driver_asks_before_cases_are_dealt() -> None:
    asker, warnings, driver = begun(target())
    items = [Text.of(text) for text, _ in FILMS[:5]]
    for ask in (asker.answer, asker.alone):
        answers, failures = ask(ANSWER, items)
        assert not failures and np.array_equal(answers, target().scores(items))
    rows = [row for results, _ in driver.rows() for row in results]
    assert len(rows) == len(FILMS) and not warnings and driver.broker.totals.sent >= 10


def test_the_text_that_kills_a_worker_is_found_among_those_asked_and_named() -> None:
    asker, warnings, driver = begun(Deadly(WEIGHTS, spread=0.4, word="crash"))
    texts = [text for text, _ in FILMS[:31]]
    items = [Text.of(text) for text in (*texts[:20], "a good film that crashes", *texts[20:])]
    answers, failures = asker.answer(ANSWER, items)
    assert list(failures) == [20] and "the worker died that was asked" in str(failures[20])
    whole = [item for n, item in enumerate(items) if n != 20]
    assert np.array_equal([a for n, a in enumerate(answers) if n != 20], target().scores(whole))
    assert "one case only: 'a good film that crashes'" in warnings[-1]
    assert all("asked again in two halves" in warning for warning in warnings[:-1])
    assert len([row for results, _ in driver.rows() for row in results]) == len(FILMS)


def test_what_stops_the_run_is_raised_to_who_asks() -> None:
    asker, _, driver = begun(target())
    driver.broker.stopping.set()
    with pytest.raises(Interrupted):
        asker.answer(ANSWER, [Text.of("a good film")])
    asker, _, _ = begun(target(), most_sent=3)
    assert asker.most_sent == 3 and asker.left == 3
    with pytest.raises(LimitReached):
        asker.answer(ANSWER, [Text.of(text) for text, _ in FILMS])
    asker, _, _ = begun(Other(WEIGHTS))
    with pytest.raises(UsageError, match="no such model here"):
        asker.answer(ANSWER, [Text.of("a good film")])

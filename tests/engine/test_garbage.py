"""What the host froze stays frozen; what a run froze is thawed."""

from __future__ import annotations

import gc
from collections.abc import Iterator
from typing import Any

import pytest

from brittle.attacks.baselines import random_swap
from brittle.engine.broker import Broker
from brittle.engine.engine import Engine
from brittle.engine.workers import MAX_IMMORTAL_OBJECTS, former_objects_frozen
from brittle.goals import Untargeted
from brittle.targets.capabilities import make_desks
from brittle.testing import FakeTarget


@pytest.fixture(autouse=True)
def thawed() -> Iterator[None]:
    gc.unfreeze()
    yield
    gc.unfreeze()


def is_frozen(obj: object) -> bool:
    """Tell whether the collector passes an object over."""
    return not any(found is obj for found in gc.get_objects())


def run_engine() -> Iterator[bool]:
    """Tell of an object made before the run whether it is frozen, during the run and after it."""
    made_before: list[int] = []
    during: list[bool] = []

    def cases() -> Iterator[Any]:
        yield from ()
        during.append(is_frozen(made_before))

    engine = Engine(random_swap(), Untargeted(), Broker(make_desks(FakeTarget())))
    list(engine.run(cases()))
    yield from during
    yield is_frozen(made_before)


def test_former_objects_are_frozen_during_a_run_and_thawed_after_it() -> None:
    assert list(run_engine()) == [True, False]
    assert gc.get_freeze_count() <= MAX_IMMORTAL_OBJECTS


def test_what_the_host_froze_stays_frozen() -> None:
    of_host: list[int] = []
    gc.freeze()
    assert is_frozen(of_host)
    assert list(run_engine()) == [False, False]
    assert is_frozen(of_host)


def test_a_run_inside_a_run_thaws_nothing() -> None:
    made_before: list[int] = []
    with former_objects_frozen():
        list(run_engine())
        assert is_frozen(made_before)
    assert not is_frozen(made_before)


def test_a_failure_thaws() -> None:
    made_before: list[int] = []
    with pytest.raises(KeyError), former_objects_frozen():
        raise KeyError
    assert not is_frozen(made_before)

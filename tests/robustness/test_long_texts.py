"""Long texts do not fill memory: few at a time, and their answers are forgotten sooner."""

from __future__ import annotations

from dataclasses import dataclass
from random import Random
from typing import Any, ClassVar

import pytest

from brittle.asks import Ask, Case, Probe, Search
from brittle.engine.broker import Broker
from brittle.engine.cache import Cache
from brittle.engine.engine import Engine
from brittle.goals import Untargeted
from brittle.targets.capabilities import scores_desk
from brittle.testing import FakeTarget
from brittle.text import Text


@dataclass(frozen=True)
class Counted:
    """Ask for as many copies as there are words, and count the searches at work."""

    at_work: list[int]
    asks: ClassVar[tuple[type[Ask[Any]], ...]] = (Probe,)

    def __call__(self, case: Case[Text], rng: Random) -> Search[None]:
        self.at_work.append(self.at_work[-1] + 1)
        for _ in range(2):
            yield from Probe([case.text] * len(case.text))
        self.at_work.append(self.at_work[-1] - 1)


@pytest.mark.parametrize(
    ("words", "count", "limit"),
    [
        (4, 99, 96),
        (60, 99, 96),
        (250, 40, 27),
        pytest.param(700, 12, 9, marks=pytest.mark.slow),
        pytest.param(2048, 3, 1, marks=pytest.mark.slow),
    ],
)
def test_the_longer_the_texts_the_fewer_at_a_time(words: int, count: int, limit: int) -> None:
    cases = [Case(str(i), Text.of(f"good{i} " * words), 1) for i in range(count)]
    target = FakeTarget({f"good{i}": 1.0 for i in range(count)})
    attack = Counted([0])
    broker = Broker({"answer": scores_desk(target)})
    ended = [o for outcomes in Engine(attack, Untargeted(), broker).run(cases) for o in outcomes]
    broker.close()
    assert {outcome.status for outcome in ended} == {"held"} and len(ended) == len(cases)
    assert 0.5 * limit <= max(attack.at_work) <= limit


def test_the_cache_is_bounded_by_bytes_too() -> None:
    cache = Cache(1000)
    for i in range(50):
        cache.keep({str(i).encode() + b"x" * 100_000: i})
    kept_bytes = sum(map(len, [*cache.young, *cache.old]))
    assert 1_000_000 <= kept_bytes <= 2 * 1024 * 1000
    newest = b"49" + b"x" * 100_000
    assert cache.find([newest]) == {newest: 49}


def test_the_cache_holds_short_keys_by_number() -> None:
    cache = Cache(1000)
    for i in range(5000):
        cache.keep({str(i).encode(): i})
    assert 1000 <= len(cache.young) + len(cache.old) <= 2000

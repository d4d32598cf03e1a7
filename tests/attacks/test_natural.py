"""Natural adversaries: both searches against a plain reference, and a nearest one that is known."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from random import Random
from typing import Any, ClassVar

import numpy as np
import pytest

import brittle
from brittle.asks import Answer, Case, Decode, Encode, KeepItems, Probe, Try
from brittle.attacks import RunContext, build
from brittle.attacks.natural import (
    RECONSTRUCTION,
    AuthorsHybrid,
    Hybrid,
    Iterative,
    Natural,
    Uniform,
    open_part,
    placed,
)
from brittle.engine.broker import Broker
from brittle.engine.engine import Engine
from brittle.engine.running import Outcome
from brittle.errors import UsageError
from brittle.goals import Untargeted
from brittle.latent import LatentPoint
from brittle.targets.capabilities import make_desks
from brittle.testing import FakeGenerator, FakeTarget
from brittle.text import Text

SIZE = 4
MATRIX = np.array([[2.0, 0.5, 0.0, 1.0], [0.0, 1.0, -1.0, 0.5], [1.0, 0.0, 0.0, -2.0]])
NORMAL, OFFSET = np.array([1.0, -2.0, 0.5]), 4.0
ORIGIN = np.array([0.25, -0.5, 0.125, 0.5])


@dataclass(frozen=True)
class Linear:
    """x = A z; its inverse is known for one item."""

    name: str = "linear"
    fingerprint: str = "linear"
    size: int = SIZE
    item_kind: str = "vector"

    def encode(self, items: Sequence[LatentPoint]) -> list[LatentPoint]:
        return [LatentPoint(ORIGIN) for _ in items]

    def decode(self, points: Sequence[LatentPoint]) -> list[LatentPoint]:
        return [LatentPoint(MATRIX @ point.vector) for point in points]


@dataclass
class HalfSpace:
    """The second class where n·x is above an offset."""

    offset: float = OFFSET
    name: str = "half-space"
    fingerprint: str = "half-space"
    labels: tuple[str, ...] = ("below", "above")
    item_kind: str = "vector"

    def scores(self, items: Sequence[LatentPoint]) -> Any:
        above = np.array([NORMAL @ item.vector.astype(float) > self.offset for item in items])
        return np.stack([~above, above], axis=1).astype(float)


def attacked(attack: Natural, target: Any = None, budget: int | None = None) -> Outcome:
    broker = Broker(make_desks(target or HalfSpace(), attack.helpers), cache_size=1)
    engine = Engine(attack, Untargeted(), broker, name="natural", budget=budget)
    [[outcome]] = list(engine.run([Case("0", LatentPoint(MATRIX @ ORIGIN), 0)]))
    return outcome


class Reference:
    """The shells of the paper, one after another, drawn as the attack says that it draws."""

    def __init__(self, samples: int) -> None:
        self.samples, self.queries, self.best = samples, 2, math.inf
        seed = Random("0:0:natural").getrandbits(64)
        self.numbers = np.random.default_rng(seed)

    def look(self, low: float, high: float) -> float | None:
        direction = self.numbers.standard_normal((self.samples, SIZE))
        u = self.numbers.random(self.samples)
        found = []
        for n in range(self.samples):
            length = high - (high - low) * u[n]
            assert low < length <= high
            z = np.float32(ORIGIN + direction[n] / np.linalg.norm(direction[n]) * length)
            if NORMAL @ np.float32(MATRIX @ z) > OFFSET:
                found.append(length)
        self.queries += self.samples
        self.best = min([self.best, *found])
        return min(found) if found else None

    def iterative(self, step: float, radius: float) -> None:
        low, n = 0.0, 0
        while low < radius - 1e-9 and self.look(low, min(low + step, radius)) is None:
            n += 1
            low = n * step

    def hybrid(self, step: float, radius: float, misses: int) -> None:
        low, high, i = 0.0, radius, 0
        while high - low >= step:  # lines 5 to 15
            found = self.look(low, high)
            if found is None:
                low = (low + high) / 2
            else:
                low, high = 0.0, found
        while i < misses and high > 0:  # lines 17 to 27
            found = self.look(max(0.0, high - step), high)
            if found is None:
                i += 1
                high -= step
            else:
                i, high = 0, found


def nearest() -> float:
    """The distance of the origin from the plane n·A z = offset."""
    normal = MATRIX.T @ NORMAL
    return float((OFFSET - normal @ ORIGIN) / np.linalg.norm(normal))


@pytest.mark.parametrize("samples", (1, 7, 100, 600))
@pytest.mark.parametrize("step", (0.05, 0.3))
def test_searches_equal_a_plain_reference(samples: int, step: float) -> None:
    for search in ("iterative", "hybrid"):
        reference = Reference(samples)
        if search == "iterative":
            reference.iterative(step, 3.0)
            outcome = attacked(Natural(Linear(), Iterative(step, 3.0), samples))
        else:
            reference.hybrid(step, 3.0, 5)
            outcome = attacked(Natural(Linear(), Hybrid(step, 3.0, 5), samples))
        assert outcome.queries == reference.queries
        if reference.best == math.inf:
            assert outcome.status == "held"
        else:
            assert outcome.status == "broken"
            assert outcome.best is not None and outcome.best.cost == reference.best


def test_the_distance_nears_the_nearest_as_samples_grow() -> None:
    gaps = []
    for samples in (5, 50, 2000):
        best = attacked(Natural(Linear(), Hybrid(0.01, 5.0, 5), samples)).best
        assert best is not None and best.cost is not None
        assert best.cost >= nearest() - 1e-6
        gaps.append(best.cost - nearest())
    assert gaps[0] > gaps[1] > gaps[2] and gaps[2] < 0.03


def test_hybrid_needs_fewer_queries_than_iterative_and_is_nearer_than_uniform() -> None:
    hybrid = attacked(Natural(Linear(), Hybrid(0.01, 5.0, 5), 200))
    iterative = attacked(Natural(Linear(), Iterative(0.01, 5.0), 200))
    shells = -(-hybrid.queries // 200)
    uniform = attacked(Natural(Linear(), Uniform(5.0, shells), 200))
    assert hybrid.best and iterative.best and uniform.best
    assert hybrid.queries < iterative.queries
    costs = [outcome.best.cost or 0.0 for outcome in (iterative, hybrid, uniform) if outcome.best]
    assert costs[1] < 1.2 * costs[0] and costs[2] > max(costs[:2])


class TestAuthorsCode:
    """Shells of the authors' hybrid, for invented answers, traced by hand from their code."""

    def shells(self, answers: Sequence[float | None]) -> list[tuple[float, float]]:
        asked: list[tuple[float, float]] = []

        def look(low: float, high: float) -> Any:
            asked.append((low, high))
            if len(asked) > len(answers):
                return None
            return answers[len(asked) - 1]
            yield  # a search that asks nothing

        list(AuthorsHybrid(0.5, 8.0, 2)(look))
        return asked

    def test_a_find_looks_between_half_its_distance_and_its_distance(self) -> None:
        assert self.shells([None, 6.0])[:3] == [(0.0, 8.0), (4.0, 8.0), (3.0, 6.0)]

    def test_a_find_that_is_no_nearer_halves_the_shell_from_outside(self) -> None:
        assert self.shells([6.0, 7.0])[:3] == [(0.0, 8.0), (3.0, 6.0), (3.0, 4.5)]

    def test_the_second_phase_repeats_a_shell_after_a_miss_and_goes_below_after_a_find(
        self,
    ) -> None:
        # 1.0 is found: (0.5, 1.0] is not thinner than a step; a miss makes it (0.75, 1.0].
        shells = self.shells([1.0, None, None, 0.9, None, None])
        assert shells == [
            *[(0.0, 8.0), (0.5, 1.0), (0.75, 1.0)],
            *[(0.5, 1.0), (0.0, 0.5), (0.0, 0.5)],
        ]

    def test_without_a_find_it_ends(self) -> None:
        shells = self.shells([])
        assert shells[:3] == [(0.0, 8.0), (4.0, 8.0), (6.0, 8.0)]
        assert shells[-2:] == [(7.5, 8.0), (7.5, 8.0)] and len(shells) == 8


def test_a_target_that_never_changes_ends_held() -> None:
    for search in (Iterative(0.1, 2.0), Hybrid(0.1, 2.0, 3), AuthorsHybrid(0.1, 2.0, 3)):
        outcome = attacked(Natural(Linear(), search, 20), HalfSpace(offset=1e9))
        assert outcome.status == "held" and outcome.queries < 2 + 20 * 40


def test_a_reconstruction_that_reaches_the_goal_is_no_success() -> None:
    @dataclass(frozen=True)
    class Poor(Linear):
        """Rebuilds everything far above the plane."""

        def decode(self, points: Sequence[LatentPoint]) -> list[LatentPoint]:
            return [LatentPoint(100 * NORMAL) for _ in points]

    outcome = attacked(Natural(Poor(), Hybrid(0.1, 2.0, 3), 20))
    assert (outcome.status, outcome.reason, outcome.queries) == ("skipped", RECONSTRUCTION, 2)
    assert outcome.best is None
    [noted] = outcome.kept_items
    assert noted.name == "reconstruction" and noted.item == LatentPoint(100 * NORMAL)
    assert list(noted.payload) == [0.0, 1.0]


def test_the_budget_is_kept() -> None:
    for budget in (1, 2, 3, 50, 333):
        assert (
            attacked(Natural(Linear(), Hybrid(0.01, 5.0, 5), 100), None, budget).queries <= budget
        )


def test_it_asks_what_it_declares_by_hand() -> None:
    attack = Natural(Linear(), Hybrid(0.5, 1.0, 1), 3)
    search = attack(Case("0", LatentPoint([1.0] * 3), 0), Random(0))
    assert isinstance(next(search), Encode)
    assert isinstance(search.send([LatentPoint(ORIGIN)]), Decode)
    ask = search.send([LatentPoint([1.0] * 3)])
    assert isinstance(ask, Probe) and len(ask.items) == 1
    note = search.send(Answer([[0.9, 0.1]], np.array([0.1]), np.array([False])))
    assert isinstance(note, KeepItems) and note.name == "reconstruction"
    assert note.answers == [[0.9, 0.1]] and note.cost == [0.0]
    assert {Encode, Decode, Probe, Try} == set(attack.asks)


class TestTexts:
    WORDS = ("good", "film", "poor", "fair", "plot", "nice", "lovely", "fine")
    TEXTS = ("good film", "a lovely plot", "poor", "", "nice nice fine", "…!?", "bad poor plot")
    WEIGHTS: ClassVar = {"good": 1.0, "lovely": 1.2, "fine": 0.1, "poor": -0.3, "fair": -0.6}

    def ended(self, **options: Any) -> list[Outcome]:
        target = FakeTarget(self.WEIGHTS, spread=0.7)
        attack = Natural(FakeGenerator(self.WORDS, size=5), Hybrid(0.2, 2.0, 2), samples=8)
        engine = Engine(
            attack,
            Untargeted(),
            Broker(make_desks(target, attack.helpers)),
            name="natural",
            **options,
        )
        cases = [Case(str(n), Text.of(text)) for n, text in enumerate(self.TEXTS)]
        return [outcome for part in engine.run(cases) for outcome in part]

    def rows(self, **options: Any) -> dict[str, Any]:
        return {
            o.case.id: (
                *(o.status, o.reason, o.queries, str(o.best.item) if o.best else None),
                [(noted.name, str(noted.item), noted.cost) for noted in o.kept_items],
            )
            for o in self.ended(**options)
        }

    def test_alone_and_interleaved_are_equal_and_seeds_differ(self) -> None:
        rows = self.rows()
        assert {status for status, *_ in rows.values()} >= {"broken", "skipped"}
        assert rows == self.rows(window=1, admit=1) == self.rows()
        assert rows != self.rows(seed=1)

    def test_the_sentences_on_the_way_lie_on_the_line_to_the_adversary(self) -> None:
        generator = FakeGenerator(self.WORDS, size=5)
        broken = [outcome for outcome in self.ended() if outcome.status == "broken"]
        assert broken
        for outcome in broken:
            assert outcome.best is not None and outcome.best.cost is not None
            rebuilt, *way = outcome.kept_items
            assert (rebuilt.name, {noted.name for noted in way}) == ("reconstruction", {"way"})
            assert str(way[-1].item) == str(outcome.best.item)
            assert way[-1].cost == outcome.best.cost
            cost = [noted.cost or 0.0 for noted in way]
            sentences = {str(noted.item) for noted in (rebuilt, *way)}
            assert cost == sorted(cost) and len(sentences) == 1 + len(way)
            # No sentence but those at tenths of the distance, each where it comes first.
            tenths = [c / outcome.best.cost * 10 for c in cost]
            assert np.allclose(tenths, np.rint(tenths)) and min(tenths) > 0.99
            [origin] = generator.encode([outcome.case.item])
            assert rebuilt.item == generator.decode([origin])[0]

    def test_the_open_field_of_a_pair_is_read_and_replaced(self) -> None:
        pair = Text.of({"premise": "A man sleeps.", "hypothesis": "He rests"}, locked=["premise"])
        assert str(open_part(pair)) == "He rests"
        made = placed(pair, Text.of("a man runs"))
        assert made.fields() == {"premise": "A man sleeps.", "hypothesis": "a man runs"}
        assert [field.locked for field in made.frame.fields] == [True, False]

    def test_a_single_text_is_taken_whole(self) -> None:
        text = Text.of("He rests")
        assert open_part(text) is text
        assert placed(text, Text.of("a man runs")) == Text.of("a man runs")

    def test_two_open_fields_are_refused(self) -> None:
        pair = Text.of({"premise": "A man sleeps.", "hypothesis": "He rests"})
        with pytest.raises(UsageError, match="--locked premise"):
            open_part(pair)


def test_a_translator_that_fails_on_one_sentence_costs_only_its_cases(tmp_path: Path) -> None:
    def translate(texts: list[str]) -> list[str]:
        if any("plot" in text.split() for text in texts):
            raise RuntimeError("no plots")
        return [text.upper() for text in texts]

    texts = ("good film", "nice nice", "plot")
    run = brittle.attack(
        brittle.as_target(translate, answers="text"),
        texts,
        Natural(FakeGenerator(("good", "film", "nice", "plot"), size=5), Uniform(1.0, 2), 6),
        goal="keyword:NOTHING",
        folder=tmp_path,
    )
    rows = {row.original: row for row in run.results()}
    assert rows["plot"].status == "error" and "no plots" in (rows["plot"].reason or "")
    tried = {row.original: row.status for row in rows.values() if row.original != "plot"}
    assert "held" in tried.values() and set(tried.values()) <= {"held", "error"}


@pytest.mark.parametrize(
    ("values", "message"),
    [
        ({"samples": 0}, "--samples 0"),
        ({"step": 0.0}, "--step 0.0"),
        ({"radius": math.inf}, "--radius inf"),
        ({"radius": math.nan}, "--radius nan"),
        ({"radius": 0.0}, "--radius 0.0"),
        ({"radius": 0.001}, "a step no larger than the radius"),
        ({"search": "hybird"}, "Did you mean 'hybrid'"),
        ({"variant": "authors"}, "Unknown variant"),
        ({"variant": "author-code", "search": "iterative"}, "expected --search hybrid"),
        ({"refine": -1}, "--refine -1"),
        ({}, "needs a generator"),
    ],
)
def test_bad_settings_are_refused(values: dict[str, Any], message: str) -> None:
    with pytest.raises(UsageError, match=message):
        build("natural", values, RunContext(("a", "b")))

"""The engine on other kinds: texts answered by texts, pictures, and questions helpers answer."""

from __future__ import annotations

import pickle
from collections.abc import Sequence
from dataclasses import dataclass
from random import Random
from typing import Any, ClassVar, NamedTuple

import numpy as np
import pytest

from brittle.answers import TEXTS
from brittle.asks import Case, Decode, Embed, Encode, Probe, Search, Try, helpers_of
from brittle.engine.broker import Broker
from brittle.engine.engine import Engine
from brittle.engine.running import Outcome
from brittle.errors import RunStopped, UsageError
from brittle.goals import Candidates, Measured, Untargeted
from brittle.latent import LatentPoint
from brittle.picture import Picture
from brittle.targets.capabilities import make_desks
from brittle.testing import FakeTarget, FakeTranslator
from brittle.text import Text


def attacked(attack: Any, goal: Any, target: Any, item: Any, **options: Any) -> Outcome:
    broker = Broker(make_desks(target, helpers_of(attack)))
    [[outcome]] = list(Engine(attack, goal, broker, **options).run([Case("0", item)]))
    return outcome


@dataclass(frozen=True)
class Swaps:
    """Tries words at the first position: first one by one, then in order."""

    words: Sequence[str]
    asks: ClassVar = (Probe, Try)

    def __call__(self, case: Case[Text], rng: Random) -> Search[None]:
        assert case.start is not None and case.label is None
        answer = yield from Probe(case.text.swaps(0, self.words))
        assert list(answer.answers) == [f"{w}!" for w in ("uno", "due", "tre", "quattro", "cinque")]
        yield from Try(case.text.swaps(0, self.words), in_order=True)


def test_texts_are_answered_by_texts() -> None:
    words = {"one": "uno", "two": "due", "three": "tre", "four": "quattro", "five": "cinque"}
    target = FakeTranslator(words)
    goal = Measured(len, 7, TEXTS)
    outcome = attacked(Swaps(tuple(words)), goal, target, Text.of("zero!"))
    assert outcome.status == "broken" and outcome.best is not None
    assert (outcome.best.payload, outcome.queries) == ("quattro!", 1 + 5 + 4)
    assert outcome.case.start is not None and outcome.case.start.answers == ["zero!"]
    assert [step.payload for step in outcome.steps] == ["zero!", "quattro!"]
    held = attacked(Swaps(tuple(words)), Measured(len, 70, TEXTS), target, Text.of("zero!"))
    assert held.status == "held"
    skipped = attacked(Swaps(tuple(words)), goal, target, Text.of("five five"))
    assert (skipped.status, skipped.reason) == ("skipped", "already there")


class Brightness:
    """Calls a picture bright if its mean is above a half."""

    name, fingerprint, labels, item_kind = "brightness", "b", ("dark", "bright"), "picture"

    def scores(self, items: Sequence[Picture]) -> Any:
        mean = np.array([float(item.pixels.mean()) for item in items])
        return np.stack([1 - mean, mean], axis=1)


@dataclass(frozen=True)
class Brighten:
    asks: ClassVar = (Try,)

    def __call__(self, case: Case[Picture], rng: Random) -> Search[None]:
        lighter = [Picture(np.clip(case.item.pixels + n / 10, 0, 1)) for n in range(1, 11)]
        yield from Try(lighter, cost=[n / 10 for n in range(1, 11)])


def test_pictures_pass_through_the_core() -> None:
    dark = Picture(np.full((4, 4), 0.25, dtype=np.float32))
    outcome = attacked(Brighten(), Untargeted(), Brightness(), dark, longest=None)
    assert outcome.status == "broken" and outcome.best is not None
    assert outcome.best.cost == 0.3 and outcome.queries == 11


class Vector(NamedTuple):
    vector: list[float]
    scores: Any


class Embedding(FakeTarget):
    """A target with sentence embeddings; `passes` counts the texts of these passes."""

    passes = 0

    def sentence_embeddings(self, items: Sequence[Text]) -> list[Vector]:
        self.passes += len(items)
        rows = super().scores(items)
        self.calls.pop()
        return [Vector([float(len(text))], row.tolist()) for text, row in zip(items, rows)]


@dataclass(frozen=True)
class Ranks:
    """Ranks candidates by their embeddings, then tries them: nothing is computed twice."""

    asks: ClassVar = (Embed, Try)

    def __call__(self, case: Case[Text], rng: Random) -> Search[None]:
        candidates = case.text.swaps(0, ["fine", "poor", "bad"])
        vectors = yield from Embed(candidates)
        assert [v.vector for v in vectors] == [[2.0]] * 3
        yield from Try(candidates, in_order=True)


def test_the_scores_of_an_embedding_pass_are_not_asked_for_again() -> None:
    target = Embedding({"good": 2.0, "bad": -2.0, "fine": 1.0, "poor": 0.5})
    outcome = attacked(Ranks(), Untargeted(), target, Text.of("good film"))
    assert (outcome.status, outcome.queries) == ("broken", 4), "an embedding is no query"
    assert target.passes == 3
    assert target.calls == [1, 1], "the original, and the winner alone"


@dataclass
class Generator:
    """A helper: a brightness for a picture, a picture for a brightness."""

    name: str = "generator"
    fingerprint: str = "g"
    decoded: int = 0

    def encode(self, items: Sequence[Picture]) -> list[float]:
        return [float(item.pixels.mean()) for item in items]

    def decode(self, points: Sequence[LatentPoint]) -> list[Picture]:
        self.decoded += len(points)
        if any(point.vector[0] > 0.9 for point in points):
            raise ValueError("too bright")
        return [Picture(np.full((2, 2), point.vector[0])) for point in points]


@dataclass(frozen=True)
class Latent:
    helpers: Sequence[Any]
    steps: Sequence[float] = (0.1, 0.2, 0.3)
    asks: ClassVar = (Encode, Decode, Try)

    def __call__(self, case: Case[Picture], rng: Random) -> Search[None]:
        (start,) = yield from Encode([case.item])
        values = [start + step for step in self.steps]
        pictures = yield from Decode([LatentPoint([value]) for value in values])
        yield from Try(pictures, cost=self.steps)


def test_a_helper_answers_what_the_target_does_not() -> None:
    generator, dark = Generator(), Picture(np.full((2, 2), 0.25))
    attack = Latent((generator,))
    broker = Broker(make_desks(Brightness(), helpers_of(attack)))
    [[outcome]] = list(Engine(attack, Untargeted(), broker).run([Case("0", dark)]))
    assert outcome.best is not None and (outcome.status, outcome.best.cost) == ("broken", 0.3)
    assert (outcome.queries, generator.decoded, broker.totals.sent) == (4, 3, 5)


def test_a_helper_that_fails_on_one_item_ends_only_its_case() -> None:
    attack = Latent((Generator(),))
    broker = Broker(make_desks(Brightness(), helpers_of(attack)))
    cases = [Case(str(n), Picture(np.full((2, 2), n / 100))) for n in (25, 30, 80, 35)]
    ended = [o for part in Engine(attack, Untargeted(), broker).run(cases) for o in part]
    statuses = {outcome.case.id: outcome.status for outcome in ended}
    assert statuses == {"25": "broken", "30": "broken", "80": "error", "35": "broken"}
    (failed,) = [outcome for outcome in ended if outcome.status == "error"]
    assert failed.reason == "The helper 'generator' failed: ValueError: too bright"


def test_a_point_that_is_no_item_is_an_error_of_its_case() -> None:
    class Bare(Latent):
        def __call__(self, case: Case[Picture], rng: Random) -> Search[None]:
            yield from Decode([np.zeros(2)])

    outcome = attacked(Bare((Generator(),)), Untargeted(), Brightness(), Picture(np.zeros((2, 2))))
    assert outcome.status == "error" and "has no attribute 'key'" in outcome.reason


def test_a_goal_that_raises_stops_the_run_and_is_named() -> None:
    class Raises(Measured):
        def judge(self, candidates: Candidates) -> Any:
            raise ZeroDivisionError("by nothing")

        def __str__(self) -> str:
            return "my goal"

    target = FakeTranslator()
    with pytest.raises(RunStopped, match="The goal my goal failed with ZeroDivisionError"):
        attacked(Swaps(()), Raises(len, 7, TEXTS), target, Text.of("zero!"))


def test_points_are_told_apart_by_their_numbers() -> None:
    point = LatentPoint([0.5, 1.0])
    assert point == LatentPoint(np.array([0.5, 1.0])) and point != LatentPoint([1.0, 0.5])
    assert pickle.loads(pickle.dumps(point)) == point and repr(point) == "LatentPoint(2 numbers)"
    for vector in ([], [[1.0]], [np.nan]):
        with pytest.raises(UsageError, match="expected one row of finite numbers"):
            LatentPoint(vector)

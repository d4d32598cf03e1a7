"""The checks on invented scores, then on targets that misbehave."""

from __future__ import annotations

import random
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import brittle
from brittle.engine.broker import Broker
from brittle.errors import TargetDown, TargetError
from brittle.opening import as_target
from brittle.targets.capabilities import scores_desk
from brittle.targets.diagnosis.classifier import (
    changed,
    constant,
    diagnose,
    label_only,
    saturated,
    swapped,
    unstable,
)
from brittle.targets.diagnosis.samples import DiagnosisWarning, exchange_sides, exchanged
from brittle.testing import FakeTarget
from brittle.text import Text


@dataclass(frozen=True)
class Row:
    text: Text
    label: int | None

    @property
    def item(self) -> Text:
        return self.text


WORDS = ["good", "bad", "film", "story", "great", "awful", "scene", "plot", "cast", "end"]


def rows(count: int = 40, swap: bool = False) -> list[Row]:
    rng = random.Random(0)
    rows = []
    for _ in range(count):
        words = rng.choices(WORDS, k=6)
        value = sum(w in ("good", "great") for w in words) - sum(
            w in ("bad", "awful") for w in words
        )
        rows.append(Row(Text.of(" ".join(words)), int(value > 0) ^ swap))
    return rows


def sane() -> FakeTarget:
    return FakeTarget({"good": 1.5, "great": 1.5, "bad": -1.5, "awful": -1.5, "film": -0.1})


def doubts(target: Any, cases: Sequence[Row], **options: Any) -> list[DiagnosisWarning]:
    broker = Broker({"answer": scores_desk(target)})
    try:
        return diagnose(target, cases, broker, **options)  # type: ignore[arg-type]
    finally:
        broker.close()


def codes(target: Any, cases: Sequence[Row]) -> list[str]:
    return [doubt.code for doubt in doubts(target, cases)]


def test_a_sane_target_raises_no_doubt() -> None:
    target = sane()
    assert codes(target, rows()) == []
    assert sum(target.calls) == 32 + 8 and target.calls[-8:] == [1] * 8


def test_a_broker_answers_from_what_it_keeps() -> None:
    target = sane()
    broker = Broker({"answer": scores_desk(target)})
    cases = rows()
    assert diagnose(target, cases, broker) == []
    asked = sum(target.calls)
    broker.answer("answer", [case.text for case in cases[:32]])
    broker.close()
    assert sum(target.calls) == asked


def test_constant_scores() -> None:
    assert constant(np.array([[0.3, 0.7]] * 5)) is not None
    assert constant(np.array([[0.3, 0.7]])) is None
    assert constant(np.array([[0.3, 0.7], [0.3 + 1e-12, 0.7]])) is None
    [doubt] = doubts(FakeTarget(), [Row(case.text, None) for case in rows()])
    assert doubt.code == "constant" and "32 different cases" in doubt.message


def test_cases_of_one_class_get_one_label_from_a_target_that_gives_only_labels() -> None:
    hard, soft = np.array([[0.0, 1.0]] * 5), np.array([[0.3, 0.7]] * 5)
    assert constant(hard, labels=[1] * 5) is None
    assert constant(soft, labels=[1] * 5) is not None
    assert constant(hard, labels=[1, 1, 0, 1, 1]) is not None
    assert constant(hard, labels=[None] * 5) is not None


@pytest.mark.parametrize("only", ["positive", None])
def test_only_on_a_target_that_gives_only_labels(only: str | None, tmp_path: Path) -> None:
    def says(texts: list[str]) -> list[str]:
        return ["positive" if "good" in text else "negative" for text in texts]

    films = [(f"a {word} film {n}", label) for n in range(6) for word, label in JUDGED.items()]
    target = as_target(says, labels=["negative", "positive"], scores="label")
    run = brittle.attack(target, films, "random-swap", only=only, folder=tmp_path)
    (warning,) = run.manifest["warnings"]
    assert "gives only labels" in warning

    def always(texts: list[str]) -> list[str]:
        return ["positive" for _ in texts]

    silent = as_target(always, labels=["negative", "positive"], scores="label")
    warnings = brittle.attack(silent, films, "random-swap", folder=tmp_path).manifest["warnings"]
    assert any("gives the same scores to all of 12 different cases" in text for text in warnings)


JUDGED = {"good": "positive", "bad": "negative"}


def test_unstable_scores() -> None:
    once = np.array([[0.3, 0.7], [0.6, 0.4]])
    assert unstable(once, once + np.array([[9e-5, -9e-5], [0, 0]])) is None
    small = unstable(once, once + np.array([[2e-4, -2e-4], [0, 0]]))
    assert small is not None and small.code == "unstable" and "1 of 2 cases" in small.message
    large = unstable(once, once[::-1])
    assert large is not None and large.code == "random" and "2 got another label" in large.message
    assert unstable(once[:0], once[:0]) is None


@dataclass
class Noisy(FakeTarget):
    rng: Any = field(default_factory=lambda: np.random.default_rng(0))
    noise: float = 1.0

    def scores(self, items: Any) -> Any:
        drawn = self.rng.random((len(items), 2))
        drawn /= drawn.sum(axis=1, keepdims=True)
        return (1 - self.noise) * super().scores(items) + self.noise * drawn


def test_a_random_target_is_recognised() -> None:
    cases = [Row(case.text, None) for case in rows()]
    assert codes(Noisy(sane().weights), cases) == ["random"]
    assert codes(Noisy(sane().weights, noise=0.01), cases) == ["unstable"]


def test_a_target_that_depends_on_its_company_is_recognised() -> None:
    class Company(FakeTarget):
        def scores(self, items: Any) -> Any:
            score = super().scores(items)
            return 0.9 * score + 0.1 * score.mean(axis=0)

    assert codes(Company(sane().weights), rows()) == ["unstable"]


def test_saturated_confidence() -> None:
    certain = np.array([[1e-6, 1 - 1e-6]] * 99 + [[0.4, 0.6]])
    assert saturated(certain) is not None
    assert saturated(np.vstack([certain, [[0.4, 0.6]]])) is None
    steep = FakeTarget({word: 40.0 if word != "bad" else -90.0 for word in WORDS})
    assert codes(steep, [Row(case.text, None) for case in rows()]) == ["saturated"]


def test_labels_alone() -> None:
    hard = np.array([[0.0, 1.0], [1.0, 0.0], [0.0, 1.0]])
    found = label_only(hard, "api")
    assert found is not None and "'api' gives only labels" in found.message
    assert label_only(hard + np.array([[1e-9, -1e-9]])) is None
    assert label_only(np.array([[0.4, 0.6]]), declared=True) is not None
    # Full confidence of a target that gives only labels is no saturation.
    assert saturated(hard) is None


def test_swapped_labels() -> None:
    assert codes(sane(), rows(swap=True)) == ["swapped"]
    (doubt,) = doubts(sane(), rows(swap=True))
    assert "--labels 'negative=positive,positive=negative'" in doubt.message
    (doubt,) = doubts(sane(), rows(swap=True), data_labels={"1": 0, "2": 1})
    assert "--labels '1=positive,2=negative'" in doubt.message


def test_labels_turned_in_a_ring() -> None:
    score = np.eye(3)[np.arange(30) % 3] * 0.5 + 0.5 / 3
    names = ("world", "sport", "tech")
    truth = [(n + 1) % 3 for n in range(30)]
    doubt = swapped(score, truth, names)
    assert doubt is not None
    assert "--labels 'world=tech,sport=world,tech=sport'" in doubt.message
    muddle = swapped(score[:, [0, 0, 0]], [1] * 15 + [2] * 15, names)
    assert muddle is not None and muddle.message.endswith("Check --labels.")


def test_few_right_answers_may_be_chance() -> None:
    score = np.array([[0.9, 0.1]] * 10)
    assert swapped(score, [1] * 7 + [0] * 3, ("a", "b")) is None
    assert swapped(score, [1] * 10, ("a", "b")) is not None
    assert swapped(score, [None] * 10, ("a", "b")) is None
    assert swapped(score, [0] * 10, ("a", "b")) is None


def test_a_costly_target_is_asked_little() -> None:
    target = sane()
    target.costly = True  # type: ignore[attr-defined]
    doubts(target, rows())
    assert sum(target.calls) == 12


class Fragile(FakeTarget):
    def scores(self, items: Any) -> Any:
        if any("plot" in str(item) for item in items):
            raise TargetError("no plot")
        return super().scores(items)


def test_texts_that_fail_are_left_out() -> None:
    fragile = Fragile(sane().weights)
    assert codes(fragile, rows()) == []


def test_a_target_that_answers_nothing_is_down() -> None:
    cases = [Row(Text.of(f"plot {n}"), None) for n in range(5)]
    with pytest.raises(TargetDown, match=r"on all of the first 5 cases.*no plot"):
        doubts(Fragile(), cases)


def test_no_cases_no_questions() -> None:
    target = sane()
    assert doubts(target, []) == []
    assert target.calls == []


@pytest.mark.parametrize(
    ("now", "warns"),
    [([0.1, 0.9], False), ([0.105, 0.895], False), ([0.3, 0.7], True), ([0.9, 0.1], True)],
)
def test_originals_asked_again_after_a_run(now: list[float], warns: bool) -> None:
    same = (1, 0.9, np.array([0.1, 0.9]))
    warning = changed([same, (1, 0.9, np.array(now)), same], "api")
    assert (warning is not None) == warns
    if warning is not None:
        assert warning.code == "changed" and "of 3 originals" in warning.message
        assert ("1 got another label" in warning.message) == (now[0] > now[1])


def test_nothing_asked_again_has_not_changed() -> None:
    assert changed([]) is None


NLI = ("entailment", "neutral", "contradiction")


@dataclass
class Entails:
    """Entailment if the second side has no word that the first lacks, and what order it reads."""

    turned: bool = False
    order: tuple[int, int, int] = (0, 1, 2)
    costly: bool = False
    name: str = "entails"
    labels: tuple[str, ...] = NLI
    asked: list[Text] = field(default_factory=list)

    def scores(self, items: Sequence[Text]) -> Any:
        self.asked += items
        return np.array([self._row(text) for text in items])

    def _row(self, text: Text) -> Any:
        premise, hypothesis = (set(side.split()) for side in text.fields().values())
        if self.turned:
            premise, hypothesis = hypothesis, premise
        label = 2 if "not" in premise ^ hypothesis else 0 if hypothesis <= premise else 1
        return np.eye(3)[self.order[label]] * 0.8 + 0.1


def pairs(count: int = 60, turned: bool = False) -> list[Row]:
    made = []
    for n in range(count):
        long, short = f"a man {n} sits here", f"a man {n} sits"
        sides = [(long, short), (long, f"{short} tall"), (long, f"not {short}")][n % 3]
        premise, hypothesis = sides[::-1] if turned else sides
        made.append(Row(Text.of({"premise": premise, "hypothesis": hypothesis}), n % 3))
    return made


def test_exchanged_sides_are_noticed_when_many_pairs_are_wrong() -> None:
    [doubt] = doubts(Entails(), pairs(turned=True))
    assert doubt.code == "exchanged" and "--text hypothesis,premise" in doubt.message
    assert "Only 40 of 60 pairs" in doubt.message and "but 60 do if premise and" in doubt.message
    assert codes(Entails(turned=True), pairs()) == ["exchanged"]


def test_pairs_that_are_mostly_right_are_not_asked_again() -> None:
    target = Entails()
    assert codes(target, pairs()) == []
    assert len(target.asked) == 32 + 8
    costly = Entails(turned=True, costly=True)
    assert codes(costly, pairs()) == []  # 3 of 8 are wrong, which could be chance
    assert len(costly.asked) == 8 + 4
    wrong = [row for row in pairs() if row.label == 0]
    costly = Entails(turned=True, costly=True)
    assert codes(costly, wrong) == ["constant", "exchanged"]
    assert len(costly.asked) == 8 + 4 + 8


def test_exchanged_by_hand() -> None:
    names = ("premise", "hypothesis")
    right, wrong = (True, True), (False, False)
    assert exchanged([right, wrong] * 20 + [(False, True)] * 6, names) is None
    assert exchanged([right, wrong] * 20 + [(False, True)] * 7, names) is not None
    assert exchanged([(False, True)] * 7 + [(True, False)] * 3, names) is None
    assert exchanged([(True, False)] * 30, names) is None and exchanged([], names) is None
    text = Text.of({"premise": "a man", "hypothesis": "he, sits"}, locked=["premise"])
    assert exchange_sides(text).fields() == {"premise": "he, sits", "hypothesis": "a man"}


@pytest.mark.parametrize("order", [(2, 1, 0), (1, 0, 2), (0, 2, 1), (1, 2, 0)])
def test_labels_of_entailment_in_another_order(order: tuple[int, int, int]) -> None:
    [doubt] = doubts(Entails(order=order), pairs())
    advised = ",".join(f"{name}={NLI[order[n]]}" for n, name in enumerate(NLI))
    assert doubt.code == "swapped" and f"--labels '{advised}'" in doubt.message


def test_a_weak_target_is_not_taken_for_one_with_swapped_labels() -> None:
    rng = np.random.default_rng(0)
    for _ in range(200):  # right in half of the cases, else anything
        truth = rng.integers(0, 3, size=32)
        predicted = np.where(rng.random(32) < 0.4, truth, rng.integers(0, 3, size=32))
        assert swapped(np.eye(3)[predicted], truth.tolist(), NLI) is None

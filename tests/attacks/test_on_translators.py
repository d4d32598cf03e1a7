"""Every attack on a translator: it follows the goal alone, or is refused with a reason."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from brittle.answers import TEXTS
from brittle.asks import Case
from brittle.attacks import ATTACKS, RunContext, resolve_attack
from brittle.attacks.natural import Hybrid, Natural
from brittle.candidates.characters import CLASSES
from brittle.engine.broker import Broker
from brittle.engine.engine import Engine
from brittle.errors import UsageError
from brittle.goals import Measured
from brittle.opening import as_target
from brittle.targets.capabilities import check_asks, make_desks
from brittle.testing import FakeGenerator
from brittle.text import Text

RUN = (
    *(
        "auto",
        "rewrite",
        "pwws",
        "salient-swap",
        "genetic",
        "exhaustive",
        "random-swap",
        "key",
        "key-any",
    ),
    *("typo", "gs-gr", "list", "random-word", *CLASSES, "append"),
    *("bad-characters", "deepwordbug", "textbugger", "charmer"),
)
LABELS = ("strongest-swap", "tack-on", "rules")
GRADIENTS = ("gradient-swap", "hotflip", "hotflip-words", "jsma")
INSIDE = {
    "gs-ec": "sentence embeddings",
    "asmin-gr": "attention",
    "asmin-ec": "attention",
    "asmax-gr": "attention",
    "asmax-ec": "attention",
}
PICTURES = ("fgsm", "noise")
GENERATOR = ("natural",)
SENTENCE = "A good man is walking through the big city with a small dog."


def distance(translation: str) -> float:
    """Count the words of the translation that are not those of the sentence's own."""
    own = set(SENTENCE.upper().split())
    return float(sum(word not in own for word in translation.split()))


TARGET: Any = as_target(lambda texts: [t.upper() for t in texts], answers="text", name="upper")


def search(name: str, **settings: Any) -> Any:
    attack, name, _ = resolve_attack(name, settings, "captions", RunContext(TARGET.labels))
    desks = make_desks(TARGET)
    check_asks(attack, name, TARGET, desks)
    broker = Broker(desks)
    goal = Measured(distance, 1.0, TEXTS)
    try:
        (outcome,) = next(
            Engine(attack, goal, broker, budget=500).run([Case("1", Text.of(SENTENCE))])
        )
    finally:
        broker.close()
    return outcome


def test_every_attack_has_its_place() -> None:
    assert sorted(ATTACKS) == sorted((*RUN, *LABELS, *GRADIENTS, *INSIDE, *PICTURES, *GENERATOR))


def test_natural_breaks_a_translator() -> None:
    """Its own sentence is rebuilt word by word; a neighbour has another word."""
    words = tuple(dict.fromkeys(Text.of(SENTENCE).words))
    attack = Natural(FakeGenerator(words, size=13), Hybrid(0.1, 3.0, 2), samples=20)
    broker = Broker(make_desks(TARGET, attack.helpers))
    plain = " ".join(Text.of(SENTENCE).words)

    def changed(translation: str) -> float:
        return float(translation != plain.upper())

    engine = Engine(attack, Measured(changed, 1.0, TEXTS), broker)
    ((outcome,),) = engine.run([Case("1", Text.of(plain))])
    assert outcome.status == "broken" and outcome.best is not None and outcome.best.cost > 0
    assert outcome.best.payload == str(outcome.best.item).upper() != plain.upper()


@pytest.mark.parametrize("name", RUN)
def test_it_breaks_a_translator(name: str, tmp_path: Path) -> None:
    (tmp_path / "typos").write_text("walking walkin waking\n")
    settings = {"genetic": {"population": 4}, "typo": {"typos": str(tmp_path / "typos")}}
    outcome = search(name, **settings.get(name, {}))
    if name == "case":  # the translator writes capitals alone
        assert outcome.status == "held" and outcome.queries > 1
        return
    assert outcome.status == "broken" and outcome.queries > 1
    assert outcome.best.payload == str(outcome.best.item).upper()
    assert distance(outcome.best.payload) >= 1


@pytest.mark.parametrize("name", LABELS)
def test_attacks_by_class_are_refused(name: str) -> None:
    with pytest.raises(UsageError, match=f"'{name}' needs the labels of a classifier"):
        search(name, **({"rules": "mr.rules"} if name == "rules" else {"learn_from": "mr"}))


def test_entities_by_class_are_refused() -> None:
    with pytest.raises(UsageError, match="--entities for a target without labels"):
        search("pwws", entities=True, learn_from="mr")


@pytest.mark.parametrize("name", GRADIENTS)
def test_attacks_by_gradient_are_refused(name: str) -> None:
    asked = "asks for (flips|gradients), but target 'upper' offers only transl"
    with pytest.raises(UsageError, match=asked):
        search(name)


@pytest.mark.parametrize("name", INSIDE)
def test_attacks_that_look_inside_are_refused(name: str) -> None:
    with pytest.raises(
        UsageError, match=f"asks for {INSIDE[name]}, but target 'upper' offers only"
    ):
        search(name)

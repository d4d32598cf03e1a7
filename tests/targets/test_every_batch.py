"""A text has the same scores and gains in every batch, so a run does not depend on its batches."""

from __future__ import annotations

import sys
from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import cache
from typing import Any

import numpy as np
import pytest

pytest.importorskip("torch")
pytest.importorskip("transformers")

from brittle import attacks
from brittle.asks import Case
from brittle.engine.broker import Broker
from brittle.engine.engine import Engine
from brittle.engine.running import Outcome
from brittle.errors import Interrupted
from brittle.goals import Untargeted
from brittle.moves import EditRequest, EditSpace
from brittle.targets.capabilities import make_desks
from brittle.targets.scores import softmax
from brittle.targets.transformers.classifier import of_model
from brittle.text import Text
from brittle.zoo.white_box import NetworkWhiteBox
from targets import tiny
from zoo.exact import model

NETWORKS = [
    *("LSTM-W-Random-1", "LSTM-W-Random-2", "CharCNN-LSTM", "LSTM-WC-Random-1"),
    *("CNN-W-Random-1", "CNN-C-Random-1", "BiLSTM-W-Random-1-attention", "Transformer-W-Random-1"),
    *("BiLSTM-W-Random-1", "BiLSTM-C-Random-2-max", "LSTM-W-Random-1-max", "CNN-W-Random-1-last"),
]
SPACES = [
    EditSpace("characters", top_k=40),
    EditSpace("words", top_k=16, objective="logit"),
    EditSpace("words", top_k=20, cosine=0.1),
]
WORDS = [
    *("the", "good", "film", "is", "a", "bad", "plot", "on", "foo", "god", "tattoos", "rain"),
    *("story", "not", "supercalifragilistic"),
]


class NetworkTarget:
    """A network of the zoo with random weights in single precision."""

    name, fingerprint, labels = "network", "0", ("0", "1", "2")
    batch: int | None = None

    def __init__(self, name: str, width: int = 20) -> None:
        widths = {"hidden": width, "filters": width, "kernels": 22}
        widths |= {"heads": 1} if name.startswith("Transformer") else {}
        self.model = model(name, double=False, **widths)
        self.inside = NetworkWhiteBox(self.model)
        self.canonical, self.words_read = self.model.encode, self.model.words_read
        self.flips = self.inside.flips
        self.sentence_embeddings = self.inside.sentence_embeddings

    def canonical_scores(self, keys: Sequence[bytes]) -> Any:
        return softmax(np.asarray(self.model.logits(keys), dtype=np.float64))

    def scores(self, items: Sequence[Text]) -> Any:
        return self.canonical_scores(self.canonical(items))


@cache
def target(name: str) -> Any:
    if name in NETWORKS:
        return NetworkTarget(name)
    hf_tokenizer = tiny.tokenizer(name)
    return of_model(tiny.model(name, len(hf_tokenizer)), hf_tokenizer, name=name)


def texts(count: int, seed: int = 0) -> list[Text]:
    """Texts of 1 to 14 words."""
    rng = np.random.default_rng(seed)
    rows = [rng.choice(WORDS, size=rng.integers(1, 15)).tolist() for _ in range(count)]
    return [Text.of(" ".join(row)) for row in rows]


def in_batches(compute: Callable[[Any], Any], items: Sequence[Any], size: int) -> list[Any]:
    parts = (compute(items[start : start + size]) for start in range(0, len(items), size))
    return [row for part in parts for row in part]


QUICK = ("LSTM-W-Random-2", "CharCNN-LSTM", "bert")
BACKENDS = sys.modules["torch"].backends
HAS_WHOLE_ROWS = BACKENDS.mkl.is_available() and BACKENDS.cpu.get_cpu_capability() == "AVX512"


@pytest.mark.skipif(not HAS_WHOLE_ROWS, reason="other routines may sum in another order")
@pytest.mark.parametrize(
    "name",
    [
        name if name in QUICK else pytest.param(name, marks=pytest.mark.slow)
        for name in (*NETWORKS, "bert", "distilbert", "roberta")
    ],
)
def test_scores_and_gains_are_the_same_bits_in_every_batch(name: str) -> None:
    check_every_batch(target(name))


OF_ANY_WIDTH = [
    name if name in QUICK else pytest.param(name, marks=pytest.mark.slow)
    for name in (*NETWORKS, "LSTM-W-Random-1-attention", "LSTM-W-Random-1-mean")
]


@pytest.mark.skipif(not HAS_WHOLE_ROWS, reason="other routines may sum in another order")
@pytest.mark.parametrize(
    "width", [33, *(pytest.param(width, marks=pytest.mark.slow) for width in (10, 22, 50))]
)
@pytest.mark.parametrize("name", OF_ANY_WIDTH)
def test_widths_that_are_no_multiple_of_4_have_the_same_bits_too(name: str, width: int) -> None:
    check_every_batch(NetworkTarget(name, width))


def check_every_batch(tested: Any) -> None:
    items = texts(10)
    whole = np.array(tested.scores(items))
    for size in (1, 2, 7):
        assert np.array_equal(in_batches(tested.scores, items, size), whole)
    embeddings = tested.sentence_embeddings(items)
    for size in (1, 7):
        for found, one in zip(in_batches(tested.sentence_embeddings, items, size), embeddings):
            assert np.array_equal(found.vector, one.vector) and found.scores == one.scores
    for space in SPACES:
        requests = [
            EditRequest(text, 0, None, space, tested.words_read([text])[0]) for text in items
        ]
        expected = tested.flips(requests)
        for size in (1, 7):
            for mine, other in zip(in_batches(tested.flips, requests, size), expected):
                assert mine.scores == other.scores
                assert mine.moves.gain.tolist() == other.moves.gain.tolist()
                count = len(other.moves.gain)
                assert [mine.moves[n] for n in range(count)] == [
                    other.moves[n] for n in range(count)
                ]


def cases(tested: Any, count: int) -> list[Case[Text]]:
    items = texts(count, seed=1)
    labels = np.array(tested.scores(items)).argmax(axis=1).tolist()
    read = tested.words_read(items)
    return [
        Case(str(n), text, label=label, read_positions=at)
        for n, (text, label, at) in enumerate(zip(items, labels, read))
    ]


def engine(
    tested: Any, attack: str, settings: dict[str, Any], batch: int | None, **more: int
) -> Engine:
    desks = make_desks(tested)
    if batch is not None:
        desks = {question: replace(desk, batch=batch) for question, desk in desks.items()}
    built = attacks.build(attack, settings, attacks.RunContext(tested.labels))
    return Engine(built, Untargeted(), Broker(desks), attack, **more)


def rows(outcomes: Sequence[Outcome]) -> dict[str, Any]:
    return {o.case.id: (o.status, o.queries, str(o.best and o.best.item)) for o in outcomes}


def stopped(tested: Any, attack: str, settings: dict[str, Any], of: list[Case[Text]]) -> Any:
    """Attack cases, stopped four times; every start takes up the cases that are not finished."""
    finished: list[Outcome] = []
    for stop in (True, True, True, True, False):
        done = {outcome.case.id for outcome in finished}
        assert len(done) < len(of)
        window = {"window": 2, "admit": 1} if stop else {}
        running = engine(tested, attack, settings, None, **window)
        try:
            for ended in running.run([case for case in of if case.id not in done]):
                finished += ended
                if stop:
                    running.broker.stopping.set()
        except Interrupted:
            pass
        running.broker.close()
    return rows(finished)


ATTACKS: dict[str, dict[str, Any]] = {
    "hotflip": {"share": 0.2, "beam": 4},
    "hotflip-words": {"cosine": 0.0, "same_tag": False, "stop_words": True, "words": 3},
    "jsma": {},
    "pwws": {"candidates": "paper"},
    "genetic": {"candidates": "paper", "population": 6, "generations": 3},
}
QUICK_RUNS = [("LSTM-W-Random-1", "hotflip", 10)]
SLOW_RUNS = [
    # HotFlip on subwords tries the spellings of every word, which takes long.
    pytest.param(
        name, attack, 6 if (name, attack) == ("bert", "hotflip") else 24, marks=pytest.mark.slow
    )
    for name in ("LSTM-W-Random-1", "CharCNN-LSTM", "bert")
    for attack in ATTACKS
]


@pytest.mark.parametrize(("name", "attack", "count"), [*QUICK_RUNS, *SLOW_RUNS])
def test_rows_do_not_depend_on_batches_or_stops(name: str, attack: str, count: int) -> None:
    tested, settings = target(name), ATTACKS[attack]
    attacked = cases(tested, count)
    expected = None
    for batch in (None, 1, 7, 512):
        running = engine(tested, attack, settings, batch)
        found = rows([outcome for ended in running.run(attacked) for outcome in ended])
        running.broker.close()
        expected = expected or found
        assert found == expected
    assert stopped(tested, attack, settings, attacked) == expected


def test_a_batch_size_of_the_target_s_own_holds_for_gradients_too() -> None:
    tested = NetworkTarget("CharCNN-LSTM")
    assert make_desks(tested)["flips"].batch is None
    tested.batch = 5
    assert make_desks(tested)["flips"].batch == 5

"""Trained models of the zoo show their inside as targets do."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from random import Random
from typing import Any

import numpy as np
import pytest

import brittle
from brittle import attack
from brittle.data import load
from brittle.moves import EditRequest, EditSpace
from brittle.opening import load_zoo
from brittle.targets.protocols import (
    Embeds,
    HasAttention,
    HasEmbeddings,
    HasFlips,
    HasGradients,
    ReadsWords,
)
from brittle.targets.zoo.target import (
    AttendingZooTarget,
    TransformerModel,
    WhiteBoxZooTarget,
    ZooTarget,
)
from brittle.text import Text

torch = pytest.importorskip("torch")

NAMES = ["LSTM-W-Random-1", "CharCNN-LSTM", "BiLSTM-WC-Random-1-attention", "Transformer"]
GOOD, BAD = ["lovely", "warm", "funny", "great"], ["dull", "cold", "awful", "weak"]
OTHER = ["the", "film", "plot", "and", "its", "cast", "is", "with"]
ITEMS = [Text.of(text) for text in ("a Warm, funny film 😀", "the dull plot isn't great", "cold")]
SHOWN = (ReadsWords, HasFlips, HasEmbeddings, Embeds, HasGradients)


@pytest.fixture(scope="module")
def cache(tmp_path_factory: pytest.TempPathFactory) -> Any:
    with pytest.MonkeyPatch.context() as patch:
        folder = tmp_path_factory.mktemp("zoo")
        patch.setenv("BRITTLE_CACHE", str(folder / "cache"))
        random = Random(0)
        rows = ["text,label"]
        for n in range(160):
            words = random.choices(OTHER, k=random.randint(1, 6))
            words.insert(random.randint(0, len(words)), random.choice((BAD, GOOD)[n % 2]))
            rows.append(f"{' '.join(words)},{('negative', 'positive')[n % 2]}")
        (folder / "toy.csv").write_text("\n".join(rows) + "\n")
        yield folder


@pytest.fixture(scope="module", params=NAMES)
def target(request: pytest.FixtureRequest, cache: Path) -> Any:
    return load_zoo(f"zoo:{request.param}@{cache}/toy.csv#1", size="tiny")


def aims(target: Any, space: EditSpace, **to: Any) -> list[EditRequest]:
    goal = {"label": 1, "toward": None, **to}
    return [
        EditRequest(text, goal["label"], goal["toward"], space, target.words_read([text])[0])
        for text in ITEMS
    ]


@pytest.mark.slow
def test_a_network_offers_everything(target: WhiteBoxZooTarget) -> None:
    assert isinstance(target, WhiteBoxZooTarget) and all(isinstance(target, kind) for kind in SHOWN)
    assert target.words_read(ITEMS) == [range(4), range(5), range(1)]
    assert {*GOOD, *BAD} <= set(target.vocabulary) and "<pad>" not in target.vocabulary


@pytest.mark.parametrize(
    "space",
    [
        EditSpace(objective="logit", sign=True),
        *(pytest.param(s, marks=pytest.mark.slow) for s in (EditSpace(), EditSpace("characters"))),
    ],
)
def test_flips_have_the_scores_of_the_target(target: WhiteBoxZooTarget, space: EditSpace) -> None:
    found = target.flips(aims(target, space))
    scores = np.array([flipped.scores for flipped in found])
    assert scores == pytest.approx(target.scores(ITEMS), abs=1e-6)
    for text, flipped in zip(ITEMS, found):
        move = flipped.moves[0]
        assert move.gain == flipped.moves.gain[0] and move.new != text.words[move.position]
        assert target.scores([text.swap(move.position, move.new)]).shape == (1, 2)


def entering(target: WhiteBoxZooTarget, words: list[str]) -> Any:
    """Give what the encoder takes for words, each as a text of its own."""
    texts = [Text.of(word) for word in words]
    last = [layer for layer in target.layers if not layer.startswith("layer")][-1]
    named = ["embedding"] if "embedding" in target.layers else []
    parts = [target.embeddings(texts, layer) for layer in dict.fromkeys([*named, last])]
    return np.concatenate([np.concatenate(part) for part in parts], axis=1)


def test_a_swap_gains_the_slope_along_the_difference(target: WhiteBoxZooTarget) -> None:
    order = aims(target, EditSpace(objective="logit", top_k=10**6), toward=0)[:1]
    [swaps], [gradient] = target.flips(order), target.gradients(order)
    assert gradient.scores == pytest.approx(swaps.scores, abs=1e-6)
    moves = [swaps.moves[n] for n in range(len(swaps.moves.gain))]
    assert gradient.value.any() and len(moves) > len(ITEMS[0]) * 10
    new = entering(target, [move.new for move in moves])
    old = entering(target, [str(ITEMS[0].words[move.position]) for move in moves])
    along = ((new - old) * gradient.value[[move.position for move in moves]]).sum(axis=1)
    assert swaps.moves.gain == pytest.approx(along, abs=1e-4)


def test_gradients_at_characters(target: WhiteBoxZooTarget) -> None:
    (spelt, *_) = target.gradients(aims(target, EditSpace("characters")))
    assert [len(value) for value in spelt.value] == [1, 4, 5, 4]
    assert target.logits(ITEMS).shape == (3, 2)


def test_layers_and_attention(target: WhiteBoxZooTarget) -> None:
    assert target.layers[0] in ("embedding", "characters") and "layer 1" in target.layers
    for layer in target.layers:
        assert [len(rows) for rows in target.embeddings(ITEMS, layer)] == [4, 5, 1]
    attends = "attention" in target.name or "Transformer" in target.name
    assert isinstance(target, HasAttention) == attends
    if isinstance(target, HasAttention):
        assert all(a.weights.sum(axis=3) == pytest.approx(1.0) for a in target.attention(ITEMS))
        assert [a.summary.shape[2] for a in target.attention(ITEMS)] == [4, 5, 1]
    embeddings = target.sentence_embeddings(ITEMS)
    scores = np.array([embedding.scores for embedding in embeddings])
    assert scores == pytest.approx(target.scores(ITEMS), abs=1e-6)


@pytest.mark.parametrize(
    ("name", "attack"),
    [("CharCNN-LSTM", "hotflip"), ("LSTM-W-Random-1", "jsma"), ("LSTM-W-Random-1", "hotflip")],
)
def test_attacks_that_follow_the_gradient_run(
    name: str, attack: str, cache: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    target = load_zoo(f"zoo:{name}@{cache}/toy.csv#1", size="tiny")
    run = brittle.attack(target, load(str(cache / "toy.csv"), limit=12), attack)
    statuses = [row.status for row in run.results()]
    assert set(statuses) <= {"broken", "held", "skipped"} and "broken" in statuses


def test_a_linear_model_shows_no_inside(cache: Path) -> None:
    target = load_zoo(f"zoo:naive-bayes@{cache}/toy.csv#1")
    assert isinstance(target, ZooTarget) and not any(isinstance(target, kind) for kind in SHOWN)
    assert {*GOOD, *BAD} <= set(target.vocabulary)
    assert not any(word.startswith("<") for word in target.vocabulary)


def test_a_tuned_encoder_passes_everything_on(cache: Path) -> None:
    pytest.importorskip("transformers")
    from brittle.targets.transformers.classifier import of_model
    from targets import tiny

    tokenizer = tiny.tokenizer("bert")
    classifier = of_model(tiny.model("bert", len(tokenizer)), tokenizer)
    card = load_zoo(f"zoo:naive-bayes@{cache}/toy.csv#1").card
    card = replace(card, name="MiniLM", kind="transformer", labels=classifier.labels)
    target = AttendingZooTarget(card, TransformerModel(classifier), lambda: classifier)
    assert all(isinstance(target, kind) for kind in SHOWN)
    items = [Text.of("a good film"), Text.of("the story was bad")]
    orders = [
        EditRequest(text, 1, None, EditSpace("characters"), range(len(text))) for text in items
    ]
    scores = np.array([flipped.scores for flipped in target.flips(orders)])
    assert scores == pytest.approx(target.scores(items), abs=1e-6)
    assert target.logits(items) == pytest.approx(classifier.logits(items))
    for mine, own in zip(target.gradients(orders), classifier.gradients(orders)):
        assert mine.scores == pytest.approx(own.scores)
        assert all(np.allclose(a, b) for a, b in zip(mine.value, own.value))
    assert (
        target.words_read(items) == classifier.words_read(items)
        and target.layers == classifier.layers
    )
    assert np.allclose(
        target.embeddings(items, "layer 1")[0], classifier.embeddings(items, "layer 1")[0]
    )
    assert target.attention(items)[1].weights.shape[2:] == (4, 4)
    assert {"good", "film", "story"} <= set(target.vocabulary)


def test_a_black_box_attack_builds_no_white_box(cache: Path, tmp_path: Path) -> None:
    target = load_zoo(f"zoo:LSTM-W-Random-1@{cache}/toy.csv#1", size="tiny")
    texts = [("a lovely warm film", "positive"), ("a dull and cold plot", "negative")]
    attack(target, texts, "random-swap", folder=tmp_path, candidates="paper")
    assert "inside" not in vars(target)
    attack(target, texts, "hotflip", folder=tmp_path)
    assert "inside" in vars(target)

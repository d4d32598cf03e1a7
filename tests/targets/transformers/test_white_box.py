"""Gradients by finite differences, gains by brute force, attention added up by hand."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from typing import Any

import numpy as np
import pytest

from brittle.errors import TargetError, UsageError
from brittle.moves import EditRequest, EditSpace, Move, ScoredMoves
from brittle.targets.protocols import HasEmbeddings, HasFlips
from brittle.targets.transformers.classifier import SequenceClassifier, of_model
from brittle.text import Text

torch = pytest.importorskip("torch")
transformers = pytest.importorskip("transformers")

from targets import tiny  # noqa: E402

TEXTS = [
    "a good film",
    "the story was not very godlike , it rained !",
    "Don't go, the FILM is bad 😀",
    "rain",
    "it was a very very very good story the film was not bad it is a film if it is not rain",
]
ITEMS = [Text.of(text) for text in TEXTS]
PAIR = Text.of({"premise": "the film was bad", "hypothesis": "it is a good story"})
OBJECTIVES = [("loss", None), ("loss", 2), ("logit", None), ("logit", 2)]


def made(family: str, double: bool = False, **options: Any) -> SequenceClassifier:
    tokenizer = tiny.tokenizer(family, **options)
    model = tiny.model(family, len(tokenizer))
    return of_model(model.double() if double else model, tokenizer)


@pytest.fixture(scope="module", params=tiny.FAMILIES)
def target(request: pytest.FixtureRequest) -> SequenceClassifier:
    return made(request.param)


@pytest.fixture(scope="module", params=tiny.FAMILIES)
def exact(request: pytest.FixtureRequest) -> SequenceClassifier:
    return made(request.param, double=True)


@pytest.fixture(scope="module")
def bert() -> SequenceClassifier:
    return made("bert", double=True)


def edit_request(
    item: Text, target: SequenceClassifier, space: EditSpace | None = None, **to: Any
) -> EditRequest:
    goal = {"label": 1, "toward": None, **to}
    return EditRequest(
        item, goal["label"], goal["toward"], space or EditSpace(), target.words_read([item])[0]
    )


def wanted(target: SequenceClassifier, request: EditRequest) -> float:
    """Compute the objective from the logits alone, as `EditSpace` defines it."""
    (z,) = target.logits([request.text])
    value = z if request.space.objective == "logit" else z - np.log(np.exp(z).sum())
    return float(-value[request.label] if request.toward is None else value[request.toward])


def table(target: SequenceClassifier) -> Any:
    return target.model.get_input_embeddings().weight.detach().double().numpy()


def tokens(target: SequenceClassifier, item: Text) -> list[list[int]]:
    """List the ids of each word, by reading the text again without everything behind the word."""
    found = []
    for n in range(len(item)):
        upto, after = (_read(target, item, end) for end in (n, n + 1))
        found.append(after[len(upto) :])
    return found


def _read(target: SequenceClassifier, item: Text, words: int) -> list[int]:
    raw = " ".join(str(word) for word in item.words[:words])
    token_ids = target.tokenizer.hf_tokenizer(raw, add_special_tokens=False)["input_ids"]
    return list(token_ids)


def by_hand(target: SequenceClassifier, request: EditRequest) -> Any:
    """Take the gradient at every token with the library's own `inputs_embeds`."""
    (key,) = target.canonical([request.text])
    ids = torch.tensor(np.frombuffer(key, np.int32).astype(np.int64))[None]
    vectors = target.model.get_input_embeddings()(ids).detach().requires_grad_()
    z = target.model(inputs_embeds=vectors).logits[0]
    value = z if request.space.objective == "logit" else z.log_softmax(0)
    rise = -value[request.label] if request.toward is None else value[request.toward]
    (gradient,) = torch.autograd.grad(rise, vectors)
    return gradient[0].double().numpy()


def moves_of(flipped: ScoredMoves) -> list[Move]:
    return [flipped.moves[n] for n in range(len(flipped.moves.gain))]


def test_a_target_offers_all_of_its_inside(target: SequenceClassifier) -> None:
    for protocol in (HasFlips, HasEmbeddings):
        assert isinstance(target, protocol)


def test_logits_are_those_of_the_scores(target: SequenceClassifier) -> None:
    z = target.logits(ITEMS)
    power = np.exp(z - z.max(axis=1, keepdims=True))
    assert target.scores(ITEMS) == pytest.approx(power / power.sum(axis=1, keepdims=True))
    assert np.ptp(z.sum(axis=1)) > 1e-3  # raw, not made to sum to anything
    assert target.logits([]).shape == (0, 3)


@pytest.mark.parametrize("of, toward", OBJECTIVES)
def test_gradients_are_what_finite_differences_show(
    exact: SequenceClassifier, of: Any, toward: int | None
) -> None:
    """Shift the vectors of all tokens of a word, which stand nowhere else, by a small step."""
    item = Text.of("bad story, the rain is goodlike")
    request = edit_request(item, exact, EditSpace(objective=of), toward=toward)
    (gradient,) = exact.gradients([request])
    assert gradient.scores == pytest.approx(exact.scores([item])[0].tolist())
    weight = exact.model.get_input_embeddings().weight
    rng = np.random.default_rng(0)
    own = [exact.inside.tokenizer.tokenize([item])[0].ids[list(c)] for c in _columns(exact, item)]
    for position, ids in enumerate(own):
        if len(set(ids.tolist())) < len(ids) or any(
            set(ids.tolist()) & set(other.tolist()) for n, other in enumerate(own) if n != position
        ):
            continue
        step = rng.normal(size=weight.shape[1])
        ends = []
        for sign in (1, -1):
            with torch.no_grad():
                before = weight[ids].clone()
                weight[ids] += torch.tensor(sign * 1e-5 * step)
                ends.append(wanted(exact, request))
                weight[ids] = before
        difference = (ends[0] - ends[1]) / 2e-5
        assert gradient.value[position] @ step == pytest.approx(difference, rel=1e-4, abs=1e-7)


def _columns(target: SequenceClassifier, item: Text) -> Any:
    from brittle.targets.transformers.tokenizer import align_texts

    return align_texts([item], target.tokenizer)[0].columns


def test_words_sum_the_gradients_of_their_tokens_and_characters_have_their_own(
    exact: SequenceClassifier,
) -> None:
    for text in TEXTS[:4]:
        item = Text.of(text)
        gradient = by_hand(exact, edit_request(item, exact))
        columns = _columns(exact, item)
        words = exact.gradients([edit_request(item, exact)])[0].value
        letters = exact.gradients([edit_request(item, exact, EditSpace("characters"))])[0].value
        assert words.shape == (len(item), gradient.shape[1])
        for position, own in enumerate(columns):
            assert words[position] == pytest.approx(gradient[list(own)].sum(axis=0), abs=1e-9)
            word = str(item.words[position])
            assert letters[position].shape == (len(word), gradient.shape[1])
            if len(own) == len(word):
                assert letters[position] == pytest.approx(gradient[list(own)], abs=1e-9)
            if len(own) == 1:
                assert (letters[position] == letters[position][0]).all()


@pytest.mark.parametrize("of, toward", OBJECTIVES)
def test_gains_of_swaps_are_those_of_brute_force(
    exact: SequenceClassifier, of: Any, toward: int | None
) -> None:
    item = Text.of("the godlike film was bad")
    request = edit_request(item, exact, EditSpace(objective=of, top_k=10_000), toward=toward)
    (flipped,) = exact.flips([request])
    assert flipped.scores == pytest.approx(exact.scores([item])[0].tolist(), abs=1e-9)
    e, gradient, columns = table(exact), by_hand(exact, request), _columns(exact, item)
    (placed,) = exact.tokenizer.tokenize([item])
    expected = {}
    for word, token in zip(exact.inside._token_edits.words, exact.inside._token_edits.token_ids):
        for position, own in enumerate(columns):
            now = sum(e[placed.ids[c]] @ gradient[c] for c in own)
            expected[position, word] = e[token] @ gradient[own[0]] - now
    found = {(m.position, m.new): m.gain for m in moves_of(flipped)}
    alike = {key for key in expected if str(item.words[key[0]]) == key[1]}
    assert len(alike) >= 3
    assert found == pytest.approx({k: v for k, v in expected.items() if k not in alike}, abs=1e-9)
    gain = flipped.moves.gain
    assert (np.diff(gain) <= 0).all() and len(gain) == len(expected) - len(alike)


def test_a_swap_is_read_as_the_token_it_was_ranked_by(target: SequenceClassifier) -> None:
    item = Text.of("the Godlike film was BAD")
    for move in moves_of(target.flips([edit_request(item, target)])[0])[:60]:
        if move.position == 0:
            continue  # at the beginning of a text some read a word otherwise
        edited = item.swap(move.position, move.new)
        (before,), (after,) = (target.tokenizer.tokenize([t]) for t in (item, edited))
        own = _columns(target, item)[move.position]
        assert len(after.ids) == len(before.ids) - len(own) + 1
        assert after.ids[: own[0]].tolist() == before.ids[: own[0]].tolist()
        token = int(after.ids[own[0]])
        known = dict(zip(target.inside._token_edits.token_ids, target.inside._token_edits.words))
        assert known[token].lower() == move.new.lower()


def test_gains_of_characters_are_those_of_brute_force(exact: SequenceClassifier) -> None:
    item = Text.of("the film was goodlike")
    request = edit_request(item, exact, EditSpace("characters", top_k=10**6))
    (flipped,) = exact.flips([request])
    e, gradient, columns = table(exact), by_hand(exact, request), _columns(exact, item)
    (placed,) = exact.tokenizer.tokenize([item])
    moves = moves_of(flipped)
    assert {m.kind for m in moves} == {"flip", "insert", "delete"}
    assert {m.position for m in moves} == {0, 1, 2, 3}
    for move in moves[::7]:
        own = list(columns[move.position])
        edited = Text.of(f"a {move.new}")
        read = exact.tokenizer.tokenize([edited])[0].ids[list(_columns(exact, edited)[1])]
        now = sum(e[placed.ids[c]] @ gradient[c] for c in own)
        new = sum(e[token] @ gradient[own].mean(axis=0) for token in read)
        assert move.gain == pytest.approx(new - now, abs=1e-9)
    assert any(m.in_vocabulary for m in moves) == any(
        m.new in exact.inside._token_edits.lower_words for m in moves
    )
    assert len({(m.position, m.new) for m in moves}) == len(moves)


def test_first_order_gains_foretell_small_steps(bert: SequenceClassifier) -> None:
    """Move the vector of a word a little toward that of its substitute: the gain in proportion."""
    item = Text.of("the film was bad")
    request = edit_request(item, bert)
    before = wanted(bert, request)
    (flipped,) = bert.flips([request])
    weight = bert.model.get_input_embeddings().weight
    ids = [p[0] for p in tokens(bert, item)]
    numbers = dict(zip(bert.inside._token_edits.words, bert.inside._token_edits.token_ids))
    for move in moves_of(flipped)[:5]:
        with torch.no_grad():
            old = weight[ids[move.position]].clone()
            weight[ids[move.position]] += 1e-5 * (weight[numbers[move.new]] - old)
            rise = (wanted(bert, request) - before) / 1e-5
            weight[ids[move.position]] = old
        assert rise == pytest.approx(move.gain, rel=1e-3, abs=1e-6)


@pytest.mark.slow
def test_a_batch_gives_what_single_texts_give(target: SequenceClassifier) -> None:
    items = [*ITEMS, *ITEMS[::-1], PAIR]
    spaces = [
        EditSpace(top_k=30),
        EditSpace("characters", top_k=30),
        EditSpace(objective="logit", sign=True, top_k=30),
    ]
    requests = [
        edit_request(item, target, spaces[n % 3], toward=None if n % 2 else 0)
        for n, item in enumerate(items)
    ]
    for flipped, request in zip(target.flips(requests), requests):
        (alone,) = target.flips([request])
        assert flipped.scores == pytest.approx(alone.scores, abs=1e-5)
        assert flipped.scores == pytest.approx(target.scores([request.text])[0].tolist(), abs=1e-5)
        assert flipped.moves.gain == pytest.approx(alone.moves.gain, abs=1e-5)
    for gradient, request in zip(target.gradients(requests), requests):
        (lonely,) = target.gradients([request])
        for mine, other in zip(gradient.value, lonely.value):
            assert mine == pytest.approx(other, abs=1e-5)
    for layer in target.layers:
        for vectors, item in zip(target.embeddings(items, layer), items):
            alone = target.embeddings([item], layer)[0]
            assert vectors == pytest.approx(alone, abs=1e-5, nan_ok=True)
    for attention, item in zip(target.attention(items), items):
        (alone_attention,) = target.attention([item])
        assert attention.weights == pytest.approx(alone_attention.weights, abs=1e-5)
        assert attention.summary == pytest.approx(alone_attention.summary, abs=1e-5)


def test_words_that_are_cut_off_have_nothing_to_show() -> None:
    target = made("bert", double=True, longest=7)
    item = Text.of("the film was godlike it is")
    assert target.words_read([item]) == [(0, 1, 2, 3)]
    request = EditRequest(item, 1, None, EditSpace(top_k=10_000), range(6))
    (gradient,) = target.gradients([request])
    assert (gradient.value[4:] == 0).all() and (np.abs(gradient.value[:4]).sum(axis=1) > 0).all()
    assert {m.position for m in moves_of(target.flips([request])[0])} == {0, 1, 2, 3}
    (letters,) = target.gradients([EditRequest(item, 1, None, EditSpace("characters"), range(4))])
    # Of "god ##l ##i ##k ##e" two tokens are read, four letters.
    assert np.abs(letters.value[3]).sum(axis=1).astype(bool).tolist() == [True] * 4 + [False] * 3
    assert letters.value[5].shape == (2, 16) and not letters.value[5].any()
    (vectors,) = target.embeddings([item], "layer 1")
    assert np.isnan(vectors).all(axis=1).tolist() == [False] * 4 + [True] * 2
    (spelt,) = target.embeddings([item], "layer 1", "characters")
    assert np.isnan(spelt[3]).all(axis=1).tolist() == [False] * 4 + [True] * 3
    (attention,) = target.attention([item])
    weights, summary = attention.weights, attention.summary
    assert not weights[:, :, 4:].any() and not weights[:, :, :, 4:].any()
    assert summary[:, :, :4].all() and not summary[:, :, 4:].any()


def test_pairs_and_locked_fields_are_told_by_their_positions(bert: SequenceClassifier) -> None:
    whole = bert.gradients([edit_request(PAIR, bert)])[0].value
    assert whole.shape == (9, 16) and np.abs(whole).sum(axis=1).all()
    fields = {"premise": "the film was bad", "hypothesis": "it is a good story"}
    locked = Text.of(fields, locked=["premise"])
    (some,) = bert.gradients([edit_request(locked, bert)])
    assert some.value == pytest.approx(whole[4:], abs=1e-12)
    assert {m.position for m in moves_of(bert.flips([edit_request(locked, bert)])[0])} <= set(
        range(5)
    )


def test_only_the_requested_positions_are_ranked(bert: SequenceClassifier) -> None:
    request = EditRequest(ITEMS[1], 0, None, EditSpace(top_k=10_000), (1, 4))
    assert {m.position for m in moves_of(bert.flips([request])[0])} == {1, 4}
    (nothing,) = bert.flips([EditRequest(ITEMS[1], 0, None, EditSpace(), ())])
    assert len(nothing.moves.gain) == 0 and sum(nothing.scores) == pytest.approx(1)
    assert bert.flips([]) == [] and bert.gradients([]) == []


def test_holes_are_filled_and_leave_no_characters(bert: SequenceClassifier) -> None:
    item = Text.of("a good film").mask(1)
    (flipped,) = bert.flips([EditRequest(item, 1, None, EditSpace(top_k=10_000), (1,))])
    assert {m.new for m in moves_of(flipped)} == set(bert.inside._token_edits.words)
    (gradient,) = bert.gradients([edit_request(item, bert, EditSpace("characters"))])
    assert [rows.shape for rows in gradient.value] == [(1, 16), (0, 16), (4, 16)]


def test_embeddings_are_the_means_of_the_models_own(exact: SequenceClassifier) -> None:
    item = Text.of("the godlike film wasn't bad , rain")
    (key,) = exact.canonical([item])
    ids = torch.tensor(np.frombuffer(key, np.int32).astype(np.int64))[None]
    with torch.no_grad():
        hidden = list(exact.model(ids, output_hidden_states=True).hidden_states)
        hidden[0] = exact.model.get_input_embeddings()(ids)
    assert exact.layers == ("embedding", "layer 1", "layer 2")
    for layer, own in zip(exact.layers, hidden):
        (vectors,) = exact.embeddings([item], layer)
        (letters,) = exact.embeddings([item], layer, "characters")
        for position, columns in enumerate(_columns(exact, item)):
            rows = own[0, list(columns)].double().numpy()
            assert vectors[position] == pytest.approx(rows.mean(axis=0), abs=1e-9)
            assert letters[position][0] == pytest.approx(rows[0], abs=1e-9)
            assert letters[position][-1] == pytest.approx(rows[-1], abs=1e-9)
    with pytest.raises(UsageError, match="Unknown layer 'layer 3'"):
        exact.embeddings([item], "layer 3")


def test_attention_is_added_up_from_the_models_own(exact: SequenceClassifier) -> None:
    item = Text.of("the godlike film wasn't bad , rain")
    (key,) = exact.canonical([item])
    ids = torch.tensor(np.frombuffer(key, np.int32).astype(np.int64))[None]
    tokenizer = exact.tokenizer.hf_tokenizer
    eager = tiny.model(exact.model.config.model_type, len(tokenizer), attn_implementation="eager")
    with torch.no_grad():
        layers = eager.double()(ids, output_attentions=True).attentions
    (attention,) = exact.attention([item])
    weights, summary = attention.weights, attention.summary
    assert weights.shape == (2, 2, 6, 6) and weights.dtype == np.float64
    assert summary.shape == (2, 2, 6)
    columns = _columns(exact, item)
    for layer, from_first, own in zip(weights, summary, layers):
        for head, given, table in zip(layer, from_first, own[0].numpy()):
            # All these families read the text from their first token.
            expected = [sum(table[0, b] for b in getting) for getting in columns]
            assert given == pytest.approx(expected, abs=1e-6)
            for row, giving in enumerate(columns):
                for column, getting in enumerate(columns):
                    parts = [sum(table[a, b] for b in getting) for a in giving]
                    assert head[row, column] == pytest.approx(np.mean(parts), abs=1e-6)
    total = weights.sum(axis=-1)
    assert (total > 0).all() and (total < 1).all()  # the marks and the comma get the rest


@pytest.mark.slow
def test_threads_do_not_disturb_one_another(target: SequenceClassifier) -> None:
    fresh = of_model(target.model, target.tokenizer.hf_tokenizer)
    requests = [edit_request(item, fresh, EditSpace(top_k=20)) for item in ITEMS]
    scores = fresh.scores(ITEMS)

    def ask(n: int) -> Any:
        if n % 4 == 0:
            return fresh.scores(ITEMS)
        if n % 4 == 1:
            return [(a.weights.tolist(), a.summary.tolist()) for a in fresh.attention(ITEMS)]
        if n % 4 == 2:
            return [gradient.value.tolist() for gradient in fresh.gradients(requests)]
        return [(f.scores, f.moves.gain.tolist()) for f in fresh.flips(requests)]

    with ThreadPoolExecutor(2) as threads:
        together = list(threads.map(ask, range(24)))
    for n, answer in enumerate(together):
        if n % 4 == 0:
            assert (answer == scores).all()
        else:
            assert answer == ask(n)


def test_the_model_itself_is_left_as_it_is(target: SequenceClassifier) -> None:
    model = tiny.model(target.model.config.model_type, len(target.tokenizer.hf_tokenizer))
    own = of_model(model, target.tokenizer.hf_tokenizer)
    config = model.config.to_dict()
    own.flips([edit_request(ITEMS[0], own)])
    own.attention(ITEMS)
    own.embeddings(ITEMS, "layer 1")
    assert model.config.to_dict() == config
    assert model.config._attn_implementation != "eager"
    assert all(weight.requires_grad and weight.grad is None for weight in model.parameters())
    assert not any(part._forward_hooks for part in model.modules())
    shared = {weight.data_ptr() for weight in model.parameters()}
    assert {weight.data_ptr() for weight in own.inside.instrumented.model.parameters()} == shared
    assert not own.inside.instrumented.model.training


def test_a_model_without_padding_is_read_by_length() -> None:
    torch.manual_seed(0)
    tokenizer = tiny.wrapped(tiny.sentence_pieces(), pad_token=None)
    options = {"vocab_size": len(tokenizer), "n_positions": 64, "n_embd": 16, "n_layer": 2}
    config = transformers.GPT2Config(**options, n_head=2, num_labels=2, initializer_range=0.3)
    target = of_model(transformers.GPT2ForSequenceClassification(config), tokenizer)
    requests = [edit_request(item, target) for item in ITEMS[:4]]
    for flipped, request in zip(target.flips(requests), requests):
        assert flipped.scores == pytest.approx(target.scores([request.text])[0].tolist(), abs=1e-5)
        assert len(flipped.moves.gain)
    (attention,) = target.attention([ITEMS[0]])
    weights = attention.weights
    assert (np.triu(weights[0, 0], 1) == 0).all() and weights[0, 0].any()
    with pytest.raises(TargetError, match="reads no token in an empty text"):
        target.gradients([edit_request(Text.of(""), target)])


def test_a_model_with_a_decoder_is_refused_by_name() -> None:
    tokenizer = tiny.tokenizer("roberta")
    config = transformers.BartConfig(
        vocab_size=len(tokenizer), d_model=16, encoder_layers=1, decoder_layers=1,
        encoder_attention_heads=2, decoder_attention_heads=2, encoder_ffn_dim=16,
        decoder_ffn_dim=16, max_position_embeddings=40, num_labels=2,
    )  # fmt: skip
    target = of_model(transformers.BartForSequenceClassification(config), tokenizer, name="bart")
    assert target.scores(ITEMS[:1]).shape == (1, 2)
    with pytest.raises(UsageError, match=r"'bart' \(BartForSequenceClassification\) does not read"):
        target.flips([edit_request(ITEMS[0], target)])


def test_scores_that_are_not_finite_are_the_targets_error(bert: SequenceClassifier) -> None:
    model = tiny.model("bert", len(bert.tokenizer.hf_tokenizer))
    broken = of_model(model, bert.tokenizer.hf_tokenizer)
    with torch.no_grad():
        model.classifier.bias[0] = float("nan")
    with pytest.raises(TargetError, match="not finite"):
        broken.flips([edit_request(ITEMS[0], broken)])

"""Holes that read as padding: a zero vector in place of the word's, all else as it was."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from brittle.errors import UsageError
from brittle.moves import EditRequest, EditSpace
from brittle.targets.transformers.classifier import SequenceClassifier, of_model
from brittle.targets.transformers.tokenizer import align_texts
from brittle.text import HOLE, Text

torch = pytest.importorskip("torch")
transformers = pytest.importorskip("transformers")

from targets import tiny  # noqa: E402

PAIR = {"premise": "the film was bad", "hypothesis": "it is a good story"}
ITEMS = [
    *(Text.of("a good film").mask(i) for i in range(3)),
    *(Text.of("the story was not very godlike , it rained !").mask(i) for i in (0, 4, 6)),
    Text.of("rain").mask(0),
    Text.of("a good film"),
    Text.of("a good film").mask(0).mask(1).mask(2),
    Text.of(PAIR).mask(2).mask(8),
    Text.of(PAIR, locked=["premise"]).mask(0),
]


def gpt2() -> SequenceClassifier:
    torch.manual_seed(0)
    tokenizer = tiny.wrapped(tiny.sentence_pieces(), longest=60, pad_token=None)
    options = {"vocab_size": len(tokenizer), "n_positions": 64, "n_embd": 16, "n_layer": 2}
    config = transformers.GPT2Config(**options, n_head=2, num_labels=3, initializer_range=0.3)
    return of_model(transformers.GPT2ForSequenceClassification(config), tokenizer, mask="pad")


def made(family: str, mask: str | None = "pad", spare_rows: int = 0) -> SequenceClassifier:
    if family == "gpt2":
        return gpt2()
    tokenizer = tiny.tokenizer(family)
    model = tiny.model(family, len(tokenizer) + spare_rows)
    return of_model(model, tokenizer, mask=mask)


QUICK = ("bert", "roberta")
FAMILIES = [f if f in QUICK else pytest.param(f, marks=pytest.mark.slow) for f in tiny.FAMILIES]


@pytest.fixture(scope="module", params=[*FAMILIES, pytest.param("gpt2", marks=pytest.mark.slow)])
def target(request: pytest.FixtureRequest) -> SequenceClassifier:
    return made(request.param)


def by_hand(target: SequenceClassifier, item: Text) -> Any:
    """Run the model on vectors, zeros at holes; every other token is that of the text."""
    assert target.tokenizer.holes is not None
    rows = np.frombuffer(target.canonical([item])[0], np.int32).astype(np.int64)
    types = None
    if rows[0] == -1:
        rows, types = np.split(rows[1:], 2)
        types = torch.tensor(types)[None]
    is_hole = torch.tensor(rows == target.tokenizer.holes.token_id)
    assert int(is_hole.sum()) == item.words.count(HOLE)
    embedding = target.model.get_input_embeddings()
    vectors = torch.zeros((1, len(rows), embedding.embedding_dim))
    with torch.no_grad():
        vectors[0, ~is_hole] = embedding(torch.tensor(rows)[~is_hole])
    vectors.requires_grad_()
    options = {} if types is None else {"token_type_ids": types}
    return vectors, target.model(inputs_embeds=vectors, **options).logits[0]


def test_scores_are_those_of_zero_vectors(target: SequenceClassifier) -> None:
    items = ITEMS if "bert" in target.model.config.model_type else ITEMS[:9]
    expected = np.array([by_hand(target, item)[1].tolist() for item in items])
    assert target.logits(items) == pytest.approx(expected, abs=1e-5)
    scores = [embedding.scores for embedding in target.sentence_embeddings(items)]
    assert np.array(scores) == pytest.approx(target.scores(items), abs=1e-6)


def test_a_hole_is_no_other_token(target: SequenceClassifier) -> None:
    text = Text.of("a good film")
    unknown = target.tokenizer.hf_tokenizer.unk_token
    texts = [text.mask(1), text.swap(1, unknown), text.swap(1, "[MASK]"), text.swap(1, "🂡"), text]
    assert target.canonical(texts).count(target.canonical(texts)[0]) == 1
    assert target.words_read([text.mask(1)]) == [(0, 1, 2)]
    for item in ITEMS[:9]:
        (alignment,) = align_texts([item], target.tokenizer)
        for word, columns in zip(item.words, alignment.columns):
            if word is HOLE:
                assert [alignment.tokens.ids[c] for c in columns] == [
                    target.tokenizer.holes and target.tokenizer.holes.token_id
                ]


def test_texts_without_holes_are_read_as_ever() -> None:
    for family in QUICK:
        zeroed, plain = made(family), made(family, mask=None)
        text = Text.of("the story was not very godlike , it rained !")
        assert zeroed.canonical([text]) == plain.canonical([text])
        assert zeroed.scores([text]) == pytest.approx(plain.scores([text]), abs=1e-7)
        assert zeroed.fingerprint != plain.fingerprint


@pytest.mark.parametrize("spare_rows", [pytest.param(0, marks=pytest.mark.slow), 40])
@pytest.mark.parametrize("family", FAMILIES)
def test_gradients_and_swaps_are_those_of_zero_vectors(family: str, spare_rows: int) -> None:
    target = made(family, spare_rows=spare_rows)
    item = ITEMS[1]
    request = EditRequest(item, 1, None, EditSpace(objective="logit", top_k=10**6), range(3))
    [flips], [gradient] = target.flips([request]), target.gradients([request])
    vectors, logits = by_hand(target, item)
    (expected,) = torch.autograd.grad(-logits[1], vectors)
    assert flips.scores == pytest.approx(target.scores([item])[0].tolist(), abs=1e-6)
    assert gradient.scores == pytest.approx(flips.scores, abs=1e-6)
    (alignment,) = align_texts([item], target.tokenizer)
    [column] = alignment.columns[1]
    assert gradient.value[1] == pytest.approx(expected[0, column].numpy(), abs=1e-5)
    moves = [flips.moves[n] for n in range(len(flips.moves.gain))]
    edits = target.inside._token_edits
    token_of = dict(zip(edits.words, edits.token_ids))
    into = [move for move in moves if move.position == 1]
    assert {move.new for move in into} == set(edits.words)
    table = target.model.get_input_embeddings().weight.detach().double().numpy()
    gains = [table[token_of[move.new]] @ gradient.value[1] for move in into]
    # Gains are rounded before they are ordered, to a step below 1/30,000 of the highest one.
    step = max(abs(move.gain) for move in moves) / 30_000
    assert [move.gain for move in into] == pytest.approx(gains, abs=step + 1e-5)
    (rows,) = target.embeddings([item], "embedding")
    assert not rows[1].any() and rows[0].any() and rows[2].any()
    (attention,) = target.attention([item])
    assert attention.summary.shape == (2, 2, 3) and attention.summary.all()


def test_unknown_is_the_unknown_token() -> None:
    target = made("bert", mask="unknown")
    (key,) = target.canonical([ITEMS[1]])
    assert np.frombuffer(key, np.int32).tolist()[2] == target.tokenizer.hf_tokenizer.unk_token_id
    tokenizer = tiny.tokenizer("bert", unk_token=None)
    with pytest.raises(UsageError, match=r"^Got --mask unknown, but the tokenizer \w+ has no"):
        of_model(tiny.model("bert", len(tokenizer)), tokenizer, mask="unknown")


def test_a_model_that_reads_its_input_twice_is_refused() -> None:
    tokenizer = tiny.tokenizer("roberta")
    sizes = {"d_model": 16, "encoder_layers": 1, "decoder_layers": 1, "num_labels": 2}
    config = transformers.BartConfig(vocab_size=len(tokenizer), **sizes)
    model = transformers.BartForSequenceClassification(config)
    with pytest.raises(UsageError, match=r"^Got --mask pad for a Bart\w+ with an encoder and a"):
        of_model(model, tokenizer, mask="pad")

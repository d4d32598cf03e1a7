"""Decoding in batches with kept states, beside a plain reference that keeps nothing."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

torch = pytest.importorskip("torch")
pytest.importorskip("tokenizers")

from brittle.text import Text  # noqa: E402
from brittle.zoo.seq2seq.decoding import (  # noqa: E402
    decode_batch,
    decode_plainly,
    max_pieces,
)
from brittle.zoo.seq2seq.model import TranslationModel, open_translator  # noqa: E402
from brittle.zoo.seq2seq.network import build_network, next_piece  # noqa: E402
from brittle.zoo.seq2seq.pieces import BEGIN, END, PAD, Encoded  # noqa: E402
from zoo.seq2seq import toy  # noqa: E402

pytestmark = pytest.mark.slow  # a translator is trained


@pytest.fixture(params=toy.ENCODERS, scope="module")
def model(request: pytest.FixtureRequest) -> TranslationModel:
    return open_translator(toy.trained(request.param), "cpu")[1]


def encoded_texts(model: TranslationModel, count: int) -> list[Encoded]:
    texts = [Text.of(example.fields[0][1]) for example in toy.pairs(count, 7)]
    return model.encode([*texts[: count - 1], texts[0].mask(1)])


@pytest.mark.parametrize("beam", [1, 3])
def test_batches_with_kept_states_equal_the_plain_reference(
    model: TranslationModel, beam: int
) -> None:
    texts = encoded_texts(model, 12)
    model.beam = beam
    decoded = model.decode(texts)
    for one, text in zip(decoded, texts):
        plain = decode_plainly(model.network, torch.from_numpy(text.ids), beam)
        assert (one.ids, one.whole) == (plain.ids, plain.whole)
        assert one.score == pytest.approx(plain.score, abs=1e-4)
    assert len({one.ids for one in decoded}) > 6
    model.beam = 1


def test_a_text_has_the_same_translation_alone_and_in_every_batch(model: TranslationModel) -> None:
    texts = encoded_texts(model, 24)
    for model.beam in (2, 1):
        together = model.decode(texts)
        alone = [model.decode([text])[0] for text in texts]
        assert [one.ids for one in together] == [one.ids for one in alone]
        assert np.allclose([o.score for o in together], [o.score for o in alone], atol=1e-5)


def test_a_beam_of_one_takes_the_best_piece_at_every_step(model: TranslationModel) -> None:
    for text in encoded_texts(model, 6):
        source = model.network.encode(torch.from_numpy(text.ids)[None])
        ids: list[int] = []
        while len(ids) < max_pieces(len(text.ids)):
            vectors, _ = model.network.decode(source, torch.tensor([[BEGIN, *ids]]))
            piece = int(next_piece(model.network, vectors[0, -1]).argmax())
            if piece == END:
                break
            ids.append(piece)
        assert model.decode([text])[0].ids == tuple(ids)


def test_it_has_learnt_and_a_wider_beam_is_no_worse_a_translation(model: TranslationModel) -> None:
    texts = encoded_texts(model, 20)
    greedy = [one.score for one in model.decode(texts)]
    model.beam = 4
    beam = [one.score for one in model.decode(texts)]
    model.beam = 1
    assert np.mean(beam) >= np.mean(greedy) > -1.5  # log-probability of a piece


@pytest.mark.parametrize("beam", [1, 3])
@pytest.mark.parametrize("encoder", toy.ENCODERS)
def test_a_translation_without_an_end_stops_at_its_bound(encoder: str, beam: int) -> None:
    torch.manual_seed(0)
    network: Any = build_network(encoder, toy.settings(encoder), 30).eval()
    with torch.no_grad():
        network.embedding.table[END] = -network.embedding.table.sum(dim=0) * 10
        source = torch.randint(END + 1, 30, (5, 4))
        decoded = decode_batch(Endless(network), source, beam)
    limit = max_pieces(4)
    assert all(len(one.ids) == limit and not one.whole for one in decoded)
    assert all(min(one.ids) > PAD and END not in one.ids for one in decoded)


class Endless:
    """A network that never writes END."""

    def __init__(self, network: Any) -> None:
        self.network, self.embedding = network, self
        self.encode, self.begin, self.step = network.encode, network.begin, network.step

    def logits(self, vectors: Any) -> Any:
        logits = self.network.embedding.logits(vectors)
        logits[..., END] = -torch.inf
        return logits

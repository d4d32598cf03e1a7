"""The networks that translate: holes are zero vectors, padding and later pieces are not read."""

from __future__ import annotations

from typing import Any

import pytest

torch = pytest.importorskip("torch")

from brittle.zoo.seq2seq.network import build_network, pad_ids  # noqa: E402
from brittle.zoo.seq2seq.pieces import BEGIN, PAD  # noqa: E402
from zoo.seq2seq import toy  # noqa: E402

PIECES = 20


@pytest.fixture(params=toy.ENCODERS)
def network(request: pytest.FixtureRequest) -> Any:
    torch.manual_seed(1)
    return build_network(request.param, toy.settings(request.param), PIECES).eval()


def test_a_hole_equals_a_forward_pass_with_a_zero_vector(network: Any) -> None:
    whole, holed = torch.tensor([[7, 8, 9, 3]]), torch.tensor([[7, PAD, 9, 3]])
    with torch.no_grad():
        expected = network.embedding(whole).clone()
        expected[:, 1] = 0.0
        network.embedding.register_forward_hook(lambda *_: expected)
        by_hand = network.encode(whole)
        network.embedding._forward_hooks.clear()
        erased = network.encode(holed)
    assert torch.equal(erased.layers[0], expected) and bool((expected[:, 1] == 0).all())
    for one, other in zip(erased.layers, by_hand.layers):
        assert torch.equal(one, other)
    assert not torch.allclose(erased.state, network.encode(whole).state)


def test_padding_changes_nothing(network: Any) -> None:
    rows = [[5, 6, 7, 3], [8, 3], [9, 10, 3]]
    written = [[BEGIN, 4, 5, 6, 7], [BEGIN, 8, 9, 10, 11], [BEGIN, 12, 13, 14, 15]]
    ids, padding = pad_ids(rows)
    with torch.no_grad():
        together, weights = network.decode(network.encode(ids, padding), torch.tensor(written))
        for n, row in enumerate(rows):
            alone, weight = network.decode(
                network.encode(torch.tensor([row])), torch.tensor([written[n]])
            )
            assert torch.allclose(together[n], alone[0], atol=1e-5)
            for many, one in zip(weights, weight):
                assert torch.allclose(many[n, ..., : len(row)], one[0], atol=1e-5)
                assert bool((many[n, ..., len(row) :] == 0).all())


def test_no_piece_knows_a_later_one(network: Any) -> None:
    source = torch.tensor([[5, 6, 3]])
    with torch.no_grad():
        one, _ = network.decode(network.encode(source), torch.tensor([[BEGIN, 4, 5, 6]]))
        other, _ = network.decode(network.encode(source), torch.tensor([[BEGIN, 4, 5, 17]]))
    assert torch.allclose(one[:, :3], other[:, :3], atol=1e-6)
    assert not torch.allclose(one[:, 3], other[:, 3], atol=1e-3)


def test_only_texts_of_one_length_are_decoded_step_by_step(network: Any) -> None:
    ids, padding = pad_ids([[5, 6, 3], [7, 3]])
    with pytest.raises(ValueError, match="without padding"):
        network.begin(network.encode(ids, padding))

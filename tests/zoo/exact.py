"""Small networks in double precision, and what to hold their slopes against."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import torch

from brittle.moves import Aim, Space
from brittle.text import Text
from brittle.zoo.batches import batch_of
from brittle.zoo.names import grid
from brittle.zoo.names.settings import Network
from brittle.zoo.networks import Embedded, build
from brittle.zoo.scoring import NetworkModel, reader_of
from brittle.zoo.tokenizers.characters import STRANGE
from brittle.zoo.tokenizers.words import NEXT_FIELD, SPECIAL, Vocabulary

KNOWN = ["film", "the", "good", "god", "plot", "a", "is", "bad", "well-known", "don't", "foo", "on"]
ALPHABET = ["e", "o", "a", "d", "g", "F", "l", "'", "t", "-", "7", "n", "f", "i", "m"]
INPUTS = ["LSTM-W-Random-2", "CharCNN-LSTM", "LSTM-WC-Random-1"]
NAMES = [
    *INPUTS,
    *("CNN-W-Random-2", "CNN-C-Random-1-mean", "BiLSTM-WC-Random-2-attention"),
    *("BiLSTM-C-Random-1", "Transformer-W-Random-2", "Transformer-WC-Random-1-max"),
]
"""Every encoder, every input and every head."""


def model(name: str, *, pairs: bool = False, double: bool = True, **changed: Any) -> NetworkModel:
    """Build a network with random weights, all of which count; 8 characters of a word are read."""
    design = grid.design(name)
    small = {"spelling": 8, "character_window": 3, "highways": 2}
    chosen = grid.settings(design, "tiny", **{**small, **changed})
    assert isinstance(chosen, Network)
    vocabulary = Vocabulary([*SPECIAL, *([NEXT_FIELD] if pairs else []), *KNOWN])
    reader = reader_of(design.parts, chosen, vocabulary, ALPHABET)
    torch.manual_seed(11)
    network = build(design.parts, chosen, len(vocabulary), len(ALPHABET) + STRANGE + 1, 3)
    with torch.no_grad():
        for weight in network.parameters():
            weight.add_(0.2 * torch.randn_like(weight))
        for table in (network.embedding, network.spelling and network.spelling.embedding):
            if table is not None:
                table.weight[0] = 0.0
    made = NetworkModel(network, reader, chosen.reads, "cpu")
    if double:
        network.double()
    return made


def aim(text: Text, model: NetworkModel, space: Space | None = None, **to: Any) -> Aim:
    """Aim at all words of a text."""
    told = {"label": 1, "toward": None, **to}
    return Aim(text, told["label"], told["toward"], space or Space(), range(len(text)))


def objective(logits: Any, order: Aim) -> Any:
    """Work an objective out from logits, as `Space` tells it."""
    value = logits if order.space.of == "logit" else logits.log_softmax(dim=-1)
    return -value[..., order.label] if order.toward is None else value[..., order.toward]


def opened(model: NetworkModel, orders: Sequence[Aim]) -> tuple[Embedded, Any, Any]:
    """Give the vectors of texts with their slopes, by torch alone, the batch, and the logits.

    Every place has characters of its own.
    """
    keys = model.encode([order.text for order in orders])
    batch = batch_of(keys, model.reader, "cpu", apart=True)
    embedded = model.network.embed(batch)
    for vectors in (embedded.words, embedded.characters):
        if vectors is not None:
            vectors.retain_grad()
    logits = model.network.logits(embedded, batch)
    torch.stack([objective(z, order) for z, order in zip(logits, orders)]).sum().backward()
    return embedded, batch, logits.detach()


def central(function: Any, at: Any, step: float = 1e-6) -> Any:
    """Give the slope of a function of one array, by differences."""
    slope = np.zeros(at.shape)
    for place in np.ndindex(*at.shape):
        ends = []
        for way in (step, -step):
            moved = at.clone()
            moved[place] += way
            ends.append(float(function(moved)))
        slope[place] = (ends[0] - ends[1]) / (2 * step)
    return slope


def close(mine: Any, theirs: Any, error: float = 1e-12) -> bool:
    """Say whether arrays of one shape are the same but for an error."""
    one, other = np.asarray(mine), np.asarray(theirs)
    return one.shape == other.shape and bool(np.allclose(one, other, rtol=0, atol=error))

"""Small networks in double precision, and what to hold their gradients against."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import torch

from brittle.moves import EditRequest, EditSpace
from brittle.text import Text
from brittle.zoo.names import grid
from brittle.zoo.names.settings import NetworkSettings
from brittle.zoo.networks import Embedded, build, make_batch
from brittle.zoo.scoring import NetworkModel, build_tokenizer
from brittle.zoo.spellings import UNKNOWN_CHARACTER
from brittle.zoo.tokenizers import SEPARATOR_WORD, SPECIAL_WORDS, UNKNOWN, WordTokenizer
from zoo.small import random_bilm

KNOWN = ["film", "the", "good", "god", "plot", "a", "is", "bad", "well-known", "don't", "foo", "on"]
ALPHABET = ["e", "o", "a", "d", "g", "F", "l", "'", "t", "-", "7", "n", "f", "i", "m"]
INPUTS = ["LSTM-W-Random-2", "CharCNN-LSTM", "LSTM-WC-Random-1"]
NAMES = [
    *INPUTS,
    *("CNN-W-Random-2", "CNN-C-Random-1-mean", "BiLSTM-WC-Random-2-attention"),
    *("BiLSTM-C-Random-1", "Transformer-W-Random-2", "Transformer-WC-Random-1-max"),
    *("LSTM-WC-ELMo-1", "Transformer-WC-ELMo-1", "BiLSTM-WC-ELMo-1-attention"),
]
"""Every encoder, every input and every head."""


def model(
    name: str,
    *,
    pairs: bool = False,
    double: bool = True,
    hole_id: int = UNKNOWN,
    **changed: Any,
) -> NetworkModel:
    """Build a network with random weights, all of which count; 8 characters of a word are read."""
    design = grid.design(name)
    small = {"spelling": 8, "character_window": 3, "highways": 2}
    chosen = grid.settings(design, "tiny", **{**small, **changed})
    assert isinstance(chosen, NetworkSettings)
    special = [*SPECIAL_WORDS, *([SEPARATOR_WORD] if pairs else [])]
    vocabulary = WordTokenizer([*special, *KNOWN], hole_id)
    tokenizer = build_tokenizer(design.parts, chosen, vocabulary, ALPHABET)
    torch.manual_seed(11)
    letters = len(ALPHABET) + UNKNOWN_CHARACTER + 1
    bilm = random_bilm(letters, **small) if design.parts["embedding"] == "ELMo" else None
    network = build(design.parts, chosen, len(vocabulary), letters, 3, bilm)
    with torch.no_grad():
        for weight in network.parameters():
            weight.add_(0.2 * torch.randn_like(weight))
        for table in (network.embedding, network.spelling and network.spelling.embedding):
            if table is not None:
                table.weight[0] = 0.0
    built = NetworkModel(network, tokenizer, chosen.max_length, "cpu")
    if double:
        network.double()
        built._fast = None  # it holds weights in single precision
        if bilm is not None:
            bilm.double()
    return built


def edit_request(
    text: Text, model: NetworkModel, space: EditSpace | None = None, **to: Any
) -> EditRequest:
    """Request the edits of all words of a text."""
    aim = {"label": 1, "toward": None, **to}
    return EditRequest(text, aim["label"], aim["toward"], space or EditSpace(), range(len(text)))


def objective(logits: Any, request: EditRequest) -> Any:
    """Compute an objective from logits, as `EditSpace` defines it."""
    value = logits if request.space.objective == "logit" else logits.log_softmax(dim=-1)
    return -value[..., request.label] if request.toward is None else value[..., request.toward]


def opened(model: NetworkModel, requests: Sequence[EditRequest]) -> tuple[Embedded, Any, Any]:
    """Return the vectors of texts with their gradients, by torch alone, the batch, and the logits.

    Every position has characters of its own.
    """
    keys = model.encode([request.text for request in requests])
    batch = make_batch(keys, model.tokenizer, "cpu", apart=True)
    embedded = model.network.embed(batch)
    for vectors in (embedded.words, embedded.characters):
        if vectors is not None:
            if vectors.is_leaf:  # from frozen tables
                vectors.requires_grad_()
            vectors.retain_grad()
    logits = model.network.logits(embedded, batch)
    torch.stack([objective(z, request) for z, request in zip(logits, requests)]).sum().backward()
    return embedded, batch, logits.detach()


def central(function: Any, at: Any, step: float = 1e-6) -> Any:
    """Return the gradient of a function of one array, by differences."""
    gradient = np.zeros(at.shape)
    for position in np.ndindex(*at.shape):
        ends = []
        for way in (step, -step):
            moved = at.clone()
            moved[position] += way
            ends.append(float(function(moved)))
        gradient[position] = (ends[0] - ends[1]) / (2 * step)
    return gradient


def close(mine: Any, theirs: Any, error: float = 1e-12) -> bool:
    """Tell whether arrays of one shape are the same but for an error."""
    one, other = np.asarray(mine), np.asarray(theirs)
    return one.shape == other.shape and bool(np.allclose(one, other, rtol=0, atol=error))

"""What the two networks that translate have in common. This file needs torch."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor, nn
from torch.nn import functional

from brittle.zoo.names.settings import TranslatorSettings
from brittle.zoo.seq2seq.pieces import BEGIN, PAD, UNKNOWN

Ids = Sequence[int] | NDArray[np.int64]
NEVER_WRITTEN = [PAD, UNKNOWN, BEGIN]


@dataclass(frozen=True)
class EncodedSource:
    """Encoded source texts: the states of every layer, and which positions are padding.

    `layers` are rows × positions × width each, the embedding first. `padding` is rows × positions,
    or None where no row is padded. `attention` are the weights of the layers that attend to
    themselves, rows × heads × positions × positions.
    """

    layers: tuple[Tensor, ...]
    padding: Tensor | None
    attention: tuple[Tensor, ...] = ()

    @property
    def state(self) -> Tensor:
        """The states that a decoder attends to."""
        return self.layers[-1]


@dataclass(frozen=True)
class DecoderState:
    """What is kept of the pieces written so far, so that none is computed twice.

    `own` differs between the rows of one source text; `shared` is that of the source alone. All
    tensors have rows first.
    """

    own: tuple[Tensor, ...]
    shared: tuple[Tensor, ...]

    def reorder(self, rows: Tensor) -> DecoderState:
        """Return the state of other rows, each of the same source text as the row it replaces."""
        return DecoderState(tuple(t.index_select(0, rows) for t in self.own), self.shared)

    def select(self, rows: Tensor) -> DecoderState:
        """Return the state of some rows."""
        shared = tuple(t.index_select(0, rows) for t in self.shared)
        return DecoderState(self.reorder(rows).own, shared)


class TranslationNetwork(Protocol):
    """A network that reads a source text and writes a translation, piece by piece."""

    embedding: PieceEmbedding

    def encode(self, ids: Tensor, padding: Tensor | None = None) -> EncodedSource:
        """Read source texts: rows × positions; PAD inside of a text is a zero vector."""
        ...

    def decode(self, source: EncodedSource, written: Tensor) -> tuple[Tensor, list[Tensor]]:
        """Compute what all positions of written pieces (rows × positions) say of the next piece.

        That are their vectors before the output layer, and the attention that they give to the
        source, layer by layer: rows × heads × positions × source positions.
        """
        ...

    def begin(self, source: EncodedSource) -> DecoderState:
        """Return the state before the first piece."""
        ...

    def step(
        self, piece: Tensor, state: DecoderState, position: int
    ) -> tuple[Tensor, DecoderState]:
        """Add one piece to every row; return the vectors before the output layer."""
        ...


class PieceEmbedding(nn.Module):
    """One table for the source, for what is written, and for the output layer."""

    def __init__(self, pieces: int, width: int) -> None:
        super().__init__()
        self.table = nn.Parameter(torch.randn(pieces, width) / math.sqrt(width))

    def forward(self, ids: Tensor) -> Tensor:
        """Look up vectors of unit size; that of PAD is zero, whatever the output layer learns."""
        vectors = functional.embedding(ids, self.table) * math.sqrt(self.table.shape[1])
        return vectors.masked_fill((ids == PAD)[..., None], 0.0)

    def logits(self, vectors: Tensor) -> Tensor:
        """Compute the scores of every piece to be the next."""
        return functional.linear(vectors, self.table)


def next_piece(network: TranslationNetwork, vectors: Tensor) -> Tensor:
    """Compute the log-probabilities of the next piece: what is never written has none."""
    logits = network.embedding.logits(vectors).double()
    logits[..., NEVER_WRITTEN] = -torch.inf
    return logits.log_softmax(dim=-1)


def best_next_pieces(
    network: TranslationNetwork, vectors: Tensor, count: int
) -> tuple[Tensor, Tensor]:
    """Compute the `count` best next pieces of every row, and their log-probabilities.

    They are those of `next_piece`, without a table of all pieces in double precision.
    """
    logits = network.embedding.logits(vectors)
    logits[..., NEVER_WRITTEN] = -torch.inf
    best, piece = logits.topk(min(count, logits.shape[-1]), dim=-1)
    return best.double() - logits.logsumexp(dim=-1, keepdim=True).double(), piece


def build_network(encoder: str, settings: TranslatorSettings, pieces: int) -> nn.Module:
    """Build a network with random weights; its encoder is an LSTM or a Transformer."""
    from brittle.zoo.seq2seq.lstm import LstmTranslator
    from brittle.zoo.seq2seq.transformer import TransformerTranslator

    kinds: dict[str, type[LstmTranslator | TransformerTranslator]]
    kinds = {"LSTM": LstmTranslator, "Transformer": TransformerTranslator}
    return kinds[encoder](settings, pieces)


def pad_ids(rows: Sequence[Ids]) -> tuple[Tensor, Tensor]:
    """Stack ids, padded on the right; return them, and which positions are padding."""
    length = torch.tensor([len(row) for row in rows])
    ids = torch.full((len(rows), int(length.max())), PAD)
    for n, row in enumerate(rows):
        ids[n, : len(row)] = torch.as_tensor(row)
    return ids, torch.arange(ids.shape[1]) >= length[:, None]

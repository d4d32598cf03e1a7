"""The two networks that translate: an LSTM with attention, and a Transformer. Needs torch.

What the two networks that translate have in common. This file needs torch. An LSTM that translates:
an encoder of both directions, and a decoder with attention.

The first layer of the decoder asks the source (Luong et al., 2015, "general"); what it gets is
read by all layers above and by the output (as Wu et al., 2016, do), so that a whole translation is
computed at once in training. This file needs torch.

A Transformer that translates (Vaswani et al., 2017), each layer normalised before it reads. This
file needs torch.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Protocol, cast

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor, nn
from torch.nn import functional
from torch.nn.utils.rnn import pack_padded_sequence, pad_packed_sequence

from brittle.ranking.top_k import ROWS
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


class LstmTranslator(nn.Module):
    """Layers of LSTMs that read from both sides, and as many that write."""

    def __init__(self, settings: TranslatorSettings, pieces: int) -> None:
        super().__init__()
        width, layers = settings.hidden, range(settings.layers)
        self.embedding = PieceEmbedding(pieces, width)
        self.drop = nn.Dropout(settings.dropout)
        self.encoder = nn.ModuleList(
            nn.LSTM(width, width // 2, batch_first=True, bidirectional=True) for _ in layers
        )
        self.decoder = nn.ModuleList(
            nn.LSTM(2 * width if n else width, width, batch_first=True) for n in layers
        )
        self.first_state = nn.Linear(width, 2 * width * settings.layers)
        self.query = nn.Linear(width, width, bias=False)
        self.out = nn.Linear(2 * width, width)
        for layer in (*self.encoder, *self.decoder):
            _begin_remembering(layer)

    def encode(self, ids: Tensor, padding: Tensor | None = None) -> EncodedSource:
        states = [self.embedding(ids)]
        for layer in self.encoder:
            states.append(_run_layer(layer, self.drop(states[-1]), padding))
        return EncodedSource(tuple(states), padding)

    def decode(self, source: EncodedSource, written: Tensor) -> tuple[Tensor, list[Tensor]]:
        hidden, cell = self._first(source)
        first, *others = self.decoder
        x, _ = first(self.drop(self.embedding(written)), (hidden[:1], cell[:1]))
        context, weight = self._attend(x, source.state, source.padding)
        for n, layer in enumerate(others, 1):
            x, _ = layer(
                self.drop(torch.cat((x, context), dim=2)), (hidden[n : n + 1], cell[n : n + 1])
            )
        return self._vectors(x, context), [weight[:, None]]

    def begin(self, source: EncodedSource) -> DecoderState:
        if source.padding is not None:
            raise ValueError("Texts are decoded without padding: sort them by length.")
        hidden, cell = self._first(source)
        return DecoderState((*hidden.unbind(), *cell.unbind()), (source.state,))

    def step(
        self, piece: Tensor, state: DecoderState, position: int
    ) -> tuple[Tensor, DecoderState]:
        count = len(self.decoder)
        x, context = self.drop(self.embedding(piece)), None
        hidden: list[Tensor] = []
        cell: list[Tensor] = []
        for n, layer in enumerate(self.decoder):
            read = x if context is None else self.drop(torch.cat((x, context), dim=1))
            x, inner = lstm_step(layer, read, state.own[n], state.own[count + n])
            hidden.append(x)
            cell.append(inner)
            if context is None:
                context = self._attend(x[:, None], state.shared[0], None)[0][:, 0]
        assert context is not None
        return self._vectors(x, context), DecoderState((*hidden, *cell), state.shared)

    def _first(self, source: EncodedSource) -> tuple[Tensor, Tensor]:
        """Compute hidden and cell states before the first piece: layers × rows × width."""
        state = source.state
        if source.padding is None:
            mean = state.mean(dim=1)
        else:
            seen = (~source.padding)[:, :, None].to(state)
            mean = (state * seen).sum(dim=1) / seen.sum(dim=1)
        both = torch.tanh(self.first_state(mean)).reshape(len(mean), -1, 2, state.shape[2])
        hidden, cell = both.permute(2, 1, 0, 3).contiguous()
        return hidden, cell

    def _attend(self, x: Tensor, state: Tensor, padding: Tensor | None) -> tuple[Tensor, Tensor]:
        score = self.query(x) @ state.transpose(1, 2)
        if padding is not None:
            score = score.masked_fill(padding[:, None], -torch.inf)
        weight = score.softmax(dim=2)
        return weight @ state, weight

    def _vectors(self, x: Tensor, context: Tensor) -> Tensor:
        return torch.tanh(self.out(self.drop(torch.cat((x, context), dim=-1))))


def _begin_remembering(layer: nn.Module) -> None:
    """Open the forget gates at the start, so that gradients reach far back (Jozefowicz, 2015)."""
    for name, bias in layer.named_parameters():
        if name.startswith("bias_ih"):
            width = len(bias) // 4
            nn.init.ones_(bias.data[width : 2 * width])


def lstm_step(layer: Any, x: Tensor, hidden: Tensor, cell: Tensor) -> tuple[Tensor, Tensor]:
    """Compute one position of a layer, rows × width; return its hidden and its cell state."""
    gates = functional.linear(x, layer.weight_ih_l0, layer.bias_ih_l0)
    gates = gates + functional.linear(hidden, layer.weight_hh_l0, layer.bias_hh_l0)
    let_in, forget, new, let_out = gates.chunk(4, dim=1)
    cell = forget.sigmoid() * cell + let_in.sigmoid() * new.tanh()
    return let_out.sigmoid() * cell.tanh(), cell


def _run_layer(layer: nn.Module, x: Tensor, padding: Tensor | None) -> Tensor:
    state: Tensor
    if padding is None:
        # Fewer rows would be summed in another order: a text must read alike in every batch.
        lacking = -len(x) % ROWS if not layer.training else 0
        state, _ = layer(torch.cat((x, x[-1:].expand(lacking, -1, -1))) if lacking else x)
        return state[: len(x)]
    length = (~padding).sum(dim=1).cpu()
    packed = pack_padded_sequence(x, length, batch_first=True, enforce_sorted=False)
    state, _ = pad_packed_sequence(layer(packed)[0], batch_first=True, total_length=x.shape[1])
    return state


class TransformerTranslator(nn.Module):
    """Self-attention over the source; self- and cross-attention where it writes."""

    def __init__(self, settings: TranslatorSettings, pieces: int) -> None:
        super().__init__()
        self.embedding = PieceEmbedding(pieces, settings.hidden)
        self.drop = nn.Dropout(settings.dropout)
        layers = range(settings.layers)
        self.encoder = nn.ModuleList(EncoderLayer(settings) for _ in layers)
        self.encoder_norm = nn.LayerNorm(settings.hidden)
        self.decoder = nn.ModuleList(DecoderLayer(settings) for _ in layers)
        self.decoder_norm = nn.LayerNorm(settings.hidden)

    def encode(self, ids: Tensor, padding: Tensor | None = None) -> EncodedSource:
        embedded = self.embedding(ids)
        x = self.drop(embedded + positions(ids.shape[1], embedded))
        mask = None if padding is None else padding[:, None, None]
        states, weights = [embedded], []
        for layer in self.encoder:
            x, weight = layer(x, mask)
            states.append(x)
            weights.append(weight)
        states[-1] = self.encoder_norm(x)
        return EncodedSource(tuple(states), padding, tuple(weights))

    def decode(self, source: EncodedSource, written: Tensor) -> tuple[Tensor, list[Tensor]]:
        count = written.shape[1]
        later = torch.ones(count, count, dtype=torch.bool, device=written.device).triu(1)
        mask = None if source.padding is None else source.padding[:, None, None]
        embedded = self.embedding(written)
        x = self.drop(embedded + positions(count, embedded))
        weights = []
        for layer in self._decoder_layers():
            x, weight = layer(x, later, layer.cross.keys_and_values(source.state), mask)
            weights.append(weight)
        return self.decoder_norm(x), weights

    def begin(self, source: EncodedSource) -> DecoderState:
        if source.padding is not None:
            raise ValueError("Texts are decoded without padding: sort them by length.")
        own: list[Tensor] = []
        shared: list[Tensor] = []
        for layer in self._decoder_layers():
            read = layer.cross.keys_and_values(source.state)
            own += (tensor[:, :, :0] for tensor in read)
            shared += read
        return DecoderState(tuple(own), tuple(shared))

    def step(
        self, piece: Tensor, state: DecoderState, position: int
    ) -> tuple[Tensor, DecoderState]:
        embedded = self.embedding(piece[:, None])
        x = self.drop(embedded + positions(position + 1, embedded)[position:])
        own: list[Tensor] = []
        for n, layer in enumerate(self._decoder_layers()):
            kept, read = (t[2 * n : 2 * n + 2] for t in (state.own, state.shared))
            x, grown = layer.step(x, (kept[0], kept[1]), (read[0], read[1]))
            own += grown
        return self.decoder_norm(x)[:, 0], DecoderState(tuple(own), state.shared)

    def _decoder_layers(self) -> list[DecoderLayer]:
        return cast(list[DecoderLayer], list(self.decoder))


class MultiHeadAttention(nn.Module):
    """Attention of several heads; it returns its weights too."""

    def __init__(self, settings: TranslatorSettings) -> None:
        super().__init__()
        self.heads = settings.heads
        self.query, self.key, self.value, self.out = (
            nn.Linear(settings.hidden, settings.hidden) for _ in range(4)
        )
        for layer in (self.query, self.key, self.value, self.out):
            nn.init.xavier_uniform_(layer.weight)
        self.drop = nn.Dropout(settings.dropout)

    def keys_and_values(self, x: Tensor) -> tuple[Tensor, Tensor]:
        """Compute what is attended to, rows × heads × positions × width of a head."""
        return self._split(self.key(x)), self._split(self.value(x))

    def forward(
        self, x: Tensor, read: tuple[Tensor, Tensor], mask: Tensor | None
    ) -> tuple[Tensor, Tensor]:
        """Attend from `x`; positions where the mask is true are not seen."""
        key, value = read
        query = self._split(self.query(x)) / math.sqrt(key.shape[-1])
        score = query @ key.transpose(2, 3)
        weight = (score if mask is None else score.masked_fill(mask, -torch.inf)).softmax(dim=-1)
        mixed = (self.drop(weight) @ value).transpose(1, 2).reshape(x.shape)
        return self.out(mixed), weight

    def _split(self, x: Tensor) -> Tensor:
        return x.reshape(len(x), x.shape[1], self.heads, -1).transpose(1, 2)


class FeedForward(nn.Sequential):
    """Two linear layers."""

    def __init__(self, settings: TranslatorSettings) -> None:
        super().__init__(
            nn.Linear(settings.hidden, settings.feed_forward),
            nn.ReLU(),
            nn.Dropout(settings.dropout),
            nn.Linear(settings.feed_forward, settings.hidden),
        )


class EncoderLayer(nn.Module):
    """Self-attention, then the feed-forward layers, each added to what it reads."""

    def __init__(self, settings: TranslatorSettings) -> None:
        super().__init__()
        self.own, self.feed = MultiHeadAttention(settings), FeedForward(settings)
        self.norms = nn.ModuleList(nn.LayerNorm(settings.hidden) for _ in range(2))
        self.drop = nn.Dropout(settings.dropout)

    def forward(self, x: Tensor, mask: Tensor | None) -> tuple[Tensor, Tensor]:
        normed = self.norms[0](x)
        mixed, weight = self.own(normed, self.own.keys_and_values(normed), mask)
        x = x + self.drop(mixed)
        return x + self.drop(self.feed(self.norms[1](x))), weight


class DecoderLayer(nn.Module):
    """Attention to what is written, to the source, then the feed-forward layers."""

    def __init__(self, settings: TranslatorSettings) -> None:
        super().__init__()
        self.own, self.cross, self.feed = (
            MultiHeadAttention(settings),
            MultiHeadAttention(settings),
            FeedForward(settings),
        )
        self.norms = nn.ModuleList(nn.LayerNorm(settings.hidden) for _ in range(3))
        self.drop = nn.Dropout(settings.dropout)

    def forward(
        self, x: Tensor, later: Tensor, source: tuple[Tensor, Tensor], mask: Tensor | None
    ) -> tuple[Tensor, Tensor]:
        normed = self.norms[0](x)
        mixed, _ = self.own(normed, self.own.keys_and_values(normed), later)
        return self._read_source(x + self.drop(mixed), source, mask)

    def step(
        self, x: Tensor, kept: tuple[Tensor, Tensor], source: tuple[Tensor, Tensor]
    ) -> tuple[Tensor, tuple[Tensor, Tensor]]:
        """Compute one position; return what is kept with this position added."""
        normed = self.norms[0](x)
        key, value = self.own.keys_and_values(normed)
        grown = torch.cat((kept[0], key), dim=2), torch.cat((kept[1], value), dim=2)
        mixed, _ = self.own(normed, grown, None)
        x, _ = self._read_source(x + self.drop(mixed), source, None)
        return x, grown

    def _read_source(
        self, x: Tensor, source: tuple[Tensor, Tensor], mask: Tensor | None
    ) -> tuple[Tensor, Tensor]:
        mixed, weight = self.cross(self.norms[1](x), source, mask)
        x = x + self.drop(mixed)
        return x + self.drop(self.feed(self.norms[2](x))), weight


def positions(count: int, like: Tensor) -> Tensor:
    """Compute the sines and cosines of positions from 0 (Vaswani et al., 2017, section 3.5)."""
    width = like.shape[-1]
    place = torch.arange(count, dtype=torch.float32)[:, None]
    rate = torch.exp(torch.arange(0, width, 2, dtype=torch.float32) * (-math.log(10_000) / width))
    vectors = torch.zeros(count, width)
    vectors[:, 0::2] = torch.sin(place * rate)
    vectors[:, 1::2] = torch.cos(place * rate[: width // 2])
    return vectors.to(like)

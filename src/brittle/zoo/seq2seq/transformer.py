"""A Transformer that translates (Vaswani et al., 2017), each layer normalised before it reads.

This file needs torch.
"""

from __future__ import annotations

import math
from typing import cast

import torch
from torch import Tensor, nn

from brittle.zoo.names.settings import TranslatorSettings
from brittle.zoo.seq2seq.network import DecoderState, EncodedSource, PieceEmbedding


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

"""Encoders, which read the words of a text: none at all, LSTM, BiLSTM, CNN, self-attention.

An encoder takes vectors (texts × words × size) and lengths and returns the states of its layers,
the last one last, each texts × words × width. Padding stands on the right and changes no state of a
word but for rounding. One that `ignores_padding` computes the same bits with and without it. The
names of layers are those of the tensors in trained files, and stay. This file needs torch.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import torch
from torch import Tensor, nn

from brittle.ranking.whole_rows import WholeLinear, whole_columns
from brittle.zoo.names.settings import NetworkSettings


class AverageEncoder(nn.Module):
    """No layers: the states of the words are their vectors, of which a head takes the mean."""

    ignores_padding = True

    def __init__(self, size: int, settings: NetworkSettings, layers: int) -> None:
        super().__init__()
        self.width = size

    def forward(self, vectors: Tensor, length: Tensor) -> list[Tensor]:
        return [vectors]


class LSTMEncoder(nn.Module):
    """Layers of LSTMs, each over the states of the one before."""

    ignores_padding = True

    def __init__(self, size: int, settings: NetworkSettings, layers: int) -> None:
        super().__init__()
        self.width = settings.hidden
        sizes = [size] + [self.width] * (layers - 1)
        self.layers = nn.ModuleList(build_lstm(n, settings.hidden) for n in sizes)
        self.dropout = nn.Dropout(settings.dropout)

    def forward(self, vectors: Tensor, length: Tensor) -> list[Tensor]:
        states: list[Tensor] = []
        for layer in self.layers:
            # Padding on the right comes after the last word: its state does not depend on it.
            states.append(layer(self.dropout(states[-1]) if states else vectors)[0])
        return states


class BiLSTMEncoder(nn.Module):
    """Layers of two LSTMs, one that reads forward and one that reads backward."""

    ignores_padding = True

    def __init__(self, size: int, settings: NetworkSettings, layers: int) -> None:
        super().__init__()
        self.width = 2 * settings.hidden
        sizes = [size] + [self.width] * (layers - 1)
        self.ahead = nn.ModuleList(build_lstm(n, settings.hidden) for n in sizes)
        self.back = nn.ModuleList(build_lstm(n, settings.hidden) for n in sizes)
        self.dropout = nn.Dropout(settings.dropout)

    def forward(self, vectors: Tensor, length: Tensor) -> list[Tensor]:
        order = reverse_order(vectors, length)
        states: list[Tensor] = []
        for ahead, back in zip(self.ahead, self.back):
            x = self.dropout(states[-1]) if states else vectors
            backward = reorder(back(reorder(x, order))[0], order)
            states.append(torch.cat([ahead(x)[0], backward], dim=2))
        return states


def build_lstm(size: int, hidden: int) -> nn.LSTM:
    """Build an LSTM with a forget bias of 1 (Jozefowicz et al., 2015)."""
    lstm = nn.LSTM(size, hidden, batch_first=True)
    with torch.no_grad():
        # The forget gate is torch's second gate; its other bias is about 0.
        lstm.all_weights[0][2][hidden : 2 * hidden] = 1.0
    return lstm


def reverse_order(vectors: Tensor, length: Tensor) -> Tensor:
    """Return the order of each text's words in reverse, its padding again on the right."""
    position = torch.arange(vectors.shape[1], device=vectors.device)[None, :]
    return torch.where(position < length[:, None], length[:, None] - 1 - position, position)


def reorder(x: Tensor, order: Tensor) -> Tensor:
    """Take the words of each text in this order."""
    return x.gather(1, order[:, :, None].expand(-1, -1, x.shape[2]))


class CNNEncoder(nn.Module):
    """Convolutions of several widths over words (Kim, 2014), after layers that keep the length.

    The state of a word is that of the windows that begin there. A text of fewer than `min_words`
    words, the widest window, is read as if padded to it.
    """

    def __init__(self, size: int, settings: NetworkSettings, layers: int) -> None:
        super().__init__()
        self.width = settings.filters * len(settings.widths)
        self.filters, self.widths = settings.filters, settings.widths
        sizes = [size] + [settings.hidden] * (layers - 1)
        self.below = nn.ModuleList(
            nn.Conv1d(n, settings.hidden, 3, padding=1) for n in sizes[: layers - 1]
        )
        self.convolutions = nn.ModuleList(
            nn.Conv1d(sizes[-1], settings.filters, width) for width in settings.widths
        )
        self.min_words = max(settings.widths)
        # Torch chooses the routine of a layer that keeps the length by the length.
        self.ignores_padding = not self.below

    def forward(self, vectors: Tensor, length: Tensor) -> list[Tensor]:
        words = vectors.shape[1]
        inside = torch.arange(words, device=vectors.device)[None, :] < length[:, None]
        x = vectors * inside[:, :, None]
        states = []
        for number, layer in enumerate(self.below):
            y = torch.relu(layer(x.transpose(1, 2)).transpose(1, 2))
            x = (y + x if number else y) * inside[:, :, None]
            states.append(x)
        windows = max(self.min_words, words)
        padded = nn.functional.pad(x, (0, 0, 0, windows + self.min_words - 1 - words)).transpose(
            1, 2
        )
        parts = [torch.relu(layer(padded))[:, :, :windows] for layer in self.convolutions]
        return [*states, torch.cat(parts, dim=1).transpose(1, 2)]

    def windows(self, length: Tensor) -> Tensor:
        """Count the windows that lie inside each text, for every feature of a state."""
        width = torch.tensor(self.widths, device=length.device).repeat_interleave(self.filters)
        return length.clamp(min=self.min_words)[:, None] - width[None, :] + 1


class TransformerEncoder(nn.Module):
    """Transformer layers without pretraining, normalised before each part; learnt positions."""

    ignores_padding = False  # a softmax over more words sums in another order

    def __init__(self, size: int, settings: NetworkSettings, layers: int) -> None:
        super().__init__()
        self.width = settings.hidden
        self.enter = WholeLinear(size, settings.hidden)
        self.places = nn.Embedding(settings.max_length, settings.hidden)
        nn.init.normal_(self.places.weight, std=0.02)
        self.layers = nn.ModuleList(_TransformerLayer(settings) for _ in range(layers))

    def forward(self, vectors: Tensor, length: Tensor) -> list[Tensor]:
        return self.attend(vectors, length)[0]

    def attend(self, vectors: Tensor, length: Tensor) -> tuple[list[Tensor], list[Tensor]]:
        """Compute the states of all layers, and their weights: texts × heads × words × words."""
        position = torch.arange(vectors.shape[1], device=vectors.device)
        padding = position[None, :] >= length[:, None]
        x = self.enter(vectors) + self.places(position)[None]
        states, weights = [], []
        for layer in self.layers:
            x, weight = layer(x, padding)
            states.append(x)
            weights.append(weight)
        return states, weights


class _TransformerLayer(nn.Module):
    def __init__(self, settings: NetworkSettings) -> None:
        super().__init__()
        width = settings.hidden
        self.heads = settings.heads
        self.first, self.second = nn.LayerNorm(width), nn.LayerNorm(width)
        self.seen = WholeLinear(width, 3 * width)
        self.out = WholeLinear(width, width)
        self.widen, self.narrow = WholeLinear(width, 4 * width), WholeLinear(4 * width, width)
        self.dropout = nn.Dropout(settings.dropout)

    def forward(self, x: Tensor, padding: Tensor) -> tuple[Tensor, Tensor]:
        texts, words, width = x.shape
        shape = (texts, words, self.heads, width // self.heads)
        q, k, v = (
            part.view(shape).transpose(1, 2) for part in self.seen(self.first(x)).chunk(3, 2)
        )
        q, k, v = map(whole_columns, (q, k, v))
        score = q @ k.transpose(2, 3) / (width // self.heads) ** 0.5
        weight = score.masked_fill(padding[:, None, None, :], -torch.inf).softmax(dim=3)
        attended = (weight @ v)[..., : shape[3]].transpose(1, 2).reshape(texts, words, width)
        x = x + self.dropout(self.out(attended))
        hidden = nn.functional.gelu(self.widen(self.second(x)))
        return x + self.dropout(self.narrow(hidden)), weight


ENCODERS: Mapping[str, Callable[[int, NetworkSettings, int], Any]] = {
    "Average": AverageEncoder,
    "LSTM": LSTMEncoder,
    "BiLSTM": BiLSTMEncoder,
    "CNN": CNNEncoder,
    "Transformer": TransformerEncoder,
}

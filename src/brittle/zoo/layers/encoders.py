"""What reads the words of a text in their order: LSTM, BiLSTM, CNN, self-attention.

An encoder takes vectors (texts × words × size) and lengths and gives the states of its layers, the
last one last, each texts × words × width. Padding stands on the right and moves no state of a word.
This file needs torch.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import torch
from torch import Tensor, nn

from brittle.zoo.names.settings import NetworkSettings


class LSTMEncoder(nn.Module):
    """Layers of LSTMs, each over the states of the one before."""

    def __init__(self, size: int, settings: NetworkSettings, layers: int) -> None:
        super().__init__()
        self.width = settings.hidden
        sizes = [size] + [self.width] * (layers - 1)
        self.layers = nn.ModuleList(_lstm(n, settings.hidden) for n in sizes)
        self.dropout = nn.Dropout(settings.dropout)

    def forward(self, vectors: Tensor, length: Tensor) -> list[Tensor]:
        states: list[Tensor] = []
        for layer in self.layers:
            # Padding on the right comes after the last word, so nothing of it is in its state.
            states.append(layer(self.dropout(states[-1]) if states else vectors)[0])
        return states


class BiLSTMEncoder(nn.Module):
    """Layers of two LSTMs, one from the left and one from the last word back."""

    def __init__(self, size: int, settings: NetworkSettings, layers: int) -> None:
        super().__init__()
        self.width = 2 * settings.hidden
        sizes = [size] + [self.width] * (layers - 1)
        self.ahead = nn.ModuleList(_lstm(n, settings.hidden) for n in sizes)
        self.back = nn.ModuleList(_lstm(n, settings.hidden) for n in sizes)
        self.dropout = nn.Dropout(settings.dropout)

    def forward(self, vectors: Tensor, length: Tensor) -> list[Tensor]:
        # The words of each text in reverse, its padding again on the right.
        position = torch.arange(vectors.shape[1], device=vectors.device)[None, :]
        turned = torch.where(position < length[:, None], length[:, None] - 1 - position, position)
        states: list[Tensor] = []
        for ahead, back in zip(self.ahead, self.back):
            x = self.dropout(states[-1]) if states else vectors
            reverse = _reordered(back(_reordered(x, turned))[0], turned)
            states.append(torch.cat([ahead(x)[0], reverse], dim=2))
        return states


def _lstm(size: int, hidden: int) -> nn.LSTM:
    """Make an LSTM that at first rather keeps what it has read (Jozefowicz et al., 2015)."""
    lstm = nn.LSTM(size, hidden, batch_first=True)
    with torch.no_grad():
        # Torch's second gate is the one that keeps; its other bias is about 0.
        lstm.all_weights[0][2][hidden : 2 * hidden] = 1.0
    return lstm


def _reordered(x: Tensor, order: Tensor) -> Tensor:
    return x.gather(1, order[:, :, None].expand(-1, -1, x.shape[2]))


class CNNEncoder(nn.Module):
    """Convolutions of several widths over words (Kim, 2014), after layers that keep the length.

    The state of a word holds the windows that begin there; a text shorter than the widest window
    reads as if padded to it. `windows` says how many windows of each width a text has.
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
        self.least = max(settings.widths)

    def forward(self, vectors: Tensor, length: Tensor) -> list[Tensor]:
        words = vectors.shape[1]
        inside = torch.arange(words, device=vectors.device)[None, :] < length[:, None]
        x = vectors * inside[:, :, None]
        states = []
        for number, layer in enumerate(self.below):
            found = torch.relu(layer(x.transpose(1, 2)).transpose(1, 2))
            x = (found + x if number else found) * inside[:, :, None]
            states.append(x)
        over = nn.functional.pad(x, (0, 0, 0, max(self.least, words) + self.least - 1 - words))
        wide = over.transpose(1, 2)
        tops = [
            torch.relu(layer(wide))[:, :, : max(self.least, words)] for layer in self.convolutions
        ]
        return [*states, torch.cat(tops, dim=1).transpose(1, 2)]

    def windows(self, length: Tensor) -> Tensor:
        """Count the windows that lie inside each text, for every feature of a state."""
        width = torch.tensor(self.widths, device=length.device).repeat_interleave(self.filters)
        return length.clamp(min=self.least)[:, None] - width[None, :] + 1


class TransformerEncoder(nn.Module):
    """Transformer layers without pretraining, normalised before each part; learned places."""

    def __init__(self, size: int, settings: NetworkSettings, layers: int) -> None:
        super().__init__()
        self.width = settings.hidden
        self.enter = nn.Linear(size, settings.hidden)
        self.places = nn.Embedding(settings.reads, settings.hidden)
        nn.init.normal_(self.places.weight, std=0.02)
        self.layers = nn.ModuleList(_TransformerLayer(settings) for _ in range(layers))

    def forward(self, vectors: Tensor, length: Tensor) -> list[Tensor]:
        return self.attended(vectors, length)[0]

    def attended(self, vectors: Tensor, length: Tensor) -> tuple[list[Tensor], list[Tensor]]:
        """Give the states, and the weights of every layer (texts × heads × words × words)."""
        position = torch.arange(vectors.shape[1], device=vectors.device)
        beyond = position[None, :] >= length[:, None]
        x = self.enter(vectors) + self.places(position)[None]
        states, weights = [], []
        for layer in self.layers:
            x, weight = layer(x, beyond)
            states.append(x)
            weights.append(weight)
        return states, weights


class _TransformerLayer(nn.Module):
    def __init__(self, settings: NetworkSettings) -> None:
        super().__init__()
        width = settings.hidden
        self.heads = settings.heads
        self.first, self.second = nn.LayerNorm(width), nn.LayerNorm(width)
        self.seen = nn.Linear(width, 3 * width)
        self.out = nn.Linear(width, width)
        self.widen, self.narrow = nn.Linear(width, 4 * width), nn.Linear(4 * width, width)
        self.dropout = nn.Dropout(settings.dropout)

    def forward(self, x: Tensor, beyond: Tensor) -> tuple[Tensor, Tensor]:
        texts, words, width = x.shape
        shape = (texts, words, self.heads, width // self.heads)
        q, k, v = (
            part.view(shape).transpose(1, 2) for part in self.seen(self.first(x)).chunk(3, 2)
        )
        score = q @ k.transpose(2, 3) / (width // self.heads) ** 0.5
        weight = score.masked_fill(beyond[:, None, None, :], -torch.inf).softmax(dim=3)
        heard = (weight @ v).transpose(1, 2).reshape(texts, words, width)
        x = x + self.dropout(self.out(heard))
        inner = nn.functional.gelu(self.widen(self.second(x)))
        return x + self.dropout(self.narrow(inner)), weight


ENCODERS: Mapping[str, Callable[[int, NetworkSettings, int], Any]] = {
    "LSTM": LSTMEncoder,
    "BiLSTM": BiLSTMEncoder,
    "CNN": CNNEncoder,
    "Transformer": TransformerEncoder,
}

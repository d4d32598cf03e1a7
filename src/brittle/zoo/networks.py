"""The networks over words: an embedding, an encoder that makes one vector of a text, and a head.

This file needs torch; it is imported where a network is built.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import torch
from torch import Tensor, nn

from brittle.zoo.grid import WordNetwork
from brittle.zoo.vocabulary import PAD, UNKNOWN

SPREAD = 0.1  # of the first embeddings: at torch's own 1.0, dropout drowns what a word says


class LastState(nn.Module):
    """An LSTM, read at the last word of each text."""

    def __init__(self, settings: WordNetwork, layers: int) -> None:
        super().__init__()
        self.width = settings.hidden
        self.lstm = nn.LSTM(settings.embedding, settings.hidden, layers, batch_first=True)

    def forward(self, vectors: Tensor, length: Tensor) -> Tensor:
        # Padding on the right comes after the last word, so nothing of it is in that state.
        states: Tensor = self.lstm(vectors)[0]
        return states[torch.arange(len(states), device=states.device), length - 1]


class Convolutions(nn.Module):
    """Convolutions of several widths, each at its maximum over the words (Kim, 2014)."""

    def __init__(self, settings: WordNetwork, layers: int) -> None:
        super().__init__()
        self.width = settings.filters * len(settings.widths)
        self.convolutions = nn.ModuleList(
            nn.Conv1d(settings.embedding, settings.filters, width) for width in settings.widths
        )
        self.least = max(settings.widths)

    def forward(self, vectors: Tensor, length: Tensor) -> Tensor:
        # A text shorter than the widest filter reads as if padded to it, in any batch.
        missing = self.least - vectors.shape[1]
        if missing > 0:
            vectors = nn.functional.pad(vectors, (0, 0, 0, missing))
        length = length.clamp(min=self.least)
        tops = []
        for convolution in self.convolutions:
            found = torch.relu(convolution(vectors.transpose(1, 2)))
            start = torch.arange(found.shape[2], device=found.device)
            beyond = start[None, :] > (length - (vectors.shape[1] - found.shape[2] + 1))[:, None]
            # After the relu nothing is below zero, so a zero cannot win over a real maximum.
            tops.append(found.masked_fill(beyond[:, None, :], 0.0).amax(dim=2))
        return torch.cat(tops, dim=1)


ENCODERS: Mapping[str, Callable[[WordNetwork, int], Any]] = {
    "LSTM": LastState,
    "CNN": Convolutions,
}


class WordClassifier(nn.Module):
    """Words in, logits out; in training, words turn unknown and features drop out at random."""

    def __init__(self, words: int, labels: int, encoder: Any, settings: WordNetwork) -> None:
        super().__init__()
        self.embedding = nn.Embedding(words, settings.embedding, padding_idx=PAD)
        self.encoder = encoder
        self.head = nn.Linear(encoder.width, labels)
        self.dropout = nn.Dropout(settings.dropout)
        self.forget = settings.forget
        with torch.no_grad():
            self.embedding.weight.mul_(SPREAD)

    def forward(self, ids: Tensor, length: Tensor) -> Tensor:
        if self.training and self.forget:
            lost = torch.rand(ids.shape, device=ids.device) < self.forget
            ids = ids.masked_fill(lost & (ids != PAD), UNKNOWN)
        vector = self.encoder(self.dropout(self.embedding(ids)), length)
        logits: Tensor = self.head(self.dropout(vector))
        return logits


def build(
    parts: Mapping[str, Any], settings: WordNetwork, words: int, labels: int
) -> WordClassifier:
    """Put a network together from its parts; its weights are drawn from torch's generator."""
    encoder = ENCODERS[parts["architecture"]](settings, int(parts["layers"]))
    return WordClassifier(words, labels, encoder, settings)


def padded(rows: list[Any], device: str) -> tuple[Tensor, Tensor]:
    """Stack rows of numbers to one array, padded on the right, with their lengths."""
    length = torch.tensor([len(row) for row in rows])
    ids = torch.full((len(rows), int(length.max())), PAD, dtype=torch.int64)
    for n, row in enumerate(rows):
        ids[n, : len(row)] = torch.as_tensor(row)
    return ids.to(device), length.to(device)

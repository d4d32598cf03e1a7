"""A word's vector from its spelling: convolutions over characters, their maxima, a highway.

As in Kim et al. (2016), for words padded with nothing on the right. A window begins at every
character of the word; what hangs over the end reads as zeros, so that a word's vector does not
depend on the words beside it. This file needs torch.
"""

from __future__ import annotations

from collections.abc import Iterator

import torch
from torch import Tensor, nn

from brittle.zoo.names.settings import NetworkSettings

LENGTH_GROUP = (
    4  # words are read in groups whose lengths differ by less than this: little is padding
)
CHARACTER_VECTOR_SCALE = (
    2.0  # of the first characters' vectors, so that a window says yes or no and not perhaps
)
CONVOLUTION_BIAS_SHIFT = (
    1.2  # of the maxima over a word at that spread: taken off, or all words would look alike
)


class Highway(nn.Module):
    """Let a vector pass or be transformed, by a gate of its own (Srivastava et al., 2015)."""

    def __init__(self, width: int) -> None:
        super().__init__()
        self.transform = nn.Linear(width, width)
        self.gate = nn.Linear(width, width)
        nn.init.constant_(self.gate.bias, -2.0)  # at first nearly all passes, as in Kim et al.

    def forward(self, x: Tensor) -> Tensor:
        gate = torch.sigmoid(self.gate(x))
        return gate * torch.relu(self.transform(x)) + (1 - gate) * x


class CharacterCNN(nn.Module):
    """One vector for every word, from the vectors of its characters."""

    def __init__(self, settings: NetworkSettings, characters: int) -> None:
        super().__init__()
        self.embedding = nn.Embedding(characters, settings.character_embedding, padding_idx=0)
        self.window = settings.character_window
        self.width = settings.kernels
        self.convolution = nn.Linear(self.window * settings.character_embedding, settings.kernels)
        self.highways = nn.ModuleList(Highway(settings.kernels) for _ in range(settings.highways))
        with torch.no_grad():
            self.embedding.weight.mul_(CHARACTER_VECTOR_SCALE)
            self.convolution.bias.sub_(CONVOLUTION_BIAS_SHIFT)

    def embed(self, characters: Tensor) -> Tensor:
        """Give the vectors of characters (words × spelling), zeros after the end of a word."""
        vectors: Tensor = self.embedding(characters)
        return vectors

    def forward(self, vectors: Tensor, length: Tensor) -> Tensor:
        """Give the vectors of words, from those of their characters (words × spelling × size)."""
        x = self.pooled(vectors, length)
        for highway in self.highways:
            x = highway(x)
        return x

    def pooled(self, vectors: Tensor, length: Tensor) -> Tensor:
        """Give the maxima of the convolutions, before the highway."""
        out = vectors.new_zeros((len(vectors), self.width))  # stays so for padding
        parts, order = [], []
        for rows, longest in _groups(length, vectors.shape[1]):
            parts.append(self._maxima(vectors.index_select(0, rows)[:, :longest], length[rows]))
            order.append(rows)
        if not parts:
            return out
        # One scatter at the end: gradients flow through it as through a permutation.
        return out.index_copy(0, torch.cat(order), torch.cat(parts))

    def _maxima(self, vectors: Tensor, length: Tensor) -> Tensor:
        words, longest, size = vectors.shape
        over = nn.functional.pad(vectors, (0, 0, 0, self.window - 1))
        windows = over.unfold(1, self.window, 1).transpose(2, 3)
        found = self.convolution(windows.reshape(words, longest, self.window * size))
        beyond = torch.arange(longest, device=length.device)[None, :] >= length[:, None]
        # The tanh after the maximum: it is monotonic, and slow.
        return torch.tanh(found.masked_fill(beyond[:, :, None], -torch.inf).amax(dim=1))


def _groups(length: Tensor, most: int) -> Iterator[tuple[Tensor, int]]:
    """Part words by length, so that few of the windows are beyond their ends."""
    longest = int(length.max()) if len(length) else 0
    for start in range(0, longest, LENGTH_GROUP):
        rows = torch.nonzero((length > start) & (length <= start + LENGTH_GROUP)).squeeze(1)
        if len(rows):
            yield rows, min(start + LENGTH_GROUP, most)

"""The character CNN: a word's vector from its spelling, by convolutions, max-pooling and highways.

As in Kim et al. (2016), but without the symbols that mark the start and the end of a word there,
and with other initial weights: theirs are uniform within ±0.05, ours are torch's, with character
vectors of `character_scale`. Padding is on the right only: a window begins at every character of
the word; beyond the end it reads zeros, so that a word's vector does not depend on the words beside
it. The names of layers are those of the tensors in trained files, and stay. This file needs torch.
"""

from __future__ import annotations

from collections.abc import Iterator

import torch
from torch import Tensor, nn

from brittle.zoo.names.settings import LanguageModelSettings, NetworkSettings

LENGTH_GROUP = 4  # characters by which the words of one group may differ: little is padding
# Of a kernel over a word, before the tanh, for vectors of standard deviation 1 (for others in
# proportion). The bias begins this much lower: else all words look alike.
MEAN_MAXIMUM = 0.6


class Highway(nn.Module):
    """A highway layer: a gate mixes transformed and plain input (Srivastava et al., 2015)."""

    def __init__(self, width: int) -> None:
        super().__init__()
        self.transform = nn.Linear(width, width)
        self.gate = nn.Linear(width, width)
        nn.init.constant_(self.gate.bias, -2.0)  # at first, x is carried (Kim et al.)

    def forward(self, x: Tensor) -> Tensor:
        gate = torch.sigmoid(self.gate(x))
        return gate * torch.relu(self.transform(x)) + (1 - gate) * x


class CharacterCNN(nn.Module):
    """One vector for every word, from the vectors of its characters."""

    def __init__(self, settings: NetworkSettings | LanguageModelSettings, characters: int) -> None:
        super().__init__()
        self.embedding = nn.Embedding(characters, settings.character_embedding, padding_idx=0)
        self.window = settings.character_window
        self.width = settings.char_filters
        self.convolution = nn.Linear(
            self.window * settings.character_embedding, settings.char_filters
        )
        self.highways = nn.ModuleList(
            Highway(settings.char_filters) for _ in range(settings.highways)
        )
        with torch.no_grad():
            self.embedding.weight.mul_(settings.character_scale)
            self.convolution.bias.sub_(MEAN_MAXIMUM * settings.character_scale)

    def embed(self, characters: Tensor) -> Tensor:
        """Look up the embeddings of characters (words × spelling), zeros after the end."""
        vectors: Tensor = self.embedding(characters)
        return vectors

    def forward(self, vectors: Tensor, length: Tensor) -> Tensor:
        """Compute the vectors of words from embedded characters (words × spelling × size).

        What has no characters, padding, has a zero vector.
        """
        x = self.pooled(vectors, length)
        for highway in self.highways:
            x = highway(x)
        return x * (length > 0)[:, None]

    def pooled(self, vectors: Tensor, length: Tensor) -> Tensor:
        """Compute the maxima of the convolutions, before the highways; zeros for no word."""
        pooled = vectors.new_zeros((len(vectors), self.width))
        parts, order = [], []
        for rows, longest in _groups_of_similar_length(length, vectors.shape[1]):
            parts.append(self._pool(vectors.index_select(0, rows)[:, :longest], length[rows]))
            order.append(rows)
        if not parts:
            return pooled
        # One scatter at the end: gradients flow through it as through a permutation.
        return pooled.index_copy(0, torch.cat(order), torch.cat(parts))

    def _pool(self, vectors: Tensor, length: Tensor) -> Tensor:
        words, longest, size = vectors.shape
        padded = nn.functional.pad(vectors, (0, 0, 0, self.window - 1))
        windows = padded.unfold(1, self.window, 1).transpose(2, 3)
        response = self.convolution(windows.reshape(words, longest, self.window * size))
        beyond = torch.arange(longest, device=length.device)[None, :] >= length[:, None]
        # The tanh comes after the maximum: it is monotonic, and slow.
        return torch.tanh(response.masked_fill(beyond[:, :, None], -torch.inf).amax(dim=1))


def _groups_of_similar_length(length: Tensor, limit: int) -> Iterator[tuple[Tensor, int]]:
    """Group words by length: the rows of each group, and the characters it is read to."""
    longest = int(length.max()) if len(length) else 0
    for start in range(0, longest, LENGTH_GROUP):
        rows = torch.nonzero((length > start) & (length <= start + LENGTH_GROUP)).squeeze(1)
        if len(rows):
            yield rows, min(start + LENGTH_GROUP, limit)

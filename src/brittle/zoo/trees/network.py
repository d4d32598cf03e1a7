"""The Child-Sum TreeLSTM (Tai et al., 2015) over dependency trees. This file needs torch."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor, nn

from brittle.ranking.whole_rows import WholeLinear
from brittle.zoo.layers.heads import Joined
from brittle.zoo.names.settings import NetworkSettings
from brittle.zoo.tokenizers.words import PAD, UNKNOWN

WORD_VECTOR_SCALE = 0.1


@dataclass(frozen=True)
class TreeBatch:
    """The words of many trees in one row: their ids, their heads, and how far each is from leaves.

    `levels` are the words by height, leaves first; the head of a root is −1.
    """

    words: Tensor
    heads: Tensor
    levels: tuple[Tensor, ...]
    roots: Tensor


def make_forest(
    words: Sequence[Sequence[int]], heads: Sequence[Sequence[int]], device: str
) -> TreeBatch:
    """Put trees side by side."""
    all_words: list[int] = []
    all_heads: list[int] = []
    heights: list[int] = []
    for ids, own in zip(words, heads, strict=True):
        first = len(all_words)
        all_words += ids
        all_heads += [-1 if head < 0 else first + head for head in own]
        heights += _heights(own)
    height = torch.tensor(heights)
    levels = tuple(torch.nonzero(height == n)[:, 0].to(device) for n in range(max(heights) + 1))
    head = torch.tensor(all_heads, device=device)
    return TreeBatch(
        torch.tensor(all_words, device=device), head, levels, torch.nonzero(head < 0)[:, 0]
    )


def _heights(heads: Sequence[int]) -> list[int]:
    """Return the length of the longest way down from every word of a tree."""
    heights = [0] * len(heads)
    for word in range(len(heads)):
        height, at = 0, word
        while heads[at] >= 0:
            height, at = height + 1, heads[at]
            if height > len(heads):
                raise ValueError(f"The heads {list(heads)} are no tree: they go round in a circle.")
            heights[at] = max(heights[at], height)
    return heights


class ChildSumTreeLSTM(nn.Module):
    """A state for every word, from its vector and the states of the words that hang under it."""

    def __init__(self, size: int, hidden: int) -> None:
        super().__init__()
        self.width = hidden
        self.gates = nn.Linear(size, 3 * hidden)  # input, output and update
        self.gates_below = nn.Linear(hidden, 3 * hidden, bias=False)
        self.forget = nn.Linear(size, hidden)
        self.forget_below = nn.Linear(hidden, hidden, bias=False)
        with torch.no_grad():
            self.forget.bias.fill_(1.0)

    def forward(self, vectors: Tensor, forest: TreeBatch) -> Tensor:
        """Compute the states of all words, from the leaves up (equations 2 to 8 of the paper)."""
        gates, forget = self.gates(vectors), self.forget(vectors)
        h = vectors.new_zeros(len(vectors), self.width)
        c = torch.zeros_like(h)
        below, memory = torch.zeros_like(h), torch.zeros_like(h)
        for level in forest.levels:
            own = gates[level] + self.gates_below(below[level])
            i, o, u = own.chunk(3, dim=1)
            state = torch.sigmoid(i) * torch.tanh(u) + memory[level]
            hidden = torch.sigmoid(o) * torch.tanh(state)
            h, c = h.index_copy(0, level, hidden), c.index_copy(0, level, state)
            hangs = forest.heads[level] >= 0
            if hangs.any():
                head = forest.heads[level][hangs]
                kept = torch.sigmoid(forget[head] + self.forget_below(hidden[hangs]))
                below = below.index_add(0, head, hidden[hangs])
                memory = memory.index_add(0, head, kept * state[hangs])
        return h


class TreeClassifier(nn.Module):
    """Pairs of sentences in, logits out: the states of both roots are joined."""

    def __init__(
        self, parts: Mapping[str, Any], settings: NetworkSettings, words: int, labels: int
    ) -> None:
        super().__init__()
        self.embedding = nn.Embedding(words, settings.embedding, padding_idx=PAD)
        with torch.no_grad():
            self.embedding.weight.mul_(WORD_VECTOR_SCALE)
        self.encoder = ChildSumTreeLSTM(settings.embedding, settings.hidden)
        self.joined = Joined(settings.hidden, parts["pair"], settings.joined)
        self.head = WholeLinear(self.joined.width, labels)
        self.dropout = nn.Dropout(settings.dropout)
        self.word_dropout = settings.word_dropout

    def sentence_vectors(self, forest: TreeBatch) -> Tensor:
        """Compute the state of every root."""
        words = forest.words
        if self.training and self.word_dropout:
            forgotten = torch.rand(words.shape, device=words.device) < self.word_dropout
            words = words.masked_fill(forgotten & (words != PAD), UNKNOWN)
        states: Tensor = self.encoder(self.dropout(self.embedding(words)), forest)
        return states[forest.roots]

    def pair_logits(self, u: Tensor, v: Tensor) -> Tensor:
        """Compute the logits of pairs from the vectors of their sides."""
        logits: Tensor = self.head(self.dropout(self.joined(u, v)))
        return logits

    def forward(self, forest: TreeBatch) -> Tensor:
        """Compute the logits of pairs; the trees 2n and 2n + 1 are the sides of pair n."""
        vectors = self.sentence_vectors(forest)
        return self.pair_logits(vectors[::2], vectors[1::2])

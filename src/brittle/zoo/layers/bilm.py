"""A bidirectional language model, after Peters et al. (2018), and the mix of its layers.

Layer 0 is the vector of a word's spelling. Above it stand two LSTMs that read forward and two that
read backward, apart from each other; a layer is both directions side by side. Unlike in the paper,
LSTMs have no projection, and no connection skips a layer. This file needs torch.
"""

from __future__ import annotations

from collections.abc import Sequence

import torch
from torch import Tensor, nn

from brittle.zoo.layers.characters import CharacterCNN
from brittle.zoo.layers.encoders import build_lstm, reorder, reverse_order
from brittle.zoo.names.settings import LanguageModelSettings

LSTM_LAYERS = 2
# Of the mix, whose features have standard deviations of about a quarter. Beginning at 1, the
# LSTM-WC-ELMo-1 of MR is right in 67 % of the dev split, beginning at 4 in 71 % (one seed).
INITIAL_SCALE = 4.0


class BiLM(nn.Module):
    """The layers of words in their context, each `width` wide."""

    def __init__(self, settings: LanguageModelSettings, characters: int) -> None:
        super().__init__()
        hidden = settings.hidden
        self.width = 2 * hidden
        self.spelling = CharacterCNN(settings, characters)
        sizes = [self.width] + [hidden] * (LSTM_LAYERS - 1)
        self.ahead = nn.ModuleList(build_lstm(size, hidden) for size in sizes)
        self.back = nn.ModuleList(build_lstm(size, hidden) for size in sizes)
        self.dropout = nn.Dropout(settings.dropout)

    def layers(self, vectors: Tensor, length: Tensor) -> list[Tensor]:
        """Compute all layers from layer 0, texts × words × width each; layer 0 is the first."""
        order = reverse_order(vectors, length)
        ahead, back = vectors, reorder(vectors, order)
        layers = [vectors]
        for forward, backward in zip(self.ahead, self.back):
            ahead, back = forward(ahead)[0], backward(back)[0]
            layers.append(torch.cat([ahead, reorder(back, order)], dim=2))
            ahead, back = self.dropout(ahead), self.dropout(back)
        return layers


class LayerMix(nn.Module):
    """One vector a word: layers weighted by a softmax and scaled (Peters et al., 2018, eq. 1)."""

    def __init__(self) -> None:
        super().__init__()
        self.weight = nn.Parameter(torch.zeros(LSTM_LAYERS + 1))
        self.scale = nn.Parameter(torch.full((1,), INITIAL_SCALE))

    def forward(self, layers: Sequence[Tensor]) -> Tensor:
        mixed = torch.zeros_like(layers[0])
        for share, layer in zip(self.shares(), layers):
            mixed = mixed + share * layer
        return mixed

    def shares(self) -> Tensor:
        """Return what each layer is multiplied with."""
        return self.scale * self.weight.softmax(dim=0)

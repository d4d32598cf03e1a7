"""Pooling the states of a text's words into one vector: the last one, maxima, mean, attention.

A head takes states (texts × words × width), lengths and the encoder. It returns the vector of every
text and, if it attends, the weights of the words (texts × words). The vectors of the two sides of a
pair are joined into one. A head that `ignores_padding` computes the same bits with and without it;
a sum over words does not. The names of layers are those of the tensors in trained files, and stay.
This file needs torch.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import torch
from torch import Tensor, nn

from brittle.ranking.whole_rows import WholeLinear, whole_columns

Pooled = tuple[Tensor, Tensor | None]


class Last(nn.Module):
    """The state of the last word; in a BiLSTM, the last state of each direction."""

    ignores_padding = True

    def __init__(self, width: int) -> None:
        super().__init__()

    def forward(self, states: Tensor, length: Tensor, encoder: Any) -> Pooled:
        end = states[torch.arange(len(states), device=states.device), length - 1]
        if hasattr(encoder, "back"):
            half = states.shape[2] // 2
            end = torch.cat([end[:, :half], states[:, 0, half:]], dim=1)
        return end, None


class Maximum(nn.Module):
    """The maximum of every feature; of a CNN, over the windows that lie inside the text."""

    ignores_padding = True

    def __init__(self, width: int) -> None:
        super().__init__()

    def forward(self, states: Tensor, length: Tensor, encoder: Any) -> Pooled:
        position = torch.arange(states.shape[1], device=states.device)[None, :, None]
        if hasattr(encoder, "windows"):
            # After the relu nothing is below zero, so a zero cannot exceed a real maximum.
            outside = position >= encoder.windows(length)[:, None, :]
            return states.masked_fill(outside, 0).amax(dim=1), None
        return states.masked_fill(position >= length[:, None, None], -torch.inf).amax(dim=1), None


class Mean(nn.Module):
    """The mean over the words."""

    ignores_padding = False

    def __init__(self, width: int) -> None:
        super().__init__()

    def forward(self, states: Tensor, length: Tensor, encoder: Any) -> Pooled:
        inside = _inside(states, length)[:, :, None]
        return (states * inside).sum(dim=1) / length[:, None], None


class AttentionPooling(nn.Module):
    """A mean with learnt weights of the words (Yang et al., 2016)."""

    ignores_padding = False

    def __init__(self, width: int) -> None:
        super().__init__()
        self.project = WholeLinear(width, width)
        self.ask = WholeLinear(width, 1, bias=False)

    def forward(self, states: Tensor, length: Tensor, encoder: Any) -> Pooled:
        score = self.ask(torch.tanh(self.project(states))).squeeze(2)
        weight = score.masked_fill(~_inside(states, length), -torch.inf).softmax(dim=1)
        pooled = (weight[:, None, :] @ whole_columns(states)).squeeze(1)
        return pooled[:, : states.shape[2]], weight


class Joined(nn.Module):
    """One vector from those of the two sides of a pair: a layer over what is joined, if any."""

    def __init__(self, width: int, pair: str, layer: int) -> None:
        super().__init__()
        self.is_plain = pair == "pair-plain"
        joined = (2 if self.is_plain else 4) * width
        self.width = layer or joined
        self.layer = WholeLinear(joined, layer) if layer else None

    def forward(self, u: Tensor, v: Tensor) -> Tensor:
        parts = [u, v] if self.is_plain else [u, v, (u - v).abs(), u * v]
        joined = torch.cat(parts, dim=1)
        return joined if self.layer is None else torch.relu(self.layer(joined))


def _inside(states: Tensor, length: Tensor) -> Tensor:
    return torch.arange(states.shape[1], device=states.device)[None, :] < length[:, None]


HEADS: Mapping[str, Callable[[int], Any]] = {
    "last": Last,
    "max": Maximum,
    "mean": Mean,
    "attention": AttentionPooling,
}

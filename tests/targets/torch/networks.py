"""Tiny networks as users write them, in double precision, with random weights."""

from __future__ import annotations

import re
from typing import Any

import torch
from torch import Tensor, nn

import brittle

WORDS = [
    *("a", "good", "god", "bad", "film", "plot", "the", "was", "not", "very", "story", "dull"),
    *("warm", "fine", "weak", "cast", "and", "funny"),
]
VOCABULARY = {token: n for n, token in enumerate(["<pad>", "<unk>", *WORDS, ",", ".", "!"])}
CHARACTERS = {c: n for n, c in enumerate(["<pad>", "<unk>", *"abdefgilmnorstvwy ,."])}
LABELS = ["negative", "neutral", "positive"]


def tokenize(text: str) -> list[str]:
    return re.findall(r"\w+|[^\w\s]", text.lower())


def characters(text: str) -> list[str]:
    return list(text.lower())


class Gru(nn.Module):
    """Reads the last state of a GRU, so that it would read padding, too."""

    def __init__(self, tokens: int = len(VOCABULARY), outputs: int = 3) -> None:
        super().__init__()
        self.embed = nn.Embedding(tokens, 5)
        self.gru = nn.GRU(5, 6, batch_first=True)
        self.drop = nn.Dropout(0.5)
        self.out = nn.Linear(6, outputs)

    def forward(self, ids: Tensor) -> Any:
        return self.out(self.drop(self.gru(self.embed(ids))[0][:, -1]))


class Lengths(Gru):
    """Reads the last state before the padding."""

    def forward(self, ids: Tensor, lengths: Tensor) -> Any:  # type: ignore[override]
        states = self.gru(self.embed(ids))[0]
        return self.out(states[torch.arange(len(ids)), lengths - 1])


class Convolution(Gru):
    def __init__(self, tokens: int = len(VOCABULARY), outputs: int = 3) -> None:
        super().__init__(tokens, outputs)
        self.convolution = nn.Conv1d(5, 6, 3)

    def forward(self, ids: Tensor) -> Any:
        return self.out(self.convolution(self.embed(ids).mT).amax(dim=2))


class TwoTowers(Gru):
    """Reads its tokens twice."""

    def forward(self, ids: Tensor) -> Any:
        first, second = self.embed(ids), self.embed(ids)
        second *= 2.0  # in place, as networks may
        return self.out(self.gru(first)[0][:, -1] * self.gru(second.flip(1))[0][:, -1])


def build(kind: type[Gru], *arguments: int, seed: int = 3, **options: Any) -> Any:
    """Draw a network wide enough for its scores to differ."""
    torch.manual_seed(seed)
    module = kind(*arguments, **options).double()
    with torch.no_grad():
        for weight in module.parameters():
            weight.copy_(0.6 * torch.randn_like(weight))
    return module


def word_target(module: Any, **options: Any) -> Any:
    settings = {"vocabulary": VOCABULARY, "labels": LABELS, "tokenize": tokenize, **options}
    return brittle.torch_target(module, **settings)


def character_target(module: Any, **options: Any) -> Any:
    settings = {"vocabulary": CHARACTERS, "labels": LABELS, "tokenize": characters, **options}
    return brittle.torch_target(module, **settings)

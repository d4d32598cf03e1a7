"""A word LSTM made on the spot, to try the peer without a trained model."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import torch
from torch import nn

PADDING, UNKNOWN = 0, 1


class WordLSTM(nn.Module):
    """Embedding, one LSTM, a linear layer on the state after each row's last word."""

    def __init__(self, words: int, classes: int) -> None:
        super().__init__()
        self.embedding = nn.Embedding(words, 100, padding_idx=PADDING)
        self.lstm = nn.LSTM(100, 128, batch_first=True)
        self.head = nn.Linear(128, classes)

    def forward(self, ids: torch.Tensor) -> torch.Tensor:
        states, _ = self.lstm(self.embedding(ids))
        last = (ids != PADDING).sum(dim=1).clamp(min=1) - 1
        return self.head(states[torch.arange(len(ids)), last])


def fake_lstm(
    examples: Sequence[Mapping[str, Any]],
) -> tuple[nn.Module, Callable[[Sequence[str]], list[list[int]]]]:
    """Fit the model to the very examples it will be attacked on, so that few are skipped."""
    words = sorted({word for example in examples for word in split(example["text"])})
    ids = {word: number for number, word in enumerate(words, start=2)}

    def encode(texts: Sequence[str]) -> list[list[int]]:
        rows = [[ids.get(word, UNKNOWN) for word in split(text)] for text in texts]
        width = max(1, *map(len, rows)) if rows else 1
        return [row + [PADDING] * (width - len(row)) for row in rows]

    labels = torch.tensor([example["label"] for example in examples])
    model = WordLSTM(len(ids) + 2, int(labels.max()) + 1)
    batch = torch.tensor(encode([example["text"] for example in examples]))
    optimiser = torch.optim.Adam(model.parameters(), lr=0.01)
    for _ in range(6):
        optimiser.zero_grad()
        nn.functional.cross_entropy(model(batch), labels).backward()
        optimiser.step()
    return model.eval(), encode


def split(text: str) -> list[str]:
    return re.findall(r"[\w'-]+", text.lower())

"""An adversarially regularised autoencoder of sentences, with an inverter (Zhao et al., 2018).

The autoencoder encodes a sentence as a code of length 1 and decodes codes. The generator makes
codes from noise, the critic tells them from real ones, the inverter returns the noise of a code.
The encoder has windows 3-3-3 and strides 1-2-2, as the authors' code: those that the paper states
cannot read ten words. Unlike the authors' code, unknown words read as zeros and are never written.

This file needs torch.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from itertools import pairwise
from typing import ClassVar

import torch
from torch import Tensor, nn

from brittle.errors import UsageError
from brittle.zoo.generators.refining import descend
from brittle.zoo.generators.sentences import BEGIN, END, SPECIAL
from brittle.zoo.layers import build_lstm
from brittle.zoo.names.settings import SentenceGeneratorSettings
from brittle.zoo.tokenizers import PAD, UNKNOWN

WORD_VECTOR_SCALE = 0.1
CRITIC = "critic"  # the first part of its tensors' names
LEAK = 0.2  # of the critic's and the inverter's leaky ReLU


class ARAE(nn.Module):
    """All networks of the generator; `inverter` and `generator` map between noise and codes."""

    has_inverter: ClassVar = True
    reads_meaning: ClassVar = False

    def __init__(self, settings: SentenceGeneratorSettings, words: int) -> None:
        super().__init__()
        code, latent, layers = settings.hidden, settings.latent, settings.layers
        self.latent = latent
        kind = ConvolutionEncoder if settings.encoder == "cnn" else LSTMSentenceEncoder
        self.encoder = kind(settings, words)
        self.decoder = Decoder(settings, words)
        leaky, norm = nn.LeakyReLU(LEAK), settings.critic == "clamp"
        self.generator = mlp([latent, *layers, code], nn.ReLU(), norm).append(UnitLength())
        self.critic = mlp([code, *layers, 1], leaky, norm)
        self.inverter = mlp([code, *layers, latent], leaky, norm)

    def codes(self, rows: Tensor) -> Tensor:
        """Encode rows of word ids as codes of length 1."""
        return nn.functional.normalize(self.encoder(rows), dim=1)

    def points(self, rows: Tensor, meaning: Tensor | None = None) -> Tensor:
        """Return the latent points of rows of word ids: the noise of their codes."""
        latent: Tensor = self.inverter(self.codes(rows))
        return latent

    def decode(self, z: Tensor) -> Tensor:
        """Write the sentences of latent points, as rows of word ids."""
        return self.decoder.greedy(self.generator(z))

    def rebuilt(self, rows: Tensor, meaning: Tensor | None = None) -> Tensor:
        """Return the rows that are written from the codes of rows."""
        return self.decoder.greedy(self.codes(rows))

    def refined(self, z: Tensor, rows: Tensor, steps: int) -> Tensor:
        """Move latent points by steps of descent towards the codes of rows."""
        codes = self.codes(rows).clone()

        def error(z: Tensor) -> Tensor:
            squares: Tensor = (self.generator(z) - codes).square().sum(dim=1)
            return squares

        return descend(error, z, steps)


class UnitLength(nn.Module):
    """Scales rows to length 1: generated codes have it, as those of sentences do."""

    def forward(self, rows: Tensor) -> Tensor:
        return nn.functional.normalize(rows, dim=1)


def mlp(sizes: Sequence[int], activation: nn.Module, norm: bool) -> nn.Sequential:
    """Build layers; with `norm`, batch norm between the first and the last, as the authors have.

    A critic with a gradient penalty must not have it: its slope at one code would depend on others.
    """
    layers: list[nn.Module] = []
    for n, (size, width) in enumerate(pairwise(sizes[:-1])):
        normed = [nn.BatchNorm1d(width)] if n and norm else []
        layers += [nn.Linear(size, width), *normed, activation]
    return nn.Sequential(*layers, nn.Linear(sizes[-2], sizes[-1]))


class ConvolutionEncoder(nn.Module):
    """Strided convolutions over the words, then one layer; the padding is a word of zeros."""

    def __init__(self, settings: SentenceGeneratorSettings, words: int) -> None:
        super().__init__()
        self.embedding = build_embedding(settings, words)
        sizes = [settings.embedding, *settings.filters]
        shapes = list(zip(sizes, settings.filters, settings.windows, settings.strides))
        self.convolutions = nn.ModuleList(
            nn.Conv1d(size, count, window, stride=stride) for size, count, window, stride in shapes
        )
        positions = settings.max_length
        for _, _, window, stride in shapes:
            positions = (positions - window) // stride + 1
            if positions < 1:
                raise UsageError(
                    f"Windows {settings.windows} with strides {settings.strides} cannot "
                    f"read sentences of {settings.max_length} words, because nothing is "
                    "left to encode. Choose narrower windows, such as windows=3+3+3 with "
                    "strides=1+2+2, or encoder=lstm."
                )
        self.out = nn.Linear(positions * sizes[-1], settings.hidden)

    def forward(self, rows: Tensor) -> Tensor:
        x = self.embedding(rows).transpose(1, 2)
        for layer in self.convolutions:
            x = torch.relu(layer(x))
        code: Tensor = self.out(x.flatten(1))
        return code


class LSTMSentenceEncoder(nn.Module):
    """An LSTM; the code is its state at the last word."""

    def __init__(self, settings: SentenceGeneratorSettings, words: int) -> None:
        super().__init__()
        self.embedding = build_embedding(settings, words)
        self.lstm = build_lstm(settings.embedding, settings.hidden)

    def forward(self, rows: Tensor) -> Tensor:
        length = (rows != PAD).sum(dim=1).clamp(min=1)
        states: Tensor = self.lstm(self.embedding(rows))[0]
        return states[torch.arange(len(rows), device=rows.device), length - 1]


class Decoder(nn.Module):
    """An LSTM that reads the word before and the code, and predicts the next word.

    A code of length 1 has small numbers: it is scaled, so that their mean square is 1.

    In training a word is told from those of its batch and from `sampled` others, which stand for
    all the rest: a part of the vocabulary costs a part of the time. 0 is all words.
    """

    def __init__(self, settings: SentenceGeneratorSettings, words: int) -> None:
        super().__init__()
        self.reads = settings.max_length
        self.embedding = build_embedding(settings, words)
        self.lstm = build_lstm(settings.embedding + settings.hidden, settings.hidden)
        self.head = nn.Linear(settings.hidden, words)
        self.scale = settings.hidden**0.5
        self.sampled = settings.sampled

    def loss(self, code: Tensor, rows: Tensor) -> Tensor:
        """Return the cross-entropy of the words of sentences, and of their ends (equation 4)."""
        begin = rows.new_full((len(rows), 1), BEGIN)
        vectors = self.embedding(torch.cat([begin, rows], dim=1))
        codes = self.scale * code[:, None].expand(-1, vectors.shape[1], -1)
        states = self.lstm(torch.cat([vectors, codes], dim=2))[0]
        wanted = torch.cat([rows, rows.new_full((len(rows), 1), PAD)], dim=1)
        length = (rows != PAD).sum(dim=1)
        wanted[torch.arange(len(rows), device=rows.device), length] = END
        asked = wanted != PAD
        head = self.head
        return sampled_cross_entropy(
            states[asked], head.weight, head.bias, wanted[asked], self.sampled
        )

    def greedy(self, code: Tensor) -> Tensor:
        """Decode codes, the likeliest word at every position; no sentence is empty."""
        rows = torch.full((len(code), self.reads), PAD, device=code.device)
        word = torch.full((len(code),), BEGIN, device=code.device)
        ended = torch.zeros(len(code), dtype=torch.bool, device=code.device)
        state: tuple[Tensor, Tensor] | None = None
        for n in range(self.reads):
            x = torch.cat([self.embedding(word), self.scale * code], dim=1)[:, None]
            states, state = self.lstm(x, state)
            logits = self.head(states[:, 0])
            logits[:, [PAD, UNKNOWN, BEGIN] if n else list(range(len(SPECIAL)))] = -torch.inf
            word = logits.argmax(dim=1)
            ended |= word == END
            rows[:, n] = word.masked_fill(ended, PAD)
            if ended.all():
                break
        return rows


def sampled_cross_entropy(
    states: Tensor,
    weight: Tensor,
    bias: Tensor,
    wanted: Tensor,
    sampled: int,
    reduction: str = "mean",
) -> Tensor:
    """Return the cross-entropy of words against those of the batch and `sampled` others.

    The others stand for all the rest: a part of the vocabulary costs a part of the time. With 0, or
    too many, it is over all words.
    """
    linear, cross_entropy = nn.functional.linear, nn.functional.cross_entropy
    words, place = wanted.unique(return_inverse=True)  # type: ignore[no-untyped-call]
    others = len(bias) - len(words)
    if not 0 < sampled < others:
        return cross_entropy(linear(states, weight, bias), wanted, reduction=reduction)
    is_other = torch.ones(len(bias), device=words.device)
    is_other[words] = 0
    chosen = torch.cat([words, is_other.multinomial(sampled)])
    # Each of the drawn stands for several words, so that the sum of all is right on average.
    more = torch.zeros(len(chosen), device=words.device)
    more[len(words) :] = math.log(others / sampled)
    logits = linear(states, weight[chosen], bias[chosen] + more)
    return cross_entropy(logits, place, reduction=reduction)


def parts_of(rows: Tensor, size: int) -> list[Tensor]:
    """Cut rows into parts of at most so many."""
    return [rows[start : start + size] for start in range(0, len(rows), size)]


def build_embedding(settings: SentenceGeneratorSettings, words: int) -> nn.Embedding:
    """Build a table of word vectors; unknown words, of which none is learnt, read as zeros."""
    embedding = nn.Embedding(words, settings.embedding, padding_idx=PAD)
    with torch.no_grad():
        embedding.weight.mul_(WORD_VECTOR_SCALE)
        embedding.weight[UNKNOWN] = 0.0
    return embedding

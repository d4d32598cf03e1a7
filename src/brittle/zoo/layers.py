"""The layers that networks are built from: characters, encoders, heads, and the biLM of ELMo.

The layers that networks are built from. The character CNN: a word's vector from its spelling, by
convolutions, max-pooling and highways.

As in Kim et al. (2016), but without the symbols that mark the start and the end of a word there,
and with other initial weights: theirs are uniform within ±0.05, ours are torch's, with character
vectors of `character_scale`. Padding is on the right only: a window begins at every character of
the word; beyond the end it reads zeros, so that a word's vector does not depend on the words beside
it. The names of layers are those of the tensors in trained files, and stay. This file needs torch.

Encoders, which read the words of a text: none at all, LSTM, BiLSTM, CNN, self-attention.

An encoder takes vectors (texts × words × size) and lengths and returns the states of its layers,
the last one last, each texts × words × width. Padding stands on the right and changes no state of a
word but for rounding. One that `ignores_padding` computes the same bits with and without it. The
names of layers are those of the tensors in trained files, and stay. This file needs torch.

Pooling the states of a text's words into one vector: the last one, maxima, mean, attention.

A head takes states (texts × words × width), lengths and the encoder. It returns the vector of every
text and, if it attends, the weights of the words (texts × words). The vectors of the two sides of a
pair are joined into one. A head that `ignores_padding` computes the same bits with and without it;
a sum over words does not. The names of layers are those of the tensors in trained files, and stay.
This file needs torch.

A bidirectional language model, after Peters et al. (2018), and the mix of its layers.

Layer 0 is the vector of a word's spelling. Above it stand two LSTMs that read forward and two that
read backward, apart from each other; a layer is both directions side by side. Unlike in the paper,
LSTMs have no projection, and no connection skips a layer. This file needs torch.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

import torch
from torch import Tensor, nn

from brittle.ranking.top_k import WholeLinear, whole_columns
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


class AverageEncoder(nn.Module):
    """No layers: the states of the words are their vectors, of which a head takes the mean."""

    ignores_padding = True

    def __init__(self, size: int, settings: NetworkSettings, layers: int) -> None:
        super().__init__()
        self.width = size

    def forward(self, vectors: Tensor, length: Tensor) -> list[Tensor]:
        return [vectors]


class LSTMEncoder(nn.Module):
    """Layers of LSTMs, each over the states of the one before."""

    ignores_padding = True

    def __init__(self, size: int, settings: NetworkSettings, layers: int) -> None:
        super().__init__()
        self.width = settings.hidden
        sizes = [size] + [self.width] * (layers - 1)
        self.layers = nn.ModuleList(build_lstm(n, settings.hidden) for n in sizes)
        self.dropout = nn.Dropout(settings.dropout)

    def forward(self, vectors: Tensor, length: Tensor) -> list[Tensor]:
        states: list[Tensor] = []
        for layer in self.layers:
            # Padding on the right comes after the last word: its state does not depend on it.
            states.append(layer(self.dropout(states[-1]) if states else vectors)[0])
        return states


class BiLSTMEncoder(nn.Module):
    """Layers of two LSTMs, one that reads forward and one that reads backward."""

    ignores_padding = True

    def __init__(self, size: int, settings: NetworkSettings, layers: int) -> None:
        super().__init__()
        self.width = 2 * settings.hidden
        sizes = [size] + [self.width] * (layers - 1)
        self.ahead = nn.ModuleList(build_lstm(n, settings.hidden) for n in sizes)
        self.back = nn.ModuleList(build_lstm(n, settings.hidden) for n in sizes)
        self.dropout = nn.Dropout(settings.dropout)

    def forward(self, vectors: Tensor, length: Tensor) -> list[Tensor]:
        order = reverse_order(vectors, length)
        states: list[Tensor] = []
        for ahead, back in zip(self.ahead, self.back):
            x = self.dropout(states[-1]) if states else vectors
            backward = reorder(back(reorder(x, order))[0], order)
            states.append(torch.cat([ahead(x)[0], backward], dim=2))
        return states


def build_lstm(size: int, hidden: int) -> nn.LSTM:
    """Build an LSTM with a forget bias of 1 (Jozefowicz et al., 2015)."""
    lstm = nn.LSTM(size, hidden, batch_first=True)
    with torch.no_grad():
        # The forget gate is torch's second gate; its other bias is about 0.
        lstm.all_weights[0][2][hidden : 2 * hidden] = 1.0
    return lstm


def reverse_order(vectors: Tensor, length: Tensor) -> Tensor:
    """Return the order of each text's words in reverse, its padding again on the right."""
    position = torch.arange(vectors.shape[1], device=vectors.device)[None, :]
    return torch.where(position < length[:, None], length[:, None] - 1 - position, position)


def reorder(x: Tensor, order: Tensor) -> Tensor:
    """Take the words of each text in this order."""
    return x.gather(1, order[:, :, None].expand(-1, -1, x.shape[2]))


class CNNEncoder(nn.Module):
    """Convolutions of several widths over words (Kim, 2014), after layers that keep the length.

    The state of a word is that of the windows that begin there. A text of fewer than `min_words`
    words, the widest window, is read as if padded to it.
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
        self.min_words = max(settings.widths)
        # Torch chooses the routine of a layer that keeps the length by the length.
        self.ignores_padding = not self.below

    def forward(self, vectors: Tensor, length: Tensor) -> list[Tensor]:
        words = vectors.shape[1]
        inside = torch.arange(words, device=vectors.device)[None, :] < length[:, None]
        x = vectors * inside[:, :, None]
        states = []
        for number, layer in enumerate(self.below):
            y = torch.relu(layer(x.transpose(1, 2)).transpose(1, 2))
            x = (y + x if number else y) * inside[:, :, None]
            states.append(x)
        windows = max(self.min_words, words)
        padded = nn.functional.pad(x, (0, 0, 0, windows + self.min_words - 1 - words)).transpose(
            1, 2
        )
        parts = [torch.relu(layer(padded))[:, :, :windows] for layer in self.convolutions]
        return [*states, torch.cat(parts, dim=1).transpose(1, 2)]

    def windows(self, length: Tensor) -> Tensor:
        """Count the windows that lie inside each text, for every feature of a state."""
        width = torch.tensor(self.widths, device=length.device).repeat_interleave(self.filters)
        return length.clamp(min=self.min_words)[:, None] - width[None, :] + 1


class TransformerEncoder(nn.Module):
    """Transformer layers without pretraining, normalised before each part; learnt positions."""

    ignores_padding = False  # a softmax over more words sums in another order

    def __init__(self, size: int, settings: NetworkSettings, layers: int) -> None:
        super().__init__()
        self.width = settings.hidden
        self.enter = WholeLinear(size, settings.hidden)
        self.places = nn.Embedding(settings.max_length, settings.hidden)
        nn.init.normal_(self.places.weight, std=0.02)
        self.layers = nn.ModuleList(_TransformerLayer(settings) for _ in range(layers))

    def forward(self, vectors: Tensor, length: Tensor) -> list[Tensor]:
        return self.attend(vectors, length)[0]

    def attend(self, vectors: Tensor, length: Tensor) -> tuple[list[Tensor], list[Tensor]]:
        """Compute the states of all layers, and their weights: texts × heads × words × words."""
        position = torch.arange(vectors.shape[1], device=vectors.device)
        padding = position[None, :] >= length[:, None]
        x = self.enter(vectors) + self.places(position)[None]
        states, weights = [], []
        for layer in self.layers:
            x, weight = layer(x, padding)
            states.append(x)
            weights.append(weight)
        return states, weights


class _TransformerLayer(nn.Module):
    def __init__(self, settings: NetworkSettings) -> None:
        super().__init__()
        width = settings.hidden
        self.heads = settings.heads
        self.first, self.second = nn.LayerNorm(width), nn.LayerNorm(width)
        self.seen = WholeLinear(width, 3 * width)
        self.out = WholeLinear(width, width)
        self.widen, self.narrow = WholeLinear(width, 4 * width), WholeLinear(4 * width, width)
        self.dropout = nn.Dropout(settings.dropout)

    def forward(self, x: Tensor, padding: Tensor) -> tuple[Tensor, Tensor]:
        texts, words, width = x.shape
        shape = (texts, words, self.heads, width // self.heads)
        q, k, v = (
            part.view(shape).transpose(1, 2) for part in self.seen(self.first(x)).chunk(3, 2)
        )
        q, k, v = map(whole_columns, (q, k, v))
        score = q @ k.transpose(2, 3) / (width // self.heads) ** 0.5
        weight = score.masked_fill(padding[:, None, None, :], -torch.inf).softmax(dim=3)
        attended = (weight @ v)[..., : shape[3]].transpose(1, 2).reshape(texts, words, width)
        x = x + self.dropout(self.out(attended))
        hidden = nn.functional.gelu(self.widen(self.second(x)))
        return x + self.dropout(self.narrow(hidden)), weight


ENCODERS: Mapping[str, Callable[[int, NetworkSettings, int], Any]] = {
    "Average": AverageEncoder,
    "LSTM": LSTMEncoder,
    "BiLSTM": BiLSTMEncoder,
    "CNN": CNNEncoder,
    "Transformer": TransformerEncoder,
}


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

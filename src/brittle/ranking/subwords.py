"""Edits ranked by their first-order gain, for models that read a word as one or more tokens.

A word model reads one token a word, a subword model one or more. The gain of an edit is the change
of the objective, to first order, when the embeddings of the new tokens replace those of the old
ones (HotFlip, Ebrahimi et al., 2018: with one token each it is their score of a flip). The paper
divides the gain by the square root of twice the number of changed inputs, so that several flips
compare with one. Here every edit changes one word: that would be one constant, and is left out.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property, lru_cache, partial
from itertools import chain
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor
from torch.nn.functional import normalize, pad

from brittle.moves import EditKind, EditSpace
from brittle.ranking.moves import RankedMoves, match_capitals
from brittle.ranking.respellings import NO_RESPELLINGS, TokensOf, find_respellings, spell_out
from brittle.ranking.top_k import BLOCK_COLUMNS, Integers, TopK, top_k, top_k_of_table, whole_rows
from brittle.text import Word

MAX_GAINS_PER_TABLE = 1 << 21  # positions × vocabulary: 8 MB, unless one text alone has more
MAX_CACHED_WORDS = 2048  # words whose respellings, or own columns, are kept
ROUNDING_MARGIN = 1e-5  # of the size of the terms, well above the rounding of single precision


@dataclass(frozen=True, eq=False)
class TokenGradients:
    """The words of one text at some positions, the tokens of each, and the gradient there.

    `gradient` has a row for every token, position after position: the gradient of the objective
    along its embedding. A word may be a hole.
    """

    space: EditSpace
    positions: Sequence[int]
    words: Sequence[Word]
    tokens: Sequence[Sequence[int]]
    gradient: Any


class SubwordEdits:
    """Ranks swaps of words and respellings, for one model.

    `table` has the embedding of every token; when the model changes, a new object is needed.
    `words` and `token_ids` are the vocabulary: words of one token each. `tokens_of` returns the
    tokens of many words at once. Gains of one value stand in the order of the positions, then of
    the vocabulary or of the respellings. No gain that is not finite comes back, and no edit that
    the model reads as the word it replaces.
    """

    def __init__(
        self, table: Any, words: Sequence[str], token_ids: Sequence[int], tokens_of: TokensOf
    ) -> None:
        embeddings = torch.as_tensor(table).detach()
        self.table = embeddings if embeddings.dtype == torch.float64 else embeddings.float()
        finite = torch.isfinite(self.table).all(1).tolist()
        self.words = tuple(word for word, token in zip(words, token_ids) if finite[token])
        self.token_ids = tuple(int(token) for token in token_ids if finite[token])
        self.lower_words = frozenset(word.lower() for word in words)
        self.tokens_of = tokens_of
        remember = lru_cache(maxsize=MAX_CACHED_WORDS)
        self._same_word = remember(self._find_same_word)
        self._respellings = remember(partial(find_respellings, tokens_of=tokens_of))

    def rank(self, texts: Sequence[TokenGradients]) -> list[RankedMoves]:
        """Rank the edits of texts, each in its own space; texts of one space share a product."""
        moves: dict[int, RankedMoves] = {}
        for space, numbers in self._groups(texts):
            group = [texts[n] for n in numbers]
            by_word = space.level == "words"
            find = self._best_swaps if by_word else self._best_respellings
            spell = self._spell_swap if by_word else self._spell_respelling
            for n, best in zip(numbers, find(_Stack.of(group, space.sign, self.table), space)):
                moves[n] = RankedMoves(*best, texts[n].positions, texts[n].words, spell)
        return [moves[n] for n in range(len(texts))]

    def _groups(self, texts: Sequence[TokenGradients]) -> Iterator[tuple[EditSpace, list[int]]]:
        """Split texts by their spaces, so that no table of gains grows beyond its bound."""
        max_rows = MAX_GAINS_PER_TABLE // max(1, len(self.words))
        by_space: dict[EditSpace, list[int]] = {}
        for n, text in enumerate(texts):
            by_space.setdefault(text.space, []).append(n)
        for space, numbers in by_space.items():
            start = rows = 0
            for i, n in enumerate(numbers):
                rows += len(texts[n].positions)
                if i > start and rows > max_rows:
                    yield space, numbers[start:i]
                    start, rows = i, len(texts[n].positions)
            yield space, numbers[start:]

    def _best_swaps(self, stack: _Stack, space: EditSpace) -> list[TopK]:
        """Find the best words v of the vocabulary: E[v] · g₁ − Σⱼ E[tⱼ] · gⱼ for the old tokens t.

        The new word stands where the first old token stood. First, the position of every text with
        the highest bound is multiplied with the vocabulary. The k-th highest gain there is a
        threshold: positions whose bound is below it are left out.
        """
        bound, margin = self._bound_gains(stack)
        threshold = np.full(len(stack.spans), -np.inf)
        if 0 < space.top_k <= len(self.words):
            spans = [(start, stop) for start, stop in stack.spans if start < stop]
            first = np.array([start + bound[start:stop].argmax() for start, stop in spans], int)
            highest = self._gains(stack, first, space).topk(space.top_k).values[:, -1]
            threshold[stack.text[first]] = highest.double().cpu().numpy() - margin[first]
        rows = np.flatnonzero((bound >= threshold[stack.text]) & (bound > -np.inf))
        ends = np.searchsorted(rows, [stop for _, stop in stack.spans]).tolist()
        best = top_k_of_table(self._gains(stack, rows, space), ends, space.top_k, threshold)
        return [
            TopK(gain, rows[begin + row] - start, column)
            for (gain, row, column), begin, (start, _) in zip(best, [0, *ends], stack.spans)
        ]

    def _bound_gains(self, stack: _Stack) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """Bound the gains at every position: no product E[v] · g₁ exceeds |E[v]| |g₁|.

        Returns the bounds, and how far rounding may move a gain. A gradient that is not finite
        makes all gains of its position void: the bound is −∞.
        """
        norm = torch.linalg.vector_norm(stack.first_direction, dim=1).double().cpu().numpy()
        current = stack.current.double().cpu().numpy()
        product = norm * self._max_norm
        margin = ROUNDING_MARGIN * (product + abs(current))
        bound = product - current + margin
        return np.where(np.isfinite(bound), bound, -np.inf), margin

    def _gains(self, stack: _Stack, rows: Integers, space: EditSpace) -> Tensor:
        """Compute the gains of the vocabulary at some positions, −∞ for what is not allowed."""
        index = torch.from_numpy(rows).to(self.table.device)
        # The row of ones in `_weight` adds the last column: −Σⱼ E[tⱼ] · gⱼ.
        factor = torch.cat([stack.first_direction[index], -stack.current[index, None]], dim=1)
        gain = (whole_rows(factor) @ self._weight)[: len(rows)]
        gain[:, len(self.words) :] = -torch.inf
        same = [self._same_word(stack.words[n], tuple(stack.tokens[n])) for n in rows.tolist()]
        row = np.repeat(np.arange(len(rows)), [len(columns) for columns in same])
        column = np.fromiter(chain.from_iterable(same), np.int64, len(row))
        gain[torch.from_numpy(row), torch.from_numpy(column)] = -torch.inf
        if space.cosine is not None:
            mean = normalize(stack.mean(self.table[stack.token])[index], dim=1)
            cosine = (whole_rows(mean) @ self._normalized)[: len(rows)]
            gain[cosine < space.cosine] = -torch.inf
        return gain

    def _find_same_word(self, word: Word, tokens: tuple[int, ...]) -> list[int]:
        """List the columns of the word itself, whatever its case, and of what reads as it does."""
        alike = self._columns_by_spelling.get(word.lower(), []) if isinstance(word, str) else []
        return alike + (self._columns_by_token.get(tokens[0], []) if len(tokens) == 1 else [])

    def _best_respellings(self, stack: _Stack, space: EditSpace) -> list[TopK]:
        """Find the best respellings: Σₖ E[nₖ] · ḡ − Σⱼ E[tⱼ] · gⱼ for the new tokens n.

        ḡ is the mean gradient of the old tokens: a new token replaces no one of them.
        """
        direction = stack.mean(stack.gradient)
        direction = direction.sign() if space.sign else direction
        current = stack.current.double().cpu().numpy()
        gains, numbers = [np.zeros(0)], [np.zeros(0, np.int32)]
        for row, word in enumerate(stack.words):
            is_hole = not isinstance(word, str)
            edits = NO_RESPELLINGS if is_hole else self._respellings(word, space.kinds)
            product = (self.table[edits.token] @ direction[row]).double().cpu().numpy()
            gains.append(edits.sum_tokens(product) - current[row])
            numbers.append(edits.number)
        count = np.array([len(part) for part in numbers[1:]], dtype=np.int64)
        row_of = np.repeat(np.arange(len(count)), count)
        ends = np.searchsorted(row_of, [stop for _, stop in stack.spans]).tolist()
        # In the precision of the table, which tells how far gains are to be rounded.
        precision = np.float64 if self.table.dtype == torch.float64 else np.float32
        number, gain = np.concatenate(numbers), np.concatenate(gains).astype(precision)
        gain[~np.isfinite(gain)] = -np.inf
        best = top_k(gain, ends, space.top_k, lambda index: gain[index, None])
        return [
            TopK(value, row_of[begin + index] - start, number[begin + index])
            for (value, index, _), begin, (start, _) in zip(best, [0, *ends], stack.spans)
        ]

    def _spell_swap(self, word: Word, column: int) -> tuple[str, EditKind, int, bool]:
        new = self.words[column]
        alike = match_capitals(new, word)
        if alike != new and tuple(self.tokens_of([alike])[0]) == (self.token_ids[column],):
            new = alike
        return new, "swap", 0, True

    def _spell_respelling(self, word: Word, number: int) -> tuple[str, EditKind, int, bool]:
        new, kind, character = spell_out(str(word), number)
        return new, kind, character, new.lower() in self.lower_words

    @cached_property
    def _embeddings(self) -> Tensor:
        """The embeddings of the vocabulary, padded with zeros to whole blocks of columns."""
        embeddings = self.table[torch.tensor(self.token_ids, dtype=torch.long)]
        return pad(embeddings, (0, 0, 0, -len(embeddings) % BLOCK_COLUMNS))

    @cached_property
    def _weight(self) -> Tensor:
        """The embeddings in columns, over a row of ones."""
        return pad(self._embeddings, (0, 1), value=1.0).T.contiguous()

    @cached_property
    def _normalized(self) -> Tensor:
        return normalize(self._embeddings, dim=1).T.contiguous()

    @cached_property
    def _max_norm(self) -> float:
        norm: Tensor = torch.linalg.vector_norm(self._embeddings, dim=1)
        return float(norm.max()) if len(norm) else 0.0

    @cached_property
    def _columns_by_token(self) -> dict[int, list[int]]:
        return _indices(self.token_ids)

    @cached_property
    def _columns_by_spelling(self) -> dict[str, list[int]]:
        return _indices([word.lower() for word in self.words])


@dataclass(frozen=True, eq=False)
class _Stack:
    """The positions of several texts, one text after another.

    Every position has a word, its tokens, the index of its text, and `current`, what its tokens
    contribute: Σⱼ E[tⱼ] · gⱼ. Every token has its id, its position (an index here) and a gradient.
    `first_direction` has for every position the gradient of its first token, or its sign: g₁.
    `spans` are the positions of each text.
    """

    words: list[Word]
    tokens: list[Sequence[int]]
    text: Integers
    spans: list[tuple[int, int]]
    token: Tensor
    position: Tensor
    gradient: Tensor
    first_direction: Tensor
    current: Tensor

    @staticmethod
    def of(texts: Sequence[TokenGradients], sign: bool, table: Tensor) -> _Stack:
        words = [word for text in texts for word in text.words]
        tokens = [ids for text in texts for ids in text.tokens]
        lengths = [len(text.words) for text in texts]
        stops = np.cumsum(lengths).tolist()
        count = np.fromiter(map(len, tokens), np.int64, len(tokens))
        ids = np.fromiter(chain.from_iterable(tokens), np.int64, count.sum())
        token, position, first_token = (
            torch.from_numpy(index).to(table.device)
            for index in (ids, np.repeat(np.arange(len(count)), count), np.cumsum(count) - count)
        )
        gradient = torch.cat([torch.as_tensor(text.gradient).to(table) for text in texts])
        direction = gradient.sign() if sign else gradient
        product = (table[token] * direction).sum(1)
        return _Stack(
            words,
            tokens,
            np.repeat(np.arange(len(texts)), lengths),
            list(zip([0, *stops[:-1]], stops)),
            token,
            position,
            gradient,
            direction[first_token],
            table.new_zeros(len(tokens)).index_add_(0, position, product),
        )

    def mean(self, value: Tensor) -> Tensor:
        """Compute the mean of the rows of tokens at every position."""
        total = value.new_zeros((len(self.words), value.shape[1]))
        total.index_add_(0, self.position, value)
        return total / torch.bincount(self.position, minlength=len(self.words))[:, None]


def _indices(values: Sequence[Any]) -> dict[Any, list[int]]:
    """List where each value stands."""
    indices: dict[Any, list[int]] = {}
    for n, value in enumerate(values):
        indices.setdefault(value, []).append(n)
    return indices

"""Edits ranked by their first-order gain, for models that read words as pieces.

A word model reads one piece a word, a subword model one or more. What an edit gains is what the
objective moves, to first order, when the vectors of the old pieces give way to those of the new
ones (HotFlip, Ebrahimi et al., 2018: with one piece on either side it is their score of a flip).
The paper divides an edit by the square root of twice the number of inputs it changes, so that
long runs of character flips compare with single ones. Here every edit, of a word or of a
character, changes one word: that would be one constant, and nothing is divided.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property, lru_cache, partial
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from brittle.moves import EditKind, EditSpace, Level
from brittle.ranking import respellings as letters
from brittle.ranking.moves import (
    EMPTY_TOP_K,
    LazyMoves,
    RankedMoves,
    SpellOut,
    merge_top_k,
    threshold_of,
    top_k,
    top_k_of_table,
)
from brittle.ranking.respellings import Respellings, TokensOf
from brittle.text import Word

MAX_GAINS_PER_PRODUCT = (
    1 << 24
)  # of one table of places × dictionary: 64 MB, unless one text alone has more
MAX_CACHED_WORDS = 2048  # words whose edits of a character are kept
FIRST_POSITIONS = (
    3  # places of a text that are multiplied with the dictionary before others are left out
)
ROUNDING_MARGIN = 1e-5  # of a bound, so that no place is left out by rounding


@dataclass(frozen=True, eq=False)
class TokenGradients:
    """One text as its model reads it at the places aimed at, and the gradient there.

    For every place the word (or hole), the pieces it was read as, one or more, and in `gradient` a
    row for every piece: the gradient of the objective along its vector, place after place.
    """

    space: EditSpace
    positions: Sequence[int]
    words: Sequence[Word]
    tokens: Sequence[Sequence[int]]
    gradient: Any


class SubwordEdits:
    """The vectors of a model's pieces, and its dictionary: the words that are one piece each.

    `table` has a row for every piece; it is read as it is now, so weights that change need a new
    object. `words` and `ids` are the dictionary, with the piece of each word. `tokens_of` says of
    many words at once which pieces the model reads them as. Gains of one value stand in the order
    of the places, then of the dictionary or of the edits of a word; what is not finite never
    comes back, nor an edit that the model reads as the word it had.
    """

    def __init__(
        self, table: Any, words: Sequence[str], ids: Sequence[int], tokens_of: TokensOf
    ) -> None:
        vectors = torch.as_tensor(table).detach()
        self.table = vectors if vectors.dtype == torch.float64 else vectors.float()
        sound = torch.isfinite(self.table).all(1).tolist()
        self.words = tuple(word for word, token in zip(words, ids) if sound[token])
        self.ids = tuple(int(token) for token in ids if sound[token])
        self.known = frozenset(word.lower() for word in words)
        self.tokens_of = tokens_of
        self._edits = lru_cache(maxsize=MAX_CACHED_WORDS)(self._edits_of)

    def best(self, readings: Sequence[TokenGradients]) -> list[RankedMoves]:
        """Rank the edits of texts, each as its space says; the texts share their products."""
        found: dict[int, RankedMoves] = {}
        for level in ("words", "characters"):
            for numbers in self._groups(readings, level):
                group = [readings[n] for n in numbers]
                ranked = self._by_word(group) if level == "words" else self._by_character(group)
                found.update(zip(numbers, ranked))
        return [found[n] for n in range(len(readings))]

    def later(self, reading: TokenGradients) -> LazyMoves:
        """Give the ranking of one text that is made when it is looked at, if ever it is."""
        return LazyMoves(partial(self._alone, reading))

    def _alone(self, reading: TokenGradients) -> RankedMoves:
        return self.best([reading])[0]

    def _groups(self, readings: Sequence[TokenGradients], level: Level) -> Iterator[list[int]]:
        """Part the texts of a level so that no table of one product grows beyond its bound."""
        numbers: list[int] = []
        rows = 0
        for n, reading in enumerate(readings):
            if reading.space.level != level:
                continue
            rows += len(reading.positions)
            if numbers and rows * len(self.ids) > MAX_GAINS_PER_PRODUCT:
                yield numbers
                numbers, rows = [], len(reading.positions)
            numbers.append(n)
        if numbers:
            yield numbers

    def _by_word(self, group: Sequence[TokenGradients]) -> Iterator[RankedMoves]:
        """Rank the words of the dictionary: E[v] · g₁ − Σⱼ E[tⱼ] · gⱼ for the pieces t of a word.

        The new word stands where the first piece of the old one stood. No product is larger than
        |E[v]| |g₁|, so that most places need not be multiplied at all: first come those where
        this bound is highest, then the others that it does not keep below the best found there.
        """
        stack = _StackedTokens.of(group, self.table)
        direction = stack.direction[stack.first]
        bound = torch.linalg.vector_norm(direction, dim=1) * self._longest - stack.now
        # A gradient that is not finite makes its whole row void.
        bound = torch.where(torch.isfinite(bound), bound, -torch.inf).double().cpu().numpy()
        found = [EMPTY_TOP_K] * len(group)
        # The places of every text, the most promising first.
        positions = [
            start + np.argsort(-bound[start:stop], kind="stable") for start, stop in stack.texts
        ]
        positions = [rows[bound[rows] > -np.inf] for rows in positions]
        todo = [rows[:FIRST_POSITIONS] for rows in positions]
        for _ in range(2):
            gain = self._gains(group, stack, direction, np.concatenate(todo))
            parts = torch.split(gain, [len(rows) for rows in todo])
            for n, (reading, (start, _)) in enumerate(zip(group, stack.texts)):
                best = top_k_of_table(parts[n], reading.space.top_k)
                found[n] = merge_top_k(found[n], best, todo[n] - start, reading.space.top_k)
                rest = positions[n][FIRST_POSITIONS:]
                near = bound[rest] + ROUNDING_MARGIN * (1 + abs(bound[rest]))
                todo[n] = rest[near >= threshold_of(found[n], reading.space.top_k)]
        for reading, best in zip(group, found):
            yield _ranked(reading, *best, self._swapped)

    def _gains(
        self,
        group: Sequence[TokenGradients],
        stack: _StackedTokens,
        direction: Tensor,
        rows: NDArray[np.int64],
    ) -> Tensor:
        """Give the gains of all words of the dictionary at some places, −∞ where not allowed."""
        at = torch.from_numpy(rows).to(direction.device)
        gain = torch.addmm(-stack.now[at, None], direction[at], self._vectors.T)
        self._exclude_alike(gain, group, rows)
        threshold_of = [r.space.cosine for r in group for _ in r.positions]
        if any(value is not None for value in threshold_of):
            floor = [-torch.inf if value is None else value for value in threshold_of]
            bound = torch.tensor(floor, dtype=torch.float64)[torch.from_numpy(rows)]
            mean = stack.mean(self.table[stack.token])[at]
            cosine = _normal(mean) @ self._normal.T
            gain[cosine < bound.to(cosine)[:, None]] = -torch.inf
        return gain

    def _exclude_alike(
        self, gain: Tensor, group: Sequence[TokenGradients], chosen: NDArray[np.int64]
    ) -> None:
        """Take out of every row the word itself, whatever its case, and what reads as it does."""
        rows, columns = [], []
        read = [(word, tokens) for r in group for word, tokens in zip(r.words, r.tokens)]
        for row, number in enumerate(chosen.tolist()):
            word, tokens = read[number]
            alike = self._spelt_alike.get(word.lower(), []) if isinstance(word, str) else []
            same = self._columns.get(tokens[0], []) if len(tokens) == 1 else []
            columns += alike + same
            rows += [row] * (len(alike) + len(same))
        where = torch.tensor([rows, columns], dtype=torch.long)
        gain[where[0], where[1]] = -torch.inf

    def _by_character(self, group: Sequence[TokenGradients]) -> Iterator[RankedMoves]:
        """Rank edits of a character: Σₖ E[nₖ] · ḡ − Σⱼ E[tⱼ] · gⱼ for the new word's pieces n.

        ḡ is the mean gradient of the old tokens: a new token replaces none of them.
        """
        stack = _StackedTokens.of(group, self.table)
        direction = stack.mean_direction()
        now = stack.now.double().cpu().numpy()
        for reading, (start, _) in zip(group, stack.texts):
            gains, numbers, rows = [np.zeros(0)], [np.zeros(0, dtype=np.int32)], []
            for row, word in enumerate(reading.words):
                if not isinstance(word, str):
                    continue
                edits = self._edits(word, reading.space.kinds)
                moved = self.table[edits.token] @ direction[start + row]
                gains.append(edits.summed(moved.double().cpu().numpy()) - now[start + row])
                numbers.append(edits.number)
                rows += [row] * len(edits.number)
            gain, at = top_k(torch.from_numpy(np.concatenate(gains)), reading.space.top_k)
            row_at = np.array(rows, dtype=np.int64)[at]
            yield _ranked(reading, gain, row_at, np.concatenate(numbers)[at], self._edited)

    def _edits_of(self, word: str, kinds: tuple[EditKind, ...]) -> Respellings:
        return letters.respellings(word, kinds, self.tokens_of)

    def _swapped(self, word: Word, choice: int) -> tuple[str, EditKind, int, bool]:
        new = self.words[choice]
        alike = _cased(new, word) if isinstance(word, str) else new
        if alike != new and tuple(self.tokens_of([alike])[0]) == (self.ids[choice],):
            new = alike
        return new, "swap", 0, True

    def _edited(self, word: Word, choice: int) -> tuple[str, EditKind, int, bool]:
        new, kind, at = letters.spell_out(str(word), choice)
        return new, kind, at, new.lower() in self.known

    @cached_property
    def _vectors(self) -> Tensor:
        return self.table[torch.tensor(self.ids, dtype=torch.long)]

    @cached_property
    def _longest(self) -> Tensor:
        """Give the length of the longest vector of the dictionary."""
        length: Tensor = torch.linalg.vector_norm(self._vectors, dim=1)
        return length.max() if len(length) else length.sum()

    @cached_property
    def _normal(self) -> Tensor:
        return _normal(self._vectors)

    @cached_property
    def _columns(self) -> dict[Any, list[int]]:
        return _where(self.ids)

    @cached_property
    def _spelt_alike(self) -> dict[Any, list[int]]:
        return _where([word.lower() for word in self.words])


@dataclass(frozen=True, eq=False)
class _StackedTokens:
    """The places of several texts under one another: a row a piece, and which place it is of.

    `direction` is what edits are measured along: the gradient or its sign. `now` is for every place
    what its pieces are worth as they are; not a number where a gradient is not.
    """

    token: Tensor
    position: Tensor
    first: Tensor
    gradient: Tensor
    direction: Tensor
    signed: Tensor
    now: Tensor
    texts: list[tuple[int, int]]

    @staticmethod
    def of(group: Sequence[TokenGradients], table: Tensor) -> _StackedTokens:
        where = table.device
        counts = torch.tensor([len(p) for r in group for p in r.tokens], dtype=torch.long)
        flat = [token for r in group for tokens in r.tokens for token in tokens]
        token = torch.tensor(flat, dtype=torch.long, device=where)
        position = torch.repeat_interleave(torch.arange(len(counts)), counts).to(where)
        first = (counts.cumsum(0) - counts).to(where)
        gradient = torch.cat([torch.as_tensor(r.gradient).to(table) for r in group])
        of_place = torch.tensor(
            [r.space.sign for r in group for _ in r.positions], dtype=torch.bool
        )
        signed = of_place.to(where)
        direction = torch.where(signed[position, None], gradient.sign(), gradient)
        worth = (table[token] * direction).sum(1)
        now = table.new_zeros(len(counts)).index_add_(0, position, worth)
        ends = np.cumsum([len(r.positions) for r in group]).tolist()
        texts = list(zip([0, *ends[:-1]], ends))
        return _StackedTokens(token, position, first, gradient, direction, signed, now, texts)

    def mean(self, value: Tensor) -> Tensor:
        """Give the mean row of every place."""
        total = value.new_zeros((len(self.first), value.shape[1])).index_add_(
            0, self.position, value
        )
        return total / torch.bincount(self.position, minlength=len(self.first))[:, None]

    def mean_direction(self) -> Tensor:
        """Give the mean gradient of every place or, where the sign is asked for, its sign."""
        mean = self.mean(self.gradient)
        return torch.where(self.signed[:, None], mean.sign(), mean)


def _ranked(
    reading: TokenGradients,
    gain: NDArray[np.float64],
    row: NDArray[np.integer],
    choice: NDArray[np.integer],
    spelt: SpellOut,
) -> RankedMoves:
    return RankedMoves(gain, row, choice, tuple(reading.positions), tuple(reading.words), spelt)


def _normal(vectors: Tensor) -> Tensor:
    return torch.nn.functional.normalize(vectors, dim=1)


def _where(values: Sequence[Any]) -> dict[Any, list[int]]:
    found: dict[Any, list[int]] = {}
    for n, value in enumerate(values):
        found.setdefault(value, []).append(n)
    return found


def _cased(word: str, like: str) -> str:
    """Write a word with capitals as another one has them: all, the first, or as it is."""
    if like.isupper() and len(like) > 1:
        return word.upper()
    return word[:1].upper() + word[1:] if like[:1].isupper() else word

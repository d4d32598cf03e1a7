"""Edits of characters and swaps of words, ranked by their first-order gain, as in HotFlip.

For models that read spellings. As in HotFlip (Ebrahimi et al., 2018), a word is a sequence of
one-hot characters, padded on the right. A flip changes one of them. An insertion moves the rest of
the word to the right, a deletion moves it to the left: both are flips of every character to the end
of the word. With G the gradient along the one-hot characters, the gain of an edit is the sum of
G[new] − G[old] over its flips, divided by the length √(2N) of its vector, where N characters
change. For a model that also reads whole words, the word becomes the unknown word at the same time.
That the new spelling may be a known word is ignored.

This estimate orders insertions inside a word badly (docs/papers/hotflip.md; a guess at the reason:
the network takes a maximum over the windows of a word, which hardly changes when they only move).
So `--estimate word` ranks the best edits again, by the vectors of the words they make: to first
order, the gain of an edit is the gradient along the word's vector times the difference of two
vectors, that of the new spelling and that of the old one, both as the network computes them.

A swap of words is ranked in the same way. (A first order in the characters would tell nothing: two
words differ in too many of them.) This file needs torch.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from itertools import chain
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor
from torch.nn.functional import normalize

from brittle.english.forms import match_case
from brittle.moves import CHARACTER_EDITS, EditKind, EditSpace
from brittle.ranking.moves import RankedMoves, match_capitals, refuse_word_estimate
from brittle.ranking.top_k import (
    CharacterLayout,
    CharacterRows,
    Integers,
    round_to,
    rounding_step,
    top_k,
    top_k_of_table,
)
from brittle.text import Word, is_word

KINDS = len(CHARACTER_EDITS)
FLIP, INSERT, DELETE = range(KINDS)
NO_CHARACTER, UNKNOWN_CHARACTER, FIRST_CHARACTER = range(3)
"""The rows of a table of character embeddings: padding, an unknown one, then the alphabet."""


@dataclass(frozen=True, eq=False)
class EditedWords:
    """The words of one text at the positions whose characters are edited.

    For a model that also reads whole words, `unknown_gain` is the gain when each becomes the
    unknown word, and `was_known` tells where that is a change.
    """

    positions: Sequence[int]
    words: Sequence[str]
    unknown_gain: NDArray[Any] | None = None
    was_known: NDArray[np.bool_] | None = None


class CharacterEdits:
    """Ranks the flips, insertions and deletions of characters, for one model.

    New characters are the letters and digits of the alphabet. `table` has the embedding of every
    character. The model reads `max_characters` of a word: those beyond are not edited, and none is
    moved there by an insertion. A word stays one word of a text. Of edits that give the same word,
    as with a doubled letter, there is one. `vocabulary` are the known words, in lower case.
    """

    def __init__(
        self,
        alphabet: Sequence[str],
        max_characters: int,
        table: Tensor,
        vocabulary: Collection[str],
    ) -> None:
        self.vocabulary = vocabulary
        finite = torch.isfinite(table).all(dim=1).tolist()
        row = {c: n for n, c in enumerate(alphabet, FIRST_CHARACTER)}
        self.new_characters = tuple(
            c for c, n in row.items() if c.isalnum() and is_word(c) and finite[n]
        )
        # The columns of G: first the new characters, then all others.
        first = [row[c] for c in self.new_characters]
        order = [*first, *sorted(set(range(len(table))) - set(first))]
        self._table = table.detach()[order].T.contiguous()
        column = {n: at for at, n in enumerate(order)}
        ids = {c: column[n] for c, n in row.items()}
        self._layout = CharacterLayout(
            ids, column[UNKNOWN_CHARACTER], column[NO_CHARACTER], max_characters
        )

    def rank(
        self, texts: Sequence[EditedWords], gradient: Tensor, space: EditSpace
    ) -> list[RankedMoves]:
        """Rank the edits of texts, from the gradient along the embeddings of their characters.

        `gradient` has a row for every row of the layout of all words, text after text. Gains of one
        value stand in the order of the positions, then of the characters, with flips before
        insertions and deletions, then of the alphabet.
        """
        refuse_word_estimate(space, "characters without a vector for each word")
        rows = self._layout.rows([word for text in texts for word in text.words])
        direction = gradient.sign() if space.sign else gradient
        one_hot = (direction @ self._table).numpy()
        gains = _compute_gains(rows, one_hot, len(self.new_characters), texts, space)
        first_word = np.append(0, np.cumsum([len(text.words) for text in texts], dtype=np.int64))
        first_row = np.searchsorted(rows.word, first_word)
        ends = (KINDS * first_row[1:]).tolist()
        moves = []
        best = top_k(gains.maximum.reshape(-1), ends, space.top_k, gains.expand)
        for n, (text, (gain, block, column)) in enumerate(zip(texts, best)):
            row, kind = np.divmod(KINDS * first_row[n] + block, KINDS)
            # `_spell_out` takes these numbers apart.
            edit = (rows.character[row] * KINDS + kind) * gains.one_hot.shape[1] + column
            word = rows.word[row] - first_word[n]
            moves.append(RankedMoves(gain, word, edit, text.positions, text.words, self._spell_out))
        return moves

    def _spell_out(self, word: Word, number: int) -> tuple[str, EditKind, int, bool]:
        rest, column = divmod(number, max(1, len(self.new_characters)))
        at, kind = divmod(rest, KINDS)
        inserted = "" if kind == DELETE else self.new_characters[column]
        new = str(word)[:at] + inserted + str(word)[at + (kind != INSERT) :]
        return new, CHARACTER_EDITS[kind], at, new.lower() in self.vocabulary


@dataclass(frozen=True, eq=False)
class _Gains:
    """The gains of all edits: (G of the new character + add) · scale; a deletion has no new one.

    `one_hot` is G (rows × new characters); `add`, `scale` and `maximum` are rows × kinds. The
    maximum over the new characters is −∞ where the kind is not allowed.
    """

    one_hot: NDArray[Any]
    add: NDArray[Any]
    scale: NDArray[Any]
    maximum: NDArray[Any]

    def expand(self, block: Integers) -> NDArray[Any]:
        """Compute the gains for all new characters, of blocks of one row and one kind."""
        row, kind = np.divmod(block, KINDS)
        gain: NDArray[Any] = self.one_hot[row] + self.add[row, kind, None]
        gain *= self.scale[row, kind, None]
        deletes = np.flatnonzero(kind == DELETE)
        gain[deletes] = -np.inf
        gain[deletes, 0] = self.maximum[row[deletes], DELETE]
        return gain


def _compute_gains(
    rows: CharacterRows,
    one_hot: NDArray[Any],
    new_characters: int,
    texts: Sequence[EditedWords],
    space: EditSpace,
) -> _Gains:
    """Compute the gains of all edits from G (rows × characters), which is overwritten."""
    row = np.arange(len(rows.own))
    allowed = rows.allowed & [kind in space.kinds for kind in CHARACTER_EDITS]
    own, previous, following = (
        one_hot[row, column].astype(np.float64) for column in (rows.own, rows.previous, rows.next)
    )
    void = ~np.isfinite([own, previous, following]).all(axis=0)
    if void.any():
        # Sums run over all words: what is not a number in one must not reach the others.
        allowed &= ~np.isin(rows.word, rows.word[void])[:, None]
        own[void] = previous[void] = following[void] = 0.0
    right, left = previous - own, following - own
    add = np.stack([-own, rows.sum_after(right) - own, rows.sum_after(left) + left], axis=1)
    changes = rows.changes
    if texts and texts[0].unknown_gain is not None:
        add += np.concatenate([text.unknown_gain for text in texts])[rows.word, None]
        changes = changes + np.concatenate([text.was_known for text in texts])[rows.word, None]
    add = add.astype(one_hot.dtype)
    scale = (1 / np.sqrt(2 * np.maximum(changes, 1))).astype(one_hot.dtype)
    # No character is flipped to itself. Inserted before itself, it is as if inserted after.
    one_hot[row, rows.own] = -np.inf
    new = one_hot[:, :new_characters] if new_characters else np.full((len(row), 1), -np.inf)
    maximum = np.repeat(torch.from_numpy(new).amax(dim=1).numpy()[:, None], KINDS, axis=1)
    maximum[:, DELETE] = 0.0
    maximum = (maximum + add) * scale
    maximum[~(allowed & np.isfinite(maximum))] = -np.inf
    return _Gains(new, add, scale, maximum)


def rank_by_vectors(
    texts: Sequence[RankedMoves],
    direction: Tensor,
    vector: Tensor,
    vectors_of: Callable[[Sequence[str]], Tensor],
) -> list[RankedMoves]:
    """Rank the edits of every text again.

    `direction` and `vector` have a row for every word of the texts, text after text. Gains, rounded
    as in `top_k`, of one value stand in the order of the positions, then of the edits.
    """
    new_words = [
        [moves.spell_out(moves.words[row], edit)[0] for row, edit in zip(moves.row, moves.edit)]
        for moves in texts
    ]
    index = {word: n for n, word in enumerate(dict.fromkeys(chain.from_iterable(new_words)))}
    table = vectors_of(list(index))
    ranked, start = [], 0
    for moves, words in zip(texts, new_words):
        row = torch.from_numpy(start + moves.row)
        change = table[[index[word] for word in words]] - vector[row]
        gain = (change * direction[row]).sum(dim=1).numpy()
        highest = gain[np.isfinite(gain)].max(initial=-np.inf)
        [step] = rounding_step(np.array([highest], dtype=np.float64), gain.dtype)
        gain = round_to(gain.astype(np.float64), step)
        best = np.lexsort((moves.edit, moves.row, -gain))
        best = best[np.isfinite(gain[best])]
        ranked.append(replace(moves, gain=gain[best], row=moves.row[best], edit=moves.edit[best]))
        start += len(moves.words)
    return ranked


CASES = ("ab", "Ab", "AB")  # a word of every case


@dataclass(frozen=True, eq=False)
class VectorGradients:
    """The words of one text at some positions, with a vector and a gradient along it for each."""

    space: EditSpace
    positions: Sequence[int]
    words: Sequence[Word]
    vector: Tensor
    gradient: Tensor


class WordSwaps:
    """Ranks the words of a vocabulary, all in lower case, as substitutes of others.

    `vectors_of` computes the vectors of many words. A substitute has the capitals of the word it
    replaces, and its vector is that of the capitals. Gains of one value stand in the order of the
    positions, then of the vocabulary.
    """

    def __init__(
        self, vocabulary: Sequence[str], vectors_of: Callable[[Sequence[str]], Tensor]
    ) -> None:
        self.vocabulary = tuple(vocabulary)
        self._column = {word: n for n, word in enumerate(self.vocabulary)}
        self._vectors_of = vectors_of
        self._vectors = lru_cache(maxsize=len(CASES))(self._vectors_in)

    def _vectors_in(self, case: str) -> tuple[Tensor, Tensor]:
        """Compute the vectors of the vocabulary in the capitals of a word, and their norms."""
        vectors = self._vectors_of([match_case(word, case) for word in self.vocabulary])
        return vectors, vectors.norm(dim=1).clamp(min=1e-12)

    def rank(self, texts: Sequence[VectorGradients]) -> list[RankedMoves]:
        """Rank the swaps of texts, each in its own space."""
        return [self._rank_text(text) for text in texts]

    def _rank_text(self, text: VectorGradients) -> RankedMoves:
        space, words, vector = text.space, text.words, text.vector
        direction = text.gradient.sign() if space.sign else text.gradient
        gain = direction.new_empty((len(words), len(self.vocabulary)))
        cases = [match_capitals(CASES[0], word) for word in words]
        for case in dict.fromkeys(cases):
            rows = [n for n, other in enumerate(cases) if other == case]
            vectors, norm = self._vectors(case)
            current = (direction[rows] * vector[rows]).sum(dim=1)
            table = torch.addmm(-current[:, None], direction[rows], vectors.T)
            if space.cosine is not None:
                near = normalize(vector[rows], dim=1) @ vectors.T >= space.cosine * norm
                table.masked_fill_(~near, -torch.inf)
            gain[rows] = table
        for n, word in enumerate(words):
            column = self._column.get(word.lower()) if isinstance(word, str) else None
            if column is not None:
                gain[n, column] = -torch.inf
        [best] = top_k_of_table(gain, [len(words)], space.top_k)
        return RankedMoves(*best, text.positions, words, self._spell_out)

    def _spell_out(self, word: Word, column: int) -> tuple[str, EditKind, int, bool]:
        return match_capitals(self.vocabulary[column], word), "swap", 0, True

"""Edits of characters ranked by their first-order gain, for models that read spellings.

HotFlip (Ebrahimi et al., 2018), in its own terms: a word is a row of one-hot characters, padded
with nothing on the right. Flipping a character changes one of them; inserting one moves the rest of
the word to the right, deleting one to the left, so these are runs of flips to the end of the word.
An edit's gain is the sum of its flips' differences of slope over the length of its vector, √(2N)
where N characters really change.

A model that reads whole words as well sees one flip more, from the word to the unknown one. That
the new spelling may be a word it knows is passed over. This file needs torch.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from brittle.moves import CHARACTER_EDITS, EditSpace, Move
from brittle.ranking.layout import CharacterRows, Integers, Layout
from brittle.text import is_word

FLIP, INSERT, DELETE = range(len(CHARACTER_EDITS))
LOW = -np.inf
NO_CHARACTER, UNKNOWN_CHARACTER, FIRST_CHARACTER = range(3)
"""The rows of a table of vectors: no character, an unknown one, then the alphabet."""


@dataclass(frozen=True, eq=False)
class EditedWords:
    """The places of one text whose characters are edited, with their words as they stand there.

    For a model that also reads whole words: `whole` is what a word gains when it turns unknown,
    and `turned` where that is a change.
    """

    positions: Sequence[int]
    words: Sequence[str]
    whole: NDArray[Any] | None = None
    turned: NDArray[np.bool_] | None = None


@dataclass(frozen=True, eq=False, slots=True)
class CharacterMoves:
    """The best edits of one text, the highest gain first, spelt out when looked at (`Moves`)."""

    gain: NDArray[np.float64]
    row: Integers
    kind: Integers
    at: Integers
    new: Integers
    where: EditedWords
    edits: CharacterEdits

    def __len__(self) -> int:
        return len(self.gain)

    def __getitem__(self, n: int) -> Move:
        row, kind, at = int(self.row[n]), int(self.kind[n]), int(self.at[n])
        word = self.where.words[row]
        new = "" if kind == DELETE else self.edits.offered[self.new[n]]
        spelt = word[:at] + new + word[at + (kind != INSERT) :]
        known = spelt.lower() in self.edits.known
        position = self.where.positions[row]
        return Move(float(self.gain[n]), position, spelt, CHARACTER_EDITS[kind], at, known)


class CharacterEdits:
    """Ranks the flips, inserts and deletes of characters.

    New characters are the letters and digits of the alphabet; `table` has the vectors of all, after
    those of no character and of a strange one. Characters beyond the first `spelling` are not read,
    so they are not edited, nor is one pushed there. A word stays one word of a text. Of edits that
    give the same word, as of a doubled letter, there is one.
    """

    def __init__(
        self, alphabet: Sequence[str], spelling: int, table: Tensor, known: Collection[str]
    ) -> None:
        self.known = known
        sound = torch.isfinite(table).all(dim=1).tolist()
        number = {c: n for n, c in enumerate(alphabet, FIRST_CHARACTER)}
        self.offered = tuple(
            c for c, n in number.items() if c.isalnum() and is_word(c) and sound[n]
        )
        # The columns of a table of gains: first what is offered, then what else may stand there.
        first = [number[c] for c in self.offered]
        order = [*first, *sorted(set(range(len(table))) - set(first))]
        self._table = table.detach()[order].T.contiguous()
        column = {n: at for at, n in enumerate(order)}
        columns = {c: column[n] for c, n in number.items()}
        self._layout = Layout(columns, column[UNKNOWN_CHARACTER], column[NO_CHARACTER], spelling)

    def best(
        self, texts: Sequence[EditedWords], gradient: Tensor, space: EditSpace
    ) -> list[CharacterMoves]:
        """Rank the edits of texts by the slope at the characters of their words, one after another.

        There is a row for every character that is read and, where one more would be, for the place
        after the last. Gains of one value stand in the order of the places, then of their
        characters, with flips before inserts and deletes, then of the alphabet.
        """
        rows = self._layout.rows([word for text in texts for word in text.words])
        count = np.array([len(text.words) for text in texts], dtype=np.int64)
        text = np.repeat(np.arange(len(texts)), count)[rows.word]
        worth = (gradient.sign() if space.sign else gradient) @ self._table
        gains = _gains(rows, worth.numpy(), len(self.offered), texts, space)
        found = _best(gains, text, len(texts), space.top_k)
        word = rows.word[found.row] - (np.cumsum(count) - count)[found.text]
        position = rows.position[found.row]
        ends = np.searchsorted(found.text, np.arange(len(texts) + 1)).tolist()
        return [
            CharacterMoves(
                found.gain[start:stop],
                word[start:stop],
                found.kind[start:stop],
                position[start:stop],
                found.new[start:stop],
                where,
                self,
            )
            for where, start, stop in zip(texts, ends, ends[1:])
        ]


@dataclass(frozen=True, eq=False)
class _Gains:
    """The gains of all edits: (worth of the new character + add) · scale; a delete has no new one.

    `worth` is rows × characters, the others are rows × kinds.
    """

    worth: NDArray[Any]
    add: NDArray[Any]
    scale: NDArray[Any]
    may: NDArray[np.bool_]


def _gains(
    rows: CharacterRows,
    worth: NDArray[Any],
    offered: int,
    texts: Sequence[EditedWords],
    space: EditSpace,
) -> _Gains:
    """Measure every edit, from what each character is worth in each row (rows × characters)."""
    row = np.arange(len(rows.here))
    may = rows.may & [kind in space.kinds for kind in CHARACTER_EDITS]
    now = [worth[row, part].astype(np.float64) for part in (rows.here, rows.before, rows.after)]
    broken = ~np.isfinite(now).all(axis=0)
    if broken.any():
        # Sums run over all words: what is not a number in one must not reach the others.
        may &= ~np.isin(rows.word, rows.word[broken])[:, None]
        for part in now:
            part[broken] = 0.0
    mine, right, left = now[0], now[1] - now[0], now[2] - now[0]
    add = np.stack([-mine, rows.rest(right) - mine, rows.rest(left) + left], axis=1)
    changed = rows.changed
    if texts and texts[0].whole is not None:
        add += np.concatenate([text.whole for text in texts])[rows.word, None]
        changed = changed + np.concatenate([text.turned for text in texts])[rows.word, None]
    scale = 1 / np.sqrt(2 * np.maximum(changed, 1))
    # None is flipped to itself; and inserted before itself it is as if inserted after.
    worth[row, rows.here] = LOW
    shown = worth[:, :offered] if offered else np.full((len(row), 1), LOW)
    return _Gains(shown, add.astype(worth.dtype), scale.astype(worth.dtype), may)


@dataclass(frozen=True, eq=False)
class _Found:
    """The best edits of all texts, text by text."""

    text: Integers
    gain: NDArray[np.float64]
    row: Integers
    kind: Integers
    new: Integers


def _best(gains: _Gains, text: Integers, texts: int, most: int) -> _Found:
    """Find the `most` best edits of every text; `text` says of which one each row is."""
    bounds = np.arange(texts + 1)
    top = torch.from_numpy(gains.worth).amax(dim=1).numpy()
    top = np.repeat(top[:, None], len(CHARACTER_EDITS), axis=1)
    top[:, DELETE] = 0.0
    gain = (top + gains.add) * gains.scale
    gain[~(gains.may & np.isfinite(gain))] = LOW
    # So many rows have an edit at or above the floor: none of the best is below it.
    floor = _floors(gain, np.searchsorted(text, bounds), most)[text]
    row, kind = np.nonzero((gain >= floor[:, None]) & (gain > LOW))
    each = (gains.worth[row] + gains.add[row, kind, None]) * gains.scale[row, kind, None]
    single = np.flatnonzero(kind == DELETE)
    each[single] = LOW
    each[single, 0] = gain[row[single], DELETE]
    at, new = np.nonzero((each >= floor[row, None]) & (each > LOW))
    value, row, kind = each[at, new], row[at], kind[at]
    floor = _floors(value, np.searchsorted(text[row], bounds), most)
    kept = np.flatnonzero(value >= floor[text[row]])
    order = kept[np.lexsort((-value[kept], text[row[kept]]))]
    of = text[row[order]]
    order = order[np.arange(len(order)) - np.searchsorted(of, bounds)[of] < most]
    found = value[order].astype(np.float64)
    return _Found(text[row[order]], found, row[order], kind[order], new[order])


def _floors(gain: NDArray[Any], ends: Integers, most: int) -> NDArray[Any]:
    """Give for every text the gain of its `most`-th best, or the lowest where it has fewer."""
    floor = np.full(len(ends) - 1, LOW, dtype=gain.dtype)
    for n, (start, stop) in enumerate(zip(ends[:-1].tolist(), ends[1:].tolist())):
        all_gains = gain[start:stop].reshape(-1)
        if 0 < most < len(all_gains):
            floor[n] = np.partition(all_gains, len(all_gains) - most)[len(all_gains) - most]
    return floor

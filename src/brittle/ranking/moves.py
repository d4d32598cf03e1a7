"""The best edits of a text: ranked by their gain, spelt out when they are read."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cache, partial
from typing import TypeVar

import numpy as np
from numpy.typing import NDArray

from brittle.english.forms import match_case
from brittle.errors import UsageError
from brittle.moves import EditKind, EditRequest, EditSpace, Move, Moves
from brittle.ranking.objective import is_reached
from brittle.text import Word

T = TypeVar("T")
SpellOut = Callable[[Word, int], tuple[str, EditKind, int, bool]]
"""From a word and the number of one of its edits: the last four fields of a `Move`."""


@dataclass(frozen=True, eq=False, slots=True)
class RankedMoves:
    """The best edits of one text, the highest gain first (`Moves`).

    Edit n replaces the word at positions[row[n]], which is words[row[n]] now; `spell_out` knows
    what its number, edit[n], means.
    """

    gain: NDArray[np.float64]
    row: NDArray[np.integer]
    edit: NDArray[np.integer]
    positions: Sequence[int]
    words: Sequence[Word]
    spell_out: SpellOut

    def __len__(self) -> int:
        return len(self.gain)

    def __getitem__(self, n: int) -> Move:
        row = int(self.row[n])
        spelt = self.spell_out(self.words[row], int(self.edit[n]))
        return Move(float(self.gain[n]), self.positions[row], *spelt)


@dataclass(frozen=True, eq=False, slots=True)
class LazyMoves:
    """The moves of one text of several that are ranked together, when one of them is first read."""

    rank_group: Callable[[], Sequence[Moves]]
    number: int

    @property
    def gain(self) -> NDArray[np.float64]:
        return self.rank_group()[self.number].gain

    def __getitem__(self, n: int) -> Move:
        return self.rank_group()[self.number][n]


def rank_as_needed(
    requests: Sequence[EditRequest],
    scores: Sequence[Sequence[float]],
    texts: Sequence[T],
    rank: Callable[[list[T]], Sequence[Moves]],
) -> list[Moves]:
    """Rank texts by tokens as `rank_lazily` does; spellings have no vectors there."""
    for space in {request.space for request in requests}:
        refuse_word_estimate(space, "words or parts of words, whose own vectors rank their edits")
    return rank_lazily(requests, scores, texts, rank)


def rank_lazily(
    requests: Sequence[EditRequest],
    scores: Sequence[Sequence[float]],
    texts: Sequence[T],
    rank: Callable[[list[T]], Sequence[Moves]],
) -> list[Moves]:
    """Rank now the texts whose search probably goes on, and the others only if they are read.

    A search ends with the first text that reaches its class, unless its goal asks for more. The
    texts of one search share their frame. `texts` are the requests as `rank` takes them.
    """
    searches: dict[int, list[int]] = {}
    for n, request in enumerate(requests):
        searches.setdefault(id(request.text.frame), []).append(n)
    moves: dict[int, Moves] = {}
    going_on: list[int] = []
    for group in searches.values():
        if any(is_reached(scores[n], requests[n]) for n in group):
            rank_group = cache(partial(rank, [texts[n] for n in group]))
            moves.update((n, LazyMoves(rank_group, i)) for i, n in enumerate(group))
        else:
            going_on += group
    moves.update(zip(going_on, rank([texts[n] for n in going_on])))
    return [moves[n] for n in range(len(requests))]


def refuse_word_estimate(space: EditSpace, reads: str) -> None:
    """Refuse to rank by vectors of new words where no network computes them from spellings."""
    if space.level == "characters" and space.estimate == "word":
        raise UsageError(
            "--estimate word asks for the vectors that a network computes from the spellings of "
            f"words, but this target reads {reads}. Leave --estimate out, or attack a network of "
            "characters such as CharCNN-LSTM."
        )


def match_capitals(new: str, word: Word) -> str:
    """Write a word of a vocabulary in the capitals of the word it replaces.

    A vocabulary that tells cases apart means what it lists: only lower case is changed.
    """
    return match_case(new, word) if isinstance(word, str) and new == new.lower() else new

"""From the tokens a model reads to the words, and the characters, of the user's text.

A token belongs to the word whose characters it stands for. One that stands for punctuation, an
emoji, or for nothing in the text (the marks a model adds) belongs to no word; the pieces of a word
with an apostrophe or a hyphen inside all belong to that word. So does the space before a word
where it is a token of its own: with another word it would be part of that word's first piece. A
token that reaches over two words, as tokenizers have it that part a text at spaces only, belongs
to the first; the second counts as read all the same, since an edit of it changes the token.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from brittle.targets.transformers.tokenizer import TextTokenizer, TokenizedText
from brittle.text import HOLE, Text


@dataclass(frozen=True, eq=False)
class Alignment:
    """Which tokens of a text belong to which of its words.

    `word` is for every token the position of its word, −1 for none. `read` lists the positions of
    the words that the model reads at least in part, and `columns` for every word its tokens.
    """

    tokens: TokenizedText
    word: NDArray[np.int64]
    read: tuple[int, ...]
    columns: tuple[tuple[int, ...], ...]
    start: NDArray[np.int64]
    stop: NDArray[np.int64]
    holes: frozenset[int]

    def characters(self, position: int) -> NDArray[np.int64]:
        """Give for every character of a word the token that holds it, −1 for none.

        Of several tokens for one character (its bytes) the last counts; a hole has no characters.
        """
        first = int(self.start[position])
        length = 0 if position in self.holes else int(self.stop[position]) - first
        found = np.full(length, -1)
        for column in self.columns[position]:
            start, stop = self.tokens.start[column] - first, self.tokens.stop[column] - first
            found[max(0, start) : max(0, stop)] = column
        return found


def align_texts(items: Sequence[Text], tokens: TextTokenizer) -> list[Alignment]:
    """Tokenize texts, and say of every token which word it belongs to."""
    return [
        _align(item, placed, tokens.mask) for item, placed in zip(items, tokens.tokenize(items))
    ]


def words_read(items: Sequence[Text], tokens: TextTokenizer) -> list[Sequence[int]]:
    """Give for every text the positions of the words that are read.

    Where the tokenizer cannot say so, all count as read.
    """
    if tokens.backend is None:
        return [range(len(item)) for item in items]
    return [alignment.read for alignment in align_texts(items, tokens)]


def _align(item: Text, placed: TokenizedText, mask: str) -> Alignment:
    start, stop, spaced = _spans(item, mask)
    word = np.full(len(placed.ids), -1)
    seen = np.zeros(len(item), dtype=bool)
    for number, (low, high) in enumerate(item.frame.spans):
        # The words of a field stand in order: the first that a token can reach is the first that
        # ends behind its start, the last is the last that starts before its end.
        first = low + np.searchsorted(stop[low:high], placed.start, side="right")
        after = low + np.searchsorted(start[low:high], placed.stop, side="left")
        wide = placed.stop > placed.start
        for column in np.flatnonzero((placed.field == number) & wide & (first < after)).tolist():
            word[column] = first[column]
            seen[first[column] : after[column]] = True
        for column in np.flatnonzero((placed.field == number) & (word < 0)).tolist():
            at, end = after[column], placed.stop[column]
            before = at < high and start[at] == end and end - placed.start[column] <= 1
            if before and spaced[at] and seen[at]:
                word[column] = at
    columns: list[list[int]] = [[] for _ in item.words]
    for column in np.flatnonzero(word >= 0).tolist():
        columns[word[column]].append(column)
    read = tuple(np.flatnonzero(seen).tolist())
    holes = frozenset(n for n, own in enumerate(item.words) if own is HOLE)
    return Alignment(placed, word, read, tuple(map(tuple, columns)), start, stop, holes)


def _spans(item: Text, mask: str) -> tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.bool_]]:
    """Say where every word starts and ends in its rendered field, and which follow a space."""
    start, stop, spaced = [], [], []
    for field, (low, high) in zip(item.frame.fields, item.frame.spans):
        at = 0
        for word, gap in zip(item.words[low:high], field.gaps):
            at += len(gap)
            start.append(at)
            at += len(word) if isinstance(word, str) else len(mask)
            stop.append(at)
            spaced.append(gap.endswith(" "))
    return np.array(start, np.int64), np.array(stop, np.int64), np.array(spaced, np.bool_)

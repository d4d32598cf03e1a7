"""The alignment of a model's tokens with the words and characters of the user's text.

A token belongs to the word whose characters it stands for. A token of punctuation or of an emoji,
and a special token, belong to no word. All tokens of a word with an inner apostrophe or hyphen
belong to that word. So does the space before a word, if it is a token of its own: before another
word it would be part of that word's first token. Some tokenizers split texts only at spaces; a
token that covers two words belongs to the first. The second word still counts as read, because an
edit of it changes the token.
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
    the words that the model reads at least in part, `columns` the tokens of every word. `start` and
    `stop` are the offsets of every word in its rendered field.
    """

    tokens: TokenizedText
    word: NDArray[np.int64]
    read: tuple[int, ...]
    columns: tuple[tuple[int, ...], ...]
    start: NDArray[np.int64]
    stop: NDArray[np.int64]
    holes: frozenset[int]

    def characters(self, position: int) -> NDArray[np.int64]:
        """Return for every character of a word the column of its token, −1 for none.

        If several tokens stand for one character (its bytes), the last one counts. A hole has no
        characters.
        """
        first = int(self.start[position])
        length = 0 if position in self.holes else int(self.stop[position]) - first
        token_of = np.full(length, -1)
        for column in self.columns[position]:
            start, stop = self.tokens.start[column] - first, self.tokens.stop[column] - first
            token_of[max(0, start) : max(0, stop)] = column
        return token_of


def align_texts(items: Sequence[Text], tokenizer: TextTokenizer) -> list[Alignment]:
    """Tokenize texts, and find the word of every token."""
    tokenized = tokenizer.tokenize(items)
    return [_align(item, tokens, tokenizer.mask) for item, tokens in zip(items, tokenized)]


def words_read(items: Sequence[Text], tokenizer: TextTokenizer) -> list[Sequence[int]]:
    """Return for every text the positions of the words that are read.

    If the tokenizer does not know the offsets of its tokens, all words count as read.
    """
    if tokenizer.backend is None:
        return [range(len(item)) for item in items]
    return [alignment.read for alignment in align_texts(items, tokenizer)]


def _align(item: Text, tokens: TokenizedText, mask: str) -> Alignment:
    start, stop, spaced = _word_offsets(item, mask)
    word = np.full(len(tokens.ids), -1)
    read = np.zeros(len(item), dtype=bool)
    for field, (low, high) in enumerate(item.frame.spans):
        # The words of a field stand in order: the first word that a token can cover is the first
        # that ends after the token's start, the last is the last that starts before its end.
        first = low + np.searchsorted(stop[low:high], tokens.start, side="right")
        after = low + np.searchsorted(start[low:high], tokens.stop, side="left")
        covers = (tokens.stop > tokens.start) & (first < after)
        for column in np.flatnonzero((tokens.field == field) & covers).tolist():
            word[column] = first[column]
            read[first[column] : after[column]] = True
        for column in np.flatnonzero((tokens.field == field) & (word < 0)).tolist():
            following, end = after[column], tokens.stop[column]
            touches = following < high and start[following] == end
            is_space = touches and spaced[following] and end - tokens.start[column] <= 1
            if is_space and read[following]:
                word[column] = following
    columns: list[list[int]] = [[] for _ in item.words]
    for column in np.flatnonzero(word >= 0).tolist():
        columns[word[column]].append(column)
    positions = tuple(np.flatnonzero(read).tolist())
    holes = frozenset(n for n, w in enumerate(item.words) if w is HOLE)
    return Alignment(tokens, word, positions, tuple(map(tuple, columns)), start, stop, holes)


def _word_offsets(
    item: Text, mask: str
) -> tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.bool_]]:
    """Return the start and the end of every word in its field, and whether it follows a space."""
    start, stop, spaced = [], [], []
    for field, (low, high) in zip(item.frame.fields, item.frame.spans):
        offset = 0
        for word, gap in zip(item.words[low:high], field.gaps):
            offset += len(gap)
            start.append(offset)
            offset += len(word) if isinstance(word, str) else len(mask)
            stop.append(offset)
            spaced.append(gap.endswith(" "))
    return np.array(start, np.int64), np.array(stop, np.int64), np.array(spaced, np.bool_)

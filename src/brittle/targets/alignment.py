"""The alignment of a model's tokens with the words and characters of the user's text.

A token belongs to the word whose characters it stands for. A token of punctuation or of an emoji,
and a special token, belong to no word. All tokens of a word with an inner apostrophe or hyphen
belong to that word. So does the space before a word, if it is a token of its own: before another
word it would be part of that word's first token. Some tokenizers split texts only at spaces; a
token that covers two words belongs to the first. The second word still counts as read, because an
edit of it changes the token.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from brittle.moves import EditRequest, GradientAnswer, Level
from brittle.text import HOLE, Text

if TYPE_CHECKING:
    from brittle.ranking.subwords import TokenGradients


@dataclass(frozen=True, eq=False)
class TokenizedText:
    """The tokens of one text, its key, and the characters that each token stands for.

    A token stands for the characters from `start` to `stop` of a rendered field, with the index
    `field`; a special token belongs to no field (−1).
    """

    key: bytes
    ids: NDArray[np.int64]
    field: NDArray[np.int64]
    start: NDArray[np.int64]
    stop: NDArray[np.int64]


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


def align(item: Text, tokens: TokenizedText, mask: str, *, spaces: bool = True) -> Alignment:
    """Find the word of every token; without `spaces` a space belongs to no word."""
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
            is_space = spaces and touches and spaced[following] and end - tokens.start[column] <= 1
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


def token_gradients(request: EditRequest, alignment: Alignment, gradient: Any) -> TokenGradients:
    """Find the tokens and gradients at the positions of a request, but those that are cut off."""
    from brittle.ranking.subwords import TokenGradients  # imports torch

    positions = [i for i in request.positions if alignment.columns[i]]
    columns = [alignment.columns[i] for i in positions]
    ids = alignment.tokens.ids
    return TokenGradients(
        request.space,
        positions,
        [request.text.words[i] for i in positions],
        [ids[list(tokens)].tolist() for tokens in columns],
        gradient[[column for tokens in columns for column in tokens]],
    )


def sum_and_mean(alignment: Alignment) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Build the matrices (words × tokens) that sum, and average, the tokens of each word."""
    words = np.arange(len(alignment.columns))[:, None]
    total = (alignment.word == words).astype(np.float64)
    return total, total / np.maximum(total.sum(1, keepdims=True), 1.0)


def by_character(
    alignment: Alignment, value: NDArray[np.float64], missing: float
) -> list[NDArray[np.float64]]:
    """Repeat the row of each token for its characters; characters without one are `missing`."""
    values = []
    for position in range(len(alignment.columns)):
        column = alignment.characters(position)
        rows = value[column]
        rows[column < 0] = missing
        values.append(rows)
    return values


def gradients_of(
    requests: Sequence[EditRequest],
    alignments: Sequence[Alignment],
    passes: Iterable[tuple[Sequence[int], Sequence[Any], Any]],
) -> list[GradientAnswer]:
    """Return the scores of texts, and the gradient at each of their words or characters.

    A pass has the numbers of some requests, their scores, and the gradient at every token. The
    gradient of a word is the sum over its tokens; a character has that of its token.
    """
    answers: dict[int, GradientAnswer] = {}
    for numbers, scores, gradient in passes:
        for n, score, rows in zip(numbers, scores, gradient.cpu().double().numpy()):
            value: Any = by_character(alignments[n], rows, 0.0)
            if requests[n].space.level == "words":
                value = sum_and_mean(alignments[n])[0] @ rows[: len(alignments[n].word)]
            answers[n] = GradientAnswer(score, value)
    return [answers[n] for n in range(len(requests))]


def vectors_of(
    level: Level, alignments: Sequence[Alignment], passes: Iterable[tuple[Sequence[int], Any]]
) -> list[Any]:
    """Return the vectors of words or characters, from those of tokens, as `at_level` does.

    A pass has the numbers of some texts, and the vector of every token.
    """
    values = {
        n: at_level(level, alignments[n], rows)
        for numbers, vectors in passes
        for n, rows in zip(numbers, vectors.cpu().double().numpy())
    }
    return [values[n] for n in range(len(alignments))]


def at_level(level: Level, alignment: Alignment, value: NDArray[np.float64]) -> Any:
    """Return the vectors of words (the mean over their tokens), or of characters; NaN if unread."""
    if level == "characters":
        return by_character(alignment, value, np.nan)
    vectors = sum_and_mean(alignment)[1] @ value[: len(alignment.word)]
    vectors[[not columns for columns in alignment.columns]] = np.nan
    return vectors

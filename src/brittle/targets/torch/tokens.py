"""How a torch module reads texts: tokens or characters, and where they stand in the text.

From a text to the token ids that a network reads, each with the characters it stands for. Edits of
characters, for networks that read a text as one sequence of characters.

A flip is that of HotFlip (Ebrahimi et al., 2018). An insertion or a deletion moves all that comes
after it. The estimate counts it to the end of the word, as in the paper, where the next character
of the text stands: the last letter takes the place of that character, or that character the place
of the last letter. That the rest of the text moves by one position is ignored, as if the network
read it alike wherever it stands. This file needs torch.
"""

from __future__ import annotations

import reprlib
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from brittle.errors import TargetError, UsageError
from brittle.moves import EditRequest, EditSpace
from brittle.ranking.hotflip_scores import CharacterEdits, EditedWords
from brittle.ranking.moves import RankedMoves
from brittle.ranking.respellings import MAX_CHARACTERS
from brittle.targets.alignment import Alignment, TokenizedText, align
from brittle.targets.protocols import failing_as
from brittle.text import HOLE, Text, is_word, words_of

Tokenize = Callable[[str], Sequence[str]]


@dataclass(frozen=True)
class TokenReader:
    """Reads texts as token ids.

    `tokenize` splits a string into tokens; None: the words of the text, each as it is or, if that
    is not in the vocabulary, in lower case. A token outside the vocabulary has `unknown_id`, or is
    left out if that is None; `mask` stands for a hole. Fields are read one after another, with
    `separator_id` between them. At most `max_length` tokens are read.
    """

    tokenize: Tokenize | None
    vocabulary: dict[str, int]
    unknown_id: int | None
    padding_id: int | None
    separator_id: int | None = None
    mask: str = ""
    max_length: int | None = None

    def encode(self, items: Sequence[Text]) -> list[bytes]:
        """Return the ids of every text as int32 bytes; an empty text reads as an unknown token."""
        return [np.array(self._ids(item), dtype=np.int32).tobytes() for item in items]

    def align(self, item: Text) -> Alignment:
        """Find the tokens of every word of a text."""
        return align(item, self.read(item), self.mask, spaces=False)

    def read(self, item: Text) -> TokenizedText:
        """Tokenize a text; a token that cannot be found in it stands for no characters."""
        rows: list[tuple[int, int, int, int]] = []
        strings = item.fields(self.mask).values()
        for field, (string, tokens) in enumerate(zip(strings, self._tokens(item))):
            if field and self.separator_id is not None:
                rows.append((self.separator_id, -1, 0, 0))
            for token, (start, stop) in zip(tokens, locate(tokens, string)):
                token_id = self.token_id(token)
                if token_id is not None:
                    rows.append((token_id, field, start, stop))
        # What reads as nothing has one token all the same, which stands for no word.
        rows = rows[: self.max_length] or [(token, -1, 0, 0) for token in self._ids(item)]
        ids, fields, starts, stops = np.array(rows, dtype=np.int64).T
        return TokenizedText(ids.astype(np.int32).tobytes(), ids, fields, starts, stops)

    def split(self, string: str) -> Sequence[str]:
        """Split a string into tokens."""
        if self.tokenize is None:
            return words_of(string)
        with failing_as("tokenize"):
            tokens = self.tokenize(string)
        if isinstance(tokens, str) or not all(isinstance(token, str) for token in tokens):
            raise UsageError(
                f"tokenize returned {reprlib.repr(tokens)}. Expected a list of strings, "
                "the tokens of a text, which brittle looks up in the vocabulary."
            )
        return list(tokens)

    def token_id(self, token: str) -> int | None:
        """Return the id of a token, None if it is not read."""
        known = self.vocabulary.get(token)
        if known is None and self.tokenize is None:
            known = self.vocabulary.get(token.lower())
        return self.unknown_id if known is None else known

    def tokens_of(self, words: Sequence[str]) -> list[tuple[int, ...]]:
        """Return the token ids of each word, read alone."""
        rows = [map(self.token_id, self.split(word)) for word in words]
        return [tuple(token for token in row if token is not None) for row in rows]

    @cached_property
    def words(self) -> dict[str, int]:
        """The words of the vocabulary that are read as one token, in its order, with their ids."""
        special = {self.unknown_id, self.padding_id, self.separator_id}
        words = {w: n for w, n in self.vocabulary.items() if n not in special and is_word(w)}
        tokens = self.tokens_of(list(words))
        return {w: n for (w, n), ids in zip(words.items(), tokens) if ids == (n,)}

    @cached_property
    def alphabet(self) -> dict[str, int]:
        """The characters of the vocabulary, with their ids."""
        special = {self.unknown_id, self.padding_id, self.separator_id}
        return {c: n for c, n in self.vocabulary.items() if len(c) == 1 and n not in special}

    def _tokens(self, item: Text) -> Iterator[Sequence[str]]:
        """Yield the tokens of every field."""
        if self.tokenize is None:
            for _, words in item.field_words():
                yield [self.mask if word is HOLE else str(word) for word in words]
        else:
            yield from map(self.split, item.fields(self.mask).values())

    def _ids(self, item: Text) -> list[int]:
        ids: list[int | None] = []
        for field, tokens in enumerate(self._tokens(item)):
            if field:
                ids.append(self.separator_id)
            ids += map(self.token_id, tokens)
        read = [token for token in ids if token is not None][: self.max_length]
        fallback = self.padding_id if self.unknown_id is None else self.unknown_id
        if not read and fallback is None:
            raise TargetError("The target reads no token in this text.")
        return read or [fallback]  # type: ignore[list-item]


def locate(tokens: Sequence[str], string: str) -> NDArray[np.int64]:
    """Find each token in a string, whatever its case, after the token before it; else 0 to 0.

    A token that is no piece of the string may be found by chance far behind: it is not taken if
    words are skipped and the next token comes earlier.

    >>> locate(["a", "film", "##s", "!"], "A films!").tolist()
    [[0, 1], [2, 6], [0, 0], [7, 8]]
    >>> locate(["do", "not", "go", "not"], "do n't go, not").tolist()
    [[0, 2], [0, 0], [7, 9], [11, 14]]
    """
    folded, offset, spans = _lower(string), 0, []
    for token, following in zip(tokens, [*tokens[1:], ""]):
        start = folded.find(_lower(token), offset) if token else -1
        if following and any(map(str.isalnum, folded[offset : max(start, offset)])):
            next_start = folded.find(_lower(following), offset)
            start = -1 if 0 <= next_start < start else start
        if start < 0:
            spans.append((0, 0))
            continue
        offset = start + len(token)
        spans.append((start, offset))
    return np.array(spans, dtype=np.int64).reshape(-1, 2)


def _lower(string: str) -> str:
    """Lower the case of characters whose lower case is one character, so that offsets stay."""
    lower = string.lower()
    if len(lower) == len(string):
        return lower
    return "".join(c.lower() if len(c.lower()) == 1 else c for c in string)


@dataclass(frozen=True, eq=False)
class SequenceGradients:
    """A request, its text's tokens, and the gradient at each of them (tokens × dimensions)."""

    request: EditRequest
    alignment: Alignment
    gradient: Tensor


class SequenceEdits:
    """Ranks flips, insertions and deletions; `table` has the vector of every token."""

    def __init__(self, table: Tensor, reader: TokenReader) -> None:
        self.table = table.cpu()
        self.reader = reader
        self._character = {token: c for c, token in reader.alphabet.items()}
        unknown = reader.unknown_id
        rows = [
            torch.zeros_like(self.table[0]),
            torch.zeros_like(self.table[0]) if unknown is None else self.table[unknown],
            *(self.table[token] for token in reader.alphabet.values()),
        ]
        # One dimension more is for the end of a word: another character for every word. Its
        # gradient, which `_rows` computes, is what that character contributes.
        end = torch.zeros(len(rows), 1, dtype=self.table.dtype)
        end[0] = 1.0
        padded = torch.cat([torch.stack(rows), end], dim=1)
        self._edits = CharacterEdits(tuple(reader.alphabet), MAX_CHARACTERS, padded, frozenset())

    def rank(self, texts: Sequence[SequenceGradients], space: EditSpace) -> list[RankedMoves]:
        """Rank the edits of texts, all in one space."""
        edited, rows = [], [self.table.new_zeros((0, self.table.shape[1] + 1))]
        for text in texts:
            gradient = text.gradient.cpu().to(self.table)
            direction = gradient.sign() if space.sign else gradient
            words = self._words(text)
            edited.append(EditedWords(list(words), [word for word, _ in words.values()]))
            ids = text.alignment.tokens.ids.tolist()
            rows += [self._rows(columns, direction, ids) for _, columns in words.values()]
        ranked = self._edits.rank(edited, torch.cat(rows), replace(space, sign=False))
        # They are spelt out from the words as the user wrote them, whatever their case.
        return [
            replace(moves, words=[str(text.request.text.words[i]) for i in moves.positions])
            for text, moves in zip(texts, ranked)
        ]

    def _words(self, text: SequenceGradients) -> dict[int, tuple[str, Sequence[int]]]:
        """Return for the words of a request what is read of them, and the column of each character.

        Words that are not read character by character, or not to their end, are left out.
        """
        words: dict[int, tuple[str, Sequence[int]]] = {}
        for position in text.request.positions:
            word, columns = text.request.text.words[position], text.alignment.columns[position]
            if isinstance(word, str) and len(columns) == len(word) > 0:
                ids = text.alignment.tokens.ids[list(columns)].tolist()
                read = "".join(self._character.get(token, c) for token, c in zip(ids, word))
                words[position] = (read, columns)
        return words

    def _rows(self, columns: Sequence[int], direction: Tensor, ids: Sequence[int]) -> Tensor:
        """Return the gradient at each character of a word and at what comes after it.

        The last number of a row is its product with the vector of what comes after the word.
        """
        after = columns[-1] + 1
        rows = direction[[*columns[:MAX_CHARACTERS], *([after] if after < len(direction) else [])]]
        following = ids[after] if after < len(ids) else self.reader.padding_id
        count = min(len(columns) + 1, MAX_CHARACTERS)
        missing = rows.new_zeros((max(0, count - len(rows)), rows.shape[1]))
        rows = torch.cat([rows, missing])[:count]
        vector = rows.new_zeros(rows.shape[1]) if following is None else self.table[following]
        return torch.cat([rows, (rows @ vector)[:, None]], dim=1)

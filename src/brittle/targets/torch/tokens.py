"""From a text to the token ids that a network reads, each with the characters it stands for."""

from __future__ import annotations

import reprlib
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from brittle.errors import TargetError, UsageError
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
                f"tokenize returned {reprlib.repr(tokens)}. Expected a list of strings, the tokens "
                "of a text: the vocabulary makes ids of them."
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
            raise TargetError("The target reads no token at all in this text.")
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

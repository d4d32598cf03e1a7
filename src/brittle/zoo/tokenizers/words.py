"""Words and their numbers: how a text becomes the bytes a word model reads."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from functools import lru_cache
from itertools import chain
from struct import Struct

from brittle.text import HOLE, Text, Word

PAD, UNKNOWN, SEPARATOR = 0, 1, 2
SPECIAL_WORDS = ("<pad>", "<unknown>")
SEPARATOR_WORD = "<next>"  # no word holds a "<", so these cannot be words
MAX_CACHED_WORDS = 500_000


class WordIds(dict[Word, int]):
    """The number of every word; lower-casing is remembered, so a word met again is one look-up."""

    def __init__(self, words: Sequence[str]) -> None:
        super().__init__((word, i) for i, word in enumerate(words))
        self[HOLE] = UNKNOWN

    def __missing__(self, word: Word) -> int:
        number = self.get(str(word).lower(), UNKNOWN)
        if len(self) < MAX_CACHED_WORDS:
            self[word] = number
        return number


class WordTokenizer:
    """The words a model knows, after `<pad>`, `<unknown>` and, for pairs, `<next>`."""

    def __init__(self, words: Sequence[str]) -> None:
        self.words = tuple(words)
        self.pairs = SEPARATOR_WORD in self.words[: SEPARATOR + 1]
        self._number = WordIds(self.words).__getitem__

    def __len__(self) -> int:
        return len(self.words)

    @staticmethod
    def of(
        texts: Iterable[Text], *, cap: int | None = None, min_count: int = 1, pairs: bool = False
    ) -> WordTokenizer:
        """Collect the lower-cased words of texts, the most frequent first, ties by spelling."""
        counts = Counter(
            str(word).lower() for text in texts for _, words in text.field_words() for word in words
        )
        known = [word for word, count in counts.items() if count >= min_count]
        known.sort(key=lambda word: (-counts[word], word))
        special = [*SPECIAL_WORDS, SEPARATOR_WORD] if pairs else SPECIAL_WORDS
        return WordTokenizer([*special, *known[:cap]])

    def token_id(self, word: Word) -> int:
        """Give the number of a word, whatever its case."""
        return self._number(word)

    def encode(self, texts: Sequence[Text], reads: int) -> list[bytes]:
        """Encode each text as the int32 numbers of its first `reads` words, in order."""
        return encode_texts(texts, reads, self._number, SEPARATOR if self.pairs else -1)

    def encode_bags(self, texts: Sequence[Text]) -> list[bytes]:
        """Encode each text as the sorted int32 numbers of its known words, after one 0.

        The 0 stands for the bias, so that no bag is empty.
        """
        number = self._number
        keys = []
        frame = None
        for text in texts:
            words: Iterable[Word] = text.words
            if text.frame is not frame:
                if _is_open(text):
                    frame = text.frame
                else:
                    words = chain.from_iterable(words for _, words in text.field_words())
            numbers = sorted(map(number, words))
            if numbers and numbers[0] == UNKNOWN:
                del numbers[: numbers.count(UNKNOWN)]
            keys.append(pack_int32(len(numbers) + 1)(PAD, *numbers))
        return keys


def encode_texts(
    texts: Sequence[Text], reads: int, number: Callable[[Word], int], between: int
) -> list[bytes]:
    """Encode each text as the int32 numbers of its first `reads` words, in order.

    A text of no words reads as one hole. `between` stands between the fields of a pair, unless it
    is −1.
    """
    nothing = pack_int32(1)(number(HOLE))
    keys = []
    frame = None
    for text in texts:
        if text.frame is not frame:
            if not _is_open(text):
                keys.append(_joined(text, reads, number, between) or nothing)
                continue
            frame = text.frame
        words = text.words[:reads]
        keys.append(pack_int32(len(words))(*map(number, words)) or nothing)
    return keys


def positions_and_columns(
    text: Text, reads: int, pairs: bool
) -> tuple[Sequence[int], Sequence[int]]:
    """Give the positions of the words that `encode_texts` encodes, and the column of each there."""
    if _is_open(text):
        whole = range(min(len(text), reads))
        return whole, whole
    positions: list[int] = []
    columns: list[int] = []
    at = 0
    fields = zip(text.frame.fields, text.frame.spans, text.field_words())
    for number, (field, (start, stop), (_, words)) in enumerate(fields):
        at += pairs and number > 0
        if not field.locked:
            seen = range(at, min(at + len(words), reads))
            columns.extend(seen)
            positions.extend(range(start, stop)[: len(seen)])
        at += len(words)
    return positions, columns


def _joined(text: Text, reads: int, number: Callable[[Word], int], between: int) -> bytes:
    numbers: list[int] = []
    for at, (_, words) in enumerate(text.field_words()):
        if at and between >= 0:
            numbers.append(between)
        numbers.extend(map(number, words))
    del numbers[reads:]
    return pack_int32(len(numbers))(*numbers)


@lru_cache(maxsize=4096)
def pack_int32(n: int) -> Callable[..., bytes]:
    """Give the function that packs n numbers as int32; the quickest way there is, measured."""
    return Struct(f"{n}i").pack


def _is_open(text: Text) -> bool:
    """Say whether the words of the text are all it has: one field, open to edits."""
    fields = text.frame.fields
    return len(fields) == 1 and not fields[0].locked

"""How texts become the numbers that a model of the zoo reads: words, and pairs of texts.

A text becomes the bytes that a word model reads: token ids as int32. Where the two sides of a pair
are read apart, a key is the number of ids of the first side and then the ids of both sides.
"""

from __future__ import annotations

import sys
from array import array
from bisect import bisect_left, insort
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import lru_cache
from itertools import chain, groupby
from operator import itemgetter
from struct import Struct

from brittle.errors import UsageError
from brittle.text import (
    DIGEST_BYTES,
    DIGESTS,
    HOLE,
    LONG,
    Frame,
    SwappedText,
    Text,
    Word,
    digest_of,
    words_of,
)

ID_BYTES = 4
WordColumns = tuple[Sequence[int], Sequence[int]]
"""The positions of words of a text, and the column of each."""


def encode_pairs(texts: Sequence[Text], reads: int, token_id: Callable[[Word], int]) -> list[bytes]:
    """Encode the first `reads` words of each side; a side of no words reads as one hole."""
    keys = []
    frame: Frame | None = None
    locked: dict[int, Sequence[Word]] = {}
    for text in texts:
        if text.frame is not frame:  # candidates of one case share their frame
            frame = _check_frame(text.frame)
            fields = enumerate(frame.fields)
            locked = {n: words_of(field.raw) for n, field in fields if field.raw is not None}
        sides = (
            locked[n] if n in locked else text.words[start:stop]
            for n, (start, stop) in enumerate(frame.spans)
        )
        first, second = (list(map(token_id, side[:reads])) or [token_id(HOLE)] for side in sides)
        keys.append(array("i", (len(first), *first, *second)).tobytes())
    return keys


def split_sides(keys: Sequence[bytes]) -> list[bytes]:
    """Return the ids of both sides of each pair, one after the other."""
    sides = []
    for key in keys:
        start = ID_BYTES * (1 + int.from_bytes(key[:ID_BYTES], sys.byteorder))
        sides += [key[ID_BYTES:start], key[start:]]
    return sides


def side_columns(text: Text, reads: int) -> list[WordColumns]:
    """Return for each side the positions of the words that `encode_pairs` encodes, by column."""
    sides: list[WordColumns] = []
    for start, stop in _check_frame(text.frame).spans:
        positions = range(start, min(stop, start + reads))
        sides.append((positions, range(len(positions))))
    return sides


def _check_frame(frame: Frame) -> Frame:
    if len(frame.fields) != 2:
        raise UsageError(
            f"Got a text of {len(frame.fields)} fields "
            f"({', '.join(f.name for f in frame.fields)}) for a model that reads the two "
            "sides of a pair. Name two columns with --text FIRST,SECOND, or use a model "
            "that reads one sequence."
        )
    return frame


PAD, UNKNOWN, SEPARATOR = 0, 1, 2
SPECIAL_WORDS = ("<pad>", "<unknown>")
SEPARATOR_WORD = "<next>"  # no word holds a "<", so these cannot be words
MAX_CACHED_WORDS = 500_000


class WordIds(dict[Word, int]):
    """The id of every word; lower-casing is remembered, so a word met again is one look-up."""

    def __init__(self, words: Sequence[str], hole_id: int = UNKNOWN) -> None:
        super().__init__((word, i) for i, word in enumerate(words))
        self[HOLE] = hole_id

    def __missing__(self, word: Word) -> int:
        token_id = self.get(str(word).lower(), UNKNOWN)
        if len(self) < MAX_CACHED_WORDS:
            self[word] = token_id
        return token_id


class WordTokenizer:
    """The words a model knows, after `<pad>`, `<unknown>` and, for pairs, `<next>`.

    A hole reads as `hole_id`: the unknown word, or `PAD`, whose vector is zero. With `sides`, for
    models that read the two sides of a pair apart, keys are those of pairs.py.
    """

    def __init__(self, words: Sequence[str], hole_id: int = UNKNOWN, sides: bool = False) -> None:
        self.words = tuple(words)
        self.sides = sides
        self.pairs = SEPARATOR_WORD in self.words[: SEPARATOR + 1]
        self.hole_id = hole_id
        self.token_id: Callable[[Word], int] = WordIds(self.words, hole_id).__getitem__

    def __len__(self) -> int:
        return len(self.words)

    @staticmethod
    def of(
        texts: Iterable[Text],
        *,
        cap: int | None = None,
        min_count: int = 1,
        pairs: bool = False,
        more: Iterable[Text] = (),
    ) -> WordTokenizer:
        """Collect the lower-cased words of texts, the most frequent first, ties by spelling.

        Of `more` texts only the words count that no text has: they are variants of the texts, and a
        rare word would be as frequent as it has variants.
        """
        counts = _word_counts(texts)
        counts |= {w: n for w, n in _word_counts(more).items() if w not in counts}
        known = [word for word, count in counts.items() if count >= min_count]
        known.sort(key=lambda word: (-counts[word], word))
        special = [*SPECIAL_WORDS, SEPARATOR_WORD] if pairs else SPECIAL_WORDS
        return WordTokenizer([*special, *known[:cap]])

    def encode(self, texts: Sequence[Text], reads: int) -> list[bytes]:
        """Encode each text as the int32 ids of its first `reads` words, in order."""
        if self.sides:
            return encode_pairs(texts, reads, self.token_id)
        return encode_texts(texts, reads, self.token_id, SEPARATOR if self.pairs else -1)

    def encode_bags(self, texts: Sequence[Text]) -> list[bytes]:
        """Encode each text as the sorted int32 ids of its known words, after one 0.

        The 0 stands for the bias, so that no bag is empty.
        """
        token_id = self.token_id
        keys = []
        frame = None
        for text in texts:
            if isinstance(text, SwappedText):
                keys.append(self._swapped_bag(text))
                continue
            words: Iterable[Word] = text.words
            if text.frame is not frame:
                if _is_open(text):
                    frame = text.frame
                else:
                    words = _all_words(text)
            ids = sorted(map(token_id, words))
            if ids and ids[0] == UNKNOWN:
                del ids[: ids.count(UNKNOWN)]
            keys.append(pack_int32(len(ids) + 1)(PAD, *ids))
        return keys

    def bag_digests(self, texts: Sequence[Text]) -> list[bytes | None]:
        """Return a short stand-in of the bag of every long text, None for short ones.

        It is a sum over the known words, as the bag is.
        """
        return [None if len(text) <= LONG else self._bag_digest(text) for text in texts]

    def _swapped_bag(self, text: SwappedText) -> bytes:
        """Encode a bag from that of the source: few ids are taken out and put in."""
        ids = text.source.once(self._bag)[:]
        for old, new in self._swapped_ids(text):
            if old != UNKNOWN:
                del ids[bisect_left(ids, old)]
            if new != UNKNOWN:
                insort(ids, new)
        return ids.tobytes()

    def _bag(self, text: Text) -> array[int]:
        return array("i", self.encode_bags([text])[0])

    def _bag_digest(self, text: Text) -> bytes:
        if isinstance(text, SwappedText):
            total = text.source.once(self._bag_sum)
            total += sum(_id_digest(new) - _id_digest(old) for old, new in self._swapped_ids(text))
        else:
            total = text.once(self._bag_sum)
        return (total % DIGESTS).to_bytes(DIGEST_BYTES, "big")

    def _bag_sum(self, text: Text) -> int:
        return sum(map(_id_digest, map(self.token_id, _all_words(text))))

    def _swapped_ids(self, text: SwappedText) -> Iterator[tuple[int, int]]:
        """Yield the ids of the words that were swapped, and of those in their place."""
        token_id, words = self.token_id, text.source.words
        return ((token_id(words[i]), token_id(word)) for i, word in text.swapped)


def encode_texts(
    texts: Sequence[Text], reads: int, token_id: Callable[[Word], int], separator: int
) -> list[bytes]:
    """Encode each text as the int32 ids of its first `reads` words, in order.

    A text of no words reads as one hole. The id `separator` stands between the fields of a pair,
    unless it is −1.
    """
    empty = pack_int32(1)(token_id(HOLE))
    keys = []
    frame = None
    for text in texts:
        if text.frame is not frame:
            if not _is_open(text):
                keys.append(_encode_fields(text, reads, token_id, separator) or empty)
                continue
            frame = text.frame
        words = text.words[:reads]
        keys.append(pack_int32(len(words))(*map(token_id, words)) or empty)
    return keys


def encode_swaps(
    key: bytes,
    columns: Mapping[int, int],
    swaps: Sequence[tuple[int, str]],
    token_id: Callable[[Word], int],
) -> list[bytes]:
    """Encode a text with one word swapped, for every pair (position, word), from the text's key.

    `columns` are those of the positions that are read; a swap anywhere else leaves the key alone.
    The key is cut once for all swaps of a position that stand together.
    """
    pack = pack_int32(1)
    keys: list[bytes] = []
    for position, group in groupby(swaps, itemgetter(0)):
        column = columns.get(position)
        if column is None:
            keys += [key for _ in group]
        else:
            before, after = key[: ID_BYTES * column], key[ID_BYTES * (column + 1) :]
            keys += [before + pack(token_id(word)) + after for _, word in group]
    return keys


def positions_and_columns(
    text: Text, reads: int, pairs: bool
) -> tuple[Sequence[int], Sequence[int]]:
    """Return the positions of the words that `encode_texts` encodes, and the column of each."""
    if _is_open(text):
        whole = range(min(len(text), reads))
        return whole, whole
    positions: list[int] = []
    columns: list[int] = []
    column = 0
    fields = zip(text.frame.fields, text.frame.spans, text.field_words())
    for n, (field, (start, stop), (_, words)) in enumerate(fields):
        column += pairs and n > 0
        if not field.locked:
            read = range(column, min(column + len(words), reads))
            columns.extend(read)
            positions.extend(range(start, stop)[: len(read)])
        column += len(words)
    return positions, columns


def _encode_fields(
    text: Text, reads: int, token_id: Callable[[Word], int], separator: int
) -> bytes:
    ids: list[int] = []
    for n, (_, words) in enumerate(text.field_words()):
        if n and separator >= 0:
            ids.append(separator)
        ids.extend(map(token_id, words))
    del ids[reads:]
    return pack_int32(len(ids))(*ids)


@lru_cache(maxsize=4096)
def pack_int32(n: int) -> Callable[..., bytes]:
    """Return the function that packs n integers as int32; the fastest way of those measured."""
    return Struct(f"{n}i").pack


@lru_cache(maxsize=1 << 16)
def _id_digest(token_id: int) -> int:
    return 0 if token_id == UNKNOWN else digest_of(f"{token_id}")


def _all_words(text: Text) -> Iterator[Word]:
    return chain.from_iterable(words for _, words in text.field_words())


def _is_open(text: Text) -> bool:
    """Tell whether the text is one field that may be edited: then its words are all it has."""
    fields = text.frame.fields
    return len(fields) == 1 and not fields[0].locked


def _word_counts(texts: Iterable[Text]) -> Counter[str]:
    return Counter(
        str(word).lower() for text in texts for _, words in text.field_words() for word in words
    )

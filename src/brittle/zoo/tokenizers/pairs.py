"""Pairs whose sides are read apart: how both become one key, and the sides again.

A key is the number of ids of the first side and then the ids of both sides, as int32.
"""

from __future__ import annotations

import sys
from array import array
from collections.abc import Callable, Sequence

from brittle.errors import UsageError
from brittle.text import HOLE, Frame, Text, Word, words_of

ID_BYTES = 4
WordColumns = tuple[Sequence[int], Sequence[int]]
"""The positions of some words of a text, and the column in which each is read."""


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
            f"Got a text of {len(frame.fields)} fields ({', '.join(f.name for f in frame.fields)}) "
            "for a model that reads the two sides of a pair. Name two columns with --text "
            "FIRST,SECOND, or take a model that reads one sequence."
        )
    return frame

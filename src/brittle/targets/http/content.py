"""The content of a reply, unpacked within a limit: a few bytes of gzip can become gigabytes."""

from __future__ import annotations

import zlib
from collections.abc import Callable, Iterable, Iterator
from typing import Any

PART_BYTES = 1 << 16  # unpacked at a time
GZIP_WINDOW = 31  # zlib's number for gzip with any window
ACCEPTED = "gzip"
"""What is asked for (Accept-Encoding), since nothing else is unpacked."""


class BadContent(Exception):
    """The content cannot be unpacked."""


class TooLong(Exception):
    """The content is longer than the limit."""


def read_content(chunks: Iterable[bytes], encoding: str, max_bytes: int) -> bytes:
    """Return the content of which chunks are sent; `encoding` is its Content-Encoding."""
    parts, size = [], 0
    for part in _unpacked(chunks, encoding.strip().lower()):
        size += len(part)
        if size > max_bytes:
            raise TooLong(f"more than {max_bytes:,} bytes")
        parts.append(part)
    return b"".join(parts)


def _unpacked(chunks: Iterable[bytes], encoding: str) -> Iterator[bytes]:
    if encoding in ("", "identity"):
        yield from chunks
    elif encoding in ("gzip", "x-gzip"):
        yield from _gunzipped(chunks)
    else:
        raise BadContent(f"its content is packed as {encoding!r}; expected gzip, or not packed")


def _gunzipped(chunks: Iterable[bytes]) -> Iterator[bytes]:
    unpacker = zlib.decompressobj(GZIP_WINDOW)
    started = False
    for chunk in chunks:
        started = True
        while chunk and not unpacker.eof:
            yield _unpack(unpacker.decompress, chunk, PART_BYTES)
            chunk = unpacker.unconsumed_tail
    if started:
        yield _unpack(unpacker.flush)
        if not unpacker.eof:
            raise BadContent("its gzip content ends too early")


def _unpack(step: Callable[..., bytes], *arguments: Any) -> bytes:
    try:
        return step(*arguments)
    except zlib.error as error:
        raise BadContent(f"its gzip content is damaged: {error}") from error

"""What is checked of a file before it is read: that it is one, and how large it may become.

A small packed file must not fill the memory or the disk, and a pipe must not be waited for.
"""

from __future__ import annotations

import lzma
import stat
import struct
import tokenize
import zlib
from pathlib import Path
from zipfile import BadZipFile, ZipFile

from brittle.errors import UsageError

DAMAGED_ARCHIVE = (
    *(BadZipFile, EOFError, OSError, RuntimeError, zlib.error, lzma.LZMAError, struct.error),
    *(ValueError, LookupError, TypeError, OverflowError, MemoryError),
    *(SyntaxError, tokenize.TokenError),  # of the header of an array
)
"""What a reader of a zip file, or of arrays in one, may raise if the file is damaged.

A member may be missing, cut, encrypted, or packed in a way that Python does not know; an array may
claim to be larger than the memory, or have a header that is none.
"""
MAX_RATIO = 50  # texts are packed to a tenth or more of their size, and weights hardly at all
MIN_LIMIT_BYTES = 1 << 24

SPECIAL_FILES = {
    stat.S_IFIFO: "a named pipe",
    stat.S_IFSOCK: "a socket",
    stat.S_IFCHR: "a device",
    stat.S_IFBLK: "a device",
}


def check_is_file(path: Path) -> None:
    """Refuse a pipe, a socket or a device; what is missing or a folder is left to the reader."""
    try:
        kind = SPECIAL_FILES.get(stat.S_IFMT(path.stat().st_mode))
    except (OSError, ValueError):
        return
    if kind is not None:
        raise UsageError(
            f"{path} is {kind}, not a file: reading it may never end. Write what it holds to a "
            "file, and name that."
        )


def unpacked_limit(packed_bytes: int, least: int = MIN_LIMIT_BYTES) -> int:
    """Return how many bytes a packed file may become; `least` holds for small files."""
    return max(least, MAX_RATIO * packed_bytes)


def too_large(what: str, limit: int, remedy: str) -> UsageError:
    """Build the error for a file that would become too large."""
    return UsageError(
        f"{what} unpacks to more than {limit:,} bytes, which is far more than its own size: it may "
        f"be made to fill the memory. {remedy}"
    )


def check_archive(
    archive: ZipFile, packed_bytes: int, what: str, remedy: str, least: int = MIN_LIMIT_BYTES
) -> None:
    """Refuse a zip file whose members become too large; no more is unpacked than they say."""
    limit = unpacked_limit(packed_bytes, least)
    if sum(info.file_size for info in archive.infolist()) > limit:
        raise too_large(what, limit, remedy)

"""How large packed files may become: a small file must not fill the memory or the disk."""

from __future__ import annotations

from zipfile import ZipFile

from brittle.errors import UsageError

MAX_RATIO = 50  # texts are packed to a tenth or more of their size, and weights hardly at all
MIN_LIMIT_BYTES = 1 << 24


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

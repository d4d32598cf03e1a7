"""Plain integers as items: the core knows nothing of texts."""

from __future__ import annotations


class Number(int):
    """An integer that can be asked about."""

    kind = "number"

    @property
    def key(self) -> bytes:
        return str(int(self)).encode()

    @property
    def size(self) -> int:
        return 1

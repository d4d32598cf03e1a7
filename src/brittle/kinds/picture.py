"""Pictures: one field holds the encoded pixels; what changed is measured by norms."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from brittle.edits import Edit
from brittle.errors import UsageError
from brittle.kinds.protocol import Changes
from brittle.picture import FIELD, Picture
from brittle.results import Result


@dataclass(frozen=True)
class PictureKind:
    """The kind of `Picture`."""

    name: str = "picture"
    largest: int | None = None
    measures: tuple[str, ...] = ("pixels_changed", "l2", "linf")

    def item(self, fields: Mapping[str, str], locked: Collection[str] = ()) -> Picture:
        return Picture.decode(fields[FIELD])

    def original(self, item: Picture) -> tuple[tuple[tuple[str, str], ...], str]:
        encoded = item.encode()
        return ((FIELD, encoded),), encoded

    def joined(self, fields: Sequence[tuple[str, str]]) -> str:
        return _decodable(dict(fields)[FIELD])

    def changes(self, original: Picture, changed: Picture) -> Changes:
        difference = changed.pixels.astype(np.float64) - original.pixels
        measures = {
            "pixels_changed": int((difference != 0).any(axis=2).sum()),
            "l2": float(np.linalg.norm(difference)),
            "linf": float(np.abs(difference).max()),
        }
        return Changes((), changed.encode(), measures)

    def edits(self, original: Picture, changed: Picture) -> tuple[Edit, ...]:
        return ()

    def stored(self, result: Result) -> Any:
        return {FIELD: result.adversarial}

    def restored(
        self, fields: Sequence[tuple[str, str]], stored: Any
    ) -> tuple[tuple[Edit, ...], str]:
        encoded = _decodable(stored[FIELD])
        if encoded.partition(":")[0] != dict(fields)[FIELD].partition(":")[0]:
            raise ValueError("the adversarial picture is of another size")
        return (), encoded

    def adversary(self, result: Result, locked: Collection[str] = ()) -> Picture:
        return Picture.decode(str(result.adversarial))


def _decodable(encoded: str) -> str:
    """Return an encoded picture as it is; ValueError if it cannot be decoded."""
    try:
        Picture.decode(encoded)
    except UsageError as error:
        raise ValueError(str(error)) from error
    return encoded


PICTURE = PictureKind()

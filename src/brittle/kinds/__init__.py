"""Kinds of items: from an example to an item, from two items to what changed, and back again."""

from __future__ import annotations

from brittle.errors import unknown
from brittle.kinds.picture import PICTURE
from brittle.kinds.protocol import Changes, Kind
from brittle.kinds.text import TEXT

__all__ = ["KINDS", "Changes", "Kind", "kind_named"]

KINDS: dict[str, Kind] = {kind.name: kind for kind in (TEXT, PICTURE)}


def kind_named(name: str) -> Kind:
    """Return the kind of items of this name."""
    if name not in KINDS:
        raise unknown("kind of items", name, KINDS)
    return KINDS[name]

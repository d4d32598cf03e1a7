"""Studies that earlier versions stored, in the present layout.

Format 1 had all fields of a study beside each other, other ones for every kind; before there were
several kinds, the file did not name its kind.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

FIRST_KIND = "transfer"
"""The kind of the studies that were stored before there were several kinds."""
FACTS: Mapping[str, frozenset[str]] = {
    "transfer": frozenset(
        {
            *("pool", "attack", "settings", "data", "split", "seed", "labels", "attacked"),
            *("max_winners", "locked"),
        }
    ),
    "grid": frozenset(
        {
            *("pool", "data", "split", "seed", "limit", "all_right", "budget", "attacks"),
            "settings",
        }
    ),
    "robustness": frozenset({"pool", "data", "split", "generator", "seed", "settings"}),
}
COMMON = frozenset({"name", "failures", "warnings"})
"""The fields of format 1 by what they are: facts of a kind, or of every study; all others are
results."""


def in_present_layout(content: dict[str, Any], present: int) -> dict[str, Any]:
    """Return the fields of a stored study as the present version stores them.

    Those of a layout or a kind that is not known stay as they are.
    """
    kind = content.get("kind", FIRST_KIND)
    if content.get("format") != 1 or not isinstance(kind, str) or kind not in FACTS:
        return {"kind": kind, "format": None, **content}
    fields = {name: value for name, value in content.items() if name not in ("kind", "format")}
    common = {name: fields.pop(name) for name in COMMON & fields.keys()}
    facts = {name: fields.pop(name) for name in FACTS[kind] & fields.keys()}
    return {"kind": kind, "format": present, **common, "facts": facts, "results": fields}

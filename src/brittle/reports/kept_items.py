"""What a search kept for the report: a reconstruction, and the sentences on the way from there.

For the page such an item is `[name, text, cost, label, confidence]`; name and label are indices
into the strings of the page. A picture has no text: it is one of the images of its case.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from brittle.formatting import rounded
from brittle.results import KeptItem, Result

REBUILT, WAY = "reconstruction", "way"


def cost_name(manifest: Mapping[str, Any]) -> str | None:
    """Return what the attack calls its costs, None if it has none or no word for them."""
    name = manifest.get("cost_name")
    return None if name is None else str(name)


def reconstruction(result: Result) -> KeptItem | None:
    """Return what a generator makes of the original, if the search kept it."""
    return next((item for item in result.kept if item.name == REBUILT), None)


def way(result: Result) -> list[KeptItem]:
    """Return the items on the way to the adversary, itself the last; none if there is no way.

    A way to another winner, one that failed when it was asked alone, is not shown.
    """
    items = [item for item in result.kept if item.name == WAY]
    leads_there = bool(items) and result.cost is not None and items[-1].cost == result.cost
    return items if leads_there else []


def embedded_kept(
    result: Result, index: Callable[[str | None], int], is_picture: bool
) -> list[list[Any]]:
    """Write what was kept of a case for the page; `index` finds a string in its table."""
    first = reconstruction(result)
    return [
        [
            *(index(item.name), "" if is_picture else item.item, rounded(item.cost)),
            *(index(item.label), rounded(item.confidence)),
        ]
        for item in [*([] if first is None else [first]), *way(result)]
    ]

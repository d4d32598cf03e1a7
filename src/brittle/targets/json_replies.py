"""JSON as endpoints and programs answer it; an object that names a key twice is refused."""

from __future__ import annotations

import json
from typing import Any

from brittle.errors import TargetError


def parse_json(content: str | bytes, who: str) -> Any:
    """Parse a reply; raise ValueError if it is not JSON.

    Of two scores for one label the parser would keep the last and say nothing.
    """

    def build(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
        built = dict(pairs)
        if len(built) < len(pairs):
            names = [name for name, _ in pairs]
            twice = next(name for name in names if names.count(name) > 1)
            raise TargetError(
                f"{who} named {twice!r} twice in one JSON object. Expected every key once: it is "
                "not known which value is meant."
            )
        return built

    try:
        return json.loads(content, object_pairs_hook=build)
    except RecursionError as error:
        raise ValueError("it is nested too deeply") from error

"""The frame of every page: one file that loads nothing, and runs only its own script.

The content policy names the one script and the one style sheet by their hashes, so nothing else
can run, even if an escape were missing.
"""

from __future__ import annotations

import base64
import hashlib
import json
from collections.abc import Mapping
from importlib.resources import files
from typing import Any

from brittle.reports.escaping import escape
from brittle.statuses import colour_rules

STATUS_RULES = "/* colours of statuses */\n"
"""Stands in the style sheet where the rules of the statuses go."""


def page(
    title: str, body: str, style: str, script: str, data: str = "", has_pictures: bool = False
) -> str:
    """Put a body into a page; `data` is JSON, safe in a script element, that the script reads."""
    rows = f'<script type="application/json" id="rows">{data}</script>\n' if data else ""
    return asset("report.html").format(
        policy=f"default-src 'none'; script-src {content_hash(script)}; "
        f"style-src {content_hash(style)}; "
        f"{'img-src data:; ' if has_pictures else ''}"
        "base-uri 'none'; form-action 'none'",
        title=escape(f"{title} · brittle"),
        style=style,
        body=body,
        data=rows,
        script=script,
    )


def style_sheet() -> str:
    """Return the style sheet of all pages, with the colours of the statuses."""
    return asset("report.css").replace(STATUS_RULES, colour_rules())


def asset(name: str) -> str:
    """Read a file that belongs to the pages."""
    return files("brittle.reports").joinpath(name).read_text(encoding="utf-8")


def plain(value: Any) -> str:
    """Format a stored value for people: a mapping as `name value`, a list with commas."""
    if isinstance(value, Mapping):
        return ", ".join(f"{name} {plain(v)}" for name, v in value.items() if v is not None)
    if isinstance(value, list | tuple):
        return ", ".join(plain(v) for v in value)
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False, default=str)


def content_hash(text: str) -> str:
    """Return the hash by which a content policy names a script or a style sheet."""
    digest = hashlib.sha256(text.encode("utf-8")).digest()
    return f"'sha256-{base64.b64encode(digest).decode('ascii')}'"

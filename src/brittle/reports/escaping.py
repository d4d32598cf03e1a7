"""Any text made safe to show inside an SVG; templates escape by themselves."""

from __future__ import annotations

import html

from brittle.visible import visible


def escape(text: object) -> str:
    """Make any text safe in elements and in quoted attributes."""
    return html.escape(visible(str(text)))

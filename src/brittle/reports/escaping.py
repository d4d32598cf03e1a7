"""Any text made safe to show inside HTML."""

from __future__ import annotations

import html

from brittle.visible import visible

__all__ = ("escape", "isolate", "visible")


def escape(text: object) -> str:
    """Make any text safe inside HTML, in elements and in quoted attributes."""
    return html.escape(visible(str(text)))


def isolate(text: object) -> str:
    """Escape a text for HTML so that its writing direction does not change the text around it."""
    return f"<bdi>{escape(text)}</bdi>"

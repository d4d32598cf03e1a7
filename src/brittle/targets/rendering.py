"""Rendering of texts for black boxes: a string, or a dict of strings for several fields."""

from __future__ import annotations

from collections.abc import Sequence

from brittle.errors import UsageError
from brittle.text import Text

PADDING, UNKNOWN = "pad", "unknown"
"""What `mask` may say in place of a text, for models whose tokens are known: a hole then reads as
padding, a zero vector, or as the unknown word."""


def render(item: Text, mask: str) -> str | dict[str, str]:
    """Render a text, its holes as `mask`: one field as a string, several as a dict."""
    fields = item.fields(mask)
    return next(iter(fields.values())) if len(fields) == 1 else fields


def render_single(items: Sequence[Text], mask: str, who: str) -> list[str]:
    """Render texts for a target that reads only one field; several fields are an error."""
    texts = []
    for item in items:
        text = render(item, mask)
        if isinstance(text, dict):
            raise UsageError(
                f"{who} reads one text, but the data has the fields {', '.join(text)}. Wrap it in "
                "a function that takes a list of dicts (python:module:name), or name one column."
            )
        texts.append(text)
    return texts

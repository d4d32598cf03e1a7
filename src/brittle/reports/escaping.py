"""Any text made safe to show: on a terminal, and inside HTML."""

from __future__ import annotations

import html

import regex

_CONTROL = regex.compile(r"[\p{Cc}--[\n\t]]|[\p{Bidi_Control}]|\p{Cs}", regex.V1)


def visible(text: str) -> str:
    """Replace characters that would steer a terminal or reverse a line by symbols.

    >>> visible("a\\x1b[31mb\\u202ec")
    'a␛[31mb⟨U+202E⟩c'
    """
    return str(_CONTROL.sub(_symbol, text))


def escape(text: object) -> str:
    """Make any text safe inside HTML, in elements and in quoted attributes."""
    return html.escape(visible(str(text)))


def isolate(text: object) -> str:
    """Escape a text for HTML so that its writing direction does not change the text around it."""
    return f"<bdi>{escape(text)}</bdi>"


def _symbol(match: regex.Match[str]) -> str:
    code = ord(match.group())
    if code < 0x20:
        return chr(0x2400 + code)
    return "␡" if code == 0x7F else f"⟨U+{code:04X}⟩"

"""Any text made safe to show on a terminal."""

from __future__ import annotations

import regex

_CONTROL = regex.compile(r"[\p{Cc}--[\n\t]]|[\p{Bidi_Control}]|\p{Cs}", regex.V1)


def visible(text: str) -> str:
    """Replace characters that would steer a terminal or reverse a line by symbols.

    >>> visible("a\\x1b[31mb\\u202ec")
    'a␛[31mb⟨U+202E⟩c'
    """
    return str(_CONTROL.sub(_symbol, text))


def _symbol(match: regex.Match[str]) -> str:
    code = ord(match.group())
    if code < 0x20:
        return chr(0x2400 + code)
    return "␡" if code == 0x7F else f"⟨U+{code:04X}⟩"

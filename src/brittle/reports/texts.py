"""Texts for people: the clearest examples, and a text taken apart around its edits."""

from __future__ import annotations

from collections.abc import Sequence

import regex

from brittle.edits import Edit
from brittle.results import Result

Piece = str | Edit
ELLIPSIS = " … "

_ODD = regex.compile(r"[\p{Cc}--[\n\t]]|[\p{Bidi_Control}]|\p{Cs}", regex.V1)


def clearest(results: Sequence[Result], n: int = 5) -> list[Result]:
    """Pick the broken cases with the fewest words changed, then the highest confidence."""
    broken = [r for r in results if r.status == "broken"]
    return sorted(broken, key=lambda r: (r.words_changed, -(r.adversarial_confidence or 0)))[:n]


def pieces(raw: str, edits: Sequence[Edit], around: int | None = None) -> list[Piece]:
    """Take a field apart into unchanged stretches and edits, in order.

    With `around`, an unchanged stretch is cut to that many characters beside an edit.

    >>> pieces("in short a warm, funny film", [Edit("text", 17, 22, "funny", "odd")], around=6)
    [' … warm, ', Edit(field='text', start=17, stop=22, old='funny', new='odd'), ' film']
    """
    found: list[Piece] = []
    at = 0
    for edit in sorted(edits, key=lambda e: (e.start, e.stop)):
        found += [raw[at : edit.start], edit]
        at = edit.stop
    found.append(raw[at:])
    if around is not None and not edits:
        return [cut(raw, 2 * around, 0)]
    if around is not None:
        last = len(found) - 1
        found = [
            cut(p, around * (i > 0), around * (i < last)) if isinstance(p, str) else p
            for i, p in enumerate(found)
        ]
    return [piece for piece in found if piece]


def visible(text: str) -> str:
    """Make characters visible that would act on a terminal or turn a line around.

    >>> visible("a\\x1b[31mb\\u202ec")
    'a␛[31mb⟨U+202E⟩c'
    """
    return str(_ODD.sub(_picture, text))


def _picture(match: regex.Match[str]) -> str:
    code = ord(match.group())
    if code < 0x20:
        return chr(0x2400 + code)
    return "␡" if code == 0x7F else f"⟨U+{code:04X}⟩"


def cut(text: str, head: int, tail: int) -> str:
    """Keep that many characters at either end, where this saves more than the ellipsis takes.

    >>> cut("a rather long sentence about nothing", 8, 8)
    'a rather …  nothing'
    """
    if len(text) <= head + tail + 2 * len(ELLIPSIS):
        return text
    return text[:head] + ELLIPSIS + (text[-tail:] if tail else "")

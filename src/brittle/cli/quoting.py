"""Words as shells read and write them: the words of a line, and a word that can be nothing else.

Only the quoting that bash, zsh and fish share is read: backslashes, single and double quotes, and
`$'…'`. Nothing is expanded: `$(…)`, `$NAME`, `*` and `~` are characters like any other.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

_PART = re.compile(
    r"""
    (?P<space>\s+)
    | \$'(?P<ansi>(?:[^'\\]|\\.)*)(?P<ansi_end>'?)\\?
    | '(?P<single>[^']*)(?P<single_end>'?)
    | "(?P<double>(?:[^"\\]|\\.)*)(?P<double_end>"?)\\?
    | \\(?P<escaped>.?)
    | (?P<plain>[^\s'"\\$]+|\$)
    """,
    re.VERBOSE | re.DOTALL,
)
_QUOTES = {"ansi": "$'", "single": "'", "double": '"'}
_ANSI_ESCAPE = re.compile(rb"\\(x[0-9a-fA-F]{1,2}|[0-7]{1,3}|.)", re.DOTALL)
_ANSI_LETTERS = {"n": b"\n", "t": b"\t", "r": b"\r", "e": b"\x1b", "E": b"\x1b", "a": b"\a"}
_PLAIN = re.compile(r"[\w@%+=:,./-]*", re.ASCII)


@dataclass(frozen=True)
class ShellLine:
    """The words of a line; the last one is being written, in a `quote` that is still open."""

    words: tuple[str, ...]
    quote: str = ""


def read_line(line: str) -> ShellLine:
    """Read what stands before the cursor, whatever it is.

    >>> read_line("brittle attack 'my folder/' pw").words
    ('brittle', 'attack', 'my folder/', 'pw')
    >>> read_line('brittle try "zoo:'), read_line("brittle show ").words
    (ShellLine(words=('brittle', 'try', 'zoo:'), quote='"'), ('brittle', 'show', ''))
    """
    words, quote = [""], ""
    is_begun = False
    for part in _PART.finditer(line):
        kind = str(part.lastgroup).removesuffix("_end")
        quote = "" if part.groupdict().get(f"{kind}_end") else _QUOTES.get(kind, "")
        if kind != "space":
            words[-1] += _value(kind, part[kind])
            is_begun = True
        elif is_begun:
            words.append("")
            is_begun = False
    return ShellLine(tuple(words), quote)


def _value(kind: str, text: str) -> str:
    """Return what a part of a word stands for."""
    if kind == "double":
        return re.sub(r'\\([$`"\\])', r"\1", text)
    if kind == "ansi":
        return _ANSI_ESCAPE.sub(_ansi_value, text.encode()).decode("utf-8", "replace")
    return text


def _ansi_value(escape: re.Match[bytes]) -> bytes:
    code = escape[1].decode("latin-1")
    if code[0] == "x" and len(code) > 1:
        return bytes([int(code[1:], 16)])
    if code.isdigit():
        return bytes([int(code, 8) % 256])
    return _ANSI_LETTERS.get(code, escape[1])


def is_plain(text: str) -> bool:
    """Tell whether a text is itself in a shell, without quotes."""
    return bool(_PLAIN.fullmatch(text))


def quote(text: str, opened: str = "") -> str:
    """Write a text so that bash reads it as one word, or as the rest of one in an `opened` quote.

    The quote that is open stays open: bash closes it where a word is complete. Characters that a
    terminal cannot show are written as `$'…'`.

    >>> print(quote("a $(b)"), quote("it's", "'"), quote("$x", '"'))
    'a $(b)' it'\\''s \\$x
    """
    inner = opened or "'"
    written = "".join(_in_quote(character, inner) for character in text)
    return written if opened else f"'{written}'"


def _in_quote(character: str, opened: str) -> str:
    """Write a character inside of a quote; what cannot stand there is put between two of them."""
    escapes = "".join(f"\\x{byte:02x}" for byte in character.encode("utf-8", "surrogateescape"))
    if opened == "$'":
        is_special = character in "'\\" or not character.isprintable()
        return escapes if is_special else character
    if not character.isprintable():
        return f"{opened}$'{escapes}'{opened}"
    if opened == "'":
        return "'\\''" if character == "'" else character
    if character == "!":  # the history is expanded in double quotes, too
        return "\"'!'\""
    return f"\\{character}" if character in '$`"\\' else character

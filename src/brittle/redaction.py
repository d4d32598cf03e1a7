"""Secrets, such as keys of endpoints: hidden in all that is shown, logged or stored.

Who fills a secret into a request or a command line remembers it here. Messages of errors, records
of logs and the texts that targets answer are redacted; nothing else needs to be, since what names
a target (`http:FILE.toml`, `cmd:PROGRAM ${KEY}`) never holds the secret itself.
"""

from __future__ import annotations

import json
import logging
import re
import reprlib

HIDDEN = "***"
MIN_SECRET_CHARACTERS = 4  # a shorter value is no key, and hiding it would blot out common words
SECRET_WORDS = frozenset(
    (
        *("key", "apikey", "token", "secret", "password", "passwd", "passphrase", "auth"),
        *("authorization", "credential", "credentials", "cookie"),
    )
)

_patterns: dict[str, re.Pattern[str]] = {}


def remember(secret: str) -> None:
    """Hide a value from now on, as it is and as addresses, JSON and Python would spell it."""
    global _patterns
    secret = secret.strip()
    if len(secret) >= MIN_SECRET_CHARACTERS and secret not in _patterns:
        pattern = "".join(map(_spellings, secret))
        if secret.isalpha():
            # One that could be a word is hidden as a word, not inside of another one.
            pattern = rf"(?:(?<![^\W_])|(?<=%..)|(?<=\\[nrt])){pattern}(?![^\W_])"
        known = {**_patterns, secret: re.compile(pattern)}
        # The longest first: a part of it may be a secret too, and would leave the rest to be seen.
        _patterns = dict(sorted(known.items(), key=lambda item: -len(item[0])))


def redact(text: str) -> str:
    """Replace all secrets in a text by three stars."""
    for pattern in _patterns.values():
        text = pattern.sub(HIDDEN, text)
    return text


def is_secret_name(name: str) -> bool:
    """Tell whether a flag, a header or a variable is called like something secret.

    >>> [is_secret_name(name) for name in ("--api-key", "X-Auth-Token", "tokenizer", "key-file")]
    [True, True, False, False]
    """
    return re.split(r"[-_.\s]+", name.strip("- ").lower())[-1] in SECRET_WORDS


def hide_in_logs(*packages: str) -> None:
    """Redact what the loggers of packages record; those that exist by now are meant."""
    for name in list(logging.root.manager.loggerDict):
        if name.split(".")[0] in packages:
            logging.getLogger(name).addFilter(_LOG_FILTER)


class _LogFilter(logging.Filter):
    def filter(self, record: logging.LogRecord) -> bool:
        record.msg, record.args = redact(record.getMessage()), None
        return True


class _ShortRepr(reprlib.Repr):
    """Cuts long values, as reprlib does; secrets are hidden before one could be cut in two."""

    def repr_str(self, x: str, level: int) -> str:
        return super().repr_str(redact(x), level)


_LOG_FILTER = _LogFilter()
short_repr = _ShortRepr().repr


def _spellings(character: str) -> str:
    """Build a pattern of all ways in which a character may be written."""
    code = character.encode("utf-8", "surrogatepass")
    spellings = {
        character,
        "".join(f"%{byte:02X}" for byte in code),
        "".join(f"%{byte:02x}" for byte in code),
        "".join(f"\\x{byte:02x}" for byte in code),
        json.dumps(character)[1:-1],
        repr(character)[1:-1],
    }
    if len(code) == 1:
        spellings |= {f"\\u{code[0]:04x}", f"\\u{code[0]:04X}"}
    if character == " ":
        spellings.add("+")
    longest_first = sorted(spellings, key=lambda spelling: (-len(spelling), spelling))
    return f"(?:{'|'.join(map(re.escape, longest_first))})"

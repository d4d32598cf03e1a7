"""What is shown is made safe: secrets are hidden, control characters are replaced.

Secrets, such as keys of endpoints: hidden in all that is shown, logged or stored.

Who fills a secret into a request or a command line remembers it here. The passwords in the
variables that name proxies (`HTTPS_PROXY`) are known without that. Messages of errors, records of
logs and the texts that targets answer are redacted; nothing else needs to be, since what names a
target (`http:FILE.toml`, `cmd:PROGRAM ${KEY}`) never holds the secret itself.

Any text made safe to show on a terminal.
"""

from __future__ import annotations

import base64
import json
import logging
import os
import re
import reprlib
from functools import lru_cache
from urllib.parse import unquote

import regex

HIDDEN = "***"
MIN_SECRET_CHARACTERS = 4  # a shorter value is no key, and hiding it would blot out common words
SECRET_WORDS = frozenset(
    (
        *("key", "apikey", "token", "secret", "password", "passwd", "passphrase", "auth"),
        *("authorization", "credential", "credentials", "cookie", "pass", "pwd", "pw"),
    )
)
PROXIES = ("http_proxy", "https_proxy", "all_proxy", "ftp_proxy", "socks_proxy")
PROXY_VARIABLES = (*PROXIES, *(name.upper() for name in PROXIES))

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
    for name in PROXY_VARIABLES:
        for secret in _proxy_secrets(os.environ.get(name, "")):
            remember(secret)
    for pattern in _patterns.values():
        text = pattern.sub(HIDDEN, text)
    return text


@lru_cache
def _proxy_secrets(address: str) -> tuple[str, ...]:
    """Return the password in the address of a proxy, also as it is sent; without one, the user.

    >>> _proxy_secrets("http://me:p%40ss@proxy:3128"), _proxy_secrets("socks5://key@proxy")
    (('p@ss', 'bWU6cEBzcw=='), ('key', 'a2V5Og=='))
    >>> _proxy_secrets("proxy:3128")
    ()
    """
    rest = address.split("://", 1)[-1]
    authority = re.split(r"[/?#]", rest)[0]
    secrets = []
    if "@" in rest and "@" not in authority:
        # A password with one of these marks, not percent-encoded: who reads the address takes what
        # stands before the mark for the port, and quotes it.
        secrets.append(authority.partition(":")[2])
    for start in dict.fromkeys(part.rpartition("@")[0] for part in (authority, rest)):
        user, _, password = map(unquote, start.partition(":"))
        sent = base64.b64encode(f"{user}:{password}".encode("utf-8", "surrogateescape"))
        secrets += [password or user, sent.decode("ascii")] if start else []
    return tuple(secrets)


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


def hide_in_default_logs() -> None:
    """Redact what loggers without a handler write to stderr, those of other packages too."""
    if logging.lastResort is not None:
        logging.lastResort.addFilter(_LOG_FILTER)


class _LogFilter(logging.Filter):
    def filter(self, record: logging.LogRecord) -> bool:
        record.msg, record.args = redact(record.getMessage()), None
        if record.exc_info:
            record.exc_text = redact(logging.Formatter().formatException(record.exc_info))
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


_CONTROL = regex.compile(r"[\p{Cc}--[\n\t]]|[\p{Bidi_Control}]|\p{Cs}", regex.V1)


def visible(text: str) -> str:
    """Replace characters that would steer a terminal or reverse a line by symbols.

    >>> visible("a\\x1b[31mb\\u202ec")
    'a␛[31mb⟨U+202E⟩c'
    """
    return str(_CONTROL.sub(_symbol, text))


_HIDDEN = regex.compile(r"\p{Default_Ignorable_Code_Point}|\p{Bidi_Control}")
_LATIN, _FOREIGN = regex.compile(r"\p{Latin}"), regex.compile(r"[\p{L}--\p{Latin}]", regex.V1)


def revealed(new: str, old: str) -> str:
    """Write by their numbers the characters of an edit that a reader does not see as such.

    They are invisible, or letters of another script in what was a Latin word.

    >>> revealed("m\u0435ss", "mess"), revealed("me\u200bss", "mess"), revealed("mass", "mess")
    ('m⟨U+0435⟩ss', 'me⟨U+200B⟩ss', 'mass')
    """
    shown = _HIDDEN.sub(_symbol, new)
    if _LATIN.search(old) and not _FOREIGN.search(old):
        shown = _FOREIGN.sub(_symbol, shown)
    return str(shown)


def _symbol(match: regex.Match[str]) -> str:
    code = ord(match.group())
    if code < 0x20:
        return chr(0x2400 + code)
    return "␡" if code == 0x7F else f"⟨U+{code:04X}⟩"

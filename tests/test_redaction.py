"""Secrets are hidden however they are spelt, in messages, logs and short quotes."""

from __future__ import annotations

import json
import logging
from urllib.parse import quote, quote_plus

import pytest

from brittle.errors import BrittleError, TargetDown, UsageError
from brittle.redaction import hide_in_logs, redact, remember, short_repr

SECRET = 'p@ss "wörd"\\/+🎬'


@pytest.mark.parametrize(
    "spelt",
    [
        SECRET,
        repr(SECRET),
        json.dumps(SECRET),
        json.dumps(SECRET, ensure_ascii=False),
        quote(SECRET),
        quote(SECRET, safe="").lower(),
        quote_plus(SECRET),
        repr(SECRET.encode()),
        "".join(f"\\u{ord(c):04x}" for c in SECRET[:4]) + SECRET[4:],
    ],
)
def test_a_secret_is_hidden_however_it_is_spelt(spelt: str) -> None:
    remember(SECRET)
    hidden = redact(f"key {spelt} end")
    assert "***" in hidden and "ss" not in hidden and hidden.startswith("key ")
    assert hidden.endswith(" end")


def test_of_two_secrets_the_longer_one_is_hidden_whole() -> None:
    remember("abcd")
    remember("abcdefgh")
    assert redact("abcdefgh abcd abcx") == "*** *** abcx"


def test_a_value_that_could_be_a_word_is_hidden_as_a_word_alone() -> None:
    remember("here")
    assert redact("there, here: http://x/here?y=%20here") == "there, ***: http://x/***?y=%20***"


def test_short_values_are_no_secrets() -> None:
    remember("eu")
    remember("  \n")
    assert redact("a europe b") == "a europe b"


def test_the_line_break_at_the_end_of_a_key_does_not_matter() -> None:
    remember("s3cret\n")
    assert redact("Bearer s3cret") == "Bearer ***"


def test_a_short_quote_never_cuts_a_secret_in_two() -> None:
    secret = "".join(map(chr, range(65, 125)))
    remember(secret)
    quoted = short_repr({"key": f"{secret} and more"})
    assert "***" in quoted and secret[:8] not in quoted


def test_every_error_of_ours_is_redacted_and_steers_no_terminal() -> None:
    remember("s3cret")
    for kind in (BrittleError, UsageError, TargetDown):
        assert str(kind("key s3cret\x1b[2J\nnext")) == "key ***␛[2J\nnext"


def test_records_of_logs_are_redacted(caplog: pytest.LogCaptureFixture) -> None:
    remember("s3cret")
    log = logging.getLogger("brittle.tests.redaction")
    hide_in_logs("brittle")
    with caplog.at_level(logging.DEBUG):
        log.info("asked %s with %r", "http://x/?key=s3cret", {"a": b"s3cret"})
    assert caplog.messages == ["asked http://x/?key=*** with {'a': b'***'}"]

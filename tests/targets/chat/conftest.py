"""The chat server that tests of this folder share."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from targets.chat.serving import ChatServer, serving

pytest.importorskip("httpx")


@pytest.fixture
def server(monkeypatch: pytest.MonkeyPatch) -> Iterator[ChatServer]:
    monkeypatch.delenv("OPENAI_API_KEY", raising=False)
    with serving() as state:
        yield state

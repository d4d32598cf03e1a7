"""An HTTP endpoint that translates: `http:FILE.toml` with `--answers text`.

The path of the file leads to a string for every text.
"""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Sequence

from brittle.errors import UsageError
from brittle.targets.fingerprints.hashing import hash_parts
from brittle.targets.http.client import HttpClient
from brittle.targets.http.endpoint import Endpoint
from brittle.targets.translators.texts import parse_texts
from brittle.text import Text


class TranslatingEndpoint:
    """An endpoint that translates; its answers are costly."""

    labels: tuple[str, ...] = ()
    costly = True
    in_process = False

    def __init__(
        self,
        endpoint: Endpoint,
        *,
        mask: str = "",
        name: str | None = None,
        sleep: Callable[[float], None] = time.sleep,
    ) -> None:
        self._who = f"The endpoint {endpoint.url}"
        if endpoint.labels is not None or endpoint.scores != "auto":
            raise UsageError(
                f"{self._who} has labels or scores in its file, but answers texts. A translator "
                'has neither: leave them out, or leave out answers = "text" (--answers text).'
            )
        self.endpoint = endpoint
        self.name = name or endpoint.url
        self.mask = mask
        self.parallel = endpoint.concurrency
        self._client = HttpClient(endpoint, mask, sleep)
        self.batch = self._client.batch

    def __repr__(self) -> str:
        return f"TranslatingEndpoint({self.endpoint.url!r})"

    @property
    def fingerprint(self) -> str:
        """Hash the address and the request, without secrets; the model itself is not visible."""
        e = self.endpoint
        return hash_parts(json.dumps([e.url, e.method, e.template, e.path, "text", self.mask]))

    def translate(self, items: Sequence[Text]) -> list[str]:
        return parse_texts(self._client.answers(items), len(items), self._who)

    def close(self) -> None:
        self._client.close()

"""An HTTP endpoint as a target: `http:FILE.toml` (see endpoint.py for the file)."""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Sequence

from brittle.targets.fingerprints.hashing import hash_parts
from brittle.targets.http.client import HttpClient
from brittle.targets.http.endpoint import Endpoint
from brittle.targets.labels import IF_IT_TRANSLATES, Labels, label_names
from brittle.targets.protocols import Scores
from brittle.targets.scores import check_kind, parse_answers
from brittle.text import Text


class HttpTarget:
    """An endpoint that classifies; its answers are costly."""

    costly = True
    in_process = False

    def __init__(
        self,
        endpoint: Endpoint,
        *,
        labels: Labels = None,
        scores: str = "auto",
        mask: str = "",
        name: str | None = None,
        sleep: Callable[[float], None] = time.sleep,
    ) -> None:
        self.endpoint = endpoint
        self.name = name or endpoint.url
        self._who = f"The endpoint {endpoint.url}"
        self.labels = label_names(endpoint.labels, labels, self._who, IF_IT_TRANSLATES)
        self._answered = endpoint.labels or self.labels  # the labels in its answers
        self.kind = check_kind(scores if scores != "auto" else endpoint.scores)
        self.label_only = self.kind == "label"
        self.mask = mask
        self.parallel = endpoint.concurrency
        self._client = HttpClient(endpoint, mask, sleep)
        self.batch = self._client.batch

    def __repr__(self) -> str:
        return f"HttpTarget({self.endpoint.url!r})"

    @property
    def fingerprint(self) -> str:
        """Hash the address and the request, without secrets; the model itself is not visible."""
        e = self.endpoint
        request = (e.url, e.method, e.template, e.path, e.label_key, e.score_key)
        return hash_parts(json.dumps([request, self._answered, self.kind, self.mask]))

    def scores(self, items: Sequence[Text]) -> Scores:
        answers, keys = (
            self._client.answers(items),
            (self.endpoint.label_key, self.endpoint.score_key),
        )
        return parse_answers(answers, len(items), self._answered, self.kind, self._who, keys)

    def close(self) -> None:
        self._client.close()

"""An HTTP endpoint as a target: `http:FILE.toml` (see endpoint.py for the file)."""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Sequence

from brittle.errors import TargetError, UsageError
from brittle.targets.answered_labels import answered_labels, learns_labels, refuse_unnamed
from brittle.targets.fingerprints.hashing import hash_parts, probe_texts
from brittle.targets.http.client import HttpClient
from brittle.targets.http.endpoint import Endpoint
from brittle.targets.labels import IF_IT_TRANSLATES, label_names
from brittle.targets.options import Labels, check_kind
from brittle.targets.protocols import Scores
from brittle.targets.scores import parse_answers
from brittle.text import Text


class HttpTarget:
    """An endpoint that classifies; its answers are costly.

    If nobody names its labels it is asked about a plain sentence with these `fields`.
    """

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
        fields: Sequence[str] = ("text",),
        sleep: Callable[[float], None] = time.sleep,
    ) -> None:
        self.endpoint = endpoint
        self.name = name or endpoint.url
        self._who = f"The endpoint {endpoint.url}"
        self.kind = check_kind(scores if scores != "auto" else endpoint.scores)
        self.label_only = self.kind == "label"
        self.mask = mask
        self.parallel = endpoint.concurrency
        self._client = HttpClient(endpoint, mask, sleep)
        self.batch = self._client.batch
        self._learns = learns_labels(endpoint.labels, labels)
        if self._learns:
            self.labels = self._learn_labels(fields)
        else:
            self.labels = label_names(endpoint.labels, labels, self._who, IF_IT_TRANSLATES)
        self._answered = endpoint.labels or self.labels  # the labels in its answers

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
        if self._learns:
            refuse_unnamed(answers, self._who, keys)
        return parse_answers(answers, len(items), self._answered, self.kind, self._who, keys)

    def _learn_labels(self, fields: Sequence[str]) -> tuple[str, ...]:
        keys = (self.endpoint.label_key, self.endpoint.score_key)
        try:
            (answer,) = self._client.answers(probe_texts(fields)[:1])
            return answered_labels(answer, self.kind, self._who, keys)
        except BaseException as error:
            self._client.close()
            if isinstance(error, TargetError):
                raise UsageError(f"Asked about a plain sentence: {error}") from error
            raise

    def close(self) -> None:
        self._client.close()

"""An HTTP endpoint as a target: `http:FILE.toml` (see endpoint.py for the file)."""

from __future__ import annotations

import email.utils
import json
import logging
import random
import threading
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from brittle.errors import TargetDown, TargetError, UsageError, require
from brittle.targets.fingerprints.hashing import hash_parts, probe_texts
from brittle.targets.http.endpoint import Endpoint, load_endpoint
from brittle.targets.json_replies import parse_json
from brittle.targets.labels import Labels, label_names
from brittle.targets.protocols import Scores
from brittle.targets.rendering import render
from brittle.targets.scores import check_kind, parse_answers
from brittle.text import Text

log = logging.getLogger(__name__)

FIRST_WAIT_SECONDS, MAX_WAIT_SECONDS = 0.5, 30.0
MAX_RETRY_AFTER_SECONDS = 300.0  # a server that asks for a longer wait counts as down
REFUSED_TEXT = frozenset({400, 413, 414, 422})  # statuses that are about this one text


class _Failure(Exception):
    """The endpoint did not answer this time; `wait` is how long it asks to wait, in seconds."""

    def __init__(self, message: str, wait: float | None = None) -> None:
        super().__init__(message)
        self.wait = wait


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
        self.labels = label_names(endpoint.labels, labels, self._who)
        self._answered = endpoint.labels or self.labels  # the labels in its answers
        self.kind = check_kind(scores if scores != "auto" else endpoint.scores)
        self.label_only = self.kind == "label"
        self.mask = mask
        self.parallel = endpoint.concurrency
        self.batch = endpoint.batch if endpoint.batched else 1
        self._sleep = sleep
        self._headers, self._url = endpoint.sent_headers(), endpoint.sent_url()
        self._lock = threading.Lock()
        self._next_slot = 0.0
        self._httpx: Any = require("httpx", "http", "An HTTP target")
        self._client = self._httpx.Client(
            headers=self._headers,
            timeout=endpoint.timeout,
            # Certificates take time to load, and plain http, which is never redirected, needs none.
            verify=not self._url.startswith("http://"),
            limits=self._httpx.Limits(max_connections=endpoint.concurrency),
        )

    def __repr__(self) -> str:
        return f"HttpTarget({self.endpoint.url!r})"

    @property
    def fingerprint(self) -> str:
        """Hash the address and the request, without secrets; the model itself is not visible."""
        e = self.endpoint
        request = (e.url, e.method, e.template, e.path, e.label_key, e.score_key)
        return hash_parts(json.dumps([request, self._answered, self.kind, self.mask]))

    def scores(self, items: Sequence[Text]) -> Scores:
        texts = [render(item, self.mask) for item in items]
        tables = [
            self._score(texts[start : start + self.batch])
            for start in range(0, len(texts), self.batch)
        ]
        return np.concatenate(tables) if tables else np.zeros((0, len(self.labels)))

    def close(self) -> None:
        self._client.close()

    def _score(self, texts: list[Any]) -> Scores:
        endpoint = self.endpoint
        content = self._ask(endpoint.body(texts), texts)
        try:
            reply = parse_json(content, self._who)
        except ValueError as error:
            start = content[:80].decode("utf-8", "replace")
            raise TargetError(f"{self._who} answered something that is not JSON: {start!r}.") from (
                error
            )
        answers = endpoint.answers(reply, len(texts))
        keys = (endpoint.label_key, endpoint.score_key)
        return parse_answers(answers, len(texts), self._answered, self.kind, self._who, keys)

    def _ask(self, body: Any, texts: Sequence[Any]) -> bytes:
        """Send a request until it is answered, or until all retries have failed."""
        wait = FIRST_WAIT_SECONDS
        for attempt in range(self.endpoint.retries + 1):
            try:
                return self._send(body)
            except _Failure as failure:
                problem = failure
            if attempt < self.endpoint.retries:
                # Jitter, so that parallel requests do not all come back at the same time.
                pause = max(problem.wait or 0.0, wait * random.uniform(0.5, 1.0))
                if pause > MAX_RETRY_AFTER_SECONDS:
                    break
                log.info("%s: %s; trying again in %.1f s", self._who, problem, pause)
                self._sleep(pause)
                wait = min(wait * 2, MAX_WAIT_SECONDS)
        tries = f"{attempt + 1} {'try' if attempt == 0 else 'tries'}"
        if problem.wait is None and self._is_alive(texts[0]):
            raise TargetError(
                f"{self._who} fails on this text, though it answers others: {problem} ({tries})."
            )
        raise TargetDown(
            f"{self._who} does not answer: {problem} ({tries}). Nothing answered is lost: the same "
            "command resumes when it is up again."
        )

    def _is_alive(self, text: Any) -> bool:
        """Tell whether the endpoint answers a simple sentence with the fields of `text`."""
        fields = tuple(text) if isinstance(text, dict) else ("text",)
        try:
            self._send(self.endpoint.body([render(probe_texts(fields)[0], "")]))
        except (_Failure, TargetError, TargetDown):
            return False
        return True

    def _send(self, body: Any) -> bytes:
        """Send one request within the rate limit and the timeout; return the reply's content."""
        self._wait_for_turn()
        deadline = time.monotonic() + self.endpoint.timeout
        content = b""
        try:
            with self._client.stream(self.endpoint.method, self._url, json=body) as response:
                for chunk in response.iter_bytes():
                    content += chunk
                    # The client's timeout is for every single read; this is for all of them.
                    if time.monotonic() > deadline:
                        raise _Failure(f"no whole answer within {self.endpoint.timeout:g} s")
        except self._httpx.TimeoutException:
            raise _Failure(f"no answer within {self.endpoint.timeout:g} s") from None
        except self._httpx.TransportError as error:
            raise _Failure(f"{type(error).__name__}: {error}") from error
        except (self._httpx.RequestError, self._httpx.InvalidURL) as error:
            # The error's own message may hold the address with a secret in it.
            raise TargetDown(f"{self._who} cannot be asked ({type(error).__name__}).") from error
        self._check_status(response, content)
        return content

    def _check_status(self, response: Any, content: bytes) -> None:
        status = response.status_code
        answer = f"status {status} {response.reason_phrase}".rstrip()
        start = content[:120].decode("utf-8", "replace").strip()
        answer += f" ({start!r})" if start else ""
        if 200 <= status < 300:
            return
        if status in (429, 503):
            raise _Failure(answer, _parse_retry_after(response.headers.get("Retry-After"), status))
        if status >= 500:
            raise _Failure(answer)
        if status in REFUSED_TEXT:
            raise TargetError(f"{self._who} refuses this text: {answer}.")
        remedy = "Correct the TOML file"
        if status in (401, 403):
            remedy = "Check the key in the headers of the TOML file and in the environment"
        elif 300 <= status < 400:
            remedy = f"It redirects: put the final address ({response.headers.get('Location')}) in"
        raise TargetDown(f"{self._who} answered {answer}. {remedy}, then run the command again.")

    def _wait_for_turn(self) -> None:
        """Wait until the rate limit allows one more request."""
        if self.endpoint.per_second is None:
            return
        with self._lock:
            now = time.monotonic()
            slot = max(now, self._next_slot)
            self._next_slot = slot + 1.0 / self.endpoint.per_second
        if slot > now:
            self._sleep(slot - now)


def load(spec: str, *, name: str | None = None, **options: Any) -> HttpTarget:
    """Build the target of the endpoint that `http:FILE.toml` describes."""
    path = Path(spec.removeprefix("http:"))
    if path.suffix != ".toml":
        raise UsageError(
            f"Got {spec!r}. Expected http:FILE.toml, a file that says how the endpoint is asked."
        )
    return HttpTarget(load_endpoint(path), name=name or f"http:{path.stem}", **options)


def _parse_retry_after(header: str | None, status: int) -> float | None:
    """Parse Retry-After, a number of seconds or a date; return the seconds to wait.

    Status 429 without the header is 0, not None, because the text is not the reason.
    """
    if header is None:
        return 0.0 if status == 429 else None
    try:
        return max(0.0, float(header))
    except ValueError:
        pass
    try:
        return max(0.0, email.utils.parsedate_to_datetime(header).timestamp() - time.time())
    except (TypeError, ValueError):
        return 0.0

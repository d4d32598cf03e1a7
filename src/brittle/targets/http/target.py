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
from brittle.targets.fingerprints import hashing as fingerprints
from brittle.targets.http.endpoint import Endpoint, load_endpoint
from brittle.targets.labels import Labels, label_names
from brittle.targets.protocols import Scores
from brittle.targets.rendering import render
from brittle.targets.scores import check_kind
from brittle.targets.scores import parse_answers as read_scores
from brittle.text import Text

log = logging.getLogger(__name__)

FIRST_WAIT, LONGEST_WAIT = 0.5, 30.0
# A server that asks for more patience than this is down as far as a run is concerned.
PATIENCE = 300.0
# What the endpoint refuses because of this one text.
REFUSED = frozenset({400, 413, 414, 422})


class _Failing(Exception):
    """The endpoint did not answer this time; `wait` is what it asks for, in seconds."""

    def __init__(self, message: str, wait: float | None = None) -> None:
        super().__init__(message)
        self.wait = wait


class HttpTarget:
    """An endpoint that classifies; every answer counts as paid for."""

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
        self._own = endpoint.labels or self.labels
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
            # Certificates take a while to load, and plain http (never redirected) needs none.
            verify=not self._url.startswith("http://"),
            limits=self._httpx.Limits(max_connections=endpoint.concurrency),
        )

    def __repr__(self) -> str:
        return f"HttpTarget({self.endpoint.url!r})"

    @property
    def fingerprint(self) -> str:
        """Hash what is asked of whom, without secrets; the model behind it cannot be seen."""
        e = self.endpoint
        asked = (e.url, e.method, e.template, e.path, e.label_key, e.score_key)
        return fingerprints.of_parts(json.dumps([asked, self._own, self.kind, self.mask]))

    def scores(self, items: Sequence[Text]) -> Scores:
        texts = [render(item, self.mask) for item in items]
        tables = [
            self._scored(texts[start : start + self.batch])
            for start in range(0, len(texts), self.batch)
        ]
        return np.concatenate(tables) if tables else np.zeros((0, len(self.labels)))

    def close(self) -> None:
        """Close the connections."""
        self._client.close()

    def _scored(self, texts: list[Any]) -> Scores:
        endpoint = self.endpoint
        content = self._asked(endpoint.body(texts), texts)
        try:
            reply = json.loads(content)
        except ValueError as error:
            start = content[:80].decode("utf-8", "replace")
            raise TargetError(f"{self._who} answered something that is not JSON: {start!r}.") from (
                error
            )
        answers = endpoint.answers(reply, len(texts))
        entry = (endpoint.label_key, endpoint.score_key)
        return read_scores(answers, len(texts), self._own, self.kind, self._who, entry)

    def _asked(self, body: Any, texts: Sequence[Any]) -> bytes:
        """Send a request until it is answered, or until that has failed often enough."""
        wait = FIRST_WAIT
        for attempt in range(self.endpoint.retries + 1):
            try:
                return self._sent(body)
            except _Failing as failing:
                problem = failing
            if attempt < self.endpoint.retries:
                # Jitter, so that parallel requests do not come back all at once.
                pause = max(problem.wait or 0.0, wait * random.uniform(0.5, 1.0))
                if pause > PATIENCE:
                    break
                log.info("%s: %s; trying again in %.1f s", self._who, problem, pause)
                self._sleep(pause)
                wait = min(wait * 2, LONGEST_WAIT)
        tries = f"{attempt + 1} {'try' if attempt == 0 else 'tries'}"
        if problem.wait is None and self._alive(texts[0]):
            raise TargetError(
                f"{self._who} fails on this text, though it answers others: {problem} ({tries})."
            )
        raise TargetDown(
            f"{self._who} does not answer: {problem} ({tries}). Nothing answered is lost: the same "
            "command resumes when it is up again."
        )

    def _alive(self, text: Any) -> bool:
        """Ask for a harmless sentence: is it the endpoint that fails, or this text?"""
        fields = tuple(text) if isinstance(text, dict) else ("text",)
        try:
            self._sent(self.endpoint.body([render(fingerprints.probes(fields)[0], "")]))
        except (_Failing, TargetError, TargetDown):
            return False
        return True

    def _sent(self, body: Any) -> bytes:
        """Send one request at its turn, within the time limit for the whole of it."""
        self._take_turn()
        deadline = time.monotonic() + self.endpoint.timeout
        content = b""
        try:
            with self._client.stream(self.endpoint.method, self._url, json=body) as response:
                for chunk in response.iter_bytes():
                    content += chunk
                    # The client limits every single read; a slow trickle needs this as well.
                    if time.monotonic() > deadline:
                        raise _Failing(f"no whole answer within {self.endpoint.timeout:g} s")
        except self._httpx.TimeoutException:
            raise _Failing(f"no answer within {self.endpoint.timeout:g} s") from None
        except self._httpx.TransportError as error:
            raise _Failing(f"{type(error).__name__}: {error}") from error
        except (self._httpx.RequestError, self._httpx.InvalidURL) as error:
            # Not the error's own words: they may hold the address with a secret filled in.
            raise TargetDown(f"{self._who} cannot be asked ({type(error).__name__}).") from error
        self._check(response, content)
        return content

    def _check(self, response: Any, content: bytes) -> None:
        status = response.status_code
        said = f"status {status} {response.reason_phrase}".rstrip()
        start = content[:120].decode("utf-8", "replace").strip()
        said += f" ({start!r})" if start else ""
        if 200 <= status < 300:
            return
        if status in (429, 503):
            raise _Failing(said, _seconds(response.headers.get("Retry-After"), status))
        if status >= 500:
            raise _Failing(said)
        if status in REFUSED:
            raise TargetError(f"{self._who} refuses this text: {said}.")
        remedy = "Correct the TOML file"
        if status in (401, 403):
            remedy = "Check the key in the headers of the TOML file and in the environment"
        elif 300 <= status < 400:
            remedy = f"It redirects: put the final address ({response.headers.get('Location')}) in"
        raise TargetDown(f"{self._who} answered {said}. {remedy}, then run the command again.")

    def _take_turn(self) -> None:
        """Wait until the rate limit allows one more request."""
        if self.endpoint.per_second is None:
            return
        with self._lock:
            now = time.monotonic()
            slot = max(now, self._next_slot)
            self._next_slot = slot + 1.0 / self.endpoint.per_second
        if slot > now:
            self._sleep(slot - now)


def load(
    spec: str,
    *,
    labels: Labels = None,
    scores: str = "auto",
    mask: str = "",
    name: str | None = None,
) -> HttpTarget:
    """Make a target of the endpoint that `http:FILE.toml` describes."""
    path = Path(spec.removeprefix("http:"))
    if path.suffix != ".toml":
        raise UsageError(
            f"Got {spec!r}. Expected http:FILE.toml, a file that says how the endpoint is asked."
        )
    return HttpTarget(
        load_endpoint(path),
        labels=labels,
        scores=scores,
        mask=mask,
        name=name or f"http:{path.stem}",
    )


def _seconds(stated: str | None, status: int) -> float | None:
    """Read Retry-After, in seconds or as a date; 429 without it still means: the text is fine."""
    if stated is None:
        return 0.0 if status == 429 else None
    try:
        return max(0.0, float(stated))
    except ValueError:
        pass
    try:
        return max(0.0, email.utils.parsedate_to_datetime(stated).timestamp() - time.time())
    except (TypeError, ValueError):
        return 0.0

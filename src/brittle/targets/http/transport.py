"""Questions to an HTTP endpoint, what it sends back, and the target that it is.

The content of a reply is unpacked within a limit: a few bytes of gzip can become gigabytes. The
target is `http:FILE.toml` (see endpoint.py for the file).
"""

from __future__ import annotations

import json
import time
import zlib
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import replace
from typing import Any, Generic, TypeVar

from brittle.errors import TargetDown, TargetError, UsageError, require
from brittle.redaction import hide_in_logs, redact
from brittle.targets.answer_parsers import (
    AnswerParser,
    BlackBoxClassifier,
    BlackBoxTranslator,
    ScoreParser,
    TextParser,
    of_transport,
    parse_json,
)
from brittle.targets.fingerprints import hash_parts, probe_texts
from brittle.targets.http.endpoint import Endpoint, open_endpoint
from brittle.targets.http.retries import Turns, Unanswered, ask_again, parse_retry_after
from brittle.targets.options import TargetOptions, render
from brittle.text import Text

PART_BYTES = 1 << 16  # unpacked at a time
GZIP_WINDOW = 31  # zlib's number for gzip with any window
ACCEPTED = "gzip"
"""The Accept-Encoding header: brittle can decode only this."""


class BadContent(Exception):
    """The content cannot be unpacked."""


class TooLong(Exception):
    """The content is longer than the limit."""


def read_content(chunks: Iterable[bytes], encoding: str, max_bytes: int) -> bytes:
    """Return the content of which chunks are sent; `encoding` is its Content-Encoding."""
    parts, size = [], 0
    for part in _unpacked(chunks, encoding.strip().lower()):
        size += len(part)
        if size > max_bytes:
            raise TooLong(f"more than {max_bytes:,} bytes")
        parts.append(part)
    return b"".join(parts)


def _unpacked(chunks: Iterable[bytes], encoding: str) -> Iterator[bytes]:
    if encoding in ("", "identity"):
        yield from chunks
    elif encoding in ("gzip", "x-gzip"):
        yield from _gunzipped(chunks)
    else:
        raise BadContent(
            f"its content is compressed with {encoding!r}; expected gzip or no compression"
        )


def _gunzipped(chunks: Iterable[bytes]) -> Iterator[bytes]:
    unpacker = zlib.decompressobj(GZIP_WINDOW)
    started = False
    for chunk in chunks:
        started = True
        while chunk and not unpacker.eof:
            yield _unpack(unpacker.decompress, chunk, PART_BYTES)
            chunk = unpacker.unconsumed_tail
    if started:
        yield _unpack(unpacker.flush)
        if not unpacker.eof:
            raise BadContent("its gzip content ends too early")


def _unpack(step: Callable[..., bytes], *arguments: Any) -> bytes:
    try:
        return step(*arguments)
    except zlib.error as error:
        raise BadContent(f"its gzip content is damaged: {error}") from error


A = TypeVar("A")
MAX_ANSWER_BYTES = 1 << 24
QUOTED_BYTES = 1 << 12  # looked at to quote the start of an answer
REFUSED_TEXT = frozenset({400, 413, 414, 422})  # statuses that are about this one text


class HttpTransport(Generic[A]):
    """Asks an endpoint about texts; `answers` says what comes back. It costs."""

    costly = True
    in_process = False

    def __init__(
        self,
        endpoint: Endpoint,
        answers: AnswerParser[A],
        *,
        mask: str = "",
        name: str | None = None,
        sleep: Callable[[float], None] = time.sleep,
    ) -> None:
        self.endpoint, self.answers, self.mask = endpoint, answers, mask
        self.name = name or endpoint.url
        self.parallel = endpoint.concurrency
        self.batch = endpoint.batch if endpoint.batched else 1
        self.who = describe_endpoint(endpoint)
        self._sleep = sleep
        self._turns = Turns(endpoint.per_second, sleep)
        self._httpx: Any = require("httpx", "http", "An HTTP target")
        from brittle.targets.http.connections import Deadline, connect

        self._url = endpoint.sent_url()
        self._deadline = Deadline()
        self._client = connect(endpoint, self._url, self._deadline)
        hide_in_logs("httpx", "httpcore", "brittle")

    def __repr__(self) -> str:
        return f"HttpTransport({self.endpoint.url!r})"

    def ask(self, items: Sequence[Text]) -> A:
        return self.answers.parse(self.fetch(items), len(items), self.who)

    def hash(self) -> str:
        """Hash the address and the request, without secrets; the model itself is not visible."""
        e, answers = self.endpoint, self.answers
        request: list[Any] = [e.url, e.method, e.template, e.path]
        if isinstance(answers, ScoreParser):
            request = [[*request, e.label_key, e.score_key], answers.answered, answers.kind]
        else:
            request += answers.settings
        return hash_parts(json.dumps([*request, self.mask]))

    def fetch(self, items: Sequence[Text]) -> list[Any]:
        """Return what the endpoint answers, read as JSON, one value for every text."""
        texts = [render(item, self.mask) for item in items]
        return [
            answer
            for start in range(0, len(texts), self.batch)
            for answer in self._fetch(texts[start : start + self.batch])
        ]

    def close(self) -> None:
        self._client.close()

    def _fetch(self, texts: list[Any]) -> list[Any]:
        return self.endpoint.answers(self._reply(texts), len(texts))

    def reply(self, items: Sequence[Text]) -> Any:
        """Return the whole answer on some texts, as it is."""
        return self._reply([render(item, self.mask) for item in items])

    def _reply(self, texts: list[Any]) -> Any:
        content = self._exchange(self.endpoint.body(texts), texts)
        try:
            return parse_json(content, self.who)
        except ValueError as error:
            start = _start(content, 80)
            raise TargetError(f"{self.who} answered something that is not JSON: {start!r}.") from (
                error
            )

    def _exchange(self, body: Any, texts: Sequence[Any]) -> bytes:
        """Send a request until it is answered, or until all retries have failed."""
        try:
            return ask_again(lambda: self._send(body), self.endpoint.retries, self.who, self._sleep)
        except Unanswered as error:
            problem = error
        tries = f"{problem.tries} {'try' if problem.tries == 1 else 'tries'}"
        if problem.wait is None and self._is_alive(texts[0]):
            raise TargetError(
                f"{self.who} fails on this text, but answers others: {problem} ({tries})."
            )
        raise TargetDown(
            f"{self.who} does not answer: {problem} ({tries}). Run the same command again "
            "when it is up: stored answers are not requested again."
        )

    def _is_alive(self, text: Any) -> bool:
        """Tell whether the endpoint answers a simple sentence with the fields of `text`."""
        fields = tuple(text) if isinstance(text, dict) else ("text",)
        try:
            self._send(self.endpoint.body([render(probe_texts(fields)[0], "")]))
        except (Unanswered, TargetError, TargetDown):
            return False
        return True

    def _send(self, body: Any) -> bytes:
        """Send one request within the rate limit and the timeout; return the reply's content."""
        self._turns.wait()
        try:
            with (
                self._deadline.after(self.endpoint.timeout),
                self._client.stream(self.endpoint.method, self._url, json=body) as response,
            ):
                encoding = response.headers.get("Content-Encoding", "")
                content = read_content(response.iter_raw(), encoding, MAX_ANSWER_BYTES)
        except TooLong as error:
            raise TargetError(f"{self.who} answered {error}. Expected a short answer.") from error
        except BadContent as error:
            raise Unanswered(str(error)) from error
        except self._httpx.TimeoutException:
            raise Unanswered(f"no answer within {self.endpoint.timeout:g} s") from None
        except (self._httpx.TransportError, self._httpx.DecodingError) as error:
            raise Unanswered(f"{type(error).__name__}: {error}") from error
        except (self._httpx.RequestError, self._httpx.InvalidURL) as error:
            # The error's own message may hold the address with a secret in it.
            raise TargetDown(f"{self.who} cannot be reached ({type(error).__name__}).") from error
        self._check_status(response, content)
        return content

    def _check_status(self, response: Any, content: bytes) -> None:
        status = response.status_code
        answer = f"status {status} {response.reason_phrase}".rstrip()
        start = _start(content, 120).strip()
        answer += f" ({start!r})" if start else ""
        if 200 <= status < 300:
            return
        if status in (429, 503):
            raise Unanswered(answer, parse_retry_after(response.headers.get("Retry-After"), status))
        if status >= 500:
            raise Unanswered(answer)
        if status in REFUSED_TEXT:
            raise TargetError(f"{self.who} refuses this text: {answer}.")
        remedy = f"Correct {self.endpoint.source}"
        if status == 407:
            from brittle.targets.http.connections import proxy_variables

            names = ", ".join(proxy_variables()) or "the settings of this system"
            remedy = f"A proxy refuses the request: check user and password in {names}"
        elif status in (401, 403):
            remedy = (
                f"Check the key in the environment, and that {self.endpoint.name_of('header')} "
                "sends it, as in 'Authorization: Bearer ${TOKEN}'"
            )
        elif 300 <= status < 400:
            remedy = f"It redirects: use the final address ({response.headers.get('Location')}) in"
        raise TargetDown(f"{self.who} answered {answer}. {remedy}, then run the command again.")


def describe_endpoint(endpoint: Endpoint) -> str:
    """Name an endpoint in messages."""
    return f"The endpoint {endpoint.url}"


def _start(content: bytes, characters: int) -> str:
    """Return the start of an answer; secrets are hidden before one could be cut in the middle."""
    return redact(content[:QUOTED_BYTES].decode("utf-8", "replace"))[:characters]


def open_http(spec: str, options: TargetOptions) -> BlackBoxClassifier | BlackBoxTranslator:
    """Open `http:FILE.toml`, an endpoint."""
    endpoint, name = open_endpoint(spec)
    return of_endpoint(endpoint, replace(options, name=options.name or name))


def of_endpoint(
    endpoint: Endpoint,
    options: TargetOptions | None = None,
    *,
    sleep: Callable[[float], None] = time.sleep,
) -> BlackBoxClassifier | BlackBoxTranslator:
    """Build a target from the description of an endpoint; its answers are costly.

    If nobody names its labels it is asked about a plain sentence with the fields of the data.
    """
    options = options or TargetOptions()
    who, answers = describe_endpoint(endpoint), _answers_of(endpoint, options)
    mask = options.black_box_mask
    transport = HttpTransport(endpoint, answers, mask=mask, name=options.name, sleep=sleep)
    try:
        if isinstance(answers, ScoreParser) and answers.learns:
            (answer,) = transport.fetch(probe_texts(options.fields)[:1])
            answers.learn(answer, who)
    except BaseException as error:
        transport.close()
        if isinstance(error, TargetError):
            raise UsageError(f"Asked about a plain sentence: {error}") from error
        raise
    return of_transport(transport)


def _answers_of(endpoint: Endpoint, options: TargetOptions) -> AnswerParser[Any]:
    """Return what an endpoint answers, as its file or the user says."""
    who = describe_endpoint(endpoint)
    if "text" not in (options.answers, endpoint.answers_are):
        return ScoreParser.of(
            options,
            who,
            stated=endpoint.labels,
            scores=endpoint.scores,
            keys=(endpoint.label_key, endpoint.score_key),
        )
    answers = TextParser.of(options)
    if endpoint.labels is not None or endpoint.scores != "auto":
        raise UsageError(
            f"{who} has labels or scores in its file, but it answers with texts. "
            'Remove them, or remove answers = "text" (--answers text).'
        )
    return answers

"""A small chat server on loopback with a real classifier behind it, which answers in words."""

from __future__ import annotations

import json
import threading
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import cache
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

from sklearn.feature_extraction.text import TfidfVectorizer
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import Pipeline, make_pipeline

GOOD = ("warm", "funny", "great", "wonderful", "lovely", "brilliant", "moving", "fresh")
BAD = ("dull", "awful", "bad", "boring", "lifeless", "terrible", "flat", "stale")
NOUNS = ("film", "story", "cast", "plot", "drama", "comedy", "ending")
START = "Text: "


@cache
def classifier() -> Pipeline:
    """Fit the model behind the server, once."""
    texts = [f"a {word} {noun} with a {word} cast" for word in (*GOOD, *BAD) for noun in NOUNS]
    labels = ["positive"] * len(GOOD) * len(NOUNS) + ["negative"] * len(BAD) * len(NOUNS)
    return make_pipeline(TfidfVectorizer(), LogisticRegression(C=20)).fit(texts, labels)


def examples(count: int) -> list[tuple[str, str]]:
    """Return texts with their labels, all different."""
    pairs = []
    for n in range(count):
        words, label = ((GOOD, "positive"), (BAD, "negative"))[n % 2]
        noun, scene = NOUNS[n % len(NOUNS)], NOUNS[(n // len(NOUNS)) % len(NOUNS)]
        word = words[(n // 2) % len(words)]
        pairs.append((f"a {word} {noun} about the number {n} and a {scene}", label))
    return pairs


def text_in(body: Any) -> str:
    """Return the text in the default prompt."""
    content = str(body["messages"][-1]["content"])
    return content.partition(START)[2].partition("\n\nLabel:")[0] if START in content else content


def reply_with(content: str | None, body: Any, **message: Any) -> dict[str, Any]:
    """Write an answer as servers of this interface do."""
    read = sum(len(str(m["content"]).split()) for m in body["messages"])
    usage = {"prompt_tokens": read, "completion_tokens": len((content or "").split())}
    choice = {"index": 0, "finish_reason": "stop"}
    choice |= {"message": {"role": "assistant", "content": content, **message}}
    return {"object": "chat.completion", "choices": [choice], "usage": usage}


def judge(body: Any) -> dict[str, Any]:
    """Answer in words with the label that the classifier gives."""
    (label,) = classifier().predict([text_in(body)])
    return reply_with(f"**{label.capitalize()}.**", body)


@dataclass
class ChatServer:
    """A server that answers by `reply(body)`; bytes are sent as they are."""

    url: str = ""
    reply: Callable[[Any], Any] = judge
    bodies: list[Any] = field(default_factory=list)
    headers: list[dict[str, str]] = field(default_factory=list)
    most: int | None = None
    """After so many answers it is down: status 500."""

    @property
    def spec(self) -> str:
        return f"chat:{self.url}?model=tiny"

    def asked(self) -> Counter[str]:
        """Count how often each text was asked."""
        return Counter(map(text_in, self.bodies))


@contextmanager
def serving(**settings: Any) -> Iterator[ChatServer]:
    """Run a server on loopback."""
    state = ChatServer(**settings)

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
            is_down = state.most is not None and len(state.bodies) >= state.most
            status, content = 500, b"down"
            if not is_down:
                state.bodies.append(body)
                state.headers.append(dict(self.headers))
                answer = state.reply(body)
                status, answer = answer if isinstance(answer, tuple) else (200, answer)
                content = answer if isinstance(answer, bytes) else json.dumps(answer).encode()
            try:
                self.send_response(status)
                self.send_header("Content-Length", str(len(content)))
                self.end_headers()
                self.wfile.write(content)
            except OSError:
                return  # the client has given up, or was killed

        def log_message(self, *_: Any) -> None:
            return

    http = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    thread = threading.Thread(target=http.serve_forever, kwargs={"poll_interval": 0.01})
    thread.start()
    state.url = f"http://127.0.0.1:{http.server_port}/v1"
    try:
        yield state
    finally:
        http.shutdown()
        http.server_close()
        thread.join()

"""A classifier behind HTTP on loopback that writes down every text it is asked.

python benchmarks/counting.py LOG       prints its port, and answers until it is killed
"""

from __future__ import annotations

import hashlib
import json
import math
import sys
import threading
import time
from contextlib import suppress
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

DELAY = 0.002  # seconds a request takes, so that a kill finds some under way


def scores(text: str) -> list[float]:
    """Score a text by a fixed weight for every word, drawn from the word's hash."""
    logit = sum(_weight(word) for word in text.lower().split())
    positive = 1 / (1 + math.exp(-logit))
    return [1 - positive, positive]


def _weight(word: str) -> float:
    return int.from_bytes(hashlib.sha256(word.encode()).digest()[:4], "big") / 2**31 - 1


def serve(log: Path) -> int:
    """Answer until killed; every text asked is a line of the log before it is answered."""
    lock, out = threading.Lock(), log.open("a", encoding="utf-8")

    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"
        wbufsize = -1  # headers and body in one packet

        def do_POST(self) -> None:
            texts = json.loads(self.rfile.read(int(self.headers["Content-Length"])))["texts"]
            with lock:
                out.writelines(json.dumps(text) + "\n" for text in texts)
                out.flush()
            time.sleep(DELAY)
            body = json.dumps({"scores": [scores(text) for text in texts]}).encode()
            self.send_response(200)
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, format: str, *args: Any) -> None:
            """Say nothing: the log file says it all."""

        def handle(self) -> None:
            # The other side may be killed, perhaps in the middle of asking.
            with suppress(ConnectionError, ValueError):
                super().handle()

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    print(server.server_port, flush=True)
    server.serve_forever()
    return 0


@dataclass
class Log:
    """What a target was asked so far, read from its log file as it grows."""

    path: Path
    asked: list[str] = field(default_factory=list)
    distinct: set[str] = field(default_factory=set)
    _at: int = 0

    def read(self) -> Log:
        """Take in what was written since the last look, whole lines only."""
        if self.path.exists():
            with self.path.open("rb") as file:
                file.seek(self._at)
                whole, end, _ = file.read().rpartition(b"\n")
            self._at += len(whole) + len(end)
            fresh = [json.loads(line) for line in whole.splitlines()]
            self.asked += fresh
            self.distinct.update(fresh)
        return self


if __name__ == "__main__":
    sys.exit(serve(Path(sys.argv[1])))

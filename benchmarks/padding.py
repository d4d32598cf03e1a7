"""Passes over texts of many lengths against passes of one length; writes benchmarks/padding.json.

Both are of the same run, on the same texts, in turns; a network that declares `ignores_padding`
computes the same bits in both. `python benchmarks/padding.py` takes a minute.
"""

from __future__ import annotations

import json
import time
from collections.abc import Callable
from pathlib import Path
from statistics import median
from typing import Any

import numpy as np
import torch

from brittle.data import load
from brittle.moves import EditRequest, EditSpace
from brittle.text import Text
from brittle.zoo.gradients import GradientPasses
from brittle.zoo.names import grid
from brittle.zoo.names.settings import NetworkSettings
from brittle.zoo.networks import build
from brittle.zoo.scoring import NetworkModel, build_tokenizer
from brittle.zoo.tokenizers import WordTokenizer

NAMES = ("LSTM-W-Random-1", "LSTM-W-Random-1-max", "BiLSTM-W-Random-1", "BiLSTM-W-Random-1-max")
CNNS = ("CNN-W-Random-1", "CNN-W-Random-1-last")
ROUNDS, TEXTS, SCORED = 7, 64, 256


def model(name: str, texts: list[Text]) -> NetworkModel:
    """Build a network of the default size with random weights."""
    design = grid.design(name)
    settings = grid.settings(design)
    assert isinstance(settings, NetworkSettings)
    vocabulary = WordTokenizer.of(texts)
    torch.manual_seed(0)
    network = build(design.parts, settings, len(vocabulary), 3, 2)
    tokenizer = build_tokenizer(design.parts, settings, vocabulary, [])
    return NetworkModel(network, tokenizer, settings.max_length, "cpu")


def seconds(compute: Callable[[], Any]) -> float:
    start = time.perf_counter()
    compute()
    return time.perf_counter() - start


def compare(name: str, texts: list[Text]) -> dict[str, Any]:
    """Measure both ways in turns; return medians in milliseconds, and their ratios."""
    built = model(name, texts)
    built._fast = None  # torch's own pass
    passes, keys = GradientPasses(built), built.encode(texts[:SCORED])
    space = EditSpace("words")
    requests = [EditRequest(t, 0, None, space, range(len(t))) for t in texts[:TEXTS]]
    ways: dict[str, Callable[[], Any]] = {
        "gradients": lambda: list(passes.compute(requests)),
        "scores": lambda: built.logits(keys),
    }
    out: dict[str, Any] = {}
    for what, compute in ways.items():
        times: dict[bool, list[float]] = {True: [], False: []}
        for _ in range(ROUNDS):
            for many_lengths in (True, False):
                built.network.ignores_padding = many_lengths
                times[many_lengths].append(seconds(compute))
        many, one = (1000 * median(times[way]) for way in (True, False))
        out[what] = {"one_length_ms": round(one, 1), "many_lengths_ms": round(many, 1)}
        out[what]["ratio"] = round(one / many, 2)
    rows = []
    for many_lengths in (True, False):
        built.network.ignores_padding = many_lengths
        rows.append(built.logits(keys))
    out["equal_bits"] = bool(np.array_equal(*rows))
    built.close()
    return out


def main() -> None:
    examples = list(load("mr", split="test"))[:SCORED]
    texts = [Text.of(dict(example.fields)) for example in examples]
    table = {name: compare(name, texts) for name in (*NAMES, *CNNS)}
    content = {"texts": {"gradients": TEXTS, "scores": SCORED}, "networks": table}
    text = json.dumps(content, indent=1) + "\n"
    Path(__file__).with_suffix(".json").write_text(text, "utf-8")
    print(text)


if __name__ == "__main__":
    main()

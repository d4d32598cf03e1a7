"""How fast candidates are ranked by embedding distance, beside bare forward passes on their rows.

    python benchmarks/embedding_rank.py [--models A,B] [--texts 4] [--words 1000] [--repeats 5]

For every model and text, all words of the vocabulary are put in the place of its middle word:
`rows` texts. `bare` is the target's own forward pass on them, from texts to scores,
in calls of as many texts as the attack asks about at once. `ranked` is what gs-ec does: `Embed` by
the engine's broker, and the L1 distances. Both are timed by turns in one process, in seconds of the
processor, of all threads together, so that other programs on the machine count little; the best
times count. `ratio` is the rate of ranking over the bare rate, and should be 0.8 or more. Writes
embedding_rank.json; the models are trained if they are missing.
"""

from __future__ import annotations

import argparse
import json
import time
from collections.abc import Callable
from pathlib import Path
from random import Random
from typing import Any

import numpy as np

from brittle import data
from brittle.asks import Ask, Case, Embed, Try
from brittle.attacks.substitutes import TEXTS_PER_ASK, Best, ByEmbeddingDistance, replacements
from brittle.engine.broker import Broker
from brittle.opening import load_zoo
from brittle.targets.capabilities import make_desks
from brittle.text import Text

MODELS = ("MiniLM", "LSTM-W-Random-1", "BiLSTM-W-Random-1-attention")


def main() -> None:
    """Measure every model, print the rows and write them."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("--models", default=",".join(MODELS))
    parser.add_argument("--texts", type=int, default=4)
    parser.add_argument("--words", type=int, default=1000)
    parser.add_argument("--repeats", type=int, default=5)
    parser.add_argument("--out", type=Path, default=Path(__file__).with_name("embedding_rank.json"))
    args = parser.parse_args()
    rows = []
    for model in args.models.split(","):
        rows.append(measure(model, args.texts, args.words, args.repeats))
        print(rows[-1], flush=True)
    args.out.write_text(json.dumps(rows, indent=1) + "\n")


def measure(model: str, count: int, words: int, repeats: int) -> dict[str, Any]:
    """Time both ways on the same rows, by turns."""
    target = load_zoo(f"zoo:{model}@mr", mask="pad")
    vocabulary = target.vocabulary[:words]
    taken = data.load("mr").take(count, seed=0)
    texts = [Text.of(dict(example.fields)) for example in taken.examples]
    rows = sum(len(replacements(vocabulary, text.words[middle(text)])) for text in texts)
    times: dict[str, list[float]] = {"bare": [], "ranked": []}
    for _ in range(repeats):
        times["bare"].append(timed(lambda: score_candidates(target, texts, vocabulary)))
        times["ranked"].append(timed(lambda: rank_candidates(target, texts, vocabulary)))
    target.close()
    rate = {name: rows / min(seconds) for name, seconds in times.items()}
    ratio = rate["ranked"] / rate["bare"]
    rounded = {f"{name}_per_cpu_second": round(value) for name, value in rate.items()}
    return {"model": model, "rows": rows, **rounded, "ratio": round(ratio, 2)}


def middle(text: Text) -> int:
    return len(text) // 2


def timed(call: Callable[[], None]) -> float:
    start = time.process_time()
    call()
    return time.process_time() - start


def score_candidates(target: Any, texts: list[Text], vocabulary: tuple[str, ...]) -> None:
    """Score all candidates by the target's own method, in the parts that an attack asks about."""
    for text in texts:
        candidates = text.swaps(0, replacements(vocabulary, text.words[middle(text)]))
        for start in range(0, len(candidates), TEXTS_PER_ASK):
            target.scores(candidates[start : start + TEXTS_PER_ASK])


def rank_candidates(target: Any, texts: list[Text], vocabulary: tuple[str, ...]) -> None:
    """Rank all candidates as the attack does, with a broker that remembers nothing yet."""
    broker = Broker(make_desks(target))
    attack = ByEmbeddingDistance(vocabulary)
    for text in texts:
        search = attack(Case("one", text), Best(text, 0.0), middle(text), Random(0))
        ask: Ask[Any] = next(search)
        while isinstance(ask, Embed):
            payloads, _ = broker.answer(ask.question, ask.items)
            ask = search.send(payloads)
        assert isinstance(ask, Try)
    broker.close()


if __name__ == "__main__":
    np.seterr(all="raise")
    main()

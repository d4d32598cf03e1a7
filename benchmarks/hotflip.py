"""HotFlip measured: on words against TextAttack's, on characters against the bare network.

Words, on an LSTM, as many as two of a sentence, with nothing asked of their meaning. Both sides
follow ten texts. TextAttack takes the ten best swaps of each text by its gradient, tries them all,
and follows the ten with the highest score; brittle ranks the swaps of all ten texts together, by
the sum of their gains, and tries the ten best.

Characters, on a CharCNN-LSTM, with the paper's constraints. The texts whose gradients a run takes
are written down, and the bare network passes over the same ones, forward and back, sorted by
length, in batches of the best of several sizes.
"""

from __future__ import annotations

import statistics
import sys
from dataclasses import replace
from typing import Any

import gradients
import ours
import workload
from brittle.opening import load_zoo as load
from brittle.training import find
from compare import Bench, middle, overlap

WORD_MODEL, CHARACTER_MODEL = "LSTM-W-Random-1", "CharCNN-LSTM"
CONSTRAINED_MODEL = "LSTM-W-GloVe-1"
"""The paper's constraints ask for words of near vectors: random vectors have none."""
FREE = {"cosine": 0.0, "same_tag": False, "stop_words": True, "other_lexeme": False}
SAME = {"words": 2, "beam": 10}
CANDIDATES = 10
"""How many swaps of a text TextAttack tries. Its recipe says 1, so that its beam never widens."""
SIZES = (1, 8, 16, 32, 64, 128, 256)
NAIVE = 3
"""How many sentences the search by exact loss looks at: it takes seconds for each."""


def measure(bench: Bench) -> dict[str, Any]:
    """Measure both, and say what with."""
    measured = {"words": words(bench), "characters": characters(bench)}
    versions = measured["words"]["peer"]["versions"]
    return measured | {"sentences": len(bench.dataset.examples), "versions": versions}


def words(bench: Bench) -> dict[str, Any]:
    """Attack the same LSTM on both sides."""
    _say("hotflip words")
    target = load(f"zoo:{WORD_MODEL}@mr")
    attack = "hotflip-words"
    few = replace(bench.dataset, examples=bench.dataset.examples[:4])
    ours.attack(target, few, attack, **SAME, **FREE)  # imports and first calls are not timed
    free = [
        ours.attack(target, bench.dataset, attack, **SAME, **FREE) for _ in range(bench.repeats)
    ]
    target.close()
    mine, theirs = middle(free), _peer(bench)
    ratio = theirs["seconds"] / mine["seconds"]
    _say(f"  {ratio:.1f}×")
    return {
        "model": WORD_MODEL,
        "settings": SAME | FREE,
        "ratio": ratio,
        "overlap": overlap(mine, theirs),
        "ours": mine,
        "peer": theirs,
    }


def constrained(bench: Bench) -> dict[str, Any]:
    """Attack words with the paper's constraints; this is about success, so once is enough."""
    _say("hotflip words, with the paper's constraints")
    target = load(f"zoo:{CONSTRAINED_MODEL}@mr")
    run = ours.attack(target, bench.dataset, "hotflip-words", **SAME)
    target.close()
    return {"model": CONSTRAINED_MODEL, "settings": SAME} | {
        name: run[name] for name in ("broken", "attacked", "words_changed", "queries")
    }


def _peer(bench: Bench) -> dict[str, Any]:
    """Let TextAttack have one thread of torch's and then two, and count the quicker."""
    target = {"kind": "lstm", "folder": str(find(WORD_MODEL, "mr"))}
    settings = SAME | {"candidates": CANDIDATES}
    runs = [
        bench.peer("hotflip", target, bench.dataset, settings=settings, torch_threads=threads)
        | {"torch_threads": threads, "candidates": CANDIDATES}
        for threads in range(1, workload.THREADS + 1)
    ]
    return min(runs, key=lambda run: float(run["seconds"]))


def characters(bench: Bench) -> dict[str, Any]:
    """Set the gradient passes of a real run against those of the bare network."""
    _say("hotflip characters")
    target = load(f"zoo:{CHARACTER_MODEL}@mr")
    watched = gradients.Watched(target)
    ours.attack(watched, bench.dataset, "hotflip")  # also warms up
    rows, passed = watched.rows(), gradients.backward(target)
    runs, bare, plain = [], [], []
    for _ in range(bench.repeats):
        runs.append(ours.attack(target, bench.dataset, "hotflip"))
        bare.append(ours.bare(passed, rows, SIZES[1:], target.parallel, gradients.row_size))
        plain.append(ours.bare(ours.plain(target), watched.keys, SIZES[1:], target.parallel))
    single = ours.bare(passed, rows, SIZES[:1], target.parallel, gradients.row_size)
    few = {request.text.key: request for request in watched.requests}
    exact = gradients.naive(target, list(few.values())[:NAIVE], SIZES[-1])
    target.close()
    mine = middle(runs)
    ratios = [row["seconds"] / run["seconds"] for run, row in zip(runs, bare)]
    whole = [(a["seconds"] + b["seconds"]) / run["seconds"] for run, a, b in zip(runs, bare, plain)]
    row = {
        "model": CHARACTER_MODEL,
        "passes": len(rows),
        "passes_per_second": len(rows) / mine["seconds"],
        "bare_seconds": statistics.median(row["seconds"] for row in bare),
        "bare_batch": bare[-1]["batch"],
        "ratio": statistics.median(ratios),
        "forward_rows": len(watched.keys),
        "forward_seconds": statistics.median(row["seconds"] for row in plain),
        "ratio_with_forward": statistics.median(whole),
        "single_seconds": single["seconds"],
        "over_single": single["seconds"] / mine["seconds"],
        "exact": exact,
        "ours": mine,
    }
    _say(f"  {row['ratio']:.2f} of the bare network")
    return row


def _say(message: str) -> None:
    print(message, file=sys.stderr, flush=True)

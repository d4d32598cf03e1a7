"""Fit the score of careful substitutes to swaps that a language model judged.

    python scripts/fit_careful.py [benchmarks/judged_swaps.json]

The file lists swaps of single words, without their sentences: kind of text, sample, word, tag,
substitute, how it fits its neighbours, and whether the model accepted it (a person would write it;
label, meaning and grammar are kept). Swaps that broke a model count double: they are what a reader
of attacks sees. It prints the numbers that stand in src/brittle/candidates/careful.py, and how well
they predict judgements that they were not fitted to: no word is in two of the ten folds.
"""

from __future__ import annotations

import argparse
import json
import sys
from pathlib import Path
from random import Random
from typing import Any

import numpy as np
import numpy.typing as npt

from brittle.candidates.careful import MIN_FLUENCY, Place, evidence_of

JUDGED = Path(__file__).parent.parent / "benchmarks" / "judged_swaps.json"
FOLDS = 10
RIDGE = 4.0
BROKE = "broke"
BROKE_WEIGHT = 2.0
STEPS = (0.4, 0.45, 0.5, 0.6, 0.7, 0.75, 0.8, 0.85)
NAMES = ("a shared sense", "a near word", "share of the sense", "its share for the substitute")
NAMES += ("listed", "listed, similarity in GloVe", "listed with both", "similarity", "rank")
NAMES += ("how much rarer", "read: mostly", "read: sometimes", "read: never")
NAMES += ("before it", "after it", "in a compound")
PLACES = 3

Doubles = npt.NDArray[np.float64]
Swap = dict[str, Any]


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("judged", type=Path, nargs="?", default=JUDGED)
    args = parser.parse_args()
    everything = json.loads(args.judged.read_text("utf-8"))["swaps"]
    swaps, features = known(everything)
    accepted = np.array([float(swap["accepted"]) for swap in swaps])
    weight = np.array([BROKE_WEIGHT if swap["sample"] == BROKE else 1.0 for swap in swaps])
    print(
        f"{len(everything)} swaps, {len(swaps)} of them candidates, {accepted.mean():.0%} accepted"
    )
    weights = fit(features, accepted, weight)
    print_weights(weights)
    held_out = cross_validated(features, accepted, weight, [swap["word"] for swap in swaps])
    former = np.array([swap["former"] for swap in swaps])
    samples = np.array([swap["sample"] for swap in swaps])
    for name, scores in (("the former score", former), ("this score", held_out)):
        for sample in (BROKE, "held"):
            chosen = samples == sample
            print(f"{name}, swaps that {sample} ({chosen.sum()}):")
            print_steps(scores[chosen], accepted[chosen])
    print_readings(everything)
    return 0


def known(swaps: list[Swap]) -> tuple[list[Swap], Doubles]:
    """Keep the swaps that are candidates and fluent, with their features."""
    kept, rows = [], []
    for swap in swaps:
        place = Place(swap["left"], swap["right"], bool(swap["compound"]))
        found = [e for e in evidence_of(swap["word"], swap["tag"]) if e.form == swap["form"]]
        if found and place.left + place.right >= MIN_FLUENCY:
            kept.append(swap)
            rows.append(found[0].features() + place.features())
    return kept, np.array(rows)


def fit(features: Doubles, accepted: Doubles, weight: Doubles) -> Doubles:
    """Fit logistic regression by Newton's method, with a small penalty on standardised weights."""
    spread = features.std(axis=0)
    spread[spread == 0] = 1
    design = np.column_stack([np.ones(len(features)), features / spread])
    penalty = np.diag([0.0] + [RIDGE] * features.shape[1])
    weights = np.zeros(design.shape[1])
    for _ in range(50):
        chance = 1 / (1 + np.exp(-design @ weights))
        gradient = design.T @ (weight * (accepted - chance)) - penalty @ weights
        curvature = (design * (weight * chance * (1 - chance))[:, None]).T @ design + penalty
        weights = weights + np.linalg.solve(curvature, gradient)
    return np.append(weights[0], weights[1:] / spread)


def cross_validated(
    features: Doubles, accepted: Doubles, weight: Doubles, words: list[str]
) -> Doubles:
    """Score every swap by weights that were fitted to the folds without its word."""
    order = sorted(set(words))
    Random(0).shuffle(order)
    fold_of = {word: n % FOLDS for n, word in enumerate(order)}
    folds = np.array([fold_of[word] for word in words])
    scores = np.zeros(len(accepted))
    for fold in range(FOLDS):
        out = folds == fold
        weights = fit(features[~out], accepted[~out], weight[~out])
        scores[out] = 1 / (1 + np.exp(-(weights[0] + features[out] @ weights[1:])))
    return scores


def print_weights(weights: Doubles) -> None:
    rounded = [f"{w:.2f}" for w in weights]
    print(f"INTERCEPT = {rounded[0]}")
    print(f"WEIGHTS = ({', '.join(rounded[1:-PLACES])})")
    print(f"PLACE_WEIGHTS = ({', '.join(rounded[-PLACES:])})")
    for name, weight in zip(NAMES, weights[1:]):
        print(f"  {name}: {weight:+.2f}")


def print_readings(swaps: list[Swap]) -> None:
    """Print what was accepted of the swaps that broke a model, as each level offered them then."""
    rows: dict[tuple[int, str, str], list[int]] = {}
    for swap in swaps:
        for level in swap.get("level", ()) if swap["sample"] == BROKE else ():
            for kind in ("all", swap["kind"]):
                rows.setdefault((swap["reading"], level, kind), []).append(swap["accepted"])
    for (reading, level, kind), verdicts in sorted(rows.items()):
        print(f"reading {reading}, {level}, {kind}: {sum(verdicts)} of {len(verdicts)} accepted")


def print_steps(scores: Doubles, accepted: Doubles) -> None:
    for least in STEPS:
        kept = scores >= least
        share = accepted[kept].mean() if kept.any() else np.nan
        found = accepted[kept].sum() / accepted.sum()
        print(
            f"  score ≥ {least}: {kept.sum()} kept, {share:.0%} accepted, {found:.0%} of all good"
        )


if __name__ == "__main__":
    sys.exit(main())

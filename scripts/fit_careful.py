"""Fit the score of careful substitutes to swaps that one reader judged.

    python scripts/fit_careful.py [benchmarks/judged_swaps.json]

The file lists swaps of words in sentences of mr's train split: case id, position, substitute, and
whether the reader accepted it (1: a person would write it; meaning and grammar are kept). It prints
the intercept and the weights that stand in src/brittle/proposals/careful.py, and how well they
predict judgements that they were not fitted to, by ten-fold cross-validation.
"""

from __future__ import annotations

import argparse
import json
import sys
from pathlib import Path
from random import Random

import numpy as np
import numpy.typing as npt

from brittle import data
from brittle.data import case_ids
from brittle.english.bigrams import bigrams
from brittle.english.tags import Tagger
from brittle.proposals.careful import MIN_FLUENCY, Evidence, evidence_of, neighbours
from brittle.text import Text

JUDGED = Path(__file__).parent.parent / "benchmarks" / "judged_swaps.json"
FOLDS = 10
RIDGE = 1.0
NAMES = ("a shared sense", "its number", "its number for the substitute", "senses of the word")
NAMES += ("listed", "listed, similarity in GloVe", "similarity", "fluency")

Doubles = npt.NDArray[np.float64]


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("judged", type=Path, nargs="?", default=JUDGED)
    args = parser.parse_args()
    features, accepted = load(json.loads(args.judged.read_text("utf-8")))
    print(f"{len(accepted)} swaps, {accepted.mean():.0%} of them accepted")
    weights = fit(features, accepted)
    print(f"INTERCEPT = {weights[0]:.2f}")
    print(f"WEIGHTS = ({', '.join(f'{w:.2f}' for w in weights[1:])})")
    for name, weight in zip(NAMES, weights[1:]):
        print(f"  {name}: {weight:+.2f}")
    held_out = cross_validated(features, accepted)
    for least in (0.3, 0.4, 0.5, 0.6, 0.7, 0.8):
        kept = held_out >= least
        share, found = accepted[kept].mean(), accepted[kept].sum() / accepted.sum()
        print(
            f"score ≥ {least}: {kept.sum()} kept, {share:.0%} accepted, {found:.0%} of all accepted"
        )
    return 0


def load(judged: list[tuple[str, int, str, int]]) -> tuple[Doubles, Doubles]:
    """Compute the features of every judged swap that the proposal knows and that is fluent."""
    train = data.load("mr", split="train").examples
    texts = {case: Text.of(e.fields[0][1]) for case, e in zip(case_ids(train), train)}
    rows, accepted = [], []
    for case, position, form, is_accepted in judged:
        text = texts[case]
        tag = Tagger().tags([text])[0][position]
        word = str(text.words[position]).lower()
        before, after = list(neighbours(text))[position]
        fluency = bigrams().gain(before, word, form, after)
        evidence = next((e for e in evidence_of(word, tag) if e.form == form), None)
        if isinstance(evidence, Evidence) and fluency >= MIN_FLUENCY:
            rows.append(evidence.features(fluency))
            accepted.append(float(is_accepted))
    return np.array(rows), np.array(accepted)


def fit(features: Doubles, accepted: Doubles) -> Doubles:
    """Fit logistic regression by Newton's method, with a small penalty on standardised weights."""
    spread = features.std(axis=0)
    spread[spread == 0] = 1
    design = np.column_stack([np.ones(len(features)), features / spread])
    penalty = np.diag([0.0] + [RIDGE] * features.shape[1])
    weights = np.zeros(design.shape[1])
    for _ in range(50):
        chance = 1 / (1 + np.exp(-design @ weights))
        gradient = design.T @ (accepted - chance) - penalty @ weights
        curvature = (design * (chance * (1 - chance))[:, None]).T @ design + penalty
        weights = weights + np.linalg.solve(curvature, gradient)
    return np.append(weights[0], weights[1:] / spread)


def cross_validated(features: Doubles, accepted: Doubles) -> Doubles:
    """Score every swap by weights that were fitted to the other folds."""
    order = list(range(len(accepted)))
    Random(0).shuffle(order)
    scores = np.zeros(len(accepted))
    for fold in range(FOLDS):
        out = np.array(order[fold::FOLDS])
        others = np.setdiff1d(order, out)
        weights = fit(features[others], accepted[others])
        scores[out] = 1 / (1 + np.exp(-(weights[0] + features[out] @ weights[1:])))
    return scores


if __name__ == "__main__":
    sys.exit(main())

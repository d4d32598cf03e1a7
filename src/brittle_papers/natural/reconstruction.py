"""What a generator keeps of items: whether targets predict the same for G(I(x)) as for x.

Where they do not, a search that never looks at the reconstruction finds an adversary at distance 0.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from brittle.attacks.natural import open_part, placed
from brittle.data import Dataset
from brittle.generators import open_generator
from brittle.kinds import kind_named
from brittle.opening import load_zoo
from brittle.studies.robustness.case import Predictor

ITEMS_PER_PASS = 512


@dataclass(frozen=True)
class Reconstruction:
    """For every target, whether it predicts the same for each item and its reconstruction."""

    generator: str
    kept: Mapping[str, tuple[bool, ...]]


def items_of(dataset: Dataset) -> list[Any]:
    """Return the items of examples."""
    kind = kind_named(dataset.kind)
    return [kind.item(dict(example.fields), example.locked) for example in dataset]


def rebuild(items: Sequence[Any], generator: str, refine: int = 0) -> tuple[str, list[Any]]:
    """Return the name of a generator and G(I(x)) of items; with `refine` I(x) is improved first."""
    maker: Any = open_generator(generator, refine)
    rebuilt: list[Any] = []
    try:
        for start in range(0, len(items), ITEMS_PER_PASS):
            part = items[start : start + ITEMS_PER_PASS]
            decoded = maker.decode(maker.encode([open_part(item) for item in part]))
            rebuilt += [placed(item, copy) for item, copy in zip(part, decoded)]
    finally:
        maker.close()
    return str(maker.name), rebuilt


def labels_kept(
    targets: Mapping[str, str], dataset: Dataset, generator: str, refine: int = 0
) -> Reconstruction:
    """Compare the predictions of models of the zoo before and after a generator."""
    items = items_of(dataset)
    name, rebuilt = rebuild(items, generator, refine)
    kept = {}
    for target, spec in targets.items():
        opened = load_zoo(spec)
        try:
            predict = Predictor(opened)
            is_kept: Any = predict(items) == predict(rebuilt)
        finally:
            opened.close()
        kept[target] = tuple(bool(same) for same in np.asarray(is_kept))
    return Reconstruction(name, kept)

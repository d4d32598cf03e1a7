"""The cases of a grid: the first texts, in the seed's order, that every target gets right."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

from brittle.answers import plain_label
from brittle.data import Dataset
from brittle.errors import UsageError
from brittle.targets.labels import match_labels

TEXTS_PER_CASE, MIN_BLOCK = 4, 64

LabelBlock = Callable[[Dataset, str], Mapping[str, Sequence[int]]]
"""Returns, by target, the index of the label of every text of a block; the block has a name."""


@dataclass(frozen=True)
class ChosenCases:
    """The texts that are attacked, out of `scored` ones, of which each target has `right` right."""

    dataset: Dataset
    scored: int
    right: Mapping[str, int]


def choose_cases(
    dataset: Dataset,
    label_maps: Mapping[str, Mapping[str, int]],
    label_block: LabelBlock,
    *,
    limit: int,
    seed: int,
    all_right: bool,
) -> ChosenCases:
    """Label texts in blocks until `limit` of them are right on every target, or none is left.

    `label_maps` have, by target, the index of every label of the data. Without `all_right` the
    first `limit` texts are the cases. A target that is missing in an answer no longer counts.
    """
    order = dataset.take(len(dataset), seed).examples
    size = max(TEXTS_PER_CASE * limit, MIN_BLOCK) if all_right else limit
    chosen, scored, right = [], 0, dict.fromkeys(label_maps, 0)
    for name, start in _blocks(len(order), size):
        block = order[start : start + size]
        predicted = label_block(replace(dataset, examples=block), name)
        right = {target: right[target] for target in predicted}
        scored += len(block)
        for n, example in enumerate(block):
            hits = [t for t in predicted if predicted[t][n] == label_maps[t][str(example.label)]]
            for target in hits:
                right[target] += 1
            if len(hits) == len(predicted) or not all_right:
                chosen.append(example)
        if len(chosen) >= limit or not predicted:
            break
    return ChosenCases(replace(dataset, examples=tuple(chosen[:limit])), scored, right)


def _blocks(count: int, size: int) -> Iterator[tuple[str, int]]:
    for start in range(0, count, size):
        yield f"texts {start + 1} to {min(start + size, count)}", start


def map_labels(labels: Mapping[str, Sequence[str]], dataset: Dataset) -> dict[str, dict[str, int]]:
    """Return, by target, the index of every label of the data; two targets that differ are refused.

    The order of the labels may differ.
    """
    maps = {}
    first = next(iter(labels))
    for target, own in labels.items():
        if _names(own) != _names(labels[first]):
            raise UsageError(
                f"The targets of a grid need the same labels: {first!r} has "
                f"{', '.join(labels[first])}; {target!r} has {', '.join(own)}. Leave one out."
            )
        try:
            maps[target] = match_labels(dataset.labels, own)
        except UsageError as error:
            raise UsageError(
                f"The labels of the data ({', '.join(dataset.labels)}) are not those of the target "
                f"{target!r} ({', '.join(own)}). Give them the same names in the data."
            ) from error
    return maps


def _names(labels: Sequence[str]) -> set[str]:
    return set(map(plain_label, labels))

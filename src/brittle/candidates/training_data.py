"""Labelled data that candidates are learned from, and which class of the target a label means."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from functools import lru_cache
from typing import TypeVar

from brittle import data
from brittle.answers import find_label
from brittle.data.catalogue import CATALOGUE
from brittle.data.columns import Columns
from brittle.data.example import Example
from brittle.data.files import split_files
from brittle.errors import UsageError

Learned = TypeVar("Learned")
Learn = Callable[[Sequence[Example], Sequence[str], Mapping[str, str] | None], Learned]
"""Learns from examples for a target's labels, with a map from labels of the data to them."""


def learn_once(
    learn: Learn[Learned],
    what: str,
    learn_from: str | None,
    labels: Sequence[str],
    label_map: Mapping[str, str] | None = None,
    columns: Columns | None = None,
) -> Learned:
    """Learn `what` once a process: from a file, or from the train split of a data set by name."""
    learned: Learned = _learn(
        learn, what, learn_from, tuple(labels), tuple((label_map or {}).items()), columns
    )
    return learned


@lru_cache(maxsize=8)
def _learn(
    learn: Learn[Learned],
    what: str,
    learn_from: str | None,
    labels: tuple[str, ...],
    label_map: tuple[tuple[str, str], ...],
    columns: Columns | None,
) -> Learned:
    return learn(load_training_data(learn_from, what, columns), labels, dict(label_map))


def load_training_data(
    learn_from: str | None, what: str, columns: Columns | None = None
) -> Sequence[Example]:
    """Load a file, or the train split of a folder or of a data set by name, to learn `what`.

    A file is read by the `columns` of the data that is attacked; one that does not have them, by
    the usual ones.
    """
    if learn_from is None:
        raise UsageError(
            f"This attack learns its {what} from labelled data, but the attacked data is "
            "not a data set of the catalogue. Name training data with --learn-from, for "
            "example --learn-from train.csv."
        )
    if learn_from in CATALOGUE:
        return data.load(learn_from, split="train").examples
    split = "train" if split_files(learn_from) else None
    if columns is None:
        return data.load(learn_from, split=split).examples
    try:
        text, label = columns.text, columns.label
        return data.load(learn_from, split=split, text=text, label=label).examples
    except UsageError as error:
        with suppress(UsageError):
            return data.load(learn_from, split=split).examples
        raise error


def find_class(
    label: str, labels: Sequence[str], label_map: Mapping[str, str] | None = None
) -> int | None:
    """Return the index of the target's class that a label of the data means, if there is one.

    `label_map` tells which of the target's `labels` a label of the data means, if their names
    differ; a label that is not in it keeps its name. Names match as `find_label` matches them.
    """
    meant = list((label_map or {}).values())
    number = find_label(label, list(label_map or {}))
    return find_label(label if number is None else meant[number], labels)

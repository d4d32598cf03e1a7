"""Labelled data that a proposal learns from, and which class of the target a label means."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import suppress

from brittle import data
from brittle.answers import find_label
from brittle.data.catalogue import CATALOGUE
from brittle.data.columns import Columns
from brittle.data.example import Example
from brittle.data.folders import split_files
from brittle.errors import UsageError


def load_training_data(
    learn_from: str | None, what: str, columns: Columns | None = None
) -> Sequence[Example]:
    """Load a file, or the train split of a folder or of a data set by name, to learn `what`.

    A file is read by the `columns` of the data that is attacked; one that does not have them, by
    the usual ones.
    """
    if learn_from is None:
        raise UsageError(
            f"This attack learns its {what} from labelled data, and the data attacked is not of "
            "the catalogue. Name some with --learn-from, for example --learn-from train.csv."
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

"""Data sets: by name, from files, from a hub, or built from Python objects."""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from brittle.data import catalogue, files, hub, pictures
from brittle.data.catalogue import Entry
from brittle.data.dataset import Dataset, labels_of
from brittle.data.example import Example, as_examples, case_ids, kind_of
from brittle.data.pictures import MNIST, PictureEntry
from brittle.data.rows import merge_labels, unused_labels_of
from brittle.errors import UsageError, unknown

__all__ = [
    "Dataset",
    "Entry",
    "Example",
    "PictureEntry",
    "as_dataset",
    "as_examples",
    "case_ids",
    "has_splits",
    "load",
    "names",
    "training_split",
]


def as_dataset(examples: Any) -> Dataset:
    """Return a data set from its name, from a list of examples, or as it is."""
    if isinstance(examples, Dataset):
        return examples
    if isinstance(examples, str):
        return load(examples)
    rows, merged = merge_labels(as_examples(examples))
    warnings = (*merged, *unused_labels_of(examples, rows))
    return Dataset("examples", "all", rows, labels_of(rows), warnings, kind=kind_of(rows))


def load(
    source: str | os.PathLike[str],
    *,
    split: str | None = None,
    text: Sequence[str] | None = None,
    label: str | None = None,
    locked: Sequence[str] = (),
    limit: int | None = None,
    seed: int = 0,
    skip_bad: bool = False,
) -> Dataset:
    """Load a data set: a name of the catalogue, a file, a folder, or `hf:NAME`.

    `text` names the text columns (several make a pair), `label` the column of the label ("" takes
    the data as unlabelled), `locked` the text columns that no attack may edit. The default split is
    "test"; a file has no splits, and a folder of tables a file for each. `limit` takes the first
    examples of a seeded permutation. All problems of a table are one error; with `skip_bad` its bad
    rows are left out, and `Dataset.left_out` and a warning say how many of which kind.
    """
    source = os.fspath(source)
    text, locked = _column_names(text), _column_names(locked) or ()
    if source.startswith(hub.PREFIX):
        dataset = hub.load(source, split, text, label, locked, skip_bad)
    elif source in catalogue.CATALOGUE:
        dataset = _load_known(source, split, text, label, locked)
    elif source == MNIST.name or pictures.is_pictures(source):
        dataset = _load_pictures(source, split, text, label, locked)
    elif files.split_files(source):
        dataset = files.load_folder(source, split, text, label, locked, skip_bad)
    elif files.ending(source) or os.sep in source or Path(source).exists():
        if split is not None:
            raise _no_splits(source, split)
        dataset = files.load(source, text, label, locked, catalogue.CATALOGUE, skip_bad)
    else:
        remedy = (
            f"A file ({files.ENDINGS_TEXT}; for pictures .npz, or a folder) or a data set "
            "of the Hugging Face hub (hf:NAME) works too."
        )
        raise unknown("data set", source, [entry.name for entry in names()], remedy)
    return dataset.take(limit, seed)


def names() -> list[Entry | PictureEntry]:
    """List the data sets known by name; str() of each is a line about it. Nothing is loaded."""
    return [*catalogue.DATASETS, MNIST]


def listed_rows() -> list[dict[str, str]]:
    """List the data sets known by name, with their labels, and whether they are installed."""
    return [
        {
            "data": entry.name,
            "what it is": entry.about,
            "labels": ", ".join(entry.labels),
            "package": entry.package,
            "installed": "yes" if entry.installed else "no",
        }
        for entry in names()
    ]


def has_splits(name: str) -> bool:
    """Tell whether a name is that of a data set with a train, a dev and a test split."""
    return any(entry.name == name for entry in names())


def training_split(source: str) -> str | None:
    """Return the split of a data set to train on; None of a file, which has no splits."""
    is_split = has_splits(source) or source.startswith(hub.PREFIX) or files.split_files(source)
    return "train" if is_split else None


def _load_known(
    name: str,
    split: str | None,
    text: Sequence[str] | None,
    label: str | None,
    locked: Sequence[str],
) -> Dataset:
    if text not in (None, ["text"]) or label not in (None, "", "label"):
        raise UsageError(
            f"--text and --label name columns of files; the data set {name!r} has only 'text' "
            "and 'label'. Leave them out."
        )
    if locked:
        raise UsageError(
            f"Locking {', '.join(locked)} leaves nothing to edit: {name!r} has one field, 'text'."
        )
    dataset = catalogue.load(name, split or "test")
    return _unlabelled(dataset) if label == "" else dataset


def _load_pictures(
    source: str,
    split: str | None,
    text: Sequence[str] | None,
    label: str | None,
    locked: Sequence[str],
) -> Dataset:
    if locked:
        raise UsageError(
            f"Locking {', '.join(locked)} leaves nothing to edit: {source!r} has one field, "
            "'picture'."
        )
    if source != MNIST.name:
        if split is not None:
            raise _no_splits(source, split)
        return pictures.load(source, text, label)
    if text or label:
        raise UsageError(
            f"--text and --label name arrays of an .npz file; the data set {source!r} has only "
            "'picture' and 'label'. Leave them out."
        )
    dataset = MNIST.load(split or "test")
    return _unlabelled(dataset) if label == "" else dataset


def _unlabelled(dataset: Dataset) -> Dataset:
    examples = tuple(replace(example, label=None) for example in dataset.examples)
    return replace(dataset, examples=examples, labels=())


def _no_splits(source: str, split: str) -> UsageError:
    return UsageError(
        f"Got the split {split!r} for the file {source}, which has no splits. Leave out "
        "--split, or use the file of that split."
    )


def _column_names(names: Sequence[str] | None) -> list[str] | None:
    """List column names; a string, such as a flag's value, is split at its commas."""
    if names is None:
        return None
    parts = names.split(",") if isinstance(names, str) else names
    return [part.strip() for part in parts if part.strip()]

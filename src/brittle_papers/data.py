"""The data of a paper: loaded from a source, and written as three files, one for each split.

A source is a name of the catalogue, `hf:NAME`, a folder with train.csv and test.csv (dev.csv is
optional, or stands for train.csv; .gz and the other endings of data files are fine), or one file,
which is then divided.
"""

from __future__ import annotations

import csv
import hashlib
from collections.abc import Iterable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from brittle import data
from brittle.data import Dataset, Example
from brittle.data import files as folders
from brittle.data.catalogue import CATALOGUE, divide_by
from brittle.data.files import ENDINGS, ENDINGS_TEXT
from brittle.errors import UsageError
from brittle.safety.files import make_private_folder, replacing
from brittle.text import split as split_text
from brittle.training.splits import (
    TrainingSplits,
    hold_out,
    load_folder,
    part_by_premise,
    short_name,
)
from brittle.workflow.tasks import TaskContext
from brittle_papers.planning import task_function

SPLITS = ("train", "dev", "test")


def reads_files(context: TaskContext, *, source: str, **others: Any) -> bool:
    """Tell whether a source is a file or folder of this machine."""
    return source not in CATALOGUE and not source.startswith("hf:")


def split_files(folder: Path, result: dict[str, Any]) -> list[Path]:
    """Return the files of a data task."""
    return [folder / result["folder"] / f"{split}.csv" for split in SPLITS]


@task_function("brittle.papers.data:write_splits", leaves=split_files, here=reads_files)
def write_splits(
    context: TaskContext,
    *,
    source: str,
    limits: dict[str, Any],
    seed: int,
    content: str,
    text: Sequence[str] = (),
    locked: Sequence[str] = (),
    joined: bool = False,
) -> dict[str, Any]:
    """Write train.csv, dev.csv and test.csv into a new folder, and return what they hold.

    `limits` are the number of examples of each split (None is all), and the `words` after which
    texts are cut. `content` is the digest of the source: the task is run again if files changed.
    `text` names the columns of the text if there are several, `locked` those that no attack edits.
    With `joined` the files of a folder without a train split are joined, and divided anew.
    """
    max_words = limits["words"]
    name = source_name(source)
    folder = f"{context.unique_name}-{name}"
    result: dict[str, Any] = {"name": name, "folder": folder, "words": max_words}
    splits = load_splits(source, text, locked, joined)
    fields = [name for name, _ in splits["train"].examples[0].fields]
    if len(fields) > 1:
        result |= {"fields": fields, "locked": list(splits["train"].examples[0].locked)}
    for split, dataset in splits.items():
        examples = dataset.take(limit_below(limits[split], len(dataset)), seed)
        rows = [
            (*(_cut(value, max_words) for _, value in e.fields), str(e.label)) for e in examples
        ]
        _write(context.folder / folder / f"{split}.csv", (*fields, "label"), rows)
        result[split] = {"examples": len(examples), "of": len(dataset)}
    result["labels"] = list(splits["train"].labels)
    counts = ", ".join(f"{split} {result[split]['examples']:,}" for split in SPLITS)
    return result | {"message": f"{name}: {counts}"}


def limit_below(limit: int | None, size: int) -> int | None:
    """Return the limit, or None if it excludes nothing: the examples then stay in their order."""
    return None if limit is None or limit >= size else limit


def load_split(folder: Path, result: dict[str, Any], split: str) -> Dataset:
    """Load one split from the result of a data task, under the name of its source."""
    file = folder / result["folder"] / f"{split}.csv"
    dataset = data.load(file, text=result.get("fields"), locked=result.get("locked", ()))
    return replace(dataset, name=result["name"], split=split, labels=tuple(result["labels"]))


def load_training_splits(folder: Path, result: dict[str, Any]) -> TrainingSplits:
    """Load the two splits that a model is trained on."""
    train, dev = (load_split(folder, result, split) for split in ("train", "dev"))
    return TrainingSplits(result["name"], train, dev)


def load_splits(
    source: str, text: Sequence[str] = (), locked: Sequence[str] = (), joined: bool = False
) -> dict[str, Dataset]:
    """Load the three splits of a source; a missing dev split is a tenth of the train split.

    Of a folder without a train split the dev split is divided into both; if its files are `joined`,
    all of it is divided as one file is. One file is divided into
    train, dev and test, 80/10/10, by a hash of its texts. Examples of several fields are divided by
    the first: no premise is in two splits, also where the splits are given.
    """
    columns: dict[str, Any] = {"text": text or None, "locked": locked}
    if source in CATALOGUE:
        return {split: data.load(source, split=split, **columns) for split in SPLITS}
    if source.startswith("hf:"):
        loaded = {split: data.load(source, split=split, **columns) for split in ("train", "test")}
        splits = part_by_premise(loaded)
    elif Path(source).is_dir():
        there = _split_files(Path(source))
        if joined and "train" not in there:
            splits = _divide(_join([data.load(file, **columns) for file in there.values()]))
        else:
            splits = load_folder(source, **columns)
    else:
        splits = _divide(data.load(source, **columns))
    if "dev" not in splits:
        splits["train"], splits["dev"] = hold_out(splits["train"])
    return _check_labels({split: splits[split] for split in SPLITS})


def source_name(source: str) -> str:
    """Name a source without its folder.

    >>> source_name("../data/ag_news/"), source_name("reviews.csv.gz"), source_name("imdb")
    ('ag_news', 'reviews', 'imdb')
    """
    return source if source in CATALOGUE else short_name(source.removeprefix("hf:"))


def source_digest(source: str) -> str:
    """Hash the files of a source; a name of data stands for itself."""
    if source in CATALOGUE:
        return CATALOGUE[source].package
    path = Path(source)
    if source.startswith("hf:"):
        return source
    if not path.exists():
        raise UsageError(
            f"There is no data at {source!r}. Expected a folder with train and test files, a data "
            f"file ({ENDINGS_TEXT}), hf:NAME, or one of {', '.join(CATALOGUE)}."
        )
    files = sorted(_split_files(path).values()) if path.is_dir() else [path]
    total = hashlib.sha256()
    for file in files:
        total.update(hashlib.sha256(file.read_bytes()).digest())
    return total.hexdigest()[:16]


def _split_files(folder: Path) -> dict[str, Path]:
    there = folders.split_files(folder)
    for split, needed in (("test", ["test"]), ("train", ["train", "dev"])):
        if not any(name in there for name in needed):
            raise UsageError(
                f"The folder {folder} has no {split} split. Expected {split}{ENDINGS[0]} or "
                f"another data file ({ENDINGS_TEXT}) named {split}."
            )
    return there


def _divide(whole: Dataset) -> dict[str, Dataset]:
    locked = whole.examples[0].locked
    rows = ((example.fields, str(example.label)) for example in whole)
    return {
        split: replace(whole, split=split, examples=tuple(Example(*row, locked) for row in part))
        for split, part in divide_by(rows, lambda fields: fields[0][1]).items()
    }


def _join(parts: Sequence[Dataset]) -> Dataset:
    examples = tuple(example for part in parts for example in part)
    labels = dict.fromkeys(label for part in parts for label in part.labels)
    return replace(parts[0], examples=examples, labels=tuple(labels))


def _check_labels(splits: dict[str, Dataset]) -> dict[str, Dataset]:
    """Check that the train split has all labels, and give all splits its order of labels."""
    labels = splits["train"].labels
    for split, dataset in splits.items():
        if not labels or set(dataset.labels) - set(labels):
            raise UsageError(
                f"The {split} split of {dataset.name} has the labels "
                f"{', '.join(dataset.labels)}; expected the labels of the train split: "
                f"{', '.join(labels) or 'none'}."
            )
    return {split: replace(dataset, labels=labels) for split, dataset in splits.items()}


def _cut(text: str, max_words: int | None) -> str:
    """Cut a text after `max_words` words."""
    if max_words is None:
        return text
    words, gaps = split_text(text)
    short = "".join(gap + word for gap, word in zip(gaps[:max_words], words))
    return text if len(words) <= max_words else short


def _write(file: Path, header: Sequence[str], rows: Iterable[Sequence[str]]) -> None:
    make_private_folder(file.parent)
    with replacing(file, private=True) as new, new.open("w", newline="", encoding="utf-8") as out:
        writer = csv.writer(out)
        writer.writerow(header)
        writer.writerows(rows)

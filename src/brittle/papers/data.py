"""The data a paper is set on: found by name or path, and written out as its three sides.

A source is a name of the catalogue, `hf:NAME`, a folder with train.csv and test.csv (and dev.csv,
if it has one; .gz and the other endings of data files too), or one file, which is then divided.
"""

from __future__ import annotations

import csv
import hashlib
from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from brittle import data
from brittle.data import Dataset, Example
from brittle.data.catalogue import CATALOGUE, divide
from brittle.data.files import ENDINGS, ENDINGS_TEXT, ending
from brittle.errors import UsageError
from brittle.text import split
from brittle.training.splits import TrainingSplits, hold_out, short_name
from brittle.workflow.tasks import Task, TaskContext

SPLITS = ("train", "dev", "test")


@dataclass(frozen=True)
class Limits:
    """How much of each side is used; None is all of it. Texts are cut after `words` words."""

    train: int | None = None
    dev: int | None = None
    test: int | None = None
    words: int | None = None


EVERYTHING = Limits()


def data_task(source: str, limits: Limits, name: str = "data", seed: int = 0) -> Task:
    """Make the step that writes the sides of a source; changed files make it another step."""
    given = {
        "source": source,
        "limits": vars(limits),
        "seed": seed,
        "content": source_digest(source),
    }
    return Task(name, write_splits, given, is_valid=_stands)


def write_splits(
    work: TaskContext, *, source: str, limits: dict[str, Any], seed: int, content: str
) -> dict[str, Any]:
    """Write train.csv, dev.csv and test.csv into a folder of the place, and say what is in them."""
    chosen = Limits(**limits)
    name = source_name(source)
    folder = f"{work.label}-{name}"
    found: dict[str, Any] = {"name": name, "folder": folder, "words": chosen.words}
    for side, dataset in load_splits(source).items():
        taken = dataset.take(_fewer(getattr(chosen, side), len(dataset)), seed)
        cut = [_cut(example, chosen.words) for example in taken]
        _write(work.folder / folder / f"{side}.csv", cut)
        found[side] = {"examples": len(cut), "of": len(dataset)}
    found["labels"] = list(taken.labels)
    counts = ", ".join(f"{side} {found[side]['examples']:,}" for side in SPLITS)
    return found | {"told": f"{name}: {counts}"}


def load_split(place: Path, told: dict[str, Any], side: str) -> Dataset:
    """Read a side that was written before, under the name of its source."""
    file = place / told["folder"] / f"{side}.csv"
    return replace(data.load(file), name=told["name"], split=side, labels=tuple(told["labels"]))


def load_training_splits(place: Path, told: dict[str, Any]) -> TrainingSplits:
    """Read the two sides a model is trained from."""
    return TrainingSplits(
        told["name"], load_split(place, told, "train"), load_split(place, told, "dev")
    )


def load_splits(source: str) -> dict[str, Dataset]:
    """Load the three sides of a source; a dev side that is not there is a tenth of the train side.

    One file is divided into train, dev and test, 80/10/10, by a hash of its texts.
    """
    if source in CATALOGUE or source.startswith("hf:"):
        train, test = (data.load(source, split=side) for side in ("train", "test"))
        if source in CATALOGUE:
            return {"train": train, "dev": data.load(source, split="dev"), "test": test}
    elif Path(source).is_dir():
        files = _files(Path(source))
        train, test = data.load(files["train"]), data.load(files["test"])
        if "dev" in files:
            return _checked({"train": train, "dev": data.load(files["dev"]), "test": test})
    else:
        return _checked(_divided(data.load(source)))
    kept, dev = hold_out(train)
    return _checked({"train": kept, "dev": dev, "test": test})


def source_name(source: str) -> str:
    """Name a source without its folder.

    >>> source_name("../data/ag_news/"), source_name("reviews.csv.gz"), source_name("imdb")
    ('ag_news', 'reviews', 'imdb')
    """
    return source if source in CATALOGUE else short_name(source.removeprefix("hf:"))


def source_digest(source: str) -> str:
    """Hash the files of a source; a name stands for itself."""
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
    files = sorted(_files(path).values()) if path.is_dir() else [path]
    whole = hashlib.sha256()
    for file in files:
        whole.update(hashlib.sha256(file.read_bytes()).digest())
    return whole.hexdigest()[:16]


def _files(folder: Path) -> dict[str, Path]:
    found = {}
    for file in sorted(folder.iterdir()):
        kind = ending(file.name)
        if kind and file.name[: -len(kind)] in SPLITS:
            found[file.name[: -len(kind)]] = file
    for side in ("train", "test"):
        if side not in found:
            raise UsageError(
                f"The folder {folder} has no {side} side. Expected {side}{ENDINGS[0]} or another "
                f"data file ({ENDINGS_TEXT}) named {side}."
            )
    return found


def _divided(whole: Dataset) -> dict[str, Dataset]:
    pairs = ((_text(example, whole.name), str(example.label)) for example in whole)
    return {
        side: Dataset(whole.name, side, tuple(Example.of(*pair) for pair in found), whole.labels)
        for side, found in divide(pairs).items()
    }


def _checked(found: dict[str, Dataset]) -> dict[str, Dataset]:
    labels = found["train"].labels
    for side, dataset in found.items():
        strange = set(dataset.labels) - set(labels)
        if strange or not labels:
            raise UsageError(
                f"The {side} side of {dataset.name} has the labels {', '.join(dataset.labels)}; "
                f"expected those of the train side: {', '.join(labels) or 'there are none'}."
            )
    return {side: replace(dataset, labels=labels) for side, dataset in found.items()}


def _fewer(limit: int | None, there: int) -> int | None:
    return None if limit is None or limit >= there else limit


def _cut(example: Example, most: int | None) -> Example:
    """Cut a text after so many words, with what stands behind the last one."""
    if most is None:
        return example
    text = _text(example, "the data")
    words, gaps = split(text)
    if len(words) <= most:
        return example
    kept = "".join(gap + word for gap, word in zip(gaps[:most], words))
    return replace(example, fields=((example.fields[0][0], kept),))


def _text(example: Example, where: str) -> str:
    if len(example.fields) != 1:
        raise UsageError(f"The texts of {where} have {len(example.fields)} fields; expected one.")
    return example.fields[0][1]


def _write(file: Path, examples: list[Example]) -> None:
    file.parent.mkdir(parents=True, exist_ok=True)
    with file.open("w", newline="", encoding="utf-8") as out:
        writer = csv.writer(out)
        writer.writerow(("text", "label"))
        writer.writerows(_rows(examples))


def _rows(examples: list[Example]) -> Iterator[tuple[str, str]]:
    for example in examples:
        yield _text(example, "the data"), str(example.label)


def _stands(place: Path, told: Any) -> bool:
    return all((place / told["folder"] / f"{side}.csv").is_file() for side in SPLITS)

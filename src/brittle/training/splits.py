"""The two sides a model is trained from: what it learns, and what it is judged on meanwhile."""

from __future__ import annotations

import hashlib
from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

from brittle.data import Dataset, Example
from brittle.data import load as load_data
from brittle.data.catalogue import CATALOGUE
from brittle.errors import UsageError
from brittle.text import Text


@dataclass(frozen=True)
class LabelledTexts:
    """Texts with the numbers of their labels."""

    texts: tuple[Text, ...]
    label: tuple[int, ...]

    def __len__(self) -> int:
        return len(self.texts)


@dataclass(frozen=True)
class TrainingSplits:
    """The train and the dev side, under one name and one order of labels."""

    name: str
    train: Dataset
    dev: Dataset

    @cached_property
    def labels(self) -> tuple[str, ...]:
        return self.train.labels or tuple(sorted({str(e.label) for e in self.train}))

    @cached_property
    def fields(self) -> tuple[str, ...]:
        return tuple(name for name, _ in self.train.examples[0].fields)

    @cached_property
    def fingerprint(self) -> str:
        parts = (self.train.fingerprint, self.dev.fingerprint, *self.labels)
        return hashlib.sha256("\n".join(parts).encode()).hexdigest()

    def labelled(self, dataset: Dataset) -> LabelledTexts:
        number = {label: i for i, label in enumerate(self.labels)}
        texts = tuple(Text.of(dict(e.fields)) for e in dataset)
        return LabelledTexts(texts, tuple(number[str(e.label)] for e in dataset))


def load_splits(
    data: str, *, text: Sequence[str] | None = None, label: str | None = None
) -> TrainingSplits:
    """Load both sides of a data set; where it has no dev side, a tenth of it is held out."""
    if data in CATALOGUE:
        splits = TrainingSplits(data, load_data(data, split="train"), load_data(data, split="dev"))
    else:
        split = "train" if data.startswith("hf:") else None
        whole = load_data(data, split=split, text=text, label=label)
        splits = TrainingSplits(short_name(data), *hold_out(whole))
    return check_splits(splits)


def short_name(data: str) -> str:
    """Give the name a data set goes by in a model's name: a file's without folder and ending."""
    if data in CATALOGUE or data.startswith("hf:"):
        return data
    return Path(data).name.split(".")[0] or "data"


def hold_out(whole: Dataset) -> tuple[Dataset, Dataset]:
    """Part a tenth of every class from the rest, by a hash of the text; equal texts stay together.

    Which texts are held out does not depend on their order.
    """
    ranks = [_rank(example) for example in whole]
    classes: defaultdict[str | None, set[bytes]] = defaultdict(set)
    for rank, example in zip(ranks, whole):
        classes[example.label].add(rank)
    held = {rank for found in classes.values() for rank in sorted(found)[: len(found) // 10]}
    splits: tuple[list[Example], list[Example]] = [], []
    for rank, example in zip(ranks, whole):
        splits[rank in held].append(example)
    train, dev = splits
    return (
        Dataset(whole.name, "train", tuple(train), whole.labels),
        Dataset(whole.name, "dev", tuple(dev), whole.labels),
    )


def check_splits(splits: TrainingSplits) -> TrainingSplits:
    """Refuse data nothing can be learnt from, with the reason."""
    where = f"The data set {splits.name!r}"
    for dataset in (splits.train, splits.dev):
        if not len(dataset):
            raise UsageError(
                f"{where} has no examples on its {dataset.split} side. Training needs at least "
                "ten examples of every class."
            )
        bare = sum(example.label is None for example in dataset)
        if bare:
            raise UsageError(
                f"{where} has {bare} examples without a label. Training needs a label for each; "
                "name their column with --label."
            )
    seen = {example.label for example in splits.train}
    if len(seen) < 2:
        raise UsageError(
            f"{where} has one class, {next(iter(seen))!r}, on its train side. Training needs "
            "examples of at least two classes."
        )
    strange = {str(e.label) for e in splits.dev} - set(splits.labels)
    if strange:
        raise UsageError(f"{where} has labels on its dev side only: {', '.join(sorted(strange))}.")
    return splits


def _rank(example: Example) -> bytes:
    plain = "\n".join(" ".join(value.split()).casefold() for _, value in example.fields)
    return hashlib.sha256(b"brittle dev 0\n" + plain.encode("utf-8", "surrogatepass")).digest()

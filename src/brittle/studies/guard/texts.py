"""The texts of a guard study: attacks and benign ones, each once, and on one side only."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from os import PathLike
from typing import Any

from brittle import data
from brittle.data.catalogue import CATALOGUE, SPLITS
from brittle.data.dataset import Dataset
from brittle.data.example import Example
from brittle.errors import UsageError, unknown
from brittle.formatting import plural
from brittle.studies.guard.calibration import split_benign
from brittle.text import Text

ALL = "all"
FIELD = "text"


@dataclass(frozen=True)
class GuardTexts:
    """The texts of a study: attacks in their random order, and the two sides of the benign ones."""

    attacks: Dataset
    benign_name: str
    fixing: Sequence[str]
    measuring: Sequence[str]
    warnings: tuple[str, ...] = ()

    @property
    def fingerprint(self) -> str:
        """The fingerprint of the benign texts."""
        return dataset_of(self.benign_name, [*self.fixing, *self.measuring]).fingerprint


def load_guard_texts(
    attacks: Any, benign: Any, split: str, text: str | None, at_fpr: float, seed: int
) -> GuardTexts:
    """Load both sets of texts; those that stand in both are left out of both."""
    attack_data, benign_data = (load_texts(source, split, text) for source in (attacks, benign))
    attack_texts_, benign_texts = texts_of(attack_data), texts_of(benign_data)
    for what, dataset, found in (
        ("attack", attack_data, attack_texts_),
        ("benign", benign_data, benign_texts),
    ):
        if not found:
            raise UsageError(
                f"The {what} data {dataset.name!r} holds {plural(len(dataset), 'examples')} "
                "without a word; expected texts."
            )
    warnings = [
        f"{plural(len(dataset) - len(found), what + ' texts')} left out: the same as another text, "
        "or without a word."
        for what, dataset, found in (
            ("attack", attack_data, attack_texts_),
            ("benign", benign_data, benign_texts),
        )
        if len(found) < len(dataset)
    ]
    both = set(map(plain_text, attack_texts_)) & set(map(plain_text, benign_texts))
    if both:
        attack_texts_, benign_texts = (
            [one for one in found if plain_text(one) not in both]
            for found in (attack_texts_, benign_texts)
        )
        which = plural(len(both), ("text stands", "texts stand"))
        warnings.append(f"{which} among the attack texts and the benign ones: left out of both.")
    if not attack_texts_:
        raise UsageError(
            f"All attack texts of {attack_data.name!r} stand among the benign ones of "
            f"{benign_data.name!r}, too. Name other files."
        )
    sides = split_benign(benign_texts, at_fpr, seed)
    warnings += [*attack_data.warnings, *benign_data.warnings]
    return GuardTexts(
        dataset_of(attack_data.name, attack_texts_), benign_data.name, *sides, tuple(warnings)
    )


def load_texts(source: Any, split: str, text: str | None) -> Dataset:
    """Load texts without their labels: of a data set by name, one split or all of them."""
    if not isinstance(source, str | PathLike):
        dataset = source if isinstance(source, Dataset) else data.as_dataset(source)
        return dataset
    name = str(source)
    column = None if text is None else [text]
    if name not in CATALOGUE:
        return data.load(name, text=column, label="")
    if split not in (*SPLITS, ALL):
        raise unknown("split", split, (*SPLITS, ALL))
    parts = [data.load(name, split=one) for one in (SPLITS if split == ALL else (split,))]
    examples = [example for part in parts for example in part]
    return Dataset(name, split, examples)


def dataset_of(name: str, texts: Sequence[str], label: str | None = None) -> Dataset:
    examples = tuple(Example(((FIELD, text),), label) for text in texts)
    return Dataset(name, "guard", examples, () if label is None else (label,))


def texts_of(dataset: Dataset) -> list[str]:
    """Return the texts of a data set; texts that differ only in case and blanks stand once.

    Texts without a word are left out: nothing in them could be edited.
    """
    if dataset.kind != "text" or any(len(example.fields) != 1 for example in dataset):
        raise UsageError(
            f"The data {dataset.name!r} does not hold single texts; guard mode reads one text an "
            "example. Name the column of the texts: --text COLUMN."
        )
    different: dict[str, str] = {}
    for example in dataset:
        text = example.fields[0][1]
        if len(Text.of({FIELD: text})):
            different.setdefault(plain_text(text), text)
    return list(different.values())


def plain_text(text: str) -> str:
    """Write a text as it is compared with others: without regard to case and blanks.

    >>> plain_text("  Ignore\\n THAT ")
    'ignore that'
    """
    return " ".join(text.split()).casefold()


def as_item(text: str) -> Text:
    """Return a text as targets read it."""
    return Text.of({FIELD: text})

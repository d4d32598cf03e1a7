"""Pairs of texts that a translator learns from: the train and the dev split."""

from __future__ import annotations

import logging
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property

from brittle.data import Dataset, has_splits
from brittle.data import load as load_data
from brittle.data.folders import split_files
from brittle.errors import UsageError
from brittle.training.splits import TrainingSplits, hold_out, load_folder, short_name

log = logging.getLogger(__name__)
MIN_PAIRS = 10


@dataclass(frozen=True)
class TranslationSplits(TrainingSplits):
    """Pairs of texts: the label of an example is its translation, so that there are no classes."""

    @cached_property
    def labels(self) -> tuple[str, ...]:
        return ()

    @property
    def columns(self) -> dict[str, str]:
        """Return the columns of the table that the pairs were read from, if they were."""
        columns = self.train.table_columns
        if columns is None or columns.label is None:
            return {}
        return {"text": ",".join(columns.text), "label": columns.label}


def load_pairs(
    data: str, *, text: Sequence[str] | None = None, label: str | None = None
) -> TrainingSplits:
    """Load the train and the dev split of pairs; without a dev split a tenth is held out."""
    if has_splits(data):
        raise UsageError(
            f"The data set {data!r} holds texts with classes, but a translator learns from pairs "
            "of texts. Name a file or a folder, and its columns: --text en --label de."
        )
    if split_files(data):
        parts = load_folder(data, text=text, label=label, by_class=False)
        train, dev = parts["train"], parts["dev"]
    else:
        split = "train" if data.startswith("hf:") else None
        train, dev = hold_out(load_data(data, split=split, text=text, label=label), by_class=False)
    return check_pairs(TrainingSplits(short_name(data), train, dev))


def check_pairs(splits: TrainingSplits) -> TranslationSplits:
    """Leave out pairs with an empty side, and refuse data that no translation is learnt from."""
    what = f"The data set {splits.name!r}"
    for warning in dict.fromkeys((*splits.train.warnings, *splits.dev.warnings)):
        log.warning("%s", warning)
    whole = [_without_empty_sides(what, dataset) for dataset in (splits.train, splits.dev)]
    for dataset, least in zip(whole, (MIN_PAIRS, 1)):
        if len(dataset) < least:
            raise UsageError(
                f"{what} has {len(dataset)} pairs of texts in its {dataset.split} split; expected "
                f"{least} or more. Name the columns of both languages, --text en --label de, or "
                "more pairs: without a dev split a tenth of the different texts is held out."
            )
    fields = [name for name, _ in whole[0].examples[0].fields]
    if len(fields) > 1:
        raise UsageError(
            f"A translator reads one text, but the data has the fields {', '.join(fields)}. Name "
            "one column with --text, and that of its translations with --label."
        )
    translations = {example.label for example in whole[0]}
    if len(translations) < 2:
        raise UsageError(
            f"{what} has the same translation for all texts, {next(iter(translations))!r}. Name "
            "the column of the translations with --label."
        )
    return TranslationSplits(splits.name, *whole)


def _without_empty_sides(what: str, dataset: Dataset) -> Dataset:
    whole = tuple(
        example
        for example in dataset
        if (example.label or "").strip() and any(text.strip() for _, text in example.fields)
    )
    if len(whole) < len(dataset):
        log.warning(
            "%s: %d of %d pairs of the %s split have an empty side and are left out.",
            *(what, len(dataset) - len(whole), len(dataset), dataset.split),
        )
    return replace(dataset, examples=whole, labels=())

"""From the texts of a data set to the short sentences that a generator learns from."""

from __future__ import annotations

import logging
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from pathlib import Path

from brittle.data import Dataset, Example, has_splits
from brittle.data import load as load_data
from brittle.data.folders import split_files
from brittle.errors import UsageError
from brittle.training.splits import TrainingSplits, load_splits
from brittle.zoo.generators.sentences import cut_sentences, sentence_words

log = logging.getLogger(__name__)
MIN_WORDS = 3  # shorter sentences are interjections or headings
Words = tuple[str, ...]


def load_sentences(
    data: str,
    reads: int,
    *,
    text: Sequence[str] | None = None,
    exclude: Sequence[str] = (),
) -> TrainingSplits:
    """Load the short sentences of the train and the dev split, an example each, each once.

    Texts are cut into sentences; those of more than `reads` words, and of fewer than 3, are left
    out. So are sentences of the train split that are in a later split, or in a file of `exclude`:
    what is attacked must not be learnt.
    """
    splits = load_splits(data, text=text, labels="none")
    if splits.train.kind != "text":
        return splits  # refused, with the model's name, where the plan is checked
    taken = _words_of(_later_splits(data, text))
    for path in exclude:
        taken |= _words_of([_load_excluded(path, text)])
    dev = _short_sentences(splits.dev, reads, taken)
    train = _short_sentences(splits.train, reads, taken | _words_of([dev]))
    for dataset in (train, dev):
        if not len(dataset):
            raise UsageError(
                f"The {dataset.split} split of {data!r} has no sentences of {MIN_WORDS} to {reads} "
                "words that may be learnt. Train on other texts, or with a larger --set max_length."
            )
    log.info("%s: %d sentences of up to %d words", splits.name, len(train), reads)
    return replace(splits, train=train, dev=dev)


def _later_splits(data: str, text: Sequence[str] | None) -> Iterator[Dataset]:
    """Yield the test split, if there is one."""
    if has_splits(data):
        yield load_data(data, split="test", label="")
    elif "test" in split_files(data):
        yield load_data(data, split="test", text=text, label="")


def _load_excluded(path: str, text: Sequence[str] | None) -> Dataset:
    """Load a file whose sentences must not be learnt; its text columns are those of the data."""
    if not Path(path).is_file():
        raise UsageError(f"Got --exclude {path}; expected a file of texts, as --data takes.")
    return load_data(path, text=text, label="")


def _sentences(dataset: Dataset) -> Iterator[str]:
    for example in dataset:
        for _, value in example.fields:
            yield from cut_sentences(value)


def _words_of(datasets: Iterable[Dataset]) -> set[Words]:
    return {sentence_words(sentence) for dataset in datasets for sentence in _sentences(dataset)}


def _short_sentences(dataset: Dataset, reads: int, taken: set[Words]) -> Dataset:
    """Return the sentences of a data set as examples; equal ones, and those taken, only once."""
    seen: set[Words] = set()
    examples = []
    for sentence in _sentences(dataset):
        words = sentence_words(sentence)
        if MIN_WORDS <= len(words) <= reads and words not in taken and words not in seen:
            seen.add(words)
            examples.append(Example.of(sentence))
    return replace(dataset, examples=tuple(examples), labels=(), table_columns=None)

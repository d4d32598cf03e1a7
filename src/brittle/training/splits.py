"""The train split, which a model learns from, the dev split, and short sentences of both.

The train split, which a model learns from, and the dev split, which judges its epochs.

They are loaded by one function, for classifiers, for translators, whose examples are labelled with
their translations, and for models that learn without labels.

From the texts of a data set to the short sentences that a generator learns from.
"""

from __future__ import annotations

import hashlib
import logging
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path

from brittle.data import Dataset, Example, has_splits
from brittle.data import load as load_data
from brittle.data.files import ENDINGS_TEXT, split_files
from brittle.errors import UsageError
from brittle.text import Text
from brittle.zoo.families import Labels
from brittle.zoo.generators.sentences import cut_sentences, sentence_words

log = logging.getLogger(__name__)
NO_LABEL = -1
MIN_PAIRS = 10
LATER = {"train": ("dev", "test"), "dev": ("test",)}
"""The later splits of each split: their examples are removed from it."""

KNOWN_FINGERPRINTS: Mapping[str, str] = {
    "mr": "b1620ca8928bbb4b20d87dca3455a107d59c810c95c7cd23e49593db8332d866",
    "imdb": "c3311368057a469525a0b24ee02e8b962e43e3836fe628526bc7a157ecdc8836",
    "bbc": "74bf47bb6510e56d53f7a6860c8ce1635bbd908622ae4267afd317aec9bfc44d",
    "mnist": "a22993de06d56ab8316c4ccadcd88c12b9524a56a560506058071e8ded952443",
}
"""The fingerprints of the splits of known data sets: they find a trained model without its data."""


@dataclass(frozen=True)
class LabelledTexts:
    """Texts with the indices of their labels; a text without one has `NO_LABEL`."""

    texts: tuple[Text, ...]
    label: tuple[int, ...]

    def __len__(self) -> int:
        return len(self.texts)


NO_TEXTS = LabelledTexts((), ())


@dataclass(frozen=True)
class TrainingSplits:
    """The train and the dev split, under one name and with one order of labels."""

    name: str
    train: Dataset
    dev: Dataset

    @cached_property
    def labels(self) -> tuple[str, ...]:
        names = {str(label) for label in self.train.label_counts if label is not None}
        return self.train.labels or tuple(sorted(names))

    @cached_property
    def fields(self) -> tuple[str, ...]:
        return tuple(name for name, _ in self.train.examples[0].fields)

    @cached_property
    def fingerprint(self) -> str:
        parts = (self.train.fingerprint, self.dev.fingerprint, *self.labels)
        return hashlib.sha256("\n".join(parts).encode()).hexdigest()

    @property
    def columns(self) -> dict[str, str]:
        """Return the columns of a table that have to be named again to find a model by its data."""
        return {}

    @cached_property
    def train_texts(self) -> LabelledTexts:
        return self.labelled(self.train)

    @cached_property
    def dev_texts(self) -> LabelledTexts:
        return self.labelled(self.dev)

    def labelled(self, dataset: Dataset) -> LabelledTexts:
        index = {label: i for i, label in enumerate(self.labels)}
        texts = tuple(Text.of(dict(e.fields), e.locked) for e in dataset)
        return LabelledTexts(texts, tuple(index.get(str(e.label), NO_LABEL) for e in dataset))


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


def load_splits(
    data: str,
    *,
    text: Sequence[str] | None = None,
    label: str | None = None,
    labels: Labels = "classes",
) -> TrainingSplits:
    """Load the train and the dev split; a data set without a dev split has a tenth held out.

    A folder has a file for each split; its dev file is divided if it has no train file. `labels`
    says what a model learns from: texts with classes, pairs of a text and its translation, or texts
    whose labels, if any, are left out.
    """
    if labels == "none":
        label = ""
    if has_splits(data):
        if labels == "translations":
            raise UsageError(
                f"The data set {data!r} has texts with classes, but a translator needs "
                "pairs of texts. Name a file or a folder, and its columns: --text en "
                "--label de."
            )
        none = "" if labels == "none" else None
        train, dev = (load_data(data, split=split, label=none) for split in ("train", "dev"))
    elif split_files(data):
        parts = load_folder(data, text=text, label=label, by_class=labels != "translations")
        train, dev = parts["train"], parts["dev"]
    else:
        split = "train" if data.startswith("hf:") else None
        whole = load_data(data, split=split, text=text, label=label)
        train, dev = hold_out(whole, by_class=labels != "translations")
    splits = TrainingSplits(short_name(data), train, dev)
    if labels == "classes":
        _log_warnings(splits)
    return check_splits(splits, labels)


def load_folder(
    folder: str | Path,
    *,
    text: Sequence[str] | None = None,
    label: str | None = None,
    locked: Sequence[str] = (),
    by_class: bool = True,
) -> dict[str, Dataset]:
    """Load train and dev, and test if it is there.

    Without a train file the dev file is divided into both, without a dev file the train file is: a
    tenth is held out. Premises that are in a later split are left out of the earlier ones.
    """
    there = split_files(folder)
    given = [split for split in ("train", "dev") if split in there]
    if not given:
        raise UsageError(
            f"The folder {folder} has neither a train nor a dev split. Expected a file "
            f"named train ({ENDINGS_TEXT}), or dev, which brittle then divides."
        )
    splits = part_by_premise(
        {
            split: load_data(folder, split=split, text=text, label=label, locked=locked)
            for split in there
        }
    )
    if len(given) < 2:
        splits["train"], splits["dev"] = hold_out(splits[given[0]], by_class)
    return splits


def part_by_premise(splits: Mapping[str, Dataset]) -> dict[str, Dataset]:
    """Leave out of train and dev the examples whose first field is in a later split.

    Only examples of several fields are looked at: a premise has several hypotheses.
    """
    ranks = {split: [_rank(example) for example in dataset] for split, dataset in splits.items()}
    parted = dict(splits)
    for split, later in LATER.items():
        dataset = splits.get(split)
        if dataset is None or not len(dataset) or len(dataset.examples[0].fields) < 2:
            continue
        taken = {rank for other in later for rank in ranks.get(other, ())}
        examples = [e for e, rank in zip(dataset, ranks[split]) if rank not in taken]
        if len(examples) < len(dataset):
            log.warning(
                "%s: %d of %d examples of the %s split are left out, because their %r is "
                "in a later split.",
                dataset.name,
                len(dataset) - len(examples),
                len(dataset),
                split,
                dataset.examples[0].fields[0][0],
            )
            parted[split] = replace(dataset, examples=tuple(examples))
    return parted


def short_name(data: str) -> str:
    """Return the name of a data set in a model's name; that of a file has no folder and suffix."""
    if has_splits(data) or data.startswith("hf:"):
        return data
    return Path(data).name.split(".")[0] or "data"


def hold_out(whole: Dataset, by_class: bool = True) -> tuple[Dataset, Dataset]:
    """Split off a tenth of every class, by a hash of the text; equal texts stay together.

    If not `by_class`, it is a tenth of all: labels that are translations are no classes.

    So do examples of several fields whose first fields are equal: a premise with several hypotheses
    is in one split. Which texts are held out does not depend on their order.
    """
    ranks = [_rank(example) for example in whole]
    classes: defaultdict[str | None, set[bytes]] = defaultdict(set)
    for rank, example in zip(ranks, whole):
        classes[example.label if by_class else None].add(rank)
    held_out = {rank for c in classes.values() for rank in sorted(c)[: len(c) // 10]}
    splits: tuple[list[Example], list[Example]] = [], []
    for rank, example in zip(ranks, whole):
        splits[rank in held_out].append(example)
    train, dev = splits
    return (
        replace(whole, split="train", examples=tuple(train)),
        replace(whole, split="dev", examples=tuple(dev)),
    )


def check_splits(splits: TrainingSplits, labels: Labels = "classes") -> TrainingSplits:
    """Refuse data that nothing can be learnt from, with the reason."""
    checks: Mapping[Labels, Callable[[TrainingSplits], TrainingSplits]] = {
        "classes": _check_classes,
        "translations": _check_pairs,
        "none": _check_texts,
    }
    return checks[labels](splits)


def _check_classes(splits: TrainingSplits) -> TrainingSplits:
    what = f"The data set {splits.name!r}"
    for dataset in (splits.train, splits.dev):
        if not len(dataset):
            several = len(splits.train) > 0 and len(splits.fields) > 1
            parted = f", with ten different texts in {splits.fields[0]!r}" if several else ""
            raise UsageError(
                f"{what} has no examples in its {dataset.split} split. Training needs at least "
                f"ten examples of every class{parted}."
            )
        unlabelled = dataset.label_counts[None]
        if unlabelled:
            raise UsageError(
                f"{what} has {unlabelled} examples without a label. Training needs a "
                "label for every example. Name the label column with --label."
            )
    classes = splits.train.label_counts.keys()
    if len(classes) < 2:
        raise UsageError(
            f"{what} has one class, {next(iter(classes))!r}, in its train split. Training needs "
            "examples of at least two classes."
        )
    extra = {str(label) for label in splits.dev.label_counts} - set(splits.labels)
    if extra:
        raise UsageError(f"{what} has labels in its dev split only: {', '.join(sorted(extra))}.")
    return splits


def _check_pairs(splits: TrainingSplits) -> TranslationSplits:
    """Leave out pairs with an empty side, and refuse data that no translation is learnt from."""
    what = f"The data set {splits.name!r}"
    _log_warnings(splits)
    train, dev = (_without_empty_sides(what, dataset) for dataset in (splits.train, splits.dev))
    for dataset, least in ((train, MIN_PAIRS), (dev, 1)):
        if len(dataset) < least:
            raise UsageError(
                f"{what} has {len(dataset)} pairs of texts in its {dataset.split} split; "
                f"expected {least} or more. Name the columns of both languages, --text en "
                "--label de, or add more pairs: without a dev split brittle holds out a "
                "tenth of the different texts."
            )
    fields = [name for name, _ in train.examples[0].fields]
    if len(fields) > 1:
        raise UsageError(
            "A translator reads one text, but the data has the fields "
            f"{', '.join(fields)}. Name one column with --text, and the column of its "
            "translations with --label."
        )
    translations = {example.label for example in train}
    if len(translations) < 2:
        raise UsageError(
            f"{what} has the same translation for all texts, {next(iter(translations))!r}. Name "
            "the column of the translations with --label."
        )
    return TranslationSplits(splits.name, train, dev)


def _without_empty_sides(what: str, dataset: Dataset) -> Dataset:
    whole = tuple(
        example
        for example in dataset
        if (example.label or "").strip() and any(text.strip() for _, text in example.fields)
    )
    if len(whole) < len(dataset):
        log.warning(
            "%s: %d of %d pairs of the %s split have an empty side and are left out.",
            what,
            len(dataset) - len(whole),
            len(dataset),
            dataset.split,
        )
    return replace(dataset, examples=whole, labels=())


def _check_texts(splits: TrainingSplits) -> TrainingSplits:
    for dataset in (splits.train, splits.dev):
        if not len(dataset):
            raise UsageError(
                f"The data set {splits.name!r} has no {dataset.kind}s in its {dataset.split} split."
                f" Training without labels needs at least ten different {dataset.kind}s."
            )
    return splits


def _log_warnings(splits: TrainingSplits) -> None:
    for warning in dict.fromkeys((*splits.train.warnings, *splits.dev.warnings)):
        log.warning("%s", warning)


def _rank(example: Example) -> bytes:
    plain = " ".join(example.fields[0][1].split()).casefold()
    return hashlib.sha256(b"brittle dev 0\n" + plain.encode("utf-8", "surrogatepass")).digest()


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
                f"The {dataset.split} split of {data!r} has no sentences of {MIN_WORDS} "
                f"to {reads} words to train on. Use other texts, or a larger --set "
                "max_length."
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
        raise UsageError(f"Got --exclude {path}; expected a file of texts, as for --data.")
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

"""Replacements of words, and how much each lowers the logits of an ensemble.

All replacements of all words of labelled texts, as arrays: what rules are mined from. They depend
on the texts alone, so that they are listed once and measured on every model. What every replacement
does to one model's logits, each distinct encoded text computed once.

Texts come in chunks of a bounded size. Within a chunk, texts that the model encodes alike are one
row; across chunks only equal texts of the data could meet again. Words that the model reads alike,
such as all unknown ones, are found before a text is encoded. Rows are computed in full batches
of about one length, by as many threads as the model allows; while they compute, the next chunk is
encoded. The first chunks are small: nothing computes while the first is encoded.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass, replace
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from brittle.candidates import Proposal
from brittle.candidates.synonyms import Synonyms
from brittle.data import Dataset, Example
from brittle.english.tags import Tagger
from brittle.errors import UsageError
from brittle.safety import files
from brittle.safety.files import DAMAGED_ARCHIVE
from brittle.safety.schema import Count, parse
from brittle.targets.protocols import HasCanonicalLogits, HasCanonicalSwaps, HasLogits, declared_by
from brittle.text import Text
from brittle.training.splits import LabelledTexts

Numbers = NDArray[np.int32]
MAX = 2**31
RuleKey = tuple[int, str, str]
"""The number of a label, a word and its substitute, both in lower case."""


@dataclass(frozen=True)
class Replacements:
    """One row for every replacement of a word of a text.

    `text` and `position` say where, `form` is the number of the substitute among `forms`, as it is
    written there, and `rule` the number of the rule among `rules`. Rows are in the order of texts.
    """

    rules: tuple[RuleKey, ...]
    forms: tuple[str, ...]
    text: Numbers
    position: Numbers
    form: Numbers
    rule: Numbers

    def __len__(self) -> int:
        return len(self.text)

    @property
    def support(self) -> NDArray[np.int64]:
        """The number of occurrences of every rule."""
        return np.bincount(self.rule, minlength=len(self.rules))


@dataclass(frozen=True)
class _Names:
    """What the numbers in the columns stand for, as it is stored."""

    rules: tuple[tuple[Count, str, str], ...]
    forms: tuple[str, ...]


def labelled_texts(dataset: Dataset, labels: Sequence[str]) -> LabelledTexts:
    """Build the texts of a data set, the shortest first: batches have texts of about one length."""
    numbers = {label: number for number, label in enumerate(labels)}
    for example in dataset:
        if example.label not in numbers:
            raise UsageError(
                f"The data {dataset.name!r} has the label {example.label!r}; expected one of "
                f"{', '.join(labels)}. Rules are mined from texts with the labels of the ensemble."
            )
    pairs = [(_text(example), numbers[str(example.label)]) for example in dataset]
    pairs.sort(key=lambda pair: len(pair[0]))
    return LabelledTexts(tuple(text for text, _ in pairs), tuple(label for _, label in pairs))


def list_replacements(texts: LabelledTexts, proposal: Proposal | None = None) -> Replacements:
    """List every word's candidates in its context; by default those of PWWS, from WordNet."""
    proposal = proposal or Synonyms()
    rules: dict[RuleKey, int] = {}
    forms: dict[str, int] = {}
    rows: list[tuple[int, int, int, int]] = []
    tagger = Tagger()
    for number, (text, label) in enumerate(zip(texts.texts, texts.label)):
        tags = tagger.tags([text])[0] if proposal.needs_tags else ("",) * len(text)
        proposal.prepare(word for word in text.words if isinstance(word, str))
        for position, (word, tag) in enumerate(zip(text.words, tags)):
            assert isinstance(word, str)
            for form in proposal.of(word, tag):
                key = (label, word.lower(), form.lower())
                rule = rules.setdefault(key, len(rules))
                rows.append((number, position, forms.setdefault(form, len(forms)), rule))
    table = np.array(rows, dtype=np.int32).reshape(-1, 4)
    return Replacements(tuple(rules), tuple(forms), *np.ascontiguousarray(table.T))


def save_replacements(replacements: Replacements, path: Path) -> None:
    """Write replacements as one .npz file, in one step."""
    names = json.dumps({"rules": replacements.rules, "forms": replacements.forms})
    with files.replacing(path, private=True) as new, new.open("wb") as file:
        np.savez_compressed(
            file,
            names=np.frombuffer(names.encode(), dtype=np.uint8),
            text=replacements.text,
            position=replacements.position,
            form=replacements.form,
            rule=replacements.rule,
        )


def load_replacements(path: Path) -> Replacements:
    """Load what `save_replacements` has written."""
    try:
        with path.open("rb") as file, np.load(file) as arrays:
            names = parse(_Names, json.loads(arrays["names"].tobytes()))
            columns = [arrays[name] for name in ("text", "position", "form", "rule")]
        count = len(columns[0])
        for column, below in zip(columns, (MAX, MAX, len(names.forms), len(names.rules))):
            if column.dtype != np.int32 or column.shape != (count,):
                raise ValueError(f"a column of {column.dtype} and shape {column.shape}")
            if count and not 0 <= column.min() <= column.max() < below:
                raise ValueError(f"a column with numbers up to {column.max()}")
        return Replacements(names.rules, names.forms, *columns)
    except DAMAGED_ARCHIVE as error:
        raise UsageError(
            f"The replacements in {path} are damaged ({error}). Delete the file; the same command "
            "lists them again."
        ) from error


def _text(example: Example) -> Text:
    return Text.of(dict(example.fields), example.locked)


MIN_TEXTS_PER_CHUNK, MAX_TEXTS_PER_CHUNK = 64, 512
MAX_WORDS_PER_CHUNK = 1 << 23  # of all replaced texts together; 32 MB as token ids
ROWS_PER_BATCH = 512

Array = NDArray[np.float64]


@dataclass(frozen=True)
class MeasuredReplacements:
    """The effects of the replacements of some texts, and how many rows were computed for them.

    `effect[n]` belongs to the row `start + n` of the replacements; `texts` is how many texts are
    done so far.
    """

    texts: int
    start: int
    effect: Array
    computed: int


def measure(
    target: Any, texts: LabelledTexts, replacements: Replacements, first_text: int = 0
) -> Iterator[MeasuredReplacements]:
    """Yield the effects of all replacements, chunk by chunk, from a text on.

    The effect on a text x of the label y is what the salience of a rule averages (Figure 2):
    [f(x; y) − f(x′; y)] + Σ_{z ≠ y} [f(x′; z) − f(x; z)], with f the logits of the target.
    """
    alike = _encoder(target).alike(replacements.forms)
    listed = replace(replacements, form=alike[replacements.form])
    with ThreadPoolExecutor(max_workers=declared_by(target, "parallel")) as pool:
        waiting: _Chunk | None = None
        for where in pairwise(_boundaries(texts, replacements, first_text)):
            chunk = _begin(target, texts, listed, where, pool)
            if waiting is not None:
                yield waiting.collect()
            waiting = chunk
        if waiting is not None:
            yield waiting.collect()


@dataclass(frozen=True)
class _Chunk:
    """Rows that are being computed; `batches` have the numbers of their rows and the logits."""

    last_text: int
    start: int
    original: NDArray[np.int64]
    replaced: NDArray[np.int64]
    label: NDArray[np.int64]
    rows: int
    batches: Sequence[tuple[list[int], Future[Any]]]

    def collect(self) -> MeasuredReplacements:
        """Wait for the logits, and take the difference of every replaced text and its original."""
        if not len(self.original):
            return MeasuredReplacements(self.last_text, self.start, np.zeros(0), 0)
        logits = np.concatenate([np.asarray(future.result()) for _, future in self.batches])
        table = np.empty((self.rows, logits.shape[1]))
        table[[row for rows, _ in self.batches for row in rows]] = logits
        # f(x; y) − Σ_{z ≠ y} f(x; z): the effect is how much of it the replacement takes.
        margin = 2 * table - table.sum(axis=1, keepdims=True)
        effect = margin[self.original, self.label] - margin[self.replaced, self.label]
        return MeasuredReplacements(self.last_text, self.start, effect, self.rows)


def _boundaries(texts: LabelledTexts, replacements: Replacements, first_text: int) -> list[int]:
    """Return the numbers of the texts at which chunks begin, and the one after the last."""
    count = np.bincount(replacements.text, minlength=len(texts))
    boundaries, words = [first_text], 0
    limit = min(MIN_TEXTS_PER_CHUNK, MAX_TEXTS_PER_CHUNK)
    for number in range(first_text, len(texts)):
        size = (int(count[number]) + 1) * len(texts.texts[number])
        full = number - boundaries[-1] >= limit
        if full or (words and words + size > MAX_WORDS_PER_CHUNK):
            boundaries.append(number)
            words, limit = 0, min(2 * limit, MAX_TEXTS_PER_CHUNK)
        words += size
    return [*boundaries, len(texts)] if boundaries[-1] < len(texts) else boundaries


def _begin(
    target: Any,
    texts: LabelledTexts,
    replacements: Replacements,
    where: tuple[int, int],
    pool: ThreadPoolExecutor,
) -> _Chunk:
    """Encode the texts of a chunk and their replacements, and send the distinct ones to compute."""
    first, last = where
    starts = np.searchsorted(replacements.text, np.arange(first, last + 1))
    here = slice(starts[0], starts[-1])
    swaps, swap_starts, swap_of_row = _distinct_swaps(replacements, here, where)
    numbers: dict[bytes, int] = {}
    number_of = numbers.setdefault
    original: list[int] = []
    swapped: list[int] = []
    encoder = _encoder(target)
    chunk_texts = texts.texts[first:last]
    own_keys = encoder.originals(chunk_texts)
    for text, key, (begin, end) in zip(chunk_texts, own_keys, pairwise(swap_starts)):
        original.append(number_of(key, len(numbers)) if end > begin else -1)
        keys = encoder.swapped(text, key, swaps[begin:end])
        swapped += [number_of(other, len(numbers)) for other in keys]
    count = np.diff(starts)
    rows_of = (
        np.repeat(np.array(original, dtype=np.int64), count),
        np.array(swapped, dtype=np.int64)[swap_of_row],
        np.repeat(np.array(texts.label[first:last], dtype=np.int64), count),
    )
    batches = send_batches(list(numbers), encoder.logits, pool, declared_by(target, "batch"))
    return _Chunk(last, int(starts[0]), *rows_of, len(numbers), batches)


def _distinct_swaps(
    replacements: Replacements, here: slice, where: tuple[int, int]
) -> tuple[list[tuple[int, str]], list[int], NDArray[np.int64]]:
    """Return the distinct pairs (position, form) of each text of a chunk, in the order of texts.

    Besides, where the pairs of each text begin and the last end, and the pair of every row.
    """
    text = replacements.text[here].astype(np.int64)
    position, form = replacements.position[here], replacements.form[here]
    positions, forms = int(position.max(initial=0)) + 1, len(replacements.forms)
    code = (text * positions + position) * forms + form
    distinct, swap_of_row = np.unique(code, return_inverse=True)
    place, form_number = np.divmod(distinct, max(forms, 1))
    starts = np.searchsorted(place, np.arange(where[0], where[1] + 1) * positions).tolist()
    words = map(replacements.forms.__getitem__, form_number.tolist())
    return list(zip((place % positions).tolist(), words)), starts, swap_of_row


def send_batches(
    keys: Sequence[bytes],
    compute: Callable[[list[bytes]], Any],
    pool: ThreadPoolExecutor,
    size: int | None = None,
) -> list[tuple[list[int], Future[Any]]]:
    """Send keys to the pool in full batches, sorted by length; neighbours stay neighbours."""
    order = np.argsort([len(key) for key in keys], kind="stable").tolist()
    size = size or ROWS_PER_BATCH
    parts = [order[start : start + size] for start in range(0, len(order), size)]
    return [(part, pool.submit(compute, [keys[row] for row in part])) for part in parts]


def _encoder(target: Any) -> _Keys | _Texts:
    return _Keys(target) if isinstance(target, HasCanonicalLogits) else _Texts(target)


class _Keys:
    """Texts by the keys of a target that computes logits from them."""

    def __init__(self, target: HasCanonicalLogits) -> None:
        self.logits = target.canonical_logits
        self.originals = target.canonical
        self.canonical_swaps = (
            target.canonical_swaps if isinstance(target, HasCanonicalSwaps) else None
        )

    def alike(self, words: Sequence[str]) -> NDArray[np.int32]:
        """Return for every word the number of the first that reads alike, where words are known."""
        if self.canonical_swaps is None:
            return np.arange(len(words), dtype=np.int32)
        first: dict[bytes, int] = {}
        text = Text.of("a")
        [key] = self.originals([text])
        keys = self.canonical_swaps(text, key, [(0, word) for word in words])
        return np.array([first.setdefault(key, n) for n, key in enumerate(keys)], dtype=np.int32)

    def swapped(self, text: Text, key: bytes, swaps: Sequence[tuple[int, str]]) -> list[bytes]:
        if self.canonical_swaps is not None:
            return self.canonical_swaps(text, key, swaps)
        return self.originals([text.swap(i, word) for i, word in swaps])


class _Texts:
    """Texts by their own keys, for a target that has none: they are kept for their chunk."""

    def __init__(self, target: HasLogits) -> None:
        self.target = target
        self.texts: dict[bytes, Text] = {}

    def alike(self, words: Sequence[str]) -> NDArray[np.int32]:
        return np.arange(len(words), dtype=np.int32)

    def originals(self, texts: Sequence[Text]) -> list[bytes]:
        keys = [text.key for text in texts]
        self.texts.update(zip(keys, texts))
        return keys

    def swapped(self, text: Text, key: bytes, swaps: Sequence[tuple[int, str]]) -> list[bytes]:
        return self.originals([text.swap(i, word) for i, word in swaps])

    def logits(self, keys: Sequence[bytes]) -> Any:
        return self.target.logits([self.texts[key] for key in keys])

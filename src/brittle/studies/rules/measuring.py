"""What every replacement does to one model's logits, each distinct encoded text computed once.

Texts come in chunks of a bounded size. Within a chunk, texts that the model encodes alike are one
row; across chunks only equal texts of the data could meet again. Words that the model reads alike,
such as all unknown ones, are found before a text is encoded. Rows are computed in full batches
of about one length, by as many threads as the model allows; while they compute, the next chunk is
encoded. The first chunks are small: nothing computes while the first is encoded.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

from brittle.studies.rules.replacements import Replacements
from brittle.targets.protocols import HasCanonicalLogits, HasCanonicalSwaps, HasLogits, declared_by
from brittle.text import Text
from brittle.training.splits import LabelledTexts

MIN_TEXTS_PER_CHUNK, MAX_TEXTS_PER_CHUNK = 64, 512
MAX_WORDS_PER_CHUNK = 1 << 23  # of all replaced texts together; 32 MB as token ids
ROWS_PER_BATCH = 512

Array = NDArray[np.float64]


@dataclass(frozen=True)
class Measured:
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
) -> Iterator[Measured]:
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

    def collect(self) -> Measured:
        """Wait for the logits, and take the difference of every replaced text and its original."""
        if not len(self.original):
            return Measured(self.last_text, self.start, np.zeros(0), 0)
        logits = np.concatenate([np.asarray(future.result()) for _, future in self.batches])
        table = np.empty((self.rows, logits.shape[1]))
        table[[row for rows, _ in self.batches for row in rows]] = logits
        # f(x; y) − Σ_{z ≠ y} f(x; z): the effect is how much of it the replacement takes.
        margin = 2 * table - table.sum(axis=1, keepdims=True)
        effect = margin[self.original, self.label] - margin[self.replaced, self.label]
        return Measured(self.last_text, self.start, effect, self.rows)


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

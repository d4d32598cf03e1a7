"""What every replacement does to one model's logits, each distinct encoded text computed once.

Texts come in chunks of a bounded size. Within a chunk, texts that the model encodes alike are one
row; across chunks only equal texts of the data could meet again. Rows are computed in full batches
of about one length, by as many threads as the model allows; while they compute, the next chunk is
encoded. The first chunks are small: nothing computes while the first is encoded.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

from brittle.studies.rules.replacements import Replacements
from brittle.targets.protocols import HasCanonicalLogits, HasCanonicalSwaps, HasLogits
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
    with ThreadPoolExecutor(max_workers=getattr(target, "parallel", 1)) as pool:
        waiting: _Chunk | None = None
        for where in pairwise(_boundaries(texts, replacements, first_text)):
            chunk = _begin(target, texts, replacements, where, pool)
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
    starts = np.searchsorted(replacements.text, np.arange(first, last + 1)).tolist()
    here = slice(starts[0], starts[-1])
    forms = map(replacements.forms.__getitem__, replacements.form[here].tolist())
    swaps = list(zip(replacements.position[here].tolist(), forms))
    encoder = _Keys(target) if isinstance(target, HasCanonicalLogits) else _Texts(target)
    numbers: dict[bytes, int] = {}
    number_of = numbers.setdefault
    original: list[int] = []
    replaced: list[int] = []
    chunk_texts = texts.texts[first:last]
    own_keys = encoder.originals(chunk_texts)
    for text, key, (begin, end) in zip(chunk_texts, own_keys, pairwise(starts)):
        if end > begin:
            original += [number_of(key, len(numbers))] * (end - begin)
            keys = encoder.swapped(text, key, swaps[begin - starts[0] : end - starts[0]])
            replaced += [number_of(other, len(numbers)) for other in keys]
    label = np.repeat(np.array(texts.label[first:last], dtype=np.int64), np.diff(starts))
    arrays = (np.array(original, dtype=np.int64), np.array(replaced, dtype=np.int64), label)
    batches = send_batches(list(numbers), encoder.logits, pool, getattr(target, "batch", None))
    return _Chunk(last, starts[0], *arrays, len(numbers), batches)


def send_batches(
    keys: Sequence[bytes],
    compute: Callable[[list[bytes]], Any],
    pool: ThreadPoolExecutor,
    size: int | None = None,
) -> list[tuple[list[int], Future[Any]]]:
    """Send keys to the pool in full batches, sorted by length; neighbours stay neighbours."""
    order = sorted(range(len(keys)), key=lambda row: len(keys[row]))
    size = size or ROWS_PER_BATCH
    parts = [order[start : start + size] for start in range(0, len(order), size)]
    return [(part, pool.submit(compute, [keys[row] for row in part])) for part in parts]


class _Keys:
    """Texts by the keys of a target that computes logits from them."""

    def __init__(self, target: HasCanonicalLogits) -> None:
        self.target = target
        self.logits = target.canonical_logits
        self.originals = target.canonical

    def swapped(self, text: Text, key: bytes, swaps: Sequence[tuple[int, str]]) -> list[bytes]:
        if isinstance(self.target, HasCanonicalSwaps):
            return self.target.canonical_swaps(text, key, swaps)
        return self.target.canonical([text.swap(i, word) for i, word in swaps])


class _Texts:
    """Texts by their own keys, for a target that has none: they are kept for their chunk."""

    def __init__(self, target: HasLogits) -> None:
        self.target = target
        self.texts: dict[bytes, Text] = {}

    def originals(self, texts: Sequence[Text]) -> list[bytes]:
        keys = [text.key for text in texts]
        self.texts.update(zip(keys, texts))
        return keys

    def swapped(self, text: Text, key: bytes, swaps: Sequence[tuple[int, str]]) -> list[bytes]:
        return self.originals([text.swap(i, word) for i, word in swaps])

    def logits(self, keys: Sequence[bytes]) -> Any:
        return self.target.logits([self.texts[key] for key in keys])

"""The k highest gains of every text, over words that are laid out character by character.

Words laid out character by character, with the edits that each character allows.

A word is a sequence of characters padded on the right, as in HotFlip (Ebrahimi et al., 2018): an
insertion moves the rest of the word to the right, a deletion moves it to the left.

The k highest gains of every text, found without sorting all the others. This file needs torch.

The last digits of a gain hang on the machine, and on some machines on the batch, so they must not
decide between two edits that a model cannot tell apart: gains are rounded before they are ordered.
Rounded gains of one value stay in the order of their blocks, then of their columns.

Rows padded to a multiple, so that what is computed of one row does not depend on the others.

A text must have the same scores and gains in every batch, to the last bit: searches compare them,
and the batch size is found by timing. Two things break this in single precision. For few rows,
matrix products are computed by other routines, which sum in another order; with MKL on AVX-512 all
of 16 rows or more are computed alike. A row of 50 numbers begins at another alignment than the row
before it, and may be summed in another order; with zeros up to a multiple of 4 all rows begin
alike. And torch computes the sigmoid of the rest of an array, what does not fill its vectors, by
another routine. This file needs torch.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Any, NamedTuple

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor, nn
from torch.nn.functional import linear, pad
from torch.overrides import TorchFunctionMode

from brittle.text import is_word, words_of

Integers = NDArray[np.int64]
END_OF_WORD = "\0"  # stands after a word, and in none


@dataclass(frozen=True, eq=False)
class CharacterRows:
    """The characters of words, one word after another: a row each, and one for the end of the word.

    A word that is as long as the model reads, or longer, has no row for its end. Every row has the
    index of its `word` and of its `character` there, the `last` row of the word, and the ids of
    three characters: its own, the `previous` and the `next` one. For a flip, an insertion and a
    deletion, `allowed` tells whether the row allows it, and `changes` counts the characters that
    it changes: where equal neighbours move, nothing changes.
    """

    word: Integers
    character: Integers
    last: Integers
    own: Integers
    previous: Integers
    next: Integers
    allowed: NDArray[np.bool_]
    changes: Integers

    def sum_after(self, value: NDArray[Any]) -> NDArray[Any]:
        """Sum the values of the rows that come after each row in its word."""
        return _sum_after(value, self.last)


class CharacterLayout:
    """Lays words out for a model that reads the first `max_characters` characters of each.

    `ids` are the ids of known characters. A word must stay one word of a text. Only letters and
    digits are inserted, so only a deletion can break a word: of a letter between two joiners, or
    one that a combining mark belongs to.
    """

    def __init__(
        self, ids: Mapping[str, int], unknown_id: int, padding_id: int, max_characters: int
    ) -> None:
        self.max_characters = max_characters
        # The id of every code point; the last one stands for all code points beyond.
        self._ids = np.full(2 + max(map(ord, ids), default=0), unknown_id)
        self._ids[[ord(c) for c in ids]] = list(ids.values())
        self._ids[ord(END_OF_WORD)] = padding_id

    def rows(self, words: Sequence[str]) -> CharacterRows:
        """Lay words out; a word that comes again is laid out once."""
        index = {word: n for n, word in enumerate(dict.fromkeys(words))}
        which = np.fromiter(map(index.__getitem__, words), dtype=np.int64, count=len(words))
        count, columns = self._distinct_rows(list(index))
        first = np.cumsum(count) - count
        stop = np.cumsum(count[which])
        word, character = ragged_rows(count[which])
        row = first[which][word] + character
        return CharacterRows(word, character, (stop - 1)[word], *(part[row] for part in columns))

    def _distinct_rows(self, words: Sequence[str]) -> tuple[Integers, tuple[NDArray[Any], ...]]:
        """Count the rows of each word, and compute what does not depend on the words around."""
        limit = self.max_characters
        spelt = [word + END_OF_WORD if len(word) < limit else word[:limit] for word in words]
        count = np.array([len(row) for row in spelt], dtype=np.int64)
        word, character = ragged_rows(count)
        last = np.cumsum(count) - 1
        own = _code_points(spelt)
        following = np.append(own[1:], 0)
        following[last] = _code_points([word[limit : limit + 1] or END_OF_WORD for word in words])
        previous = np.where(character > 0, np.append(0, own[:-1]), own)
        allowed = self._allowed(words, count, own, following)
        own, previous, following = (
            self._ids[np.minimum(code, len(self._ids) - 1)] for code in (own, previous, following)
        )
        moved_right, moved_left = previous != own, following != own
        inserted = 1 + _sum_after(moved_right, last[word])
        deleted = moved_left + _sum_after(moved_left, last[word])
        changes = np.stack([np.ones_like(own), inserted, deleted], axis=1)
        return count, (own, previous, following, allowed & (changes > 0), changes)

    def _allowed(
        self, words: Sequence[str], count: Integers, own: Integers, following: Integers
    ) -> NDArray[np.bool_]:
        """Tell for every row whether a flip, an insertion and a deletion leave one word."""
        length = np.array([len(word) for word in words], dtype=np.int64)
        mixed = [(n, word) for n, word in enumerate(words) if not word.isalnum()]
        whole = np.ones(len(words), dtype=bool)
        whole[[n for n, word in mixed if words_of(word) != [word]]] = False
        row = ragged_rows(count)[0]
        flip = whole[row] & (own > 0)
        insert = (whole & (length < self.max_characters))[row]
        # Deleting the first or the second of two equal neighbours is one edit.
        delete = flip & (length > 1)[row] & (following != own)
        first = np.cumsum(count) - count
        for n, word in mixed:
            stays_word = _stays_word(word, self.max_characters)
            delete[first[n] : first[n] + len(stays_word)] &= stays_word
        return np.stack([flip, insert, delete], axis=1)


def ragged_rows(count: Integers) -> tuple[Integers, Integers]:
    """Lay groups of several sizes one after another: for each entry its group, and its index there.

    >>> [part.tolist() for part in ragged_rows(np.array([2, 0, 1]))]
    [[0, 0, 2], [0, 1, 0]]
    """
    group = np.repeat(np.arange(len(count)), count)
    return group, np.arange(len(group)) - np.repeat(np.cumsum(count) - count, count)


def _sum_after(value: NDArray[Any], last: Integers) -> NDArray[Any]:
    total: NDArray[Any] = np.cumsum(value)
    after: NDArray[Any] = total[last] - total
    return after


def _code_points(words: Sequence[str]) -> Integers:
    joined = "".join(words).encode("utf-32-le", "surrogatepass")
    return np.frombuffer(joined, dtype="<u4").astype(np.int64)


@lru_cache(maxsize=4096)
def _stays_word(word: str, max_characters: int) -> NDArray[np.bool_]:
    """Tell for the first characters of a word whether it is one word without each of them."""
    shorter = (word[:at] + word[at + 1 :] for at in range(min(len(word), max_characters)))
    return np.array([is_word(rest) for rest in shorter], dtype=bool)


BLOCK_COLUMNS = 128  # of a table, whose maximum is computed before any of them is compared
UNSURE_BITS = 7  # of a gain, by which rounding in another order may change it; the others are kept


class TopK(NamedTuple):
    """The highest gains of one text, the highest first, with the row and the column of each."""

    gain: NDArray[np.float64]
    row: Integers
    column: Integers


def top_k_of_table(
    gain: Tensor, ends: Sequence[int], k: int, threshold: NDArray[Any] | None = None
) -> list[TopK]:
    """Find the k highest finite gains of every text in a table; text n has the rows before ends[n].

    Rows are counted from the first row of their text; `threshold` is as in `top_k`.
    """
    blocks = -(-gain.shape[1] // BLOCK_COLUMNS)
    padding = blocks * BLOCK_COLUMNS - gain.shape[1]
    padded = torch.nn.functional.pad(gain, (0, padding), value=-torch.inf) if padding else gain
    block = padded.view(len(gain) * blocks, BLOCK_COLUMNS)
    maximum = block.amax(dim=1)
    if not bool((maximum < torch.inf).all()):
        # What is infinite or not a number would hide the other gains of its block.
        block = torch.where(block.isfinite(), block, -torch.inf)
        maximum = block.amax(dim=1)

    def expand(numbers: Integers) -> NDArray[Any]:
        return block[torch.from_numpy(numbers).to(block.device)].cpu().numpy()

    ends = [blocks * end for end in ends]
    return [
        TopK(best, number // blocks, number % blocks * BLOCK_COLUMNS + column)
        for best, number, column in top_k(maximum.cpu().numpy(), ends, k, expand, threshold)
    ]


def top_k(
    maximum: NDArray[Any],
    ends: Sequence[int],
    k: int,
    expand: Callable[[Integers], NDArray[Any]],
    threshold: NDArray[Any] | None = None,
) -> list[TopK]:
    """Find the k highest gains of every text, where gains lie in blocks; −∞ stands for no gain.

    `maximum` is the highest gain of each block, text n has the blocks before ends[n], and `expand`
    computes all gains of some blocks (blocks × columns). `threshold` has a number for every text
    that is not above its k-th highest gain; if None, it is the k-th highest maximum of its blocks.
    The rows of the answer are blocks, counted from the first one of their text.
    """
    starts = [0, *ends][:-1]
    of_text = [maximum[start:stop] for start, stop in zip(starts, ends)]
    if threshold is None:
        threshold = np.array([_kth_highest(value, k) for value in of_text])
    highest = np.array([value.max(initial=-np.inf) for value in of_text], dtype=np.float64)
    step = rounding_step(highest, maximum.dtype)
    # What is rounded to the k-th highest gain may lie a little below it.
    threshold = np.maximum(threshold - step, np.finfo(maximum.dtype).min)
    text = np.repeat(np.arange(len(ends)), np.diff([0, *ends]))
    block = np.flatnonzero(maximum >= threshold[text])
    gains = expand(block)
    index = np.flatnonzero(gains >= threshold[text[block], None])
    row, column = np.divmod(index, max(1, gains.shape[1]))
    gain, block = gains.reshape(-1)[index].astype(np.float64), block[row]
    stops = np.searchsorted(block, ends).tolist()
    best = []
    for start, begin, stop, unit in zip(starts, [0, *stops], stops, step):
        value = gain[begin:stop]
        candidates = np.flatnonzero(value >= _kth_highest(value, k) - unit)
        rounded = round_to(value[candidates], unit)
        order = (-rounded).argsort(kind="stable")[:k]
        at = begin + candidates[order]
        best.append(TopK(rounded[order], block[at] - start, column[at]))
    return best


def rounding_step(highest: NDArray[np.float64], dtype: Any) -> NDArray[np.float64]:
    """Compute to which multiples the gains of a text are rounded, from its highest gain.

    It is a power of two, so that the last digits of the highest gain do not decide about it; 0,
    which rounds nothing, if the highest gain is 0 or not finite.
    """
    has_size = np.isfinite(highest) & (highest != 0)
    exponent = np.frexp(np.where(has_size, highest, 1.0))[1]
    return np.where(has_size, np.ldexp(1.0, exponent - (np.finfo(dtype).nmant - UNSURE_BITS)), 0.0)


def round_to(gain: NDArray[np.float64], step: float) -> NDArray[np.float64]:
    """Round gains to multiples of a step; 0 rounds nothing."""
    return np.rint(gain / step) * step if step else gain


def _kth_highest(value: NDArray[Any], k: int) -> float:
    """Return the k-th highest value; −∞ if there are fewer."""
    if not k:
        return np.inf
    return float(np.partition(value, -k)[-k]) if k <= len(value) else -np.inf


ROWS = 16
COLUMNS = 4


def whole_rows(x: Tensor) -> Tensor:
    """Add rows of zeros up to a multiple of `ROWS`."""
    lacking = -len(x) % ROWS
    return pad(x, (0, 0, 0, lacking)) if lacking else x


def whole_columns(x: Tensor) -> Tensor:
    """Add columns of zeros up to a multiple of `COLUMNS`: to rows, and to what they multiply."""
    lacking = -x.shape[-1] % COLUMNS
    return pad(x, (0, lacking)) if lacking else x


class WholeLinear(nn.Linear):
    """A linear layer whose result for a row does not depend on where the row stands."""

    def forward(self, input: Tensor) -> Tensor:
        return linear(whole_columns(input), whole_columns(self.weight), self.bias)


def whole_sigmoid_(x: Tensor, vector: int = 32) -> Tensor:
    """Compute the sigmoid of a contiguous array in place, all of it by one routine.

    Torch computes `vector` numbers at once. (It is an argument for TorchScript, which reads no
    globals.)
    """
    rest = x.numel() % vector
    if rest == 0:
        return x.sigmoid_()
    flat = x.view(-1)
    flat[:-rest].sigmoid_()
    flat[-rest:] = pad(flat[-rest:], (0, vector - rest)).sigmoid_()[:rest]
    return x


class WholeRows(TorchFunctionMode):
    """Inside this context, no linear layer on the CPU has fewer than `ROWS` rows, of any model."""

    def __torch_function__(
        self, func: Any, types: Any, args: tuple[Any, ...] = (), kwargs: Any = None
    ) -> Any:
        if func is not linear or not args or args[0].device.type != "cpu":
            return func(*args, **(kwargs or {}))
        x, *rest = args
        if x.numel() >= ROWS * x.shape[-1]:
            return linear(*args, **(kwargs or {}))
        rows = x.reshape(-1, x.shape[-1])
        out = linear(whole_rows(rows), *rest, **(kwargs or {}))
        return out[: len(rows)].view(*x.shape[:-1], -1)


def repeat_last(index: NDArray[np.int64]) -> NDArray[np.int64]:
    """Repeat the last index, which must be there, up to a multiple of `ROWS`."""
    lacking = -len(index) % ROWS
    return np.concatenate([index, index[-1:].repeat(lacking)]) if lacking else index

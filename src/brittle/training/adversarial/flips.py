"""Copies of a batch with its best flips: all of one backward pass, applied at once.

Ebrahimi et al. (2018) train on these: of every position the best flip, and of every text the best
share of the positions, in one go. All is done on the batch's tensors; no text is spelt out. This
file needs torch.
"""

from __future__ import annotations

from dataclasses import replace

import torch
from torch import Tensor

from brittle.zoo.networks import Batch, Embedded
from brittle.zoo.tokenizers.words import UNKNOWN

MAX_PRODUCT_ENTRIES = 1 << 24  # of one table of positions × choices: 64 MB


def flip_characters(
    batch: Batch, positions: Tensor, gradient: Tensor, table: Tensor, allowed: Tensor, share: float
) -> Batch:
    """Flip a share of each text's characters, to those of the alphabet that are allowed.

    The rows of characters must be apart, a row for every place; `slope` is the gradient of the loss
    along their vectors, `table` the vectors of the alphabet. `positions` (texts × words) says where
    words stand. Where words are read too, one that is flipped reads as unknown, as most misspelt
    words are; its flips are ranked by the characters alone.
    """
    characters, which = batch.characters, batch.which
    assert characters is not None and which is not None
    row, at = torch.nonzero(characters, as_tuple=True)
    now = characters[row, at]
    value, choice = best_flips(
        gradient[row, at], table[allowed], _positions(now, allowed, len(table))
    )
    gain = gradient.new_full(characters.shape, -torch.inf)
    gain[row, at] = value - (gradient[row, at] * table[now]).sum(1)
    becomes = characters.clone()
    becomes[row, at] = allowed[choice]
    here = gain[which].masked_fill(~positions[:, :, None], -torch.inf)
    text, word, at = torch.nonzero(
        mark_highest(here.flatten(1), share).view_as(here), as_tuple=True
    )
    row = which[text, word]
    flipped = characters.clone()
    flipped[row, at] = becomes[row, at]
    words = batch.words
    if words is not None:
        words = words.index_put((text, word), words.new_tensor(UNKNOWN))
    return replace(batch, characters=flipped, words=words)


def flip_words(
    batch: Batch,
    positions: Tensor,
    gradient: Tensor,
    read: Embedded,
    table: Tensor,
    first: int,
    share: float,
) -> Batch:
    """Flip a share of each text's words, to any words of the vocabulary.

    This is our analogue, for networks that read no characters. `read` are the vectors that the
    gradient was taken at, which differ from the words' own where these were forgotten; `first` is
    the number of the first real word of the vocabulary, after the padding and its like.
    """
    words = batch.words
    assert words is not None and read.words is not None
    text, word = torch.nonzero(positions, as_tuple=True)
    value, choice = best_flips(gradient[text, word], table[first:], words[text, word] - first)
    gain = gradient.new_full(words.shape, -torch.inf)
    gain[text, word] = value - (gradient[text, word] * read.words[text, word]).sum(1)
    becomes = words.clone()
    becomes[text, word] = choice + first
    return replace(batch, words=torch.where(mark_highest(gain, share), becomes, words))


def best_flips(gradient: Tensor, table: Tensor, now: Tensor) -> tuple[Tensor, Tensor]:
    """Find for every slope the row of a table that it gains most by, other than the present one.

    `now` is that one, or any number that is no row. Gives the products and the rows; the product
    is −∞ where there is no other.
    """
    values, choices = [gradient.new_empty(0)], [now.new_empty(0)]
    step = max(1, MAX_PRODUCT_ENTRIES // max(1, len(table)))
    for start in range(0, len(gradient) if len(table) else 0, step):
        product = gradient[start : start + step] @ table.T
        present = now[start : start + step]
        row = torch.nonzero((present >= 0) & (present < len(table))).squeeze(1)
        product[row, present[row]] = -torch.inf
        value, choice = product.max(dim=1)
        values.append(value)
        choices.append(choice)
    return torch.cat(values), torch.cat(choices)


def mark_highest(gain: Tensor, share: float) -> Tensor:
    """Mark in every row the highest entries: a share, rounded down, of those above −∞.

    At least one is marked, unless there is none; of equal ones the first.
    """
    able = gain > -torch.inf
    most = (share * able.sum(dim=1).double() + 1e-9).floor().clamp(min=1)
    order = gain.argsort(dim=1, descending=True, stable=True)
    place = torch.arange(gain.shape[1], device=gain.device).expand_as(order)
    rank = torch.empty_like(order).scatter_(1, order, place)
    return able & (rank < most[:, None])


def _positions(characters: Tensor, allowed: Tensor, count: int) -> Tensor:
    """Say where each character stands among the allowed ones; −1 for the others."""
    position = torch.full((count,), -1, device=allowed.device)
    position[allowed] = torch.arange(len(allowed), device=allowed.device)
    return position[characters]

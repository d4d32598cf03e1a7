"""Copies of a batch with its best flips, all from one backward pass and applied at once.

Ebrahimi et al. (2018) train on such copies: they take the best flip of every position, and of these
the best share in every text. Everything is done on the tensors of the batch. This file needs torch.
"""

from __future__ import annotations

from dataclasses import replace

import torch
from torch import Tensor

from brittle.zoo.networks import Batch, Embedded
from brittle.zoo.tokenizers.words import UNKNOWN

MAX_PRODUCT_ENTRIES = 1 << 24  # entries of one positions × choices table: 64 MB


def flip_characters(
    batch: Batch, is_word: Tensor, gradient: Tensor, table: Tensor, allowed: Tensor, share: float
) -> Batch:
    """Flip a share of each text's characters to allowed characters of the alphabet.

    Every word of the batch must have its own row of characters. `is_word` (texts × words) marks
    words, `gradient` is that of the loss at the character embeddings, `table` holds the embeddings
    of the alphabet, and `allowed` the ids of the characters to choose from. Flips are ranked by the
    characters alone. If the network also reads words, a flipped word becomes unknown, as most
    misspelt words are.
    """
    characters, which = batch.characters, batch.which
    assert characters is not None and which is not None
    row, column = torch.nonzero(characters, as_tuple=True)
    current = characters[row, column]
    value, choice = best_flips(
        gradient[row, column], table[allowed], _index_in(allowed, current, len(table))
    )
    gain = gradient.new_full(characters.shape, -torch.inf)
    gain[row, column] = value - (gradient[row, column] * table[current]).sum(1)
    best = characters.clone()
    best[row, column] = allowed[choice]
    gain_by_text = gain[which].masked_fill(~is_word[:, :, None], -torch.inf)
    flips = mark_highest(gain_by_text.flatten(1), share).view_as(gain_by_text)
    text, word, column = torch.nonzero(flips, as_tuple=True)
    row = which[text, word]
    flipped = characters.clone()
    flipped[row, column] = best[row, column]
    words = batch.words
    if words is not None:
        words = words.index_put((text, word), words.new_tensor(UNKNOWN))
    return replace(batch, characters=flipped, words=words)


def flip_words(
    batch: Batch,
    is_word: Tensor,
    gradient: Tensor,
    embedded: Embedded,
    table: Tensor,
    first_id: int,
    share: float,
) -> Batch:
    """Flip a share of each text's words to any words of the vocabulary.

    This is our analogue for networks that read no characters. `embedded` holds the vectors at which
    the gradient was taken; they differ from the words' own vectors where words were forgotten.
    `first_id` is the id of the first real word of the vocabulary, after padding and other marks.
    """
    words = batch.words
    assert words is not None and embedded.words is not None
    text, word = torch.nonzero(is_word, as_tuple=True)
    current = words[text, word]
    value, choice = best_flips(gradient[text, word], table[first_id:], current - first_id)
    gain = gradient.new_full(words.shape, -torch.inf)
    gain[text, word] = value - (gradient[text, word] * embedded.words[text, word]).sum(1)
    best = words.clone()
    best[text, word] = choice + first_id
    return replace(batch, words=torch.where(mark_highest(gain, share), best, words))


def best_flips(gradient: Tensor, table: Tensor, current: Tensor) -> tuple[Tensor, Tensor]:
    """Find for every gradient the row of the table with the highest product.

    `current` is the row to leave out, or any number that is not a row. Returns the products and the
    rows; the product is −∞ where no other row exists.
    """
    values, choices = [gradient.new_empty(0)], [current.new_empty(0)]
    step = max(1, MAX_PRODUCT_ENTRIES // max(1, len(table)))
    for start in range(0, len(gradient) if len(table) else 0, step):
        product = gradient[start : start + step] @ table.T
        excluded = current[start : start + step]
        row = torch.nonzero((excluded >= 0) & (excluded < len(table))).squeeze(1)
        product[row, excluded[row]] = -torch.inf
        value, choice = product.max(dim=1)
        values.append(value)
        choices.append(choice)
    return torch.cat(values), torch.cat(choices)


def mark_highest(gain: Tensor, share: float) -> Tensor:
    """Mark in every row the highest entries: a share, rounded down, of those above −∞.

    At least one entry is marked, unless all are −∞. Of equal entries the first is marked.
    """
    finite = gain > -torch.inf
    count = (share * finite.sum(dim=1).double() + 1e-9).floor().clamp(min=1)
    order = gain.argsort(dim=1, descending=True, stable=True)
    column = torch.arange(gain.shape[1], device=gain.device).expand_as(order)
    rank = torch.empty_like(order).scatter_(1, order, column)
    return finite & (rank < count[:, None])


def _index_in(allowed: Tensor, characters: Tensor, alphabet_size: int) -> Tensor:
    """Return the index of each character among the allowed ones; −1 for all others."""
    index = torch.full((alphabet_size,), -1, device=allowed.device)
    index[allowed] = torch.arange(len(allowed), device=allowed.device)
    return index[characters]

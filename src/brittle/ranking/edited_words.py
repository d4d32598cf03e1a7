"""Edits of characters ranked by the vectors of the words they make (`--estimate word`).

HotFlip takes an insertion for a run of flips (Ebrahimi et al., 2018), and this estimate orders
insertions inside a word badly (docs/papers/hotflip.md; a guess at the reason: the network takes a
maximum over the windows of a word, which hardly changes when they only move). Here the best edits
by that estimate are ranked again: to first order, the gain of an edit is the gradient along the
word's vector times the difference of two vectors, that of the new spelling and that of the old one,
both as the network computes them. This file needs torch.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from itertools import chain

import numpy as np
import torch
from torch import Tensor

from brittle.ranking.moves import RankedMoves
from brittle.ranking.top_k import round_to, rounding_step


def rank_by_vectors(
    texts: Sequence[RankedMoves],
    direction: Tensor,
    vector: Tensor,
    vectors_of: Callable[[Sequence[str]], Tensor],
) -> list[RankedMoves]:
    """Rank the edits of every text again.

    `direction` and `vector` have a row for every word of the texts, text after text. Gains, rounded
    as in `top_k`, of one value stand in the order of the positions, then of the edits.
    """
    new_words = [
        [moves.spell_out(moves.words[row], edit)[0] for row, edit in zip(moves.row, moves.edit)]
        for moves in texts
    ]
    index = {word: n for n, word in enumerate(dict.fromkeys(chain.from_iterable(new_words)))}
    table = vectors_of(list(index))
    ranked, start = [], 0
    for moves, words in zip(texts, new_words):
        row = torch.from_numpy(start + moves.row)
        change = table[[index[word] for word in words]] - vector[row]
        gain = (change * direction[row]).sum(dim=1).numpy()
        highest = gain[np.isfinite(gain)].max(initial=-np.inf)
        [step] = rounding_step(np.array([highest], dtype=np.float64), gain.dtype)
        gain = round_to(gain.astype(np.float64), step)
        best = np.lexsort((moves.edit, moves.row, -gain))
        best = best[np.isfinite(gain[best])]
        ranked.append(replace(moves, gain=gain[best], row=moves.row[best], edit=moves.edit[best]))
        start += len(moves.words)
    return ranked

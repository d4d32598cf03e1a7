"""What is asked of gradients: the objective, its gradient by pixels, and the best edits of a text.

The objective that a request wants to rise, as a function of the logits. This file needs torch.

`EditSpace` says what it is: ± log p or ± the logit of the class that the text should leave (−) or
reach (+).

The gradient of a request's objective by the pixels of its picture. This file needs torch. The best
edits of a text: ranked by their gain, spelt out when they are read.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cache, partial
from typing import TypeVar

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from brittle import goals
from brittle.english.forms import match_case
from brittle.errors import UsageError
from brittle.moves import EditKind, EditRequest, EditSpace, Move, Moves
from brittle.picture import PixelGradientRequest
from brittle.text import Word


def objective_gradient(scores: Tensor, requests: Sequence[EditRequest]) -> Tensor:
    """Compute the gradient of every request's objective along the logits (texts × classes).

    `scores` are probabilities p. Along the logits, log p of class c has the gradient [i = c] − p.
    For 1 − p the sum of the others is taken, so that nothing cancels where p is nearly 1.
    """
    device = scores.device
    aimed = [r.label if r.toward is None else r.toward for r in requests]
    column = torch.tensor(aimed, device=device)[:, None]
    log = torch.tensor([[r.space.objective == "loss"] for r in requests], device=device)
    sign = torch.tensor([[-1.0 if r.toward is None else 1.0] for r in requests], device=device)
    others = (scores * log).scatter(1, column, 0.0)
    own = torch.where(log, others.sum(dim=1, keepdim=True), 1.0)
    return (-others).scatter(1, column, own) * sign


def is_reached(scores: Sequence[float], request: EditRequest) -> bool:
    """Tell whether a text has left its class, or reached the one it should."""
    predicted = max(range(len(scores)), key=scores.__getitem__)
    return bool(goals.is_reached(predicted, request.label, request.toward))


Pixels = NDArray[np.float32]


def as_tensor(pixels: Pixels, device: torch.device | str) -> Tensor:
    """Turn pictures × height × width × channels into pictures × channels × height × width."""
    return torch.from_numpy(np.array(pixels.transpose(0, 3, 1, 2), order="C")).to(device)


def pixel_gradients(
    logits_of: Callable[[Tensor], Tensor],
    requests: Sequence[PixelGradientRequest],
    device: torch.device | str,
) -> list[Pixels]:
    """Compute every request's gradient, in the shape of its picture.

    `logits_of` is the forward pass, from pictures × channels × height × width to logits.
    """
    pixels = np.stack([request.picture.pixels for request in requests])
    leaf = as_tensor(pixels, device).requires_grad_()
    with torch.enable_grad():
        logits = logits_of(leaf)
        along = _objective_gradient(logits.detach().double(), requests).to(logits.dtype)
        (gradient,) = torch.autograd.grad(logits, leaf, along)
    return list(gradient.permute(0, 2, 3, 1).cpu().numpy())


def _objective_gradient(logits: Tensor, requests: Sequence[PixelGradientRequest]) -> Tensor:
    """Compute the gradient of the objectives along the logits: ± ([i = c] − p) for a class c.

    For 1 − p the sum of the others is taken, so that nothing cancels where p is nearly 1.
    """
    aimed = [r.label if r.toward is None else r.toward for r in requests]
    column = torch.tensor(aimed, device=logits.device)[:, None]
    sign = [[-1.0 if r.toward is None else 1.0] for r in requests]
    others = logits.softmax(dim=1).scatter(1, column, 0.0)
    own = others.sum(dim=1, keepdim=True)
    gradient = (-others).scatter(1, column, own)
    return gradient * torch.tensor(sign, device=logits.device, dtype=logits.dtype)


T = TypeVar("T")
SpellOut = Callable[[Word, int], tuple[str, EditKind, int, bool]]
"""From a word and the number of one of its edits: the last four fields of a `Move`."""


@dataclass(frozen=True, eq=False, slots=True)
class RankedMoves:
    """The best edits of one text, the highest gain first (`Moves`).

    Edit n replaces the word at positions[row[n]], which is words[row[n]] now; `spell_out` knows
    what its number, edit[n], means.
    """

    gain: NDArray[np.float64]
    row: NDArray[np.integer]
    edit: NDArray[np.integer]
    positions: Sequence[int]
    words: Sequence[Word]
    spell_out: SpellOut

    def __len__(self) -> int:
        return len(self.gain)

    def __getitem__(self, n: int) -> Move:
        row = int(self.row[n])
        spelt = self.spell_out(self.words[row], int(self.edit[n]))
        return Move(float(self.gain[n]), self.positions[row], *spelt)


@dataclass(frozen=True, eq=False, slots=True)
class LazyMoves:
    """The moves of one text of several that are ranked together, when one of them is first read."""

    rank_group: Callable[[], Sequence[Moves]]
    number: int

    @property
    def gain(self) -> NDArray[np.float64]:
        return self.rank_group()[self.number].gain

    def __getitem__(self, n: int) -> Move:
        return self.rank_group()[self.number][n]


def rank_as_needed(
    requests: Sequence[EditRequest],
    scores: Sequence[Sequence[float]],
    texts: Sequence[T],
    rank: Callable[[list[T]], Sequence[Moves]],
) -> list[Moves]:
    """Rank texts by tokens as `rank_lazily` does; spellings have no vectors there."""
    for space in {request.space for request in requests}:
        refuse_word_estimate(space, "words or parts of words, whose own vectors rank their edits")
    return rank_lazily(requests, scores, texts, rank)


def rank_lazily(
    requests: Sequence[EditRequest],
    scores: Sequence[Sequence[float]],
    texts: Sequence[T],
    rank: Callable[[list[T]], Sequence[Moves]],
) -> list[Moves]:
    """Rank now the texts whose search probably goes on, and the others only if they are read.

    A search ends with the first text that reaches its class, unless its goal asks for more. The
    texts of one search share their frame. `texts` are the requests as `rank` takes them.
    """
    searches: dict[int, list[int]] = {}
    for n, request in enumerate(requests):
        searches.setdefault(id(request.text.frame), []).append(n)
    moves: dict[int, Moves] = {}
    going_on: list[int] = []
    for group in searches.values():
        if any(is_reached(scores[n], requests[n]) for n in group):
            rank_group = cache(partial(rank, [texts[n] for n in group]))
            moves.update((n, LazyMoves(rank_group, i)) for i, n in enumerate(group))
        else:
            going_on += group
    moves.update(zip(going_on, rank([texts[n] for n in going_on])))
    return [moves[n] for n in range(len(requests))]


def refuse_word_estimate(space: EditSpace, reads: str) -> None:
    """Refuse to rank by vectors of new words where no network computes them from spellings."""
    if space.level == "characters" and space.estimate == "word":
        raise UsageError(
            "--estimate word asks for the vectors that a network computes from the spellings of "
            f"words, but this target reads {reads}. Leave --estimate out, or attack a network of "
            "characters such as CharCNN-LSTM."
        )


def match_capitals(new: str, word: Word) -> str:
    """Write a word of a vocabulary in the capitals of the word it replaces.

    A vocabulary that tells cases apart means what it lists: only lower case is changed.
    """
    return match_case(new, word) if isinstance(word, str) and new == new.lower() else new

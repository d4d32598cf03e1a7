"""Beam search over first-order edits, by the running sum of their gains."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from heapq import merge
from itertools import compress, islice
from typing import Any

import numpy as np
from numpy.typing import NDArray

from brittle.asks import NO_CANDIDATES, Case, Flips, Search, Try, Unfit
from brittle.moves import EditRequest, Move, Moves
from brittle.text import Text, Word

Path = tuple[float, Text]
"""The sum of the gains on the way to a text, and the text."""

NewWord = Callable[[Text, Move], str | None]
Screen = Callable[[Sequence[Text]], Search[list[bool]]]

CANDIDATES_PER_SCREENING = 4
"""How many candidates are screened at once, for each text that the beam holds."""
SMALLEST_PROBABILITY = 1e-300  # where the logarithm ends


def beam(
    case: Case[Text],
    request_for: Callable[[Text], EditRequest],
    new_word: NewWord,
    *,
    width: int,
    steps: int,
    screen: Screen | None = None,
    from_loss: bool = False,
) -> Search[None]:
    """Edit a text up to `steps` times; follow the `width` best texts of each depth.

    A path's score is the sum of its edits' gains, each taken at the text it was made on
    (Ebrahimi et al., 2018, section 3.3); losses decide nothing but success. With `from_loss` it is
    the cross-entropy of the text before the last edit, plus that edit's gain. `new_word` returns
    the word that a move puts into a text, or None if the move is not acceptable; `screen` may ask
    further about whole texts. No text is offered twice, the original included. A case whose
    original has no acceptable edit is unfit. The pass that judges a text also finds its edits, so a
    full search takes 1 + width · (steps − 1) backward passes: the texts of the last depth need no
    edits, and are only tried.
    """
    paths: list[Path] = [(0.0, case.text)]
    seen = {case.text.words}
    for step in range(steps):
        answer = yield from Flips([text for _, text in paths], request_for)
        if from_loss:
            loss = _cross_entropy(case, answer.answers).tolist()
            paths = [(value, text) for value, (_, text) in zip(loss, paths)]
        paths = yield from _best(_children(paths, answer.moves, new_word, seen), width, screen)
        if not paths:
            if step == 0:
                raise Unfit(NO_CANDIDATES)
            return
    yield from Try([text for _, text in paths])


def _cross_entropy(case: Case[Text], scores: Any) -> NDArray[np.float64]:
    """Compute what gains are gains of: −log p of the true class, or log p of the one aimed at."""
    column, sign = (case.label, -1.0) if case.toward is None else (case.toward, 1.0)
    probability = np.asarray(scores, dtype=np.float64)[:, column]
    loss: NDArray[np.float64] = sign * np.log(np.maximum(probability, SMALLEST_PROBABILITY))
    return loss


def _children(
    paths: Sequence[Path],
    moves: Sequence[Moves],
    new_word: NewWord,
    seen: set[tuple[Word, ...]],
) -> Iterator[Path]:
    """Yield what the moves lead to, the highest sum first; ties go to the first parent."""
    ranked = merge(*(_costs(n, paths[n][0], of_parent) for n, of_parent in enumerate(moves)))
    return (
        (-cost, child)
        for cost, parent, move in ranked
        if (child := _child(paths[parent][1], moves[parent][move], new_word, seen)) is not None
    )


def _costs(parent: int, score: float, moves: Moves) -> Iterable[tuple[float, int, int]]:
    return ((-(score + gain), parent, move) for move, gain in enumerate(moves.gain.tolist()))


def _child(text: Text, move: Move, new_word: NewWord, seen: set[tuple[Word, ...]]) -> Text | None:
    new = new_word(text, move)
    if new is None:
        return None
    words = (*text.words[: move.position], new, *text.words[move.position + 1 :])
    if words in seen:
        return None
    seen.add(words)
    return text.with_words(words)


def _best(paths: Iterator[Path], width: int, screen: Screen | None) -> Search[list[Path]]:
    """Return the first paths that pass the screen, and screen no more than needed."""
    if screen is None:
        return list(islice(paths, width))
    passed: list[Path] = []
    while len(passed) < width and (batch := list(islice(paths, CANDIDATES_PER_SCREENING * width))):
        passed += compress(batch, (yield from screen([text for _, text in batch])))
    return passed[:width]

"""Beam search over first-order edits, by the running sum of their gains."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import partial
from heapq import merge
from itertools import compress, islice
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from brittle.asks import NO_CANDIDATES, Case, Flips, Search, Try, Unfit
from brittle.moves import EditRequest, Move, Moves
from brittle.text import Text

Path = tuple[float, Text]
"""A text, and the sum of the gains of the edits that led to it."""

NewWord = Callable[[Text, Move], str | None]
Screen = Callable[[Sequence[Text]], Search[list[bool]]]


class Judged(NamedTuple):
    """Paths whose texts were offered, with scores and moves, and how many were refused."""

    paths: Sequence[Path]
    scores: Any
    moves: Sequence[Moves]
    refused: int = 0


CANDIDATES_PER_SCREENING = 4
"""How many candidates are screened at once per text of the beam."""
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
    edits, and are only tried. A text that a constraint refuses gives its place to the next best.
    """
    seen = {case.text}
    answer = yield from Flips([case.text], request_for)
    judged = Judged([(0.0, case.text)], answer.answers, answer.moves)
    for step in range(1, steps + 1):
        if from_loss:
            judged = judged._replace(paths=_from_loss(case, judged))
        take = partial(_take, _children(judged.paths, judged.moves, new_word, seen), screen, [])
        is_last = step == steps
        judged = yield from _offer(take, width, None if is_last else request_for)
        if not judged.paths:
            if step == 1 and not judged.refused:
                raise Unfit(NO_CANDIDATES)
            return


def _offer(
    take: Callable[[int], Search[list[Path]]],
    width: int,
    request_for: Callable[[Text], EditRequest] | None,
) -> Search[Judged]:
    """Offer the next best paths, and ask for their edits; return those that were not refused.

    For each one that is refused the next best is offered.
    """
    paths, scores, moves, refused = list[Path](), list[Any](), list[Moves](), 0
    while offered := (yield from take(width - len(paths))):
        texts = [text for _, text in offered]
        answer = yield from (Try(texts) if request_for is None else Flips(texts, request_for))
        allowed = [True] * len(texts) if answer.refused is None else (~answer.refused).tolist()
        paths += compress(offered, allowed)
        scores += compress(answer.answers, allowed)
        moves += compress(getattr(answer, "moves", ()), allowed)
        refused += len(texts) - sum(allowed)
        if all(allowed):  # the others were no candidates, or there are no more
            break
    return Judged(paths, scores, moves, refused)


def _from_loss(case: Case[Text], judged: Judged) -> list[Path]:
    """Give paths the cross-entropy of their texts: −log p of the true class, or log p of the one
    aimed at, which is what gains are gains of."""
    column, sign = (case.label, -1.0) if case.toward is None else (case.toward, 1.0)
    probability = np.asarray(judged.scores, dtype=np.float64)[:, column]
    loss: NDArray[np.float64] = sign * np.log(np.maximum(probability, SMALLEST_PROBABILITY))
    return [(value, text) for value, (_, text) in zip(loss.tolist(), judged.paths)]


def _children(
    paths: Sequence[Path],
    moves: Sequence[Moves],
    new_word: NewWord,
    seen: set[Text],
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


def _child(text: Text, move: Move, new_word: NewWord, seen: set[Text]) -> Text | None:
    new = new_word(text, move)
    if new is None:
        return None
    child = text.swap(move.position, new)
    if child in seen:
        return None
    seen.add(child)
    return child


def _take(
    paths: Iterator[Path], screen: Screen | None, passed: list[Path], count: int
) -> Search[list[Path]]:
    """Take the next paths that pass the screen, and screen no more than needed.

    `passed` holds those that have passed and are not taken yet.
    """
    if screen is None:
        return list(islice(paths, count))
    while len(passed) < count and (batch := list(islice(paths, CANDIDATES_PER_SCREENING * count))):
        passed += compress(batch, (yield from screen([text for _, text in batch])))
    taken, passed[:] = passed[:count], passed[count:]
    return taken

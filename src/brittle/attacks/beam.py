"""Beam search over first-order edits, by the running sum of their gains."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from heapq import merge
from itertools import compress, islice

from brittle.asks import Case, Flips, Search, Try
from brittle.moves import EditRequest, Move, Moves
from brittle.text import Text, Word

Path = tuple[float, Text]
"""The sum of the gains on the way to a text, and the text."""

Written = Callable[[Text, Move], str | None]
Screen = Callable[[Sequence[Text]], Search[list[bool]]]
SCREENED = 4
"""How many candidates for each place in the beam are screened at once."""


def beam(
    case: Case[Text],
    request_for: Callable[[Text], EditRequest],
    written: Written,
    *,
    width: int,
    steps: int,
    screen: Screen | None = None,
) -> Search[None]:
    """Edit a text up to `steps` times, keeping the `width` best texts of each depth.

    A path's score is the sum of its edits' gains, each taken at the text it was made on
    (Ebrahimi et al., 2018, section 3.3); losses decide nothing but success. `written` says how the
    word of a text's move is written, or None where the move is not acceptable; `screen` may ask
    further about whole texts. No text is offered twice, the original included. The pass that judges
    a text also finds its edits, so a full search takes 1 + width · (steps − 1) backward passes: the
    texts of the last depth need no edits, and are tried only.
    """
    level: list[Path] = [(0.0, case.text)]
    seen = {case.text.words}
    for _ in range(steps):
        answer = yield from Flips([text for _, text in level], request_for)
        level = yield from _best(_children(level, answer.moves, written, seen), width, screen)
        if not level:
            return
    yield from Try([text for _, text in level])


def _children(
    level: Sequence[Path],
    moves: Sequence[Moves],
    written: Written,
    seen: set[tuple[Word, ...]],
) -> Iterator[Path]:
    """List what the parents' moves lead to, the highest sum first; ties go to the first parent."""
    ranked = merge(*(_costs(at, level[at][0], found) for at, found in enumerate(moves)))
    return (
        (-cost, child)
        for cost, at, n in ranked
        if (child := _child(level[at][1], moves[at][n], written, seen)) is not None
    )


def _costs(at: int, score: float, moves: Moves) -> Iterable[tuple[float, int, int]]:
    return ((-(score + gain), at, n) for n, gain in enumerate(moves.gain.tolist()))


def _child(
    text: Text,
    move: Move,
    written: Written,
    seen: set[tuple[Word, ...]],
) -> Text | None:
    new = written(text, move)
    if new is None:
        return None
    words = (*text.words[: move.position], new, *text.words[move.position + 1 :])
    if words in seen:
        return None
    seen.add(words)
    return text.with_words(words)


def _best(paths: Iterator[Path], width: int, screen: Screen | None) -> Search[list[Path]]:
    """Take the first paths that pass the screen, looking no further than needed."""
    if screen is None:
        return list(islice(paths, width))
    kept: list[Path] = []
    while len(kept) < width and (batch := list(islice(paths, SCREENED * width))):
        kept += compress(batch, (yield from screen([text for _, text in batch])))
    return kept[:width]

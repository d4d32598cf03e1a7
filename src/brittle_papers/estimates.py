"""The task that compares the estimated gain of character edits with what they really change."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import islice
from random import Random
from typing import Any

import numpy as np
from numpy.typing import NDArray

from brittle.metrics.rank_correlation import rank_correlation
from brittle.moves import CHARACTER_EDITS, EditKind, EditRequest, EditSpace, Move
from brittle.targets.protocols import Classifies, HasFlips
from brittle.text import Text, is_word
from brittle.workflow.tasks import TaskContext
from brittle_papers.data import load_split
from brittle_papers.planning import task_function
from brittle_papers.tasks import open_model

KINDS = ("flip", "inner insert", "append", "delete")
ALL_EDITS = 1_000_000  # more than a text has
SMALLEST_PROBABILITY = 1e-300
MOVES_FOR_EACH = 8  # edits drawn for each that is used: most inserts are inner ones


@task_function("brittle.papers.estimates:estimates", "data", "target")
def estimates(
    context: TaskContext,
    *,
    target: str,
    data: str,
    texts: int,
    edits: int,
    estimate: str,
    seed: int,
) -> dict[str, Any]:
    """Compute the rank correlation of gains and true changes in loss, by kind of edit.

    For each of `texts` texts of the test split it is taken over up to `edits` random edits of a
    kind. An insert at the end of a word is an append: it moves no other character.
    """
    model: Any = open_model(context.needs[target])
    dataset = load_split(context.folder, context.needs[data], "test")
    random = Random(seed)
    found: dict[str, list[float]] = {kind: [] for kind in KINDS}
    for example in dataset.take(min(texts, len(dataset)), seed):
        text, label = Text.of(dict(example.fields)), dataset.labels.index(str(example.label))
        for kind in CHARACTER_EDITS:
            moves = _random_moves(model, text, label, kind, estimate, random)
            for name, chosen in _by_kind(text, moves, edits).items():
                change = _losses(model, [text.swap(m.position, m.new) for m in chosen], label)
                value = rank_correlation([move.gain for move in chosen], change)
                if value is not None:
                    found[name].append(value)
    means = [f"{kind} {np.mean(values or [0]):.2f}" for kind, values in found.items()]
    return {"correlations": found, "message": "rank correlation, " + ", ".join(means)}


def _random_moves(
    model: HasFlips, text: Text, label: int, kind: EditKind, estimate: str, random: Random
) -> Iterator[Move]:
    """Yield all edits of a kind in random order, each with its estimated gain."""
    changed: dict[str, Any] = {} if estimate == "paper" else {"estimate": estimate}
    space = EditSpace("characters", (kind,), ALL_EDITS, **changed)
    request = EditRequest(text, label, None, space, tuple(model.words_read([text])[0]))
    moves = model.flips([request])[0].moves
    order = list(range(len(moves.gain)))
    random.shuffle(order)
    return (move for move in map(moves.__getitem__, order) if is_word(move.new))


def _by_kind(text: Text, moves: Iterator[Move], edits: int) -> dict[str, list[Move]]:
    """Sort some edits by kind, up to `edits` of each; appends are a small part of the inserts."""
    chosen: dict[str, list[Move]] = {}
    for move in islice(moves, MOVES_FOR_EACH * edits):
        name: str = move.kind
        if name == "insert":
            is_last = move.character == len(str(text.words[move.position]))
            name = "append" if is_last else "inner insert"
        chosen.setdefault(name, []).append(move)
    return {name: of_kind[:edits] for name, of_kind in chosen.items()}


def _losses(model: Classifies, texts: list[Text], label: int) -> NDArray[np.float64]:
    """Compute the loss of each text; that of the original would only shift them all."""
    probability = np.maximum(model.scores(texts)[:, label], SMALLEST_PROBABILITY)
    loss: NDArray[np.float64] = -np.log(probability)
    return loss

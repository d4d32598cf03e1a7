"""Plain, sequential PWWS and genetic search, written from the papers to check ours against.

No engine, no batches, no cache: words in lists, one text a query, the first winner ends it. Only
where words begin and end (Text), which words may stand where (a proposal) and their tags are
brittle's own. Every choice that hangs on a number is noted with its numbers, so that two runs can
be compared up to the first one in which they part.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from itertools import accumulate
from random import Random
from typing import Any

from brittle.text import HOLE, Text

Words = list[Any]
Ask = Callable[[Text], Sequence[float]]


@dataclass(frozen=True)
class Choice:
    """The largest of some values was taken, the first of equals."""

    taken: int
    values: tuple[float, ...]


@dataclass
class Found:
    """How a search ended; `best` is the winner, or the text nearest to it, if one came nearer."""

    status: str
    best: Words | None
    queries: int
    choices: list[Choice] = field(default_factory=list, repr=False)


class Box:
    """Asks about one text at a time, counts, and notes what was chosen and what came nearest."""

    def __init__(self, ask: Ask, text: Text, label: int) -> None:
        self.ask, self.text, self.label = ask, text, label
        self.queries = 0
        self.choices: list[Choice] = []
        self.best: Words | None = None
        self.best_loss = math.inf

    def start(self) -> tuple[float, bool]:
        self.best_loss, wrong = self._judged(list(self.text.words))
        return self.best_loss, wrong

    def loss(self, words: Words) -> float:
        return self._asked(words)[0]

    def offer(self, words: Words) -> tuple[float, bool]:
        loss, won = self._judged(words)
        if loss > self.best_loss:
            self.best_loss, self.best = loss, words
        return loss, won

    def largest(self, values: Sequence[float]) -> int:
        taken = min(range(len(values)), key=lambda n: (-values[n], n))
        self.choices.append(Choice(taken, tuple(values)))
        return taken

    def found(self, status: str, winner: Words | None = None) -> Found:
        best = self.best if winner is None else winner
        return Found(status, best, self.queries, self.choices)

    def _judged(self, words: Words) -> tuple[float, bool]:
        loss, row = self._asked(words)
        return loss, self.largest(row) != self.label

    def _asked(self, words: Words) -> tuple[float, Sequence[float]]:
        self.queries += 1
        row = [float(p) for p in self.ask(self.text.with_words(tuple(words)))]
        return math.fsum(p for n, p in enumerate(row) if n != self.label), row


def softmax(values: Sequence[float]) -> list[float]:
    top = max(values)
    powers = [math.exp(value - top) for value in values]
    return [power / math.fsum(powers) for power in powers]


def pwws(ask: Ask, text: Text, label: int, options: Sequence[Sequence[str]]) -> Found:
    box = Box(ask, text, label)
    original = list(text.words)
    start, wrong = box.start()
    if wrong:
        return box.found("skipped")
    if not any(options):
        return box.found("skipped")
    saliency = []
    for i in range(len(original)):
        masked = [*original[:i], HOLE, *original[i + 1 :]]
        saliency.append(box.loss(masked) - start)
    weight = softmax(saliency)
    left = []
    for i, words in enumerate(options):
        gains = [box.loss([*original[:i], word, *original[i + 1 :]]) - start for word in words]
        if words:
            best = box.largest(gains)
            left.append((weight[i] * gains[best], i, words[best]))
    current = original
    while left:
        _, i, word = left.pop(box.largest([score for score, _, _ in left]))
        current = [*current[:i], word, *current[i + 1 :]]
        if box.offer(current)[1]:
            return box.found("broken", current)
    return box.found("held")


def genetic(
    ask: Ask,
    text: Text,
    label: int,
    options: Sequence[Sequence[str]],
    rng: Random,
    population: int = 60,
    generations: int = 20,
    share: float = 0.2,
    temperature: float = 0.3,
) -> Found:
    box = Box(ask, text, label)
    original = list(text.words)
    if box.start()[1]:
        return box.found("skipped")
    if not any(options):
        return box.found("skipped")
    most = max(1, math.floor(share * len(original) + 1e-9))
    members = [_perturb(box, original, original, options, most, rng) for _ in range(population)]
    for generation in range(generations):
        judged = [box.offer(member) for member in members]
        wins = [n for n, (_, won) in enumerate(judged) if won]
        if wins:
            best = wins[box.largest([judged[n][0] for n in wins])]
            return box.found("broken", members[best])
        if generation == generations - 1:
            break
        losses = [loss for loss, _ in judged]
        weights = softmax([loss / temperature for loss in losses])
        top = box.largest(losses)
        first = _roulette(box, rng, weights, population - 1)
        second = _roulette(box, rng, weights, population - 1)
        children = [
            _cross(members[a], members[b], original, most, rng) for a, b in zip(first, second)
        ]
        grown = [_perturb(box, child, original, options, most, rng) for child in children]
        members = [members[top], *grown]
    return box.found("held")


def _roulette(box: Box, rng: Random, weights: Sequence[float], count: int) -> list[int]:
    """Spin: the value of a sector is how far the ball lies outside it, below zero."""
    ends = list(accumulate(weights))
    balls = [rng.random() * ends[-1] for _ in range(count)]
    return [
        box.largest([-max(end - w - ball, ball - end, 0.0) for end, w in zip(ends, weights)])
        for ball in balls
    ]


def _cross(a: Words, b: Words, original: Words, most: int, rng: Random) -> Words:
    child = list(a)
    for i in range(len(a)):
        if a[i] != b[i] and rng.random() < 0.5:
            child[i] = b[i]
    changed = [i for i in range(len(child)) if child[i] != original[i]]
    if a != b and len(changed) > most:
        for i in rng.sample(changed, len(changed) - most):
            child[i] = original[i]
    return child


def _perturb(
    box: Box,
    member: Words,
    original: Words,
    options: Sequence[Sequence[str]],
    most: int,
    rng: Random,
) -> Words:
    changed = [i for i in range(len(member)) if member[i] != original[i]]
    free = [i for i in range(len(member)) if options[i] and i not in changed]
    if len(changed) >= most or not free:
        return member
    (i,) = rng.choices(free, [len(options[i]) for i in free])
    grown = [member, *([*member[:i], word, *member[i + 1 :]] for word in options[i])]
    base, *losses = [box.loss(words) for words in grown]
    return grown[box.largest([0.0, *(loss - base for loss in losses)])]


def parting(one: Found, other: Found) -> tuple[int, float] | None:
    """Find the first choice two runs took differently, and by how much it was decided.

    That is the larger of what the two runs put between the options: both must call it a tie.
    """
    for n, (a, b) in enumerate(zip(one.choices, other.choices)):
        if a.taken != b.taken:
            return n, max(
                a.values[a.taken] - a.values[b.taken], b.values[b.taken] - b.values[a.taken]
            )
    return None

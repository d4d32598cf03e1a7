"""Plain, sequential PWWS and genetic search, written from the papers to check ours against.

No engine, no batches, no cache: words in lists, one text a query, the first winner ends it. Only
where words begin and end (Text), which words may stand where (a proposal) and their tags are
brittle's own.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from random import Random
from typing import Any

from brittle.text import HOLE, Text

Words = list[Any]


@dataclass
class Found:
    status: str
    words: Words
    queries: int


class Won(Exception):
    pass


class Box:
    """Asks the target about one text at a time, counts, and remembers what won."""

    def __init__(self, target: Any, text: Text, label: int) -> None:
        self.target, self.text, self.label = target, text, label
        self.queries = 0

    def loss(self, words: Words) -> tuple[float, bool]:
        self.queries += 1
        (row,) = self.target.scores([self.text.with_words(tuple(words))])
        others = math.fsum(p for n, p in enumerate(row) if n != self.label)
        first_best = min(range(len(row)), key=lambda n: (-row[n], n))
        return others, first_best != self.label


def softmax(values: Sequence[float]) -> list[float]:
    top = max(values)
    powers = [math.exp(value - top) for value in values]
    return [power / math.fsum(powers) for power in powers]


def pwws(target: Any, text: Text, label: int, options: Sequence[Sequence[str]]) -> Found:
    box = Box(target, text, label)
    original = list(text.words)
    start, wrong = box.loss(original)
    if wrong:
        return Found("skipped", original, box.queries)
    if not any(options):
        return Found("lost", original, box.queries)
    saliency = []
    for i in range(len(original)):
        masked = [*original[:i], HOLE, *original[i + 1 :]]
        saliency.append(box.loss(masked)[0] - start)
    weight = softmax(saliency)
    ranked = []
    for i, words in enumerate(options):
        best_gain, best_word = -math.inf, None
        for word in words:
            gain = box.loss([*original[:i], word, *original[i + 1 :]])[0] - start
            if gain > best_gain:
                best_gain, best_word = gain, word
        if best_word is not None:
            ranked.append((weight[i] * best_gain, i, best_word))
    ranked.sort(key=lambda row: (-row[0], row[1]))
    current = original
    for _, i, word in ranked:
        current = [*current[:i], word, *current[i + 1 :]]
        if box.loss(current)[1]:
            return Found("won", current, box.queries)
    return Found("lost", current, box.queries)


def genetic(
    target: Any,
    text: Text,
    label: int,
    options: Sequence[Sequence[str]],
    rng: Random,
    population: int = 60,
    generations: int = 20,
    share: float = 0.2,
    temperature: float = 0.3,
) -> Found:
    box = Box(target, text, label)
    original = list(text.words)
    if box.loss(original)[1]:
        return Found("skipped", original, box.queries)
    if not any(options):
        return Found("lost", original, box.queries)
    most = max(1, math.floor(share * len(original) + 1e-9))
    members = [_perturb(box, original, original, options, most, rng) for _ in range(population)]
    for generation in range(generations):
        judged = [box.loss(member) for member in members]
        wins = [n for n, (_, won) in enumerate(judged) if won]
        if wins:
            best = max(wins, key=lambda n: (judged[n][0], -n))
            return Found("won", members[best], box.queries)
        if generation == generations - 1:
            break
        losses = [loss for loss, _ in judged]
        weights = softmax([loss / temperature for loss in losses])
        top = min(range(len(members)), key=lambda n: (-losses[n], n))
        first = _roulette(rng, weights, population - 1)
        second = _roulette(rng, weights, population - 1)
        children = [
            _cross(members[a], members[b], original, most, rng) for a, b in zip(first, second)
        ]
        grown = [_perturb(box, child, original, options, most, rng) for child in children]
        members = [members[top], *grown]
    return Found("lost", members[0], box.queries)


def _roulette(rng: Random, weights: Sequence[float], count: int) -> list[int]:
    return rng.choices(range(len(weights)), weights, k=count)


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
    base = box.loss(member)[0]
    best_gain, best = 0.0, member
    for word in options[i]:
        candidate = [*member[:i], word, *member[i + 1 :]]
        gain = box.loss(candidate)[0] - base
        if gain > best_gain:
            best_gain, best = gain, candidate
    return best


Reference = Callable[..., Found]

"""Fakes for testing attacks and engines without a model.

>>> from brittle.text import Text
>>> fake = FakeTarget({"good": 2.0, "bad": -2.0})
>>> fake.scores([Text.of("a good film")]).round(3).tolist()
[[0.119, 0.881]]
"""

from __future__ import annotations

import hashlib
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache, cached_property
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from brittle.moves import EditKind, EditRequest, EditSpace, Gradient, Move, ScoredMoves
from brittle.text import Text, is_word, words_of

Array = NDArray[np.float64]


@dataclass
class FakeTarget:
    """A linear model over words, with weights given or, for unlisted words, drawn by their hash.

    A hole weighs nothing. With more than two labels every label but the first has weights of its
    own. `calls` lists how many texts each call brought.
    """

    weights: Mapping[str, float] = field(default_factory=dict)
    labels: Sequence[str] = ("negative", "positive")
    spread: float = 0.0
    name: str = "fake"
    calls: list[int] = field(default_factory=list)

    @property
    def fingerprint(self) -> str:
        content = repr((sorted(self.weights.items()), tuple(self.labels), self.spread))
        return hashlib.sha256(content.encode()).hexdigest()[:16]

    def scores(self, items: Sequence[Text]) -> Array:
        self.calls.append(len(items))
        logit = np.zeros((len(items), len(self.labels)))
        for row, text in enumerate(items):
            for column in range(1, len(self.labels)):
                logit[row, column] = sum(
                    self._weight(word.lower(), column)
                    for _, words in text.field_words()
                    for word in words
                    if isinstance(word, str)
                )
        return _softmax(logit)

    def _weight(self, word: str, column: int) -> float:
        if word in self.weights and column == 1:
            return self.weights[word]
        return self.spread * _drawn(f"{column}:{word}")


class FakeMoves(NamedTuple):
    """Edits listed in full, the highest gain first."""

    gain: Array
    moves: Sequence[Move]

    @staticmethod
    def of(*moves: Move) -> FakeMoves:
        """Put moves into order."""
        ranked = sorted(moves, key=lambda move: -move.gain)
        return FakeMoves(np.array([move.gain for move in ranked]), ranked)

    def __getitem__(self, n: int) -> Move:  # type: ignore[override]
        return self.moves[n]


class _Edit(NamedTuple):
    """What a word becomes, and how its vector changes, divided by the length of the step."""

    new: str
    kind: EditKind
    at: int
    change: Array


@dataclass
class FakeNetwork:
    """A linear network, so that first-order edits are exact before the softmax.

    A character has a vector by its place in the word, drawn by its hash; a word's vector is the sum
    of its characters'; a text's logits are the sum of its words' vectors, each times the pull of
    its position, times one matrix. Only the first `most` words are read. Words can become those of
    the `vocabulary`, characters those of the `alphabet`. `calls` lists how many texts each call for
    scores brought, `passes` how many each call for flips or gradients did.
    """

    vocabulary: Sequence[str] = ()
    alphabet: str = "abcdefghijklmnopqrstuvwxyz"
    labels: Sequence[str] = ("negative", "positive")
    spread: float = 1.0
    most: int = 1000
    dimensions: int = 4
    name: str = "fake network"
    calls: list[int] = field(default_factory=list)
    passes: list[int] = field(default_factory=list)

    @property
    def fingerprint(self) -> str:
        parts = (self.vocabulary, self.alphabet, self.labels, self.spread, self.most)
        content = repr((*map(tuple, parts[:3]), *parts[3:], self.dimensions))
        return hashlib.sha256(content.encode()).hexdigest()[:16]

    @cached_property
    def matrix(self) -> Array:
        """Give the matrix from vectors to logits."""
        rows, columns = range(self.dimensions), range(len(self.labels))
        drawn = [[_drawn(f"matrix {row} {column}") for column in columns] for row in rows]
        return self.spread * np.array(drawn)

    @staticmethod
    def pull(position: int) -> float:
        """Say how much the word at a position counts."""
        return 1.0 + (3 * position % 5) / 5

    def vector(self, word: str) -> Array:
        """Give the vector of a word."""
        return _word_vector(word, self.dimensions)

    def logits(self, items: Sequence[Text]) -> Array:
        """Give the scores before the softmax."""
        total = np.zeros((len(items), self.dimensions))
        for row, text in enumerate(items):
            for fixed in text.frame.fields:
                for locked in words_of(fixed.raw or ""):
                    total[row] += self.vector(locked)
            for position, word in enumerate(text.words[: self.most]):
                if isinstance(word, str):
                    total[row] += self.pull(position) * self.vector(word)
        return total @ self.matrix

    def scores(self, items: Sequence[Text]) -> Array:
        self.calls.append(len(items))
        return _softmax(self.logits(items))

    def words_read(self, items: Sequence[Text]) -> list[Sequence[int]]:
        """Give the positions of the words that are read."""
        return [range(min(len(text), self.most)) for text in items]

    def gradients(self, aims: Sequence[EditRequest]) -> list[Gradient]:
        """Give the slope of every aim's objective along the vectors of words or characters."""
        self.passes.append(len(aims))
        scores = _softmax(self.logits([aim.text for aim in aims]))
        return [self._gradient(aim, row) for aim, row in zip(aims, scores)]

    def flips(self, aims: Sequence[EditRequest]) -> list[ScoredMoves]:
        """Give every text's scores and best edits, found by looking at all of them."""
        self.passes.append(len(aims))
        scores = _softmax(self.logits([aim.text for aim in aims]))
        return [ScoredMoves(row.tolist(), self._moves(aim, row)) for aim, row in zip(aims, scores)]

    def _slope(self, aim: EditRequest, scores: Array) -> Array:
        """Give the objective's slope by the sum of the words' vectors."""
        by_logit = np.zeros(len(scores)) if aim.space.objective == "logit" else np.array(scores)
        if aim.toward is None:
            by_logit[aim.label] -= 1.0
        else:
            by_logit = -by_logit
            by_logit[aim.toward] += 1.0
        return self.matrix @ by_logit

    def _gradient(self, aim: EditRequest, scores: Array) -> Gradient:
        gradient = self._slope(aim, scores)
        rows = np.zeros((len(aim.text), self.dimensions))
        for position in range(min(len(rows), self.most)):
            rows[position] = self.pull(position) * gradient
        if aim.space.level == "words":
            return Gradient(scores.tolist(), rows)
        sizes = [len(word) if isinstance(word, str) else 0 for word in aim.text.words]
        spelt = [np.tile(row, (size, 1)) for row, size in zip(rows, sizes)]
        return Gradient(scores.tolist(), spelt)

    def _moves(self, aim: EditRequest, scores: Array) -> FakeMoves:
        gradient, found = self._slope(aim, scores), []
        for position in aim.positions:
            direction = self.pull(position) * gradient
            word = aim.text.words[position]
            if aim.space.sign:
                direction = np.sign(direction)
            for edit in self._edits(word, aim.space) if isinstance(word, str) else ():
                gain = float(edit.change @ direction)
                found.append((gain, position, edit))
        found.sort(key=lambda one: -one[0])
        moves = [
            Move(gain, position, edit.new, edit.kind, edit.at, edit.new in self.vocabulary)
            for gain, position, edit in found[: aim.space.top_k]
        ]
        return FakeMoves(np.array([move.gain for move in moves]), moves)

    def _edits(self, word: str, space: EditSpace) -> tuple[_Edit, ...]:
        if space.level == "characters":
            return _spellings(word, self.alphabet, space.kinds, self.dimensions)
        return _swaps(word, tuple(self.vocabulary), space.cosine, self.dimensions)


def _softmax(logit: Array) -> Array:
    shifted = np.exp(logit - logit.max(axis=1, keepdims=True))
    return shifted / shifted.sum(axis=1, keepdims=True)  # type: ignore[no-any-return]


@cache
def _character(character: str, at: int, dimensions: int) -> Array:
    return np.array([_drawn(f"{character} {at} {n}") for n in range(dimensions)])


@cache
def _word_vector(word: str, dimensions: int) -> Array:
    vectors = [_character(character, at, dimensions) for at, character in enumerate(word)]
    return np.sum(vectors, axis=0)  # type: ignore[no-any-return]


@cache
def _swaps(
    word: str, vocabulary: tuple[str, ...], cosine: float | None, dimensions: int
) -> tuple[_Edit, ...]:
    """List the words of the dictionary that may take a word's place."""
    own, found = _word_vector(word, dimensions), []
    for new in vocabulary:
        other = _word_vector(new, dimensions)
        near = float(own @ other) / float(np.linalg.norm(own) * np.linalg.norm(other))
        if new != word and (cosine is None or near >= cosine):
            found.append(_Edit(new, "swap", 0, other - own))
    return tuple(found)


@cache
def _spellings(
    word: str, alphabet: str, kinds: tuple[EditKind, ...], dimensions: int
) -> tuple[_Edit, ...]:
    """List the words one character away, each edit a run of flips to the end of the word."""
    made: list[tuple[str, EditKind, int]] = []
    for at in range(len(word) + 1):
        head, tail = word[:at], word[at:]
        if "insert" in kinds:
            made += [(head + character + tail, "insert", at) for character in alphabet]
        if "flip" in kinds and tail:
            made += [(head + c + tail[1:], "flip", at) for c in alphabet if c != tail[0]]
        if "delete" in kinds and tail:
            made.append((head + tail[1:], "delete", at))
    own, found = _word_vector(word, dimensions), []
    for new, kind, at in made:
        if is_word(new) and new != word:
            size = max(len(word), len(new))
            changed = sum(a != b for a, b in zip(word.ljust(size), new.ljust(size)))
            step = (_word_vector(new, dimensions) - own) / math.sqrt(2 * changed)
            found.append(_Edit(new, kind, at, step))
    return tuple(found)


def _drawn(what: str) -> float:
    """Draw a number from −1 to 1 by a hash."""
    drawn = hashlib.sha256(what.encode()).digest()
    return int.from_bytes(drawn[:4], "big") / 2**31 - 1.0

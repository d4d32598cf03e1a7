"""Fake targets, for tests of attacks and engines without a model.

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

from brittle.answers import Attention, Embedding
from brittle.latent import LatentPoint
from brittle.moves import EditKind, EditRequest, EditSpace, GradientAnswer, Move, ScoredMoves
from brittle.text import Text, is_word, words_of

Array = NDArray[np.float64]


@dataclass
class FakeTarget:
    """A linear model over words: weights from `weights`, else drawn by a hash times `spread`.

    A hole weighs nothing. With more than two labels every label but the first has its own weights.
    `calls` lists the number of texts of each call.
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
        return self.spread * _draw(f"{column}:{word}")


@dataclass
class FakeInside(FakeTarget):
    """A fake target that also embeds texts and attends, by numbers drawn from a hash.

    The vector of a text is the sum of its words' vectors, each times the weight of its position.
    `looks` lists the number of texts of each call for embeddings or attention.
    """

    dimensions: int = 3
    layers: int = 2
    heads: int = 2
    looks: list[int] = field(default_factory=list)

    def sentence_embeddings(self, items: Sequence[Text]) -> list[Embedding]:
        self.looks.append(len(items))
        scores = FakeTarget(self.weights, self.labels, self.spread).scores(items).tolist()
        return list(map(Embedding, map(self._vector, items), scores))

    def attention(self, items: Sequence[Text]) -> list[Attention]:
        self.looks.append(len(items))
        return list(map(self._attention, items))

    def _vector(self, text: Text) -> Array:
        vector = np.zeros(self.dimensions)
        for position, word in enumerate(text.words):
            if isinstance(word, str):
                drawn = [_draw(f"{word.lower()} {n}") for n in range(self.dimensions)]
                vector += (1 + position) * np.array(drawn)
        return vector

    def _attention(self, text: Text) -> Attention:
        shape = (self.layers, self.heads, len(text) + 1, len(text))
        drawn = [_draw(f"{n} {text.words}") + 1 for n in range(math.prod(shape))]
        weight = np.array(drawn).reshape(shape)
        weight = weight / (weight.sum(axis=3, keepdims=True) + 1)  # some goes to no word
        return Attention(weight[:, :, 1:], weight[:, :, 0])


@dataclass(frozen=True)
class FakeGenerator:
    """A generator of short texts: each dimension of its latent space chooses a word of a list.

    The number in a dimension, from 0 to 1, is the place of the word in the list; below 0 there is
    none. Words that are not listed read as the first one.

    >>> from brittle.text import Text
    >>> fake = FakeGenerator(("good", "bad", "film"), size=3)
    >>> [point] = fake.encode([Text.of("bad film")])
    >>> fake.decode([point])
    [Text('bad film')]
    """

    words: Sequence[str] = ("good", "bad", "film")
    size: int = 4
    name: str = "fake generator"
    item_kind: str = "text"

    @property
    def fingerprint(self) -> str:
        return hashlib.sha256(repr((self.words, self.size)).encode()).hexdigest()[:16]

    def encode(self, items: Sequence[Text]) -> list[LatentPoint]:
        rows = np.full((len(items), self.size), -0.5)
        for row, text in zip(rows, items):
            for n, word in enumerate(text.words[: self.size]):
                known = isinstance(word, str) and word in self.words
                row[n] = ((self.words.index(str(word)) if known else 0) + 0.5) / len(self.words)
        return list(map(LatentPoint, rows))

    def decode(self, points: Sequence[LatentPoint]) -> list[Text]:
        numbers = [(point.vector * len(self.words)).tolist() for point in points]
        last = len(self.words) - 1
        return [
            Text.of(" ".join(self.words[min(int(n), last)] for n in row if n >= 0))
            for row in numbers
        ]


@dataclass
class FakeTranslator:
    """A translator word by word: what its dictionary does not hold stays as it is.

    `calls` lists the number of texts of each call.

    >>> from brittle.text import Text
    >>> FakeTranslator({"good": "gut"}).translate([Text.of("a good film")])
    ['a gut film']
    """

    dictionary: Mapping[str, str] = field(default_factory=dict)
    name: str = "fake translator"
    calls: list[int] = field(default_factory=list)

    @property
    def fingerprint(self) -> str:
        content = repr(sorted(self.dictionary.items()))
        return hashlib.sha256(content.encode()).hexdigest()[:16]

    def translate(self, items: Sequence[Text]) -> list[str]:
        self.calls.append(len(items))
        return [
            text.with_words(
                tuple(self.dictionary.get(w, w) if isinstance(w, str) else w for w in text.words)
            ).render()
            for text in items
        ]


class FakeMoves(NamedTuple):
    """Edits listed in full, the highest gain first."""

    gain: Array
    moves: Sequence[Move]

    @staticmethod
    def of(*moves: Move) -> FakeMoves:
        """Sort moves by their gains."""
        ranked = sorted(moves, key=lambda move: -move.gain)
        return FakeMoves(np.array([move.gain for move in ranked]), ranked)

    def __getitem__(self, n: int) -> Move:  # type: ignore[override]
        return self.moves[n]


class _Edit(NamedTuple):
    """A new word, and the change of the word's vector, divided by the length of the step."""

    new: str
    kind: EditKind
    character: int
    change: Array


@dataclass
class FakeNetwork:
    """A linear network: first-order edits are exact before the softmax.

    A character has a vector, drawn by a hash of the character and its index in the word; the vector
    of a word is the sum of those of its characters; the logits of a text are the sum of its words'
    vectors, each times the weight of its position, times one matrix. Only the first `max_words`
    words are read. Words can become those of the `vocabulary`, characters those of the `alphabet`.
    `calls` lists the number of texts of each call for scores, `passes` that of each call for flips
    or gradients.
    """

    vocabulary: Sequence[str] = ()
    alphabet: str = "abcdefghijklmnopqrstuvwxyz"
    labels: Sequence[str] = ("negative", "positive")
    spread: float = 1.0
    max_words: int = 1000
    dimensions: int = 4
    name: str = "fake network"
    calls: list[int] = field(default_factory=list)
    passes: list[int] = field(default_factory=list)

    @property
    def fingerprint(self) -> str:
        parts = (self.vocabulary, self.alphabet, self.labels, self.spread, self.max_words)
        content = repr((*map(tuple, parts[:3]), *parts[3:], self.dimensions))
        return hashlib.sha256(content.encode()).hexdigest()[:16]

    @cached_property
    def matrix(self) -> Array:
        """The matrix from vectors to logits (dimensions × labels)."""
        rows, columns = range(self.dimensions), range(len(self.labels))
        drawn = [[_draw(f"matrix {row} {column}") for column in columns] for row in rows]
        return self.spread * np.array(drawn)

    @staticmethod
    def position_weight(position: int) -> float:
        return 1.0 + (3 * position % 5) / 5

    def vector(self, word: str) -> Array:
        return _word_vector(word, self.dimensions)

    def logits(self, items: Sequence[Text]) -> Array:
        """Return the scores before the softmax; the words of locked fields have weight 1."""
        total = np.zeros((len(items), self.dimensions))
        for row, text in enumerate(items):
            for text_field in text.frame.fields:
                for locked in words_of(text_field.raw or ""):
                    total[row] += self.vector(locked)
            for position, word in enumerate(text.words[: self.max_words]):
                if isinstance(word, str):
                    total[row] += self.position_weight(position) * self.vector(word)
        return total @ self.matrix

    def scores(self, items: Sequence[Text]) -> Array:
        self.calls.append(len(items))
        return _softmax(self.logits(items))

    def words_read(self, items: Sequence[Text]) -> list[Sequence[int]]:
        return [range(min(len(text), self.max_words)) for text in items]

    def gradients(self, requests: Sequence[EditRequest]) -> list[GradientAnswer]:
        """Return the gradient of every request's objective along the vectors of its text."""
        self.passes.append(len(requests))
        scores = _softmax(self.logits([request.text for request in requests]))
        return [self._gradient(request, row) for request, row in zip(requests, scores)]

    def flips(self, requests: Sequence[EditRequest]) -> list[ScoredMoves]:
        """Return every text's scores and best edits; all possible edits are compared."""
        self.passes.append(len(requests))
        scores = _softmax(self.logits([request.text for request in requests]))
        return [
            ScoredMoves(row.tolist(), self._moves(request, row))
            for request, row in zip(requests, scores)
        ]

    def _text_gradient(self, request: EditRequest, scores: Array) -> Array:
        """Return the gradient of the objective by the weighted sum of the words' vectors."""
        by_logit = np.array(scores) * (request.space.objective == "loss")
        if request.toward is None:
            by_logit[request.label] -= 1.0
        else:
            by_logit = -by_logit
            by_logit[request.toward] += 1.0
        return self.matrix @ by_logit

    def _gradient(self, request: EditRequest, scores: Array) -> GradientAnswer:
        gradient = self._text_gradient(request, scores)
        rows = np.zeros((len(request.text), self.dimensions))
        for position in range(min(len(rows), self.max_words)):
            rows[position] = self.position_weight(position) * gradient
        if request.space.level == "words":
            return GradientAnswer(scores.tolist(), rows)
        sizes = [len(word) if isinstance(word, str) else 0 for word in request.text.words]
        by_character = [np.tile(row, (size, 1)) for row, size in zip(rows, sizes)]
        return GradientAnswer(scores.tolist(), by_character)

    def _moves(self, request: EditRequest, scores: Array) -> FakeMoves:
        gradient, moves = self._text_gradient(request, scores), []
        for position in request.positions:
            direction = self.position_weight(position) * gradient
            word = request.text.words[position]
            if request.space.sign:
                direction = np.sign(direction)
            for edit in self._edits(word, request.space) if isinstance(word, str) else ():
                gain = float(edit.change @ direction)
                known = edit.new in self.vocabulary
                moves.append(Move(gain, position, edit.new, edit.kind, edit.character, known))
        ranked = FakeMoves.of(*moves)
        return FakeMoves(ranked.gain[: request.space.top_k], ranked.moves[: request.space.top_k])

    def _edits(self, word: str, space: EditSpace) -> tuple[_Edit, ...]:
        if space.level == "characters":
            return _spellings(word, self.alphabet, space.kinds, self.dimensions)
        return _swaps(word, tuple(self.vocabulary), space.cosine, self.dimensions)


def _softmax(logit: Array) -> Array:
    shifted = np.exp(logit - logit.max(axis=1, keepdims=True))
    return shifted / shifted.sum(axis=1, keepdims=True)  # type: ignore[no-any-return]


@cache
def _character_vector(character: str, index: int, dimensions: int) -> Array:
    return np.array([_draw(f"{character} {index} {n}") for n in range(dimensions)])


@cache
def _word_vector(word: str, dimensions: int) -> Array:
    vectors = [_character_vector(c, index, dimensions) for index, c in enumerate(word)]
    return np.sum(vectors, axis=0)  # type: ignore[no-any-return]


@cache
def _swaps(
    word: str, vocabulary: tuple[str, ...], cosine: float | None, dimensions: int
) -> tuple[_Edit, ...]:
    """List the words of the vocabulary that may replace a word."""
    old, edits = _word_vector(word, dimensions), []
    for other in vocabulary:
        new = _word_vector(other, dimensions)
        similarity = float(old @ new) / float(np.linalg.norm(old) * np.linalg.norm(new))
        if other != word and (cosine is None or similarity >= cosine):
            edits.append(_Edit(other, "swap", 0, new - old))
    return tuple(edits)


@cache
def _spellings(
    word: str, alphabet: str, kinds: tuple[EditKind, ...], dimensions: int
) -> tuple[_Edit, ...]:
    """List the words one character away; each edit is a run of flips to the end of the word."""
    spellings: list[tuple[str, EditKind, int]] = []
    for i in range(len(word) + 1):
        head, tail = word[:i], word[i:]
        if "insert" in kinds:
            spellings += [(head + character + tail, "insert", i) for character in alphabet]
        if "flip" in kinds and tail:
            spellings += [(head + c + tail[1:], "flip", i) for c in alphabet if c != tail[0]]
        if "delete" in kinds and tail:
            spellings.append((head + tail[1:], "delete", i))
    old, edits = _word_vector(word, dimensions), []
    for new, kind, i in spellings:
        if is_word(new) and new != word:
            size = max(len(word), len(new))
            changed = sum(a != b for a, b in zip(word.ljust(size), new.ljust(size)))
            step = (_word_vector(new, dimensions) - old) / math.sqrt(2 * changed)
            edits.append(_Edit(new, kind, i, step))
    return tuple(edits)


def _draw(seed: str) -> float:
    """Draw a number from −1 to 1 by a hash."""
    digest = hashlib.sha256(seed.encode()).digest()
    return int.from_bytes(digest[:4], "big") / 2**31 - 1.0

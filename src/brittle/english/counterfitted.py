"""Counter-fitted word vectors: near ones are synonyms, where GloVe's near ones may be antonyms.

The shipped table is built by scripts/counterfit.py from the vectors of GloVe, moved by listed
synonyms and antonyms (Mrkšić et al., 2016). Its first line holds the words, the most frequent
first, and its second the number of dimensions. Then come the vectors, a signed byte a number, then
the listed synonyms among the words: two row numbers and, in thousandths, the similarity that both
words had in GloVe, two bytes each.
"""

from __future__ import annotations

import lzma
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache, cached_property
from pathlib import Path

import numpy as np
import numpy.typing as npt

from brittle.english.vectors import Floats, Vectors

SHIPPED = Path(__file__).with_name("counterfitted.bin.xz")
LARGEST_CODE = 127
THOUSAND = 1000


@dataclass(frozen=True, eq=False)
class SynonymVectors:
    """Vectors of length 1, by word in lower case, and the pairs of words listed as synonyms.

    `pairs` has a row for each: the rows of the two words, and their similarity before they were
    drawn together, in thousandths.
    """

    vectors: Vectors
    pairs: npt.NDArray[np.int16]

    @staticmethod
    def from_table(table: bytes) -> SynonymVectors:
        """Parse a table as `table()` writes it."""
        names, size, rest = table.split(b"\n", 2)
        words, dimensions = names.decode().split(" "), int(size)
        end = len(words) * dimensions
        codes = np.frombuffer(rest[:end], np.int8).reshape(len(words), dimensions)
        pairs = np.frombuffer(rest[end:], "<i2").reshape(-1, 3)
        return SynonymVectors(Vectors(words, unit_rows(codes.astype(np.float32))), pairs)

    def table(self) -> bytes:
        """Format the vectors as bytes: every number is rounded to a signed byte."""
        matrix = np.asarray(self.vectors.matrix)
        largest = np.abs(matrix).max(axis=1, keepdims=True)
        codes = np.rint(matrix * (LARGEST_CODE / largest)).astype(np.int8)
        head = f"{' '.join(self.vectors.words)}\n{matrix.shape[1]}\n".encode()
        return b"".join([head, codes.tobytes(), self.pairs.astype("<i2").tobytes()])

    def similarity(self, a: str, b: str) -> float | None:
        """Return the cosine of two words, None if one has no vector."""
        rows = self.vectors.index.get(a), self.vectors.index.get(b)
        if rows[0] is None or rows[1] is None:
            return None
        return float(self.vectors.matrix[rows[0]] @ self.vectors.matrix[rows[1]])

    def listed(self, word: str) -> Mapping[str, float]:
        """Return the words that are listed as synonyms of a word, with the similarity in GloVe."""
        row = self.vectors.index.get(word)
        return {} if row is None else self._listed.get(row, {})

    @cached_property
    def _listed(self) -> dict[int, dict[str, float]]:
        words = self.vectors.words
        others: dict[int, dict[str, float]] = {}
        for a, b, similarity in self.pairs.tolist():
            for row, other in ((a, b), (b, a)):
                others.setdefault(row, {})[words[other]] = similarity / THOUSAND
        return others


def unit_rows(matrix: Floats) -> Floats:
    """Scale every row to length 1; a row of zeros stays."""
    lengths = np.linalg.norm(matrix, axis=1, keepdims=True)
    return np.asarray(matrix / np.where(lengths > 0, lengths, 1), dtype=np.float32)


@cache
def counterfitted() -> SynonymVectors:
    """Load the shipped vectors, once per process."""
    return SynonymVectors.from_table(lzma.decompress(SHIPPED.read_bytes()))

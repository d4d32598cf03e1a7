"""Counter-fit GloVe's vectors with listed synonyms and antonyms, for the table that is shipped.

    python scripts/counterfit.py FOLDER [--out src/brittle/english/counterfitted.bin.xz]

FOLDER holds the pairs of Mrkšić et al. (2016), as text or gzipped: ppdb_synonyms.txt,
ppdb_antonyms.txt and wordnet_antonyms.txt, two words a line, and SimLex-999.txt (Hill et al.,
2015), which only measures. The vectors are those of the extra `vectors`. It takes half a minute on
one core; the same files give the same bytes on the same machine.

The method is that of Mrkšić et al. (2016), "Counter-fitting Word Vectors to Linguistic
Constraints": three terms over cosine distances d. Antonyms are pushed apart (the margin minus d),
synonyms are drawn together (d), and words that were near stay near (d minus their former d). A step
follows, for every word, the mean gradient of each term; all vectors then have length 1 again.
Deviations: the mean vector is subtracted from all vectors first, a step looks at all pairs, and
antonyms are not kept near.
"""

from __future__ import annotations

import argparse
import gzip
import lzma
import sys
from collections.abc import Iterable
from pathlib import Path

import numpy as np
import numpy.typing as npt

from brittle.english.vectors import (
    SHIPPED,
    THOUSAND,
    Floats,
    SynonymVectors,
    Vectors,
    load_vectors,
    unit_rows,
)
from brittle.metrics.paired import rank_correlation
from brittle.text import is_word

FITTED_WORDS = 50_000
SHIPPED_WORDS = 30_000
STEPS = 30
RATE = 0.1
LARGEST_CODE = 127
"""Of the signed bytes that vectors are rounded to."""
MARGIN = 1.0
"""How far apart antonyms should be: the distance of vectors at right angles."""
NEAR = 0.2
"""Words within this distance in GloVe stay near."""
ROWS_PER_BLOCK = 512
UNLIKE = 2.5
WRONG_PAIRS = 12
PROBED = (
    *("warm", "good", "funny", "terrible", "boring", "story", "hilarious", "actor", "happy"),
    *("increase", "north", "always"),
)

OPPOSITES = (
    *(("good", "bad"), ("hot", "cold"), ("warm", "cold"), ("love", "hate"), ("happy", "sad")),
    *(("expensive", "cheap"), ("strong", "weak"), ("funny", "boring"), ("best", "worst")),
    *(("increase", "decrease"), ("long", "short"), ("fast", "slow"), ("north", "south")),
)

Pairs = npt.NDArray[np.int64]


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("folder", type=Path, help="folder of the pairs and of SimLex-999")
    parser.add_argument("--out", type=Path, default=SHIPPED, help="where to write the table")
    args = parser.parse_args()
    synonyms = load_pairs(args.folder, "ppdb_synonyms.txt")
    antonyms = load_pairs(args.folder, "ppdb_antonyms.txt")
    antonyms |= load_pairs(args.folder, "wordnet_antonyms.txt")
    judged = load_simlex(args.folder)
    print(f"SimLex-999, rank correlation of GloVe: {simlex(load_vectors('glove'), judged)}")
    named = {word for pair in synonyms | antonyms for word in pair}
    glove = chosen_words(named | {word for *pair, _ in judged for word in pair})
    row = glove.index
    opposed = index_pairs(antonyms, row)
    drawn = index_pairs(synonyms - antonyms, row)
    print(f"{len(row):,} words, {len(drawn):,} synonyms, {len(opposed):,} antonyms")
    fitted = Vectors(glove.words, counterfit(glove.matrix, drawn, opposed))
    print(f"counter-fitted: {simlex(fitted, judged)}")
    shipped = ship(fitted, drawn, 1 - distances(glove.matrix, drawn))
    content = table(shipped)
    read = SynonymVectors.from_table(content)
    print(f"as shipped: {simlex(read.vectors, judged)}")
    print("nearest words, listed synonyms with a star:")
    for word in PROBED:
        print(f"  {word}: {', '.join(nearest(read, word))}")
    print("opposites:")
    for a, b in OPPOSITES:
        print(f"  {a} – {b}: {read.similarity(a, b):.2f}, in GloVe {glove_cosine(glove, a, b):.2f}")
    print("judged unlike, and still near:")
    for line in still_wrong(read, judged):
        print(f"  {line}")
    # Stated in full, so that a change of the library's defaults does not change the file.
    packed = lzma.compress(content, check=lzma.CHECK_CRC32, preset=9)
    args.out.write_bytes(packed)
    print(f"{args.out}: {len(packed):,} bytes, {len(read.pairs):,} listed pairs")
    return 0


def load_pairs(folder: Path, name: str) -> set[tuple[str, str]]:
    """Load pairs of words, each in lexicographic order."""
    pairs = (line.split()[:2] for line in read_lines(folder, name))
    return {(min(pair), max(pair)) for pair in pairs if len(set(pair)) == 2}


def load_simlex(folder: Path) -> list[tuple[str, str, float]]:
    """Load the pairs that people have judged, with the mean judgement from 0 to 10."""
    rows = (line.split("\t") for line in read_lines(folder, "SimLex-999.txt")[1:])
    return [(first, second, float(mean)) for first, second, _, mean, *_ in rows]


def read_lines(folder: Path, name: str) -> list[str]:
    packed = folder / f"{name}.gz"
    if packed.is_file():
        return gzip.decompress(packed.read_bytes()).decode().splitlines()
    return (folder / name).read_text("utf-8").splitlines()


def chosen_words(constrained: Iterable[str]) -> Vectors:
    """Take GloVe's most frequent words and those of the pairs, centred and of length 1."""
    glove = load_vectors("glove")
    rows = {n for word in constrained if (n := glove.index.get(word)) is not None}
    ordered = sorted(rows | set(range(FITTED_WORDS)))
    matrix = np.asarray(glove.matrix[ordered])
    centred = matrix - matrix[:FITTED_WORDS].mean(axis=0)
    return Vectors([glove.words[n] for n in ordered], unit_rows(centred))


def index_pairs(pairs: Iterable[tuple[str, str]], row: dict[str, int]) -> Pairs:
    rows = sorted((row[a], row[b]) for a, b in pairs if a in row and b in row)
    return np.array(rows, dtype=np.int64)


def counterfit(matrix: Floats, synonyms: Pairs, antonyms: Pairs) -> Floats:
    """Move vectors of length 1 so that synonyms are near and antonyms far."""
    near = near_pairs(matrix, np.unique(np.concatenate([synonyms.ravel(), antonyms.ravel()])))
    near = without(near, antonyms)
    former = distances(matrix, near)
    moved = matrix.copy()
    for _ in range(STEPS):
        step = -mean_pull(moved, antonyms[distances(moved, antonyms) < MARGIN])
        step += mean_pull(moved, synonyms)
        step += mean_pull(moved, near[distances(moved, near) > former])
        moved = unit_rows(moved + RATE * step)
    return moved


def near_pairs(matrix: Floats, rows: npt.NDArray[np.int64]) -> Pairs:
    """Find the pairs among some words that are near each other."""
    found = []
    for start in range(0, len(rows), ROWS_PER_BLOCK):
        block = rows[start : start + ROWS_PER_BLOCK]
        first, second = np.nonzero(matrix[block] @ matrix[rows].T >= 1 - NEAR)
        pairs = np.stack([block[first], rows[second]], axis=1)
        found.append(pairs[pairs[:, 0] < pairs[:, 1]])
    return np.concatenate(found)


def without(pairs: Pairs, others: Pairs) -> Pairs:
    """Leave out the pairs that are also among others."""
    size = 1 + max(int(rows.max()) for rows in (pairs, others) if rows.size)
    return pairs[~np.isin(pairs @ (size, 1), np.sort(others, axis=1) @ (size, 1))]


def distances(matrix: Floats, pairs: Pairs) -> Floats:
    """Return 1 − cosine for every pair; vectors have length 1."""
    products: Floats = np.einsum("ij,ij->i", matrix[pairs[:, 0]], matrix[pairs[:, 1]])
    return 1 - products


def mean_pull(matrix: Floats, pairs: Pairs) -> Floats:
    """Return for every word the mean direction in which its cosines with its partners rise."""
    pull, count = np.zeros_like(matrix), np.zeros(len(matrix), np.float32)
    a, b = matrix[pairs[:, 0]], matrix[pairs[:, 1]]
    cosine = np.einsum("ij,ij->i", a, b)[:, None]
    for column, directions in ((0, b - cosine * a), (1, a - cosine * b)):
        order = np.argsort(pairs[:, column], kind="stable")
        rows, starts = np.unique(pairs[order, column], return_index=True)
        pull[rows] += np.add.reduceat(directions[order], starts, axis=0)
        count[rows] += np.diff(np.append(starts, len(order)))
    return np.asarray(pull / np.maximum(count, 1)[:, None], dtype=np.float32)


def simlex(vectors: Vectors, judged: list[tuple[str, str, float]]) -> str:
    """Measure Spearman's correlation of cosines and judgements, over the pairs that have both."""
    row = vectors.index
    known = [(row[a], row[b], mean) for a, b, mean in judged if a in row and b in row]
    pairs = np.array([(a, b) for a, b, _ in known])
    rows, places = np.unique(pairs, return_inverse=True)
    matrix = unit_rows(np.asarray(vectors.matrix[rows]))
    cosine = 1 - distances(matrix, places.reshape(pairs.shape))
    correlation = rank_correlation(cosine, [mean for *_, mean in known])
    return f"{correlation:.3f} over {len(known)} of {len(judged)} pairs"


def ship(fitted: Vectors, synonyms: Pairs, former: Floats) -> SynonymVectors:
    """Keep the most frequent words of letters, and the synonyms listed among them."""
    kept = [n for n, word in enumerate(fitted.words) if is_word(word) and word.isalpha()]
    new = {n: i for i, n in enumerate(kept[:SHIPPED_WORDS])}
    pairs = [
        (new[a], new[b], round(THOUSAND * similarity))
        for (a, b), similarity in zip(synonyms.tolist(), former.tolist())
        if a in new and b in new
    ]
    words = [fitted.words[n] for n in new]
    return SynonymVectors(Vectors(words, fitted.matrix[list(new)]), np.array(pairs, np.int16))


def table(shipped: SynonymVectors) -> bytes:
    """Format the vectors as bytes: every number is rounded to a signed byte."""
    matrix = np.asarray(shipped.vectors.matrix)
    largest = np.abs(matrix).max(axis=1, keepdims=True)
    codes = np.rint(matrix * (LARGEST_CODE / largest)).astype(np.int8)
    head = f"{' '.join(shipped.vectors.words)}\n{matrix.shape[1]}\n".encode()
    return b"".join([head, codes.tobytes(), shipped.pairs.astype("<i2").tobytes()])


def nearest(table: SynonymVectors, word: str, count: int = 6) -> list[str]:
    """List the nearest words with their similarity; a listed synonym has a star."""
    cosine = table.vectors.matrix @ table.vectors.matrix[table.vectors.index[word]]
    rows = np.argsort(-cosine, kind="stable")[1 : count + 1]
    listed = set(table.listed(word))
    names = [table.vectors.words[n] for n in rows]
    return [f"{w}{'*' * (w in listed)} {cosine[n]:.2f}" for w, n in zip(names, rows)]


def glove_cosine(glove: Vectors, a: str, b: str) -> float:
    return float(glove.matrix[glove.index[a]] @ glove.matrix[glove.index[b]])


def still_wrong(table: SynonymVectors, judged: list[tuple[str, str, float]]) -> list[str]:
    """List the pairs that people called unlike and that are nearest in the table."""
    unlike = [
        (cosine, f"{a} – {b}: {cosine:.2f}, judged {mean:g} of 10")
        for a, b, mean in judged
        if mean < UNLIKE and (cosine := table.similarity(a, b)) is not None
    ]
    return [line for _, line in sorted(unlike, reverse=True)[:WRONG_PAIRS]]


if __name__ == "__main__":
    sys.exit(main())

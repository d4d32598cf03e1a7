"""Count the bigrams of the small language model that brittle ships.

    python scripts/build_bigrams.py FOLDER [--out src/brittle/english/bigrams.bin.xz]

The texts are the train splits of the data sets imdb and mr, from the package of the extra `data`,
and the example sentences of WordNet 3.0, without its quotations. No text of a test split is
counted. FOLDER holds WordNet's own files, as in Debian's package wordnet-base
(/usr/share/wordnet). It takes a minute; the same files give the same bytes. NOTICE says what the
licences of these texts allow.
"""

from __future__ import annotations

import argparse
import lzma
import re
import sys
from collections import Counter
from collections.abc import Iterator
from itertools import pairwise
from pathlib import Path

import numpy as np
import numpy.typing as npt

from brittle import data
from brittle.english.bigrams import (
    EXACT_COUNTS,
    SHIPPED,
    STEPS_PER_DOUBLING,
    Bigrams,
    Integers,
    tokens_of,
)
from brittle.english.wordnet import FILES, checked_folder, wordnet_lines
from brittle.errors import UsageError
from brittle.text import Text

DATASETS = ("imdb", "mr")
WORDS = 30_000
MIN_COUNT = 2

_EXAMPLE = re.compile(r'"([^"]+)"(\s*[-–—(])?')


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("folder", type=Path, help="folder of WordNet's data.noun, index.noun, …")
    parser.add_argument("--out", type=Path, default=SHIPPED, help="where to write the table")
    args = parser.parse_args()
    try:
        model = count(texts(args.folder))
    except UsageError as error:
        parser.exit(error.exit_code, f"{error}\n")
    # Stated in full, so that a change of the library's defaults does not change the file.
    packed = lzma.compress(table(model), check=lzma.CHECK_CRC32, preset=9)
    args.out.write_bytes(packed)
    print(f"{model.source}: {model.total:,} tokens, {len(model.pairs):,} bigrams")
    print(f"{args.out}: {len(packed):,} bytes")
    return 0


def texts(wordnet: Path) -> Iterator[str]:
    """Yield all texts: reviews, sentences of reviews, then WordNet's examples."""
    for name in DATASETS:
        for example in data.load(name, split="train").examples:
            yield from (raw for _, raw in example.fields)
    yield from example_sentences(wordnet)


def count(raw_texts: Iterator[str]) -> Bigrams:
    """Count words and bigrams; rare ones are left out."""
    single: Counter[str] = Counter()
    double: Counter[tuple[str, str]] = Counter()
    for raw in raw_texts:
        for tokens in tokens_of(Text.of(raw)):
            single.update(tokens)
            double.update(pairwise(tokens))
    words = sorted(single, key=lambda word: (-single[word], word))[:WORDS]
    index = {word: n for n, word in enumerate(words)}
    rows = sorted(
        (index[a] * len(words) + index[b], times)
        for (a, b), times in double.items()
        if times >= MIN_COUNT and a in index and b in index
    )
    pairs, counts = np.array(rows, dtype=np.int64).T
    source = f"the train splits of {' and '.join(DATASETS)}, the examples of WordNet 3.0"
    own = np.array([single[word] for word in words], dtype=np.int64)
    return Bigrams(source, single.total(), words, own, pairs, counts)


def example_sentences(folder: Path) -> Iterator[str]:
    """Yield the example sentences of a WordNet folder, group by group.

    Quotations, which end with the name of another author, are left out.
    """
    root = checked_folder(folder)
    for part in FILES.values():
        for line in wordnet_lines(root / f"data.{part}"):
            for sentence, author in _EXAMPLE.findall(line.partition("|")[2]):
                if not author:
                    yield sentence


def table(model: Bigrams) -> bytes:
    """Format the counts as bytes."""
    size = len(model.words)
    first, second = np.divmod(model.pairs, size)
    gaps = np.diff(second, prepend=0)
    is_first = np.diff(first, prepend=-1) > 0
    gaps[is_first] = second[is_first]
    head = f"{model.source}\n{model.total}\n{' '.join(model.words)}\n".encode()
    parts = (
        model.counts.astype("<u4"),
        np.bincount(first, minlength=size).astype("<u2"),
        (gaps % 256).astype(np.uint8),
        (gaps // 256).astype(np.uint8),
        _codes_of(model.pair_counts),
    )
    return head + b"".join(part.tobytes() for part in parts)


def _codes_of(counts: Integers) -> npt.NDArray[np.uint8]:
    steps = np.rint(STEPS_PER_DOUBLING * np.log2(np.maximum(counts, EXACT_COUNTS) / EXACT_COUNTS))
    return np.minimum(np.where(counts < EXACT_COUNTS, counts, EXACT_COUNTS + steps), 255).astype(
        np.uint8
    )


if __name__ == "__main__":
    sys.exit(main())

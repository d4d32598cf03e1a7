"""Count the bigrams of the small language model that brittle ships.

    python scripts/build_bigrams.py [--out src/brittle/english/bigrams.bin.xz]

The texts are the train splits of the data sets imdb, mr and bbc, from the packages of the extra
`data`: no text of a test split is counted. It takes a minute; the same packages give the same
bytes.
"""

from __future__ import annotations

import argparse
import lzma
import sys
from collections import Counter
from itertools import pairwise
from pathlib import Path

import numpy as np

from brittle import data
from brittle.english.bigrams import SHIPPED, Bigrams, tokens_of
from brittle.text import Text

SOURCES = ("imdb", "mr", "bbc")
WORDS = 30_000
MIN_COUNT = 2


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--out", type=Path, default=SHIPPED, help="where to write the table")
    args = parser.parse_args()
    model = count()
    # Stated in full, so that a change of the library's defaults does not change the file.
    packed = lzma.compress(model.table(), check=lzma.CHECK_CRC32, preset=9)
    args.out.write_bytes(packed)
    print(f"{model.source}: {model.total:,} tokens, {len(model.pairs):,} bigrams")
    print(f"{args.out}: {len(packed):,} bytes")
    return 0


def count() -> Bigrams:
    """Count words and bigrams; rare ones are left out."""
    single: Counter[str] = Counter()
    double: Counter[tuple[str, str]] = Counter()
    for name in SOURCES:
        for example in data.load(name, split="train").examples:
            for _, raw in example.fields:
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
    source = f"the train splits of {', '.join(SOURCES)}"
    own = np.array([single[word] for word in words], dtype=np.int64)
    return Bigrams(source, single.total(), words, own, pairs, counts)


if __name__ == "__main__":
    sys.exit(main())

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
import sys
from collections import Counter
from collections.abc import Iterator
from itertools import pairwise
from pathlib import Path

import numpy as np

from brittle import data
from brittle.english.bigrams import SHIPPED, Bigrams, tokens_of
from brittle.english.wordnet import example_sentences
from brittle.errors import UsageError
from brittle.text import Text

DATASETS = ("imdb", "mr")
WORDS = 30_000
MIN_COUNT = 2


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
    packed = lzma.compress(model.table(), check=lzma.CHECK_CRC32, preset=9)
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


if __name__ == "__main__":
    sys.exit(main())

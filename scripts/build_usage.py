"""Build the table of verb frames and of phrases that brittle ships, from WordNet's own files.

The folder is that of Debian's package wordnet-base (/usr/share/wordnet):

    python scripts/build_usage.py FOLDER [--out src/brittle/english/usage.txt.xz]

Kept are the common words of the counter-fitted vectors, and phrases of two to four words in lower
case, all of which are common or function words. The same files give the same bytes.
"""

from __future__ import annotations

import argparse
import lzma
import sys
from collections.abc import Iterator, Mapping
from pathlib import Path

from brittle.english.usage import (
    CLAUSE,
    INFINITIVE,
    ING,
    INTRANSITIVE,
    LINKING,
    SHIPPED,
    TRANSITIVE,
)
from brittle.english.vectors import counterfitted
from brittle.english.wordnet import FILES
from brittle.english.words import is_stop_word

LONGEST = 4
KINDS: Mapping[str, tuple[int, ...]] = {
    TRANSITIVE: (5, 8, 9, 10, 11, 14, 15, 16, 17, 18, 19, 20, 21, 24, 25, 30, 31),
    INTRANSITIVE: (1, 2, 3, 4, 12, 13, 22, 23, 27),
    LINKING: (6, 7),
    INFINITIVE: (28, 29),
    CLAUSE: (26, 34),
    ING: (33,),
}
"""The numbers of WordNet's sentence frames, by what stands after the verb."""


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("folder", type=Path, help="folder of data.noun, data.verb, …")
    parser.add_argument("--out", type=Path, default=SHIPPED, help="where to write the table")
    args = parser.parse_args()
    # Stated in full, so that a change of the library's defaults does not change the file.
    packed = lzma.compress(table(args.folder).encode(), check=lzma.CHECK_CRC32, preset=9)
    args.out.write_bytes(packed)
    print(f"{args.out}: {len(packed):,} bytes")
    return 0


def table(folder: Path) -> str:
    """Format the table as brittle/english/usage.py reads it."""
    frames: dict[str, set[int]] = {}
    for row in rows(folder / "data.verb"):
        for word, numbers in frames_of(row).items():
            frames.setdefault(word, set()).update(numbers)
    common = counterfitted().vectors.index
    lines = ["#frames"]
    for word in sorted(frames.keys() & common.keys()):
        kinds = [kind for kind, numbers in KINDS.items() if not frames[word].isdisjoint(numbers)]
        lines.append(f"{word} {''.join(kinds)}")
    for pos, part in FILES.items():
        lines.append(f"#{pos}")
        lines += sorted(set(phrases_of(folder / f"data.{part}")))
    return "".join(f"{line}\n" for line in lines)


def frames_of(row: list[str]) -> dict[str, set[int]]:
    """Map the words of a meaning to the numbers of their frames; 00 is for all its words."""
    words = words_of(row)
    start = 5 + 2 * len(words)
    at = start + 4 * int(row[start - 1])
    frames: dict[str, set[int]] = {word: set() for word in words}
    for n in range(int(row[at])):
        _, number, which = row[at + 1 + 3 * n : at + 4 + 3 * n]
        chosen = words[int(which, 16) - 1 :][:1] if int(which, 16) else words
        for word in chosen:
            frames[word].add(int(number))
    return frames


def phrases_of(path: Path) -> Iterator[str]:
    """Yield the entries of several words that are no names."""
    common = counterfitted().vectors.index
    for row in rows(path):
        for entry in words_of(row):
            words = entry.partition("(")[0].split("_")
            is_known = all(word in common or is_stop_word(word) for word in words)
            if 1 < len(words) <= LONGEST and is_known:
                yield " ".join(words)


def words_of(row: list[str]) -> list[str]:
    return row[4 : 4 + 2 * int(row[3], 16) : 2]


def rows(path: Path) -> Iterator[list[str]]:
    """Yield the fields of each line of a WordNet file, without licence header and glosses."""
    for line in path.read_text("utf-8", errors="replace").splitlines():
        if not line.startswith("  "):
            yield line.partition("|")[0].split()


if __name__ == "__main__":
    sys.exit(main())

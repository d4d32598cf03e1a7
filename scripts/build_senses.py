"""Build the table of senses and near words that brittle ships, from WordNet's own files.

The folder is that of Debian's package wordnet-base (/usr/share/wordnet):

    python scripts/build_senses.py FOLDER [--out src/brittle/english/senses.txt.xz]

Kept are the common words of the counter-fitted vectors. Counts of senses are those of cntlist.rev.
Near words must be near in the counter-fitted vectors as well. The same files give the same bytes.
"""

from __future__ import annotations

import argparse
import lzma
import re
import sys
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

from brittle.english.vectors import counterfitted
from brittle.english.wordnet import FILES, NARROWER, OPPOSITE, SENSES_FILE, SIBLING, SIMILAR, WIDER

MOST_SENSES = 4
"""Near words of later senses, of either word, are left out."""
MIN_SIMILARITY = 0.45
MARKS: Mapping[str, str] = {"&": SIMILAR, "$": SIMILAR, "@": WIDER, "~": NARROWER}
PARTS: Mapping[str, str] = {"1": "n", "2": "v", "3": "a", "4": "r", "5": "a"}
MARKER = re.compile(r"\((?:a|p|ip)\)$")


@dataclass(frozen=True)
class Group:
    """The words of one meaning, and its pointers: mark, other group, word here, word there."""

    words: tuple[str, ...]
    pointers: tuple[tuple[str, str, int, int], ...]


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("folder", type=Path, help="folder of data.noun, index.noun, cntlist.rev, …")
    parser.add_argument("--out", type=Path, default=SENSES_FILE, help="where to write the table")
    args = parser.parse_args()
    # Stated in full, so that a change of the library's defaults does not change the file.
    packed = lzma.compress(table(args.folder).encode(), check=lzma.CHECK_CRC32, preset=9)
    args.out.write_bytes(packed)
    print(f"{args.out}: {len(packed):,} bytes")
    return 0


def table(folder: Path) -> str:
    """Format the table as brittle/english/wordnet.py reads it."""
    counts = load_counts(folder / "cntlist.rev")
    blocks = []
    for pos, part in FILES.items():
        groups = {row[0]: group_of(row, pos) for row in rows(folder / f"data.{part}")}
        order = {row[0]: row[-int(row[2]) :] for row in rows(folder / f"index.{part}")}
        lines = lines_of(pos, groups, order, counts)
        blocks.append("".join([f"#{pos}\n", *(f"{line}\n" for line in lines)]))
    return "".join(blocks)


def lines_of(
    pos: str,
    groups: Mapping[str, Group],
    order: Mapping[str, list[str]],
    counts: Mapping[tuple[str, str], dict[int, int]],
) -> Iterator[str]:
    """Yield a line for every common word that has several senses, or words near or opposite."""
    common = counterfitted().vectors.index
    for word in sorted(order):
        if word not in common:
            continue
        counted = counts.get((word, pos), {})
        numbers = [counted.get(n, 0) for n in range(len(order[word]))]
        found: dict[tuple[str, bool], str] = {}
        for sense, group in enumerate(order[word]):
            for mark, other, there in related(word, group, groups):
                own = order.get(other, []).index(there) if there in order.get(other, []) else None
                if own is not None and other != word and is_kept(word, other, mark, sense, own):
                    key = other, mark == OPPOSITE
                    found.setdefault(key, f"{mark}{other}:{sense}:{own}")
        if found or len(numbers) > 1:
            yield " ".join([word, ",".join(map(str, numbers)), *found.values()])


def related(word: str, name: str, groups: Mapping[str, Group]) -> Iterator[tuple[str, str, str]]:
    """Yield the mark, the word and its group for all words that a meaning points to."""
    group = groups[name]
    for symbol, other, here, there in group.pointers:
        if other not in groups:
            continue
        if symbol == OPPOSITE and group.words[here - 1] == word:
            yield OPPOSITE, groups[other].words[there - 1], other
        if symbol in MARKS and not here:
            yield from ((MARKS[symbol], one, other) for one in groups[other].words)
    for symbol, head, *_ in group.pointers:
        if symbol == "&" and head in groups:
            for second, other, *_ in groups[head].pointers:
                if second == "&" and other != name:
                    yield from ((SIBLING, one, other) for one in groups[other].words)


def is_kept(word: str, other: str, mark: str, sense: int, other_sense: int) -> bool:
    """Tell whether a word is common and near enough; opposites are kept in every sense."""
    similarity = counterfitted().similarity(word, other)
    if similarity is None or mark == OPPOSITE:
        return similarity is not None
    return max(sense, other_sense) < MOST_SENSES and similarity >= MIN_SIMILARITY


def group_of(row: list[str], pos: str) -> Group:
    """Parse a line of a data file; pointers to another part of speech are left out."""
    count = int(row[3], 16)
    words = tuple(MARKER.sub("", raw).lower() for raw in row[4 : 4 + 2 * count : 2])
    start = 5 + 2 * count
    pointers = []
    for n in range(int(row[start - 1])):
        symbol, other, part, ends = row[start + 4 * n : start + 4 * n + 4]
        if part.replace("s", "a") == pos:
            pointers.append((symbol, other, int(ends[:2], 16), int(ends[2:], 16)))
    return Group(words, tuple(pointers))


def load_counts(path: Path) -> dict[tuple[str, str], dict[int, int]]:
    """Load how often each sense of a word was met in tagged texts, by the number of the sense."""
    counts: dict[tuple[str, str], dict[int, int]] = {}
    for line in path.read_text("utf-8").splitlines():
        key, number, count = line.split()
        word, _, rest = key.partition("%")
        counts.setdefault((word, PARTS[rest[0]]), {})[int(number) - 1] = int(count)
    return counts


def rows(path: Path) -> Iterator[list[str]]:
    """Yield the fields of each line of a WordNet file, without licence header and glosses."""
    for line in path.read_text("utf-8", errors="replace").splitlines():
        if not line.startswith("  "):
            yield line.partition("|")[0].split()


if __name__ == "__main__":
    sys.exit(main())

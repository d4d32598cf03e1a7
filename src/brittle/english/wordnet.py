"""WordNet's synonym groups and senses, and substitutes that were read one by one.

WordNet's synonym groups: single words by part of speech, in the order of their senses.

The shipped table has a block of lines for each part of speech (`#n`, `#v`, `#a`, `#r`), and a line
for each group: `film movie picture5` means that the three words share a meaning, which is the first
sense of `film` and `movie` and the sixth of `picture` (the first sense has no number).

How often each sense of a word is meant, and the words that are near it in WordNet.

The shipped table has a block of lines for each part of speech (`#n`, `#v`, `#a`, `#r`), and a line
for each word with several senses or with near words: `dull 5,5,2 &dreary:0:0 !lively:0:1` means
that three senses of `dull` were counted 5, 5 and 2 times in WordNet's tagged texts, that `dreary`
is similar to its first sense, in its own first sense, and that `lively` is its opposite. A word
that is missing has one sense. The marks are those of `NEAR`, and `!` for opposites.

Substitutes that were read one by one: words that can stand for a word, and those that cannot. The
table (substitutes.txt) is a text for people: its first lines say how it is written.
"""

from __future__ import annotations

import lzma
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cache
from operator import itemgetter
from pathlib import Path

from brittle.errors import UsageError

FILES: Mapping[str, str] = {"n": "noun", "v": "verb", "a": "adj", "r": "adv"}
WORDNET_FILE = Path(__file__).with_name("wordnet.txt.xz")

_SINGLE = re.compile(r"[A-Za-z]+(?:['-][A-Za-z]+)*")
_MARKER = re.compile(r"\((?:a|p|ip)\)$")
_MEMBER = re.compile(r"([^\d\s]+)(\d*)")


class WordNet:
    """Synonyms by lemma and part of speech; each part of speech is parsed at its first use."""

    def __init__(self, blocks: Mapping[str, str]) -> None:
        self.blocks = blocks
        self._senses: dict[str, dict[str, list[tuple[int, str]]]] = {}

    @staticmethod
    def shipped() -> WordNet:
        """Load the table of WordNet 3.0 that comes with the package."""
        return WordNet.from_table(lzma.decompress(WORDNET_FILE.read_bytes()).decode())

    @staticmethod
    def from_table(table: str) -> WordNet:
        """Parse a table as scripts/build_wordnet.py writes it."""
        blocks = (block.partition("\n") for block in table.split("#")[1:])
        return WordNet({pos: lines for pos, _, lines in blocks})

    @staticmethod
    def from_folder(folder: str | Path) -> WordNet:
        """Load a folder of WordNet's own files: data.noun, index.noun, data.verb, …"""
        root = checked_folder(folder)
        return WordNet({pos: "\n".join(_groups(root, part)) for pos, part in FILES.items()})

    def synonyms(self, lemma: str, pos: str, senses: int | None = None) -> tuple[str, ...]:
        """List the words that share a sense with the lemma, by sense, then in the group's order.

        `pos` is n, v, a or r; `senses` is how many senses of the lemma are used, from the first.
        """
        words: dict[str, str] = {}
        for sense, group in self._index(pos).get(lemma.lower(), ()):
            if senses is not None and sense >= senses:
                break
            for member, _ in _MEMBER.findall(group):
                words.setdefault(member.lower(), member)
        words.pop(lemma.lower(), None)
        return tuple(words.values())

    def shared_senses(self, lemma: str, pos: str) -> list[tuple[str, int, int]]:
        """List the words that share a sense with the lemma, as `synonyms` does, with two numbers.

        The first says which sense of the lemma it is, the second which sense of the other word; 0
        is the first sense. A word that shares several senses has the first of them.
        """
        words: dict[str, tuple[str, int, int]] = {}
        for name, sense, own in self.all_shared_senses(lemma, pos):
            words.setdefault(name.lower(), (name, sense, own))
        return list(words.values())

    def all_shared_senses(self, lemma: str, pos: str) -> list[tuple[str, int, int]]:
        """List the same as `shared_senses`; a word that shares several senses has all of them."""
        return [
            (member, sense, int(own or 0))
            for sense, group in self._index(pos).get(lemma.lower(), ())
            for member, own in _MEMBER.findall(group)
            if member.lower() != lemma.lower()
        ]

    def is_name(self, word: str) -> bool:
        """Tell whether every noun that a word can be is written with a capital, as names are."""
        groups = [group for _, group in self._index("n").get(word.lower(), ())]
        spelt = {
            m for group in groups for m, _ in _MEMBER.findall(group) if m.lower() == word.lower()
        }
        return bool(spelt) and all(name[:1].isupper() for name in spelt)

    def _index(self, pos: str) -> dict[str, list[tuple[int, str]]]:
        if pos in self._senses:
            return self._senses[pos]
        index: dict[str, list[tuple[int, str]]] = {}
        for group in self.blocks.get(pos, "").splitlines():
            for member, sense in _MEMBER.findall(group):
                index.setdefault(member.lower(), []).append((int(sense or 0), group))
        for groups in index.values():
            groups.sort(key=itemgetter(0))
        self._senses[pos] = index
        return index


@cache
def wordnet(folder: str | None = None) -> WordNet:
    """Return the shipped WordNet, or that of a folder; each is loaded once per process."""
    return WordNet.shipped() if folder is None else WordNet.from_folder(folder)


def checked_folder(folder: str | Path) -> Path:
    """Return the path of a folder of WordNet's own files; refuse one that lacks some of them."""
    root = Path(folder)
    missing = [
        name
        for part in FILES.values()
        for name in (f"data.{part}", f"index.{part}")
        if not (root / name).is_file()
    ]
    if missing:
        raise UsageError(
            f"The WordNet folder {str(root)!r} lacks {', '.join(missing)}. Use the folder "
            "with the data and index files of WordNet, such as Debian's wordnet-base."
        )
    return root


def _groups(root: Path, part: str) -> Iterator[str]:
    """Yield a line for every group of at least two single words, in the order of the data file."""
    rank = {
        (fields[0], offset): sense
        for fields in _entries(root / f"index.{part}")
        for sense, offset in enumerate(fields[len(fields) - int(fields[2]) :])
    }
    for fields in _entries(root / f"data.{part}"):
        offset, count = fields[0], int(fields[3], 16)
        members: dict[str, str] = {}
        for raw in fields[4 : 4 + 2 * count : 2]:
            # An adjective may have a marker of its position: "galore(ip)" comes after its noun.
            name = _MARKER.sub("", raw)
            sense = rank.get((name.lower(), offset))
            if sense is not None and _SINGLE.fullmatch(name):
                members.setdefault(name.lower(), f"{name}{sense or ''}")
        if len(members) > 1:
            yield " ".join(members.values())


def _entries(path: Path) -> Iterator[list[str]]:
    """Yield the fields of each line of a WordNet file, without licence header and glosses."""
    for line in wordnet_lines(path):
        yield line.partition("|")[0].split()


def wordnet_lines(path: Path) -> Iterator[str]:
    """Yield the lines of a WordNet file, without the licence header."""
    with path.open(encoding="utf-8", errors="replace") as lines:
        for number, line in enumerate(lines, 1):
            if line.startswith("  ") or not line.strip():
                continue
            fields = line.partition("|")[0].split()
            if len(fields) < 4 or not fields[2 if path.stem == "index" else 0].isdigit():
                raise UsageError(
                    f"{path}, line {number}: not a line of a WordNet {path.stem} file: "
                    f"{line.strip()[:60]!r}. Expected the files of WordNet 3.0 or later."
                )
            yield line


SENSES_FILE = Path(__file__).with_name("senses.txt.xz")
SIMILAR, SIBLING, WIDER, NARROWER = NEAR = ("&", "+", "@", "~")
"""Marks of near words: similar; similar to the same word; a hyponym; a hypernym."""
OPPOSITE = "!"
PRIOR = 3.0
"""How many uses the order of the senses is worth, in addition to the counted uses."""

_NEAR = re.compile(r"([&+@~!])([^:\s]+):(\d+):(\d+)")


@dataclass(frozen=True)
class NearWord:
    """A word that is near another one: by which mark, and in which sense of each, from 0."""

    word: str
    mark: str
    sense: int
    other_sense: int


class Senses:
    """Counts of senses and near words, by lemma and part of speech."""

    def __init__(self, lines: Mapping[tuple[str, str], str]) -> None:
        self._lines = lines
        self._shares: dict[tuple[str, str], tuple[float, ...]] = {}

    @staticmethod
    def from_table(table: str) -> Senses:
        """Parse a table as it is described above; a line is read when its word is asked for."""
        lines = {}
        for block in table.split("#")[1:]:
            pos, *rows = block.rstrip("\n").split("\n")
            for row in rows:
                word, _, rest = row.partition(" ")
                lines[word, pos] = rest
        return Senses(lines)

    def counts(self, lemma: str, pos: str) -> tuple[int, ...]:
        """Return how often each sense of a word was counted; one sense, never, if it is unknown."""
        numbers = self._lines.get((lemma, pos), "0").partition(" ")[0]
        return tuple(int(number) for number in numbers.split(","))

    def shares(self, lemma: str, pos: str) -> tuple[float, ...]:
        """Estimate how often each sense is meant, as shares of 1.

        WordNet's order speaks for a sense, too: it is worth `PRIOR` uses, which the senses share by
        the inverse of their numbers.
        """
        if (lemma, pos) in self._shares:
            return self._shares[lemma, pos]
        counts = self.counts(lemma, pos)
        weights = [1 / (n + 1) for n in range(len(counts))]
        scale = PRIOR / sum(weights)
        total = sum(counts) + PRIOR
        shares = tuple((c + scale * w) / total for c, w in zip(counts, weights))
        # Unknown words are without end, and cost nothing.
        if (lemma, pos) in self._lines:
            self._shares[lemma, pos] = shares
        return shares

    def near(self, lemma: str, pos: str) -> list[NearWord]:
        """List the near words of a word, in the order of its senses."""
        return [word for word in self._related(lemma, pos) if word.mark != OPPOSITE]

    def opposites(self, lemma: str, pos: str) -> frozenset[str]:
        """Return the words that are opposite to a sense of a word."""
        return frozenset(w.word for w in self._related(lemma, pos) if w.mark == OPPOSITE)

    def _related(self, lemma: str, pos: str) -> list[NearWord]:
        found = _NEAR.findall(self._lines.get((lemma, pos), ""))
        return [NearWord(word, mark, int(own), int(other)) for mark, word, own, other in found]


@cache
def senses() -> Senses:
    """Load the shipped table, once per process."""
    return Senses.from_table(lzma.decompress(SENSES_FILE.read_bytes()).decode())


SUBSTITUTES_FILE = Path(__file__).with_name("substitutes.txt")
NEVER, SOMETIMES, MOSTLY = GRADES = (0, 1, 2)
"""How readers judged a substitute: unfit; fit by meaning or neighbours; fit nearly everywhere."""


class Substitutes:
    """Grades of the substitutes that were read, by lemma and part of speech."""

    def __init__(self, grades: Mapping[tuple[str, str], Mapping[str, int]]) -> None:
        self._grades = grades

    @staticmethod
    def from_table(table: str) -> Substitutes:
        """Parse a table as substitutes.txt describes it."""
        grades: dict[tuple[str, str], dict[str, int]] = {}
        pos = ""
        for line in table.splitlines():
            if line.startswith("#"):
                pos = line[1:]
            elif line and not line.startswith("%"):
                word, _, others = line.partition(":")
                grades[word, pos] = {
                    other.rstrip("?"): SOMETIMES if other.endswith("?") else MOSTLY
                    for other in others.split()
                }
        return Substitutes(grades)

    def of(self, lemma: str, pos: str) -> Mapping[str, int]:
        """Return the substitutes of a word that were found fit, with their grades."""
        return self._grades.get((lemma, pos), {})

    def grade(self, lemma: str, other: str, pos: str) -> int | None:
        """Return how a substitute was read, None if the word was not."""
        grades = self._grades.get((lemma, pos))
        return None if grades is None else grades.get(other, NEVER)


@cache
def substitutes() -> Substitutes:
    """Load the shipped table, once per process."""
    return Substitutes.from_table(SUBSTITUTES_FILE.read_text("utf-8"))

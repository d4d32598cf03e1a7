"""The lexicon: the usual Penn tag of 94,118 words and marks, and the rules that correct tags.

The shipped table is built from textblob's files by scripts/build_lexicon.py. Its first line names
that source. Then comes a line for each tag, with all words that have it, then an empty line, then
one contextual rule a line.
"""

from __future__ import annotations

import lzma
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from brittle.english.tagging_rules import Rule, parse_rules

SHIPPED = Path(__file__).with_name("lexicon.txt.xz")

_NUMBER = re.compile(r"[0-9,.:/%$-]+$")
# The endings of unknown words by tag; the first tag that fits counts.
_ENDINGS: Mapping[str, tuple[str, ...]] = {
    "VBP": ("ate", "ify", "ise", "ize"),
    "VBN": ("ed",),
    "JJ": ("able", "al", "ful", "ible", "ient", "ish", "ive", "less", "tic", "ous"),
    "NN": ("is", "ss"),
    "NNS": ("s",),
    "RB": ("ly",),
    "VBG": ("ing",),
}


@dataclass(frozen=True)
class Lexicon:
    """Words with their usual tags, and contextual rules; `source` tells where both come from."""

    source: str
    tags: Mapping[str, str]
    rules: tuple[Rule, ...]

    @staticmethod
    def from_table(table: str) -> Lexicon:
        """Parse a table as it is described above."""
        source, *lines = table.rstrip("\n").split("\n")
        end = lines.index("")
        tags: dict[str, str] = {}
        for line in lines[:end]:
            tag, *words = line.split(" ")
            tags.update(dict.fromkeys(words, tag))
        return Lexicon(source, tags, parse_rules(lines[end + 1 :]))

    def tag_tokens(self, tokens: Sequence[str]) -> list[str]:
        """Tag each token of a sentence by itself; the first may also be known in lower case."""
        tags = [self.tags.get(token) or guess_tag(token) for token in tokens]
        if tokens and tokens[0] not in self.tags:
            tags[0] = self.tags.get(tokens[0].lower(), tags[0])
        return tags


def guess_tag(word: str) -> str:
    """Return the tag of an unknown word, by its shape, else by its ending.

    >>> [guess_tag(word) for word in ("Hooloovoo", "1,000", "zombified", "un-zombie", "zombies")]
    ['NNP', 'CD', 'VBN', 'JJ', 'NNS']
    """
    if word.istitle():
        return "NNP"
    if _NUMBER.match(word):
        return "CD"
    for tag, endings in _ENDINGS.items():
        if word.endswith(endings) or (tag == "JJ" and "-" in word):
            return tag
    return "NN"


@cache
def load_lexicon() -> Lexicon:
    """Load the shipped lexicon, once per process."""
    return Lexicon.from_table(lzma.decompress(SHIPPED.read_bytes()).decode())

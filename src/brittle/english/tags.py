"""Part-of-speech tags: one Penn tag for every editable word, from textblob's English lexicon.

Words keep their boundaries: nothing is split or joined. The tagger sees what a reader sees: each
field on its own, cut into sentences, with the punctuation of the gaps, and contractions in two
("do n't"; the word has the tag of its first part). Unknown words are tagged by their shape and
suffix, then contextual rules correct the rest.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import cache
from importlib import metadata, util
from pathlib import Path
from types import ModuleType
from typing import NamedTuple

from brittle.english.tagging_rules import Rule, apply_rules, read_rules
from brittle.errors import require
from brittle.text import Text

_CONTRACTION = re.compile(r"(?i)(.+?)(n't|'(?:s|re|ve|ll|d|m))")
_MARK = re.compile(r"<[^<>]*>|\.\.\.|--|[^\w\s]|\n")
_ENDS = (".", "!", "?", "...", "\n")


class Tagger:
    """Tags words with textblob's English lexicon and its contextual rules."""

    name = "textblob"

    @property
    def fingerprint(self) -> str:
        return f"textblob {metadata.version('textblob')}, contextual rules, 1"

    def tags(self, items: Sequence[Text]) -> list[tuple[str, ...]]:
        """Give every text one Penn tag per position; a hole is tagged as an unknown word."""
        return [tuple(_text_tags(item)) for item in items]


def tag_words(words: Sequence[str], gaps: Sequence[str] | None = None) -> list[str]:
    """Tag the words of one field; the gaps around them (one more than words) tell its sentences."""
    english = _english()
    tags = [""] * len(words)
    for sentence in _sentences(words, gaps or [" "] * (len(words) + 1), english.lexicon):
        tokens = [token for token, _ in sentence]
        found = [tag for _, tag in english.find_tags(tokens, english.lexicon)]
        found = apply_rules(english.rules, tokens, found)
        for tag, (_, i) in zip(found, sentence):
            if i is not None:
                tags[i] = tag
    return tags


def _text_tags(text: Text) -> Iterator[str]:
    for field, (start, stop) in zip(text.frame.fields, text.frame.spans):
        words = [word if isinstance(word, str) else "____" for word in text.words[start:stop]]
        yield from tag_words(words, field.gaps)


def _sentences(
    words: Sequence[str], gaps: Sequence[str], lexicon: Mapping[str, str]
) -> Iterator[list[tuple[str, int | None]]]:
    """Cut words and gaps into sentences of tokens, each with the position it stands for, if any."""
    sentence: list[tuple[str, int | None]] = []
    for i, gap in enumerate(gaps):
        for mark in _MARK.findall(gap) if gap != " " else ():
            is_markup = mark.startswith("<") and len(mark) > 1
            if not (is_markup or mark == "\n"):
                sentence.append((mark, None))
            if (is_markup or mark in _ENDS) and sentence:
                yield sentence
                sentence = []
        if i < len(words):
            sentence += _tokens(words[i], i, lexicon)
    if sentence:
        yield sentence


def _tokens(word: str, i: int, lexicon: Mapping[str, str]) -> list[tuple[str, int | None]]:
    if word.isalpha():
        # The lexicon is in lower case; a shouted word is the same word.
        shouted = len(word) > 1 and word.isupper() and word not in lexicon
        return [(word.lower() if shouted else word, i)]
    plain = word.replace("’", "'")
    contraction = _CONTRACTION.fullmatch(plain)
    if contraction:
        return [(contraction[1], i), (contraction[2].lower(), None)]
    return [(plain, i)]


class _English(NamedTuple):
    """The parts of textblob in use."""

    lexicon: Mapping[str, str]
    find_tags: Callable[[list[str], Mapping[str, str]], list[list[str]]]
    rules: tuple[Rule, ...]


@cache
def _english() -> _English:
    root, text = _textblob()
    # A plain dictionary: textblob's own checks at each look-up whether it is loaded.
    entries = [line.split(" ") for line in _lines(root / "en" / "en-lexicon.txt")]
    lexicon = {entry[0]: entry[1] for entry in entries}
    return _English(lexicon, text.find_tags, read_rules(_lines(root / "en" / "en-context.txt")))


def _lines(path: Path) -> list[str]:
    lines = path.read_text(encoding="utf-8").split("\n")
    return [line.strip() for line in lines if line.strip() and not line.startswith(";;;")]


def _textblob() -> tuple[Path, ModuleType]:
    """Load textblob's module of taggers alone, and say in which folder it lies.

    `import textblob` brings nltk and scipy for parts that are not used here and takes over a
    second; the module itself needs the standard library only, so it is loaded from its file.
    """
    package = util.find_spec("textblob")
    for root in map(Path, (package and package.submodule_search_locations) or ()):
        spec = util.spec_from_file_location("brittle_textblob", root / "_text.py")
        if (root / "_text.py").is_file() and spec is not None and spec.loader is not None:
            module = util.module_from_spec(spec)
            spec.loader.exec_module(module)
            return root, module
    module = require("textblob._text", "textblob", "Part-of-speech tagging")
    return Path(str(module.__file__)).parent, module

"""Rules of rewriting: what may stand for a phrase, and next to which words; parsed from a file.

The shipped rules are in `english/rewrites.toml`, which explains its keys. A pattern is a row of
tokens: words in lower case, marks, the clitics of contractions (`n't`, `'s`), and Penn tags in
capitals, which match any word with that tag. `{1}` in a replacement copies the first token.
"""

from __future__ import annotations

import re
import tomllib
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from pathlib import Path
from typing import Any, TypedDict

import brittle.english
from brittle.english.words import is_stop_word
from brittle.errors import UsageError
from brittle.safety.schema import Malformed, parse

SHIPPED = Path(brittle.english.__file__).with_name("rewrites.toml")
START, END, MARK = "^", "$", "*"
"""In a condition: the start of a sentence, its end, and any mark of punctuation."""

_ARROW = re.compile(r"\s+(<?->)\s*")
_TAG = re.compile(r"[A-Z]+\$?")
_COPY = re.compile(r"\{(\d)\}")
SENTENCES = ("any", "judgement", "clause", "nouns", "verb", "later", "question", "command")
"""The kinds of sentences that can have an opener; `any` is any statement."""


@dataclass(frozen=True)
class Beside:
    """What may stand at a place: these words (or marks), or words with these tags."""

    words: frozenset[str]
    tags: frozenset[str]

    @staticmethod
    def of(raw: str) -> Beside:
        """Parse a condition: words and marks in lower case, tags in capitals."""
        items = raw.split()
        tags = frozenset(item for item in items if _TAG.fullmatch(item))
        return Beside(frozenset(items) - tags, tags)


@dataclass(frozen=True)
class Element:
    """One token of a pattern: one of these words, or a word with one of these tags."""

    words: frozenset[str]
    tags: frozenset[str]


@dataclass(frozen=True)
class RewriteRule:
    """A pattern, its replacements, and the conditions that make them safe.

    The conditions are about the token directly before the match (`left`), directly after it
    (`right`), and one further to the right (`right2`). `absent` are words that must not be in the
    sentence. `side` is that of a spelling, American or British: a text that has another word of
    this side keeps it. `name` is the rule as the file has it.
    """

    name: str
    find: tuple[Element, ...]
    writes: tuple[tuple[str, ...], ...]
    left: Beside | None = None
    not_left: Beside | None = None
    right: Beside | None = None
    not_right: Beside | None = None
    not_left2: Beside | None = None
    right2: Beside | None = None
    not_right2: Beside | None = None
    absent: frozenset[str] = frozenset()
    min_words: int = 0
    asks: bool = True
    side: int | None = None

    @property
    def is_mark(self) -> bool:
        """Whether the pattern is one mark of punctuation."""
        return len(self.find) == 1 and not any(map(str.isalnum, "".join(self.find[0].words)))


@dataclass(frozen=True)
class Opener:
    """Words that may begin a sentence, unless one of `absent` is in the text.

    `content` are those of its own words that the text should not repeat.
    """

    say: tuple[str, ...]
    content: frozenset[str]
    absent: frozenset[str]


@dataclass(frozen=True)
class RewriteRules:
    """All rules of a file: each under one word of its pattern, with the place of that word."""

    index: Mapping[str, Sequence[tuple[int, RewriteRule]]]
    openers: Mapping[str, Sequence[Opener]]
    no_opener: frozenset[str] = frozenset()
    commands: frozenset[str] = frozenset()
    full_stop: bool = False
    spelling: Mapping[str, int] = field(default_factory=dict)

    @property
    def count(self) -> int:
        """How many rules there are; an opener is one."""
        return sum(map(len, self.index.values())) + sum(map(len, self.openers.values()))


class _Conditions(TypedDict, total=False):
    left: str
    not_left: str
    not_left2: str
    right: str
    not_right: str
    right2: str
    not_right2: str
    absent: str
    min_words: int
    questions: bool
    example: tuple[str, str]


class _RuleTable(_Conditions, total=False):
    swap: tuple[str, ...]
    drop: tuple[str, ...]
    spelling: bool


class _Opening(TypedDict):
    before: str
    say: tuple[str, ...]


class _OpenerTable(_Opening, total=False):
    absent: str
    example: tuple[str, str]


class _File(TypedDict, total=False):
    shipped: bool
    rule: tuple[_RuleTable, ...]
    opener: tuple[_OpenerTable, ...]
    full_stop: bool
    no_opener: str
    commands: str


@dataclass
class _Builder:
    """Rules as they are collected from one file after another."""

    index: dict[str, list[tuple[int, RewriteRule]]] = field(default_factory=dict)
    openers: dict[str, list[Opener]] = field(default_factory=dict)
    no_opener: set[str] = field(default_factory=set)
    commands: set[str] = field(default_factory=set)
    full_stop: bool = False
    spelling: dict[str, int] = field(default_factory=dict)

    def add(self, content: _File) -> None:
        for table in content.get("rule", ()):
            for rule in _rules(table):
                self._add_rule(rule)
        for opener in content.get("opener", ()):
            kind = opener["before"]
            if kind not in SENTENCES:
                known = ", ".join(SENTENCES)
                raise UsageError(f"Got an opener before {kind!r}; expected one of {known}.")
            absent = frozenset(opener.get("absent", "").split())
            rows = [_opener(say.split(), absent) for say in opener["say"]]
            self.openers.setdefault(kind, []).extend(rows)
        self.no_opener |= set(content.get("no_opener", "").split())
        self.commands |= set(content.get("commands", "").split())
        self.full_stop = content.get("full_stop", self.full_stop)

    def _add_rule(self, rule: RewriteRule) -> None:
        # Each rule is looked up by one element with words; of several, by the one with the fewest.
        offset = min(
            (n for n, element in enumerate(rule.find) if element.words),
            key=lambda n: (len(rule.find[n].words), -max(map(len, rule.find[n].words))),
        )
        for word in rule.find[offset].words:
            if rule.side is not None:
                self.spelling[word] = rule.side
            self.index.setdefault(word, []).append((offset, rule))


@lru_cache(maxsize=8)
def load_rules(path: str | None = None) -> RewriteRules:
    """Load the shipped rules, and those of a file of the user's own."""
    contents = []
    if path is not None:
        contents.append(_read(Path(path)))
    if not contents or contents[0].get("shipped", True):
        contents.insert(0, _read(SHIPPED))
    builder = _Builder()
    for content in contents:
        builder.add(content)
    return RewriteRules(
        builder.index,
        builder.openers,
        frozenset(builder.no_opener),
        frozenset(builder.commands),
        builder.full_stop,
        builder.spelling,
    )


def examples(path: Path = SHIPPED) -> list[tuple[str, str]]:
    """List the examples of a file: a text, and the text that a rule makes of it."""
    content = _read(path)
    tables: list[Any] = [*content.get("rule", ()), *content.get("opener", ())]
    return [table["example"] for table in tables if "example" in table]


def _read(path: Path) -> _File:
    try:
        return parse(_File, tomllib.loads(path.read_text(encoding="utf-8")))
    except OSError as error:
        raise UsageError(f"Cannot read the file of rewrites {str(path)!r}: {error}.") from error
    except (tomllib.TOMLDecodeError, UnicodeDecodeError, RecursionError, Malformed) as error:
        raise UsageError(
            f"{str(path)!r} is not a file of rewrites: {error}. Expected tables such as "
            'rule = [{ swap = ["for example <-> for instance"] }].'
        ) from error


def _opener(say: Sequence[str], absent: frozenset[str]) -> Opener:
    content = frozenset(word for word in say if word.isalpha() and not is_stop_word(word))
    return Opener(tuple(say), content, absent)


def _rules(table: _RuleTable) -> Iterator[RewriteRule]:
    conditions = _conditions(table)
    unknown_keys = table.keys() - _RuleTable.__annotations__.keys()
    if unknown_keys:
        raise UsageError(
            f"Unknown keys in a rule of rewriting: {', '.join(sorted(unknown_keys))}. Known are "
            f"{', '.join(_RuleTable.__annotations__)}."
        )
    for line in table.get("swap", ()):
        find, arrow, writes = _split(line)
        sides = [side.strip() for side in re.split(r"\s+<->\s+", line)] if arrow == "<->" else []
        if sides:
            for n, side in enumerate(sides):
                own = {"side": n} if table.get("spelling") else {}
                yield _rule(side, [*sides[:n], *sides[n + 1 :]], conditions | own)
        else:
            yield _rule(find, [write.strip() for write in writes.split(" | ")], conditions)
    for word in table.get("drop", ()):
        yield _rule(word, [""], conditions)


def _split(line: str) -> tuple[str, str, str]:
    parts = _ARROW.split(line, maxsplit=1)
    if len(parts) != 3 or not parts[0].strip():
        raise UsageError(
            f"{line!r} is not a rule of rewriting. Expected 'this -> that', 'this -> that | other' "
            "or 'this <-> that'."
        )
    return parts[0].strip(), parts[1], parts[2]


def _rule(find: str, writes: Iterable[str], conditions: Mapping[str, Any]) -> RewriteRule:
    elements = tuple(map(_element, find.split()))
    tokens = tuple(tuple(write.split()) for write in writes)
    if not any(element.words for element in elements):
        raise UsageError(
            f"The pattern {find!r} has no word. Add one: brittle looks up rules by their words."
        )
    if any(_TAG.fullmatch(token) for write in tokens for token in write):
        raise UsageError(
            f"A replacement of {find!r} has a tag. Copy the token: {{1}} is the first."
        )
    copies = [int(number) for write in tokens for token in write for number in _COPY.findall(token)]
    if any(not 1 <= number <= len(elements) for number in copies):
        raise UsageError(
            f"{{{max(copies)}}} copies a token, but {find!r} has only {len(elements)}."
        )
    shown = " | ".join(" ".join(write) for write in tokens)
    return RewriteRule(f"{find} -> {shown}", elements, tokens, **conditions)


def _element(item: str) -> Element:
    # A slash separates words, or tags, of which one must be there; a lone slash is a mark.
    parts = frozenset(item.split("/")) if len(item) > 1 else frozenset({item})
    tags = frozenset(part for part in parts if _TAG.fullmatch(part))
    return Element(parts - tags, tags)


_BESIDE = ("left", "not_left", "not_left2", "right", "not_right", "right2", "not_right2")


def _conditions(table: _RuleTable) -> dict[str, Any]:
    values: Mapping[str, Any] = table
    found: dict[str, Any] = {key: Beside.of(values[key]) for key in _BESIDE if key in values}
    if "absent" in table:
        found["absent"] = frozenset(table["absent"].split())
    if "min_words" in table:
        found["min_words"] = table["min_words"]
    if "questions" in table:
        found["asks"] = table["questions"]
    return found


Copy = Callable[[int], str]


def fill(write: Sequence[str], copied: Copy) -> list[str]:
    """Return the tokens of a replacement, with the copies of matched tokens in their places."""
    return [_COPY.sub(lambda m: copied(int(m[1]) - 1), t) if "{" in t else t for t in write]

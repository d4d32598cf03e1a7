"""Text: immutable words in a frame of gaps and fields; every edit gives back the exact rest.

A word is letters, marks and digits with inner apostrophes or hyphens. Punctuation, symbols, emoji
and markup (tags such as `<br />`, entities such as `&amp;`) lie in the gaps between words. The
words of open fields are the positions 0 … len − 1 that an attack may edit; locked fields are part
of the frame, so that no attack can reach them.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from difflib import SequenceMatcher
from functools import cached_property
from typing import ClassVar, Final

import regex

_WORD = regex.compile(
    r"(?:<[/!]?[A-Za-z][^<>]*>|&\#?\w{1,32};)(*SKIP)(*FAIL)"
    r"|[\p{L}\p{N}][\p{L}\p{M}\p{N}]*(?:['’\-‐‑][\p{L}\p{N}][\p{L}\p{M}\p{N}]*)*"
)


class Hole:
    """A masked word: the adapter of a target says how it reads."""

    __slots__ = ()

    def __repr__(self) -> str:
        return "HOLE"


HOLE: Final = Hole()
Word = str | Hole


@dataclass(frozen=True)
class Field:
    """One field of a text: open, with the gaps around its words, or locked, with its raw string."""

    name: str
    gaps: tuple[str, ...] = ()
    raw: str | None = None

    @property
    def locked(self) -> bool:
        return self.raw is not None


@dataclass(frozen=True)
class Frame:
    """What stands around the words; shared by all texts that differ only in swapped words."""

    fields: tuple[Field, ...]

    @cached_property
    def spans(self) -> tuple[tuple[int, int], ...]:
        """Say for every field which positions are its own; locked fields have none."""
        spans, start = [], 0
        for field in self.fields:
            stop = start + max(0, len(field.gaps) - 1)
            spans.append((start, stop))
            start = stop
        return tuple(spans)


@dataclass(frozen=True)
class Edit:
    """One replaced stretch of a field of the original text, in code points."""

    field: str
    start: int
    stop: int
    old: str
    new: str


class Text:
    """An immutable text: the words an attack may edit, and the frame they stand in."""

    __slots__ = ("frame", "words")
    kind: ClassVar[str] = "text"
    words: tuple[Word, ...]
    frame: Frame

    def __init__(self, words: tuple[Word, ...], frame: Frame) -> None:
        _set(self, "words", words)
        _set(self, "frame", frame)

    @staticmethod
    def of(source: str | Mapping[str, str], locked: Collection[str] = ()) -> Text:
        """Split a string (one field named `text`) or named strings into words and gaps."""
        named = {"text": source} if isinstance(source, str) else dict(source)
        words: list[Word] = []
        fields = []
        for name, raw in named.items():
            if name in locked:
                fields.append(Field(name, raw=raw))
                continue
            found, gaps = split(raw)
            words += found
            fields.append(Field(name, gaps=tuple(gaps)))
        return Text(tuple(words), Frame(tuple(fields)))

    def __setattr__(self, name: str, value: object) -> None:
        raise AttributeError(f"Text is immutable: {name!r} cannot be set. Use swap, mask, insert.")

    def __len__(self) -> int:
        return len(self.words)

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Text):
            return NotImplemented
        return self.words == other.words and self.frame == other.frame

    def __hash__(self) -> int:
        return hash(self.words)

    def __repr__(self) -> str:
        return f"Text({str(self)!r})"

    def __str__(self) -> str:
        return self.render("____")

    # Edits: each gives a new text.

    def swap(self, i: int, word: Word) -> Text:
        """Put another word at position i."""
        i = self._position(i)
        words = self.words
        return Text((*words[:i], word, *words[i + 1 :]), self.frame)

    def swaps(self, i: int, words: Iterable[Word]) -> list[Text]:
        """Put each of these words at position i: one text a word."""
        i = self._position(i)
        head, tail, frame = self.words[:i], self.words[i + 1 :], self.frame
        return [Text((*head, word, *tail), frame) for word in words]

    def with_words(self, words: tuple[Word, ...]) -> Text:
        """Put these words into the same frame; there must be as many as before."""
        if len(words) != len(self.words):
            raise ValueError(f"with_words needs {len(self.words)} words, got {len(words)}")
        return Text(words, self.frame)

    def mask(self, i: int) -> Text:
        """Leave a hole at position i."""
        return self.swap(i, HOLE)

    def delete(self, i: int) -> Text:
        """Take the word at position i away, with one space beside it."""
        i = self._position(i)
        field, at, gaps = self._inside(i)
        left, right = gaps[at], gaps[at + 1]
        if left[-1:].isspace():
            left = left[:-1]
        elif right[:1].isspace():
            right = right[1:]
        gaps[at : at + 2] = [left + right]
        return Text(self.words[:i] + self.words[i + 1 :], self._reframed(field, gaps))

    def insert(self, i: int, word: Word) -> Text:
        """Put a word before position i; i = len(text) appends to the last open field."""
        if i == len(self.words):
            field = max(n for n, f in enumerate(self.frame.fields) if not f.locked)
            gaps = list(self.frame.fields[field].gaps)
            gaps[-1:] = [" ", gaps[-1]] if len(gaps) > 1 else [gaps[-1], ""]
        else:
            field, at, gaps = self._inside(self._position(i))
            gaps[at : at + 1] = [gaps[at], " "]
        return Text((*self.words[:i], word, *self.words[i:]), self._reframed(field, gaps))

    # Reading.

    def fields(self, mask: str = "") -> dict[str, str]:
        """Render every field exactly, each hole as `mask`."""
        words = self.words
        if HOLE in words:
            words = tuple(mask if word is HOLE else word for word in words)
        spans = self.frame.spans
        return {
            field.name: _weave(words[start:stop], field.gaps) if field.raw is None else field.raw
            for field, (start, stop) in zip(self.frame.fields, spans)
        }

    def render(self, mask: str = "") -> str:
        """Render the text as one string, several fields joined by a line break."""
        return "\n".join(self.fields(mask).values())

    def field_words(self) -> list[tuple[str, tuple[Word, ...]]]:
        """List every field's name and words, those of locked fields too."""
        return [
            (f.name, tuple(words_of(f.raw)) if f.raw is not None else self.words[start:stop])
            for f, (start, stop) in zip(self.frame.fields, self.frame.spans)
        ]

    @property
    def key(self) -> bytes:
        """Give the bytes that identify the text: where holes and fields lie, then characters."""
        parts = list(self.fields().values())
        head = ",".join(map(str, self._holes())) if HOLE in self.words else ""
        if len(parts) > 1:
            head += "|" + ",".join(str(len(part)) for part in parts)
        return f"{head}\n{''.join(parts)}".encode("utf-8", "surrogatepass")

    def _holes(self) -> list[int]:
        """List where the holes lie, as offsets into the fields' characters without them."""
        offsets, at = [], 0
        for field, (start, stop) in zip(self.frame.fields, self.frame.spans):
            at += len(field.raw or "")
            for gap, word in zip(field.gaps, (*self.words[start:stop], "")):
                at += len(gap)
                if isinstance(word, str):
                    at += len(word)
                else:
                    offsets.append(at)
        return offsets

    @property
    def size(self) -> int:
        return len(self.words)

    def _position(self, i: int) -> int:
        if not 0 <= i < len(self.words):
            raise IndexError(f"position {i} is outside a text of {len(self.words)} words")
        return i

    def _inside(self, i: int) -> tuple[int, int, list[str]]:
        for n, (start, stop) in enumerate(self.frame.spans):
            if start <= i < stop:
                return n, i - start, list(self.frame.fields[n].gaps)
        raise IndexError(f"position {i} is outside a text of {len(self.words)} words")

    def _reframed(self, n: int, gaps: list[str]) -> Frame:
        fields = list(self.frame.fields)
        fields[n] = replace(fields[n], gaps=tuple(gaps))
        return Frame(tuple(fields))


_set = object.__setattr__


def split(raw: str) -> tuple[list[str], list[str]]:
    """Split a string into its words and the gaps around them (one more than words)."""
    words, gaps, end = [], [], 0
    for match in _WORD.finditer(raw):
        gaps.append(raw[end : match.start()])
        words.append(match.group())
        end = match.end()
    gaps.append(raw[end:])
    return words, gaps


def words_of(raw: str) -> list[str]:
    """List the words of a string.

    >>> words_of("Don't stop<br />the well-known café, no. 7!")
    ["Don't", 'stop', 'the', 'well-known', 'café', 'no', '7']
    """
    return list(_WORD.findall(raw))


def diff(original: Text, changed: Text) -> tuple[Edit, ...]:
    """List the edits that turn the original into the changed text, field by field.

    Stretches are whole words where the frame is the same, else runs of words and gaps.
    """
    if original.frame is changed.frame:
        return _swapped(original, changed)
    edits = []
    before = dict(_pieces(original))
    for name, new in _pieces(changed):
        old = before[name]
        if old == new:
            continue
        offsets = _offsets(old)
        if len(old) == len(new):
            spans = [(i, i + 1, i, i + 1) for i in range(len(old)) if old[i] != new[i]]
        else:
            matcher = SequenceMatcher(None, old, new, autojunk=False)
            spans = [code[1:] for code in matcher.get_opcodes() if code[0] != "equal"]
        for a, b, c, d in spans:
            edit = Edit(name, offsets[a], offsets[b], "".join(old[a:b]), "".join(new[c:d]))
            edits.append(edit)
    if not edits and original.fields() != changed.fields("____"):
        raise ValueError("texts of different fields cannot be compared")
    return tuple(edits)


def _swapped(original: Text, changed: Text) -> tuple[Edit, ...]:
    """List the swapped words of two texts in one frame, the way nearly all texts are compared."""
    edits = []
    for field, (start, stop) in zip(original.frame.fields, original.frame.spans):
        at = 0
        for gap, i in zip(field.gaps, range(start, stop)):
            at += len(gap)
            old, new = _shown(original.words[i]), changed.words[i]
            if new is not original.words[i] and _shown(new) != old:
                edits.append(Edit(field.name, at, at + len(old), old, _shown(new)))
            at += len(old)
    return tuple(edits)


def _shown(word: Word) -> str:
    return word if isinstance(word, str) else "____"


def patch(fields: Mapping[str, str], edits: Sequence[Edit]) -> dict[str, str]:
    """Apply edits to the original's rendered fields; the inverse of `diff`."""
    out = dict(fields)
    for edit in sorted(edits, key=lambda e: (e.field, e.start), reverse=True):
        raw = out[edit.field]
        if raw[edit.start : edit.stop] != edit.old:
            raise ValueError(f"edit expects {edit.old!r} at {edit.field}[{edit.start}]")
        out[edit.field] = raw[: edit.start] + edit.new + raw[edit.stop :]
    return out


def words_changed(edits: Iterable[Edit]) -> int:
    """Count the words touched: of each edit the longer side."""
    return sum(max(len(words_of(e.old)), len(words_of(e.new))) for e in edits)


def characters_changed(edits: Iterable[Edit]) -> int:
    """Sum the Levenshtein distances of the edits, in code points."""
    return sum(_distance(e.old, e.new) for e in edits)


def _pieces(text: Text) -> list[tuple[str, list[str]]]:
    pieces = []
    for field, (start, stop) in zip(text.frame.fields, text.frame.spans):
        if field.raw is None:
            words = [_shown(word) for word in text.words[start:stop]]
            row = [""] * (2 * len(words) + 1)
            row[::2], row[1::2] = list(field.gaps), words
            pieces.append((field.name, row))
        else:
            pieces.append((field.name, [field.raw]))
    return pieces


def _offsets(pieces: Sequence[str]) -> list[int]:
    offsets = [0]
    for piece in pieces:
        offsets.append(offsets[-1] + len(piece))
    return offsets


def _weave(words: Sequence[Word], gaps: Sequence[str]) -> str:
    row: list[Word] = [""] * (2 * len(words) + 1)
    row[::2] = gaps
    row[1::2] = words
    return "".join(row)  # type: ignore[arg-type]  # the caller has filled every hole


def _distance(a: str, b: str) -> int:
    a, b = _apart(a, b)
    if len(a) * len(b) > 1_000_000:
        # Two long stretches with nothing in common at their ends: all of it counts as changed.
        return max(len(a), len(b))
    row = list(range(len(b) + 1))
    for i, x in enumerate(a, 1):
        last, row[0] = row[0], i
        for j, y in enumerate(b, 1):
            last, row[j] = row[j], min(row[j] + 1, row[j - 1] + 1, last + (x != y))
    return row[-1]


def _apart(a: str, b: str) -> tuple[str, str]:
    """Take off what two strings begin and end with in common."""
    start = _shared(a, b)
    a, b = a[start:], b[start:]
    end = _shared(a[::-1], b[::-1])
    return a[: len(a) - end], b[: len(b) - end]


def _shared(a: str, b: str) -> int:
    return next((i for i, (x, y) in enumerate(zip(a, b)) if x != y), min(len(a), len(b)))

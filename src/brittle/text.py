"""Text: immutable words in a frame of gaps and fields; an edit leaves all other characters alone.

A word is letters, marks and digits with inner apostrophes or hyphens. Punctuation, symbols, emoji
and markup (tags such as `<br />`, entities such as `&amp;`) lie in the gaps between words. The
words of open fields are the positions 0 … len − 1 that an attack may edit; locked fields are part
of the frame, so no attack can reach them.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import ClassVar, Final

import regex

_WORD = regex.compile(
    r"(?:<[/!]?[A-Za-z][^<>]*>|&\#?\w{1,32};)(*SKIP)(*FAIL)"
    r"|[\p{L}\p{N}][\p{L}\p{M}\p{N}]*(?:['’\-‐‑][\p{L}\p{N}][\p{L}\p{M}\p{N}]*)*"
)


class Hole:
    """A masked word: the adapter of a target decides what the target reads there."""

    __slots__ = ()

    def __repr__(self) -> str:
        return "HOLE"

    def __reduce__(self) -> str:
        return "HOLE"  # pickled and copied by this name, so that there is only one hole


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
    """Everything around the words; texts that differ only in swapped words share one frame."""

    fields: tuple[Field, ...]

    @cached_property
    def spans(self) -> tuple[tuple[int, int], ...]:
        """The first position of every field and the one after its last; locked fields have none."""
        spans, start = [], 0
        for field in self.fields:
            stop = start + max(0, len(field.gaps) - 1)
            spans.append((start, stop))
            start = stop
        return tuple(spans)


class Text:
    """An immutable text: the words that an attack may edit, and the frame around them."""

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
            field_words, gaps = split(raw)
            words += field_words
            fields.append(Field(name, gaps=tuple(gaps)))
        return Text(tuple(words), Frame(tuple(fields)))

    def __setattr__(self, name: str, value: object) -> None:
        raise AttributeError(f"Text is immutable: {name!r} cannot be set. Use swap, mask, insert.")

    def __reduce__(self) -> tuple[type[Text], tuple[tuple[Word, ...], Frame]]:
        return Text, (self.words, self.frame)

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

    # Edits: each returns a new text.

    def swap(self, i: int, word: Word) -> Text:
        """Replace the word at position i."""
        i = self._position(i)
        words = self.words
        return Text((*words[:i], word, *words[i + 1 :]), self.frame)

    def swaps(self, i: int, words: Iterable[Word]) -> list[Text]:
        """Replace the word at position i by each of these words: one text per word."""
        i = self._position(i)
        head, tail, frame = self.words[:i], self.words[i + 1 :], self.frame
        return [Text((*head, word, *tail), frame) for word in words]

    def with_words(self, words: tuple[Word, ...]) -> Text:
        """Put other words into the same frame; there must be as many as before."""
        if len(words) != len(self.words):
            raise ValueError(f"with_words needs {len(self.words)} words, got {len(words)}")
        return Text(words, self.frame)

    def mask(self, i: int) -> Text:
        """Replace the word at position i by a hole."""
        return self.swap(i, HOLE)

    def delete(self, i: int) -> Text:
        """Delete the word at position i, with one space beside it."""
        field, n, gaps = self._field_of(i)
        left, right = gaps[n], gaps[n + 1]
        if left[-1:].isspace():
            left = left[:-1]
        elif right[:1].isspace():
            right = right[1:]
        gaps[n : n + 2] = [left + right]
        return Text(self.words[:i] + self.words[i + 1 :], self._reframed(field, gaps))

    def insert(self, i: int, word: Word) -> Text:
        """Insert a word before position i; i = len(text) appends to the last open field."""
        if i == len(self.words):
            field = max(n for n, f in enumerate(self.frame.fields) if not f.locked)
            gaps = list(self.frame.fields[field].gaps)
            gaps[-1:] = [" ", gaps[-1]] if len(gaps) > 1 else [gaps[-1], ""]
        else:
            field, n, gaps = self._field_of(i)
            gaps[n : n + 1] = [gaps[n], " "]
        return Text((*self.words[:i], word, *self.words[i:]), self._reframed(field, gaps))

    # What a text holds.

    def fields(self, mask: str = "") -> dict[str, str]:
        """Render every field exactly, with `mask` for each hole."""
        words = self.words
        if HOLE in words:
            words = tuple(mask if word is HOLE else word for word in words)
        spans = self.frame.spans
        return {
            field.name: _join(words[start:stop], field.gaps) if field.raw is None else field.raw
            for field, (start, stop) in zip(self.frame.fields, spans)
        }

    def render(self, mask: str = "") -> str:
        """Render the text as one string, several fields joined by a line break."""
        return "\n".join(self.fields(mask).values())

    def field_words(self) -> list[tuple[str, tuple[Word, ...]]]:
        """List the name and the words of every field, locked fields included."""
        return [
            (f.name, tuple(words_of(f.raw)) if f.raw is not None else self.words[start:stop])
            for f, (start, stop) in zip(self.frame.fields, self.frame.spans)
        ]

    @property
    def key(self) -> bytes:
        """The bytes that identify the text: offsets of holes, lengths of fields, characters.

        With several fields every offset is marked by the number of its field, for a hole at the
        end of one field and a hole at the start of the next have the same offset.
        """
        parts = list(self.fields().values())
        head = ",".join(self._holes(len(parts) > 1)) if HOLE in self.words else ""
        if len(parts) > 1:
            head += "|" + ",".join(str(len(part)) for part in parts)
        return f"{head}\n{''.join(parts)}".encode("utf-8", "surrogatepass")

    def _holes(self, numbered: bool) -> list[str]:
        """List the offsets of the holes in the fields' characters without holes."""
        offsets, offset = [], 0
        for n, (field, (start, stop)) in enumerate(zip(self.frame.fields, self.frame.spans)):
            mark = f"{n}:" if numbered else ""
            offset += len(field.raw or "")
            for gap, word in zip(field.gaps, (*self.words[start:stop], "")):
                offset += len(gap)
                if isinstance(word, str):
                    offset += len(word)
                else:
                    offsets.append(f"{mark}{offset}")
        return offsets

    @property
    def size(self) -> int:
        return len(self.words)

    def _position(self, i: int) -> int:
        if not 0 <= i < len(self.words):
            raise IndexError(f"position {i} is outside a text of {len(self.words)} words")
        return i

    def _field_of(self, i: int) -> tuple[int, int, list[str]]:
        """Return the number of the field with position i, the word's number in it, its gaps."""
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


def is_word(form: str) -> bool:
    """Tell whether a string is exactly one word of a text.

    >>> is_word("mooP"), is_word("well-made"), is_word("well-"), is_word("")
    (True, True, False, False)
    """
    # Nearly all forms have only letters and digits; the pattern is for the others.
    return form.isalnum() or words_of(form) == [form]


def _join(words: Sequence[Word], gaps: Sequence[str]) -> str:
    row: list[Word] = [""] * (2 * len(words) + 1)
    row[::2] = gaps
    row[1::2] = words
    return "".join(row)  # type: ignore[arg-type]  # the caller has filled every hole

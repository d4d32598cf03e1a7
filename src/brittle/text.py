"""Text: immutable words in a frame of gaps and fields; an edit leaves all other characters alone.

A word is letters, marks and digits with inner apostrophes or hyphens. Punctuation, symbols, emoji
and markup (tags such as `<br />`, entities such as `&amp;`) lie in the gaps between words. The
words of open fields are the positions 0 … len − 1 that an attack may edit; locked fields are part
of the frame, so no attack can reach them.

An attack makes thousands of texts that differ from one text in a word or two. Short ones are
copies. A long one (`SwappedText`) holds what is swapped in it, and shares the rest with its source.
"""

from __future__ import annotations

import secrets
from array import array
from collections.abc import Callable, Collection, Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property, lru_cache
from hashlib import blake2b
from itertools import compress
from operator import is_not
from typing import Any, ClassVar, Final, TypeVar, cast

import regex

T = TypeVar("T")

LONG = 256
"""A text with more words than this is long."""
MAX_SWAPS = 32
"""How many swaps a long text collects before it is copied as a whole."""
DIGEST_BYTES = 16
DIGESTS = 1 << 8 * DIGEST_BYTES  # sums of digests are taken modulo this
_SECRET = secrets.token_bytes(16)

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

    @cached_property
    def digest(self) -> bytes:
        """A short stand-in of everything around the words."""
        return digest_of(repr(self.fields)).to_bytes(DIGEST_BYTES, "big")


class Text:
    """An immutable text: words that attacks may edit, and the frame around them."""

    __slots__ = ("_kept", "frame", "words")
    kind: ClassVar[str] = "text"
    words: tuple[Word, ...]
    frame: Frame
    _kept: dict[Hashable, Any]

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
        words = self.words
        if not 0 <= i < len(words):
            raise self._outside(i)
        if len(words) > LONG:
            return SwappedText(self, ((i, word),))
        return Text((*words[:i], word, *words[i + 1 :]), self.frame)

    def swaps(self, i: int, words: Iterable[Word]) -> list[Text]:
        """Replace the word at position i by each of these words: one text per word."""
        if not 0 <= i < len(self.words):
            raise self._outside(i)
        if len(self.words) > LONG:
            return [SwappedText(self, ((i, word),)) for word in words]
        head, tail, frame = self.words[:i], self.words[i + 1 :], self.frame
        return [Text((*head, word, *tail), frame) for word in words]

    def with_words(self, words: tuple[Word, ...]) -> Text:
        """Put other words into the same frame; the number of words must be the same."""
        if len(words) != len(self.words):
            raise ValueError(f"with_words needs {len(self.words)} words, got {len(words)}")
        if len(words) > LONG:
            changed = changed_positions(self.words, words)
            if len(changed) <= MAX_SWAPS:
                return SwappedText(self, tuple((i, words[i]) for i in changed))
        return Text(words, self.frame)

    def mask(self, i: int) -> Text:
        """Mask the word at position i."""
        return self.swap(i, HOLE)

    def delete(self, i: int) -> Text:
        """Delete the word at position i and one adjacent space."""
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
        """Render every field exactly, with `mask` for each masked word."""
        words = self.words
        if HOLE in words:
            words = tuple(mask if word is HOLE else word for word in words)
        spans = self.frame.spans
        return {
            field.name: _join(words[start:stop], field.gaps) if field.raw is None else field.raw
            for field, (start, stop) in zip(self.frame.fields, spans)
        }

    def render(self, mask: str = "") -> str:
        """Render the text as one string; fields are separated by a line break."""
        return "\n".join(self.fields(mask).values())

    def field_words(self) -> list[tuple[str, tuple[Word, ...]]]:
        """List the name and the words of every field, locked fields included."""
        return [
            (f.name, tuple(words_of(f.raw)) if f.raw is not None else self.words[start:stop])
            for f, (start, stop) in zip(self.frame.fields, self.frame.spans)
        ]

    @property
    def key(self) -> bytes:
        """The bytes that identify the text: offsets of masked words, lengths of fields, characters.

        With several fields every offset has the number of its field, because a masked word at the
        end of one field and one at the start of the next have the same offset.
        """
        parts = list(self.fields().values())
        head = ",".join(self._holes(len(parts) > 1))
        if len(parts) > 1:
            head += "|" + ",".join(str(len(part)) for part in parts)
        return f"{head}\n{''.join(parts)}".encode("utf-8", "surrogatepass")

    def _holes(self, numbered: bool) -> list[str]:
        """List the offsets of the holes in the fields' characters without holes."""
        if HOLE not in self.words:
            return []
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
    def digest(self) -> bytes | None:
        """A short replacement for the key of a long text, in this process; None for a short text.

        It is a sum over the words, so the digest of a swapped text follows from its source's
        digest.
        """
        if len(self.words) <= LONG:
            return None
        return self.frame.digest + self.once(_sum_words).to_bytes(DIGEST_BYTES, "big")

    def once(self, compute: Callable[[Any], T]) -> T:
        """Return compute(text), computed on the first call and stored as long as the text.

        Long texts share such values with the texts made from them.
        """
        try:
            kept = self._kept
        except AttributeError:
            kept = {}
            _set(self, "_kept", kept)
        if compute not in kept:
            kept[compute] = compute(self)
        return cast(T, kept[compute])

    @property
    def size(self) -> int:
        return len(self.words)

    def _outside(self, i: int) -> IndexError:
        return IndexError(f"position {i} is outside a text of {len(self)} words")

    def _field_of(self, i: int) -> tuple[int, int, list[str]]:
        """Return the number of the field with position i, the word's number in it, its gaps."""
        for n, (start, stop) in enumerate(self.frame.spans):
            if start <= i < stop:
                return n, i - start, list(self.frame.fields[n].gaps)
        raise self._outside(i)

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


def with_strings(text: Text, strings: Mapping[str, str]) -> Text:
    """Replace the strings of open fields, by name, and split them anew; the others stay."""
    words: list[Word] = []
    fields: list[Field] = []
    for field, (start, stop) in zip(text.frame.fields, text.frame.spans):
        if field.name not in strings or field.locked:
            words += text.words[start:stop]
            fields.append(field)
        else:
            new_words, gaps = split(strings[field.name])
            words += new_words
            fields.append(Field(field.name, gaps=tuple(gaps)))
    return Text(tuple(words), Frame(tuple(fields)))


def _join(words: Sequence[Word], gaps: Sequence[str]) -> str:
    row: list[Word] = [""] * (2 * len(words) + 1)
    row[::2] = gaps
    row[1::2] = words
    return "".join(row)  # type: ignore[arg-type]  # the caller has filled every hole


class SwappedText(Text):
    """A long text in which a few words are swapped; all else is in the text it was made from.

    It is a `Text` like any other. `swapped` lists the positions of `source` that have other words,
    in order. What reads thousands of these texts computes the source once (`Text.once`) and looks
    at the swapped words; `words` puts all words together.
    """

    __slots__ = ("source", "swapped")
    source: Text
    swapped: tuple[tuple[int, Word], ...]

    def __init__(self, source: Text, swapped: tuple[tuple[int, Word], ...]) -> None:
        _set(self, "source", source)
        _set(self, "swapped", swapped)
        _set(self, "frame", source.frame)

    @property
    def words(self) -> tuple[Word, ...]:  # type: ignore[override]  # computed, not stored
        text, words = _last_words[0]
        if text is not self:
            changed = list(self.source.words)
            for i, word in self.swapped:
                changed[i] = word
            words = tuple(changed)
            # Of one text only: thousands of them at once would fill the memory.
            _last_words[0] = (self, words)
        return words

    def __reduce__(self) -> tuple[Any, ...]:
        return SwappedText, (self.source, self.swapped)

    def __len__(self) -> int:
        return len(self.source.words)

    @property
    def size(self) -> int:
        return len(self.source.words)

    def swap(self, i: int, word: Word) -> Text:
        return self.swaps(i, [word])[0]

    def swaps(self, i: int, words: Iterable[Word]) -> list[Text]:
        if not 0 <= i < len(self):
            raise self._outside(i)
        before = tuple(pair for pair in self.swapped if pair[0] < i)
        after = tuple(pair for pair in self.swapped if pair[0] > i)
        if len(before) + len(after) >= MAX_SWAPS:
            return self.once(SwappedText._copied).swaps(i, words)
        source = self.source
        return [SwappedText(source, (*before, (i, word), *after)) for word in words]

    def _copied(self) -> Text:
        """Copy all words, for texts that are made from this one."""
        copied = Text(self.words, self.frame)
        _set(copied, "_kept", {_sum_words: self._sum()})
        return copied

    def with_words(self, words: tuple[Word, ...]) -> Text:
        return self.source.with_words(words)

    def fields(self, mask: str = "") -> dict[str, str]:
        layout, rendered = self.source.once(Layout), {}
        for field, (at, end), swapped in zip(self.frame.fields, layout.bounds, self._by_field()):
            parts: list[str] = []
            for start, stop, word in swapped:
                parts += (layout.string[at:start], word if isinstance(word, str) else mask)
                at = stop
            rendered[field.name] = "".join((*parts, layout.string[at:end]))
        return rendered

    def _holes(self, numbered: bool) -> list[str]:
        offsets, longer = [], 0
        for n, swapped in enumerate(self._by_field()):
            for start, stop, word in swapped:
                if isinstance(word, str):
                    longer += len(word)
                else:
                    offsets.append(f"{n}:{start + longer}" if numbered else f"{start + longer}")
                longer -= stop - start
        return offsets

    def _by_field(self) -> list[list[tuple[int, int, Word]]]:
        """List what is swapped in each field, and the source's holes: start, stop and new word."""
        layout, swapped = self.source.once(Layout), self.swapped
        if layout.holes:
            swapped = tuple(sorted({**layout.holes, **dict(swapped)}.items()))
        starts, stops = layout.starts, layout.stops
        return [
            [(starts[i], stops[i], word) for i, word in swapped if first <= i < last]
            for first, last in self.frame.spans
        ]

    @property
    def digest(self) -> bytes:
        return self.frame.digest + self._sum().to_bytes(DIGEST_BYTES, "big")

    def _sum(self) -> int:
        total, words = self.source.once(_sum_words), self.source.words
        for i, word in self.swapped:
            total += _word_digest(i, word) - _word_digest(i, words[i])
        return total % DIGESTS


class Layout:
    """A long text as it is rendered: all fields in one string, and where words and fields are.

    Its holes have no characters.
    """

    def __init__(self, text: Text) -> None:
        self.starts, self.stops = array("q"), array("q")
        self.holes: dict[int, Word] = {i: HOLE for i, word in enumerate(text.words) if word is HOLE}
        parts = text.fields()
        self.string = "".join(parts.values())
        self.bounds: list[tuple[int, int]] = []
        end = 0
        for field, (first, last) in zip(text.frame.fields, text.frame.spans):
            at, end = end, end + len(parts[field.name])
            self.bounds.append((at, end))
            for gap, word in zip(field.gaps, text.words[first:last]):
                self.starts.append(at + len(gap))
                at += len(gap) + (len(word) if isinstance(word, str) else 0)
                self.stops.append(at)


def changed_positions(words: Sequence[Word], others: Sequence[Word]) -> list[int]:
    """List the positions at which two texts of one length have different words."""
    suspects = compress(range(len(words)), map(is_not, words, others))
    return [i for i in suspects if words[i] != others[i]]


def digest_of(string: str) -> int:
    """Hash a string to a number.

    The hash is keyed by a secret of this process: it cannot be planned which sums are equal.
    """
    hashed = blake2b(string.encode("utf-8", "surrogatepass"), digest_size=DIGEST_BYTES, key=_SECRET)
    return int.from_bytes(hashed.digest(), "big")


@lru_cache(maxsize=1 << 15)
def _word_digest(i: int, word: Word) -> int:
    return digest_of(f"{i} {word}" if isinstance(word, str) else f"{i}")


def _sum_words(text: Text) -> int:
    return sum(_word_digest(i, word) for i, word in enumerate(text.words)) % DIGESTS


_last_words: list[tuple[Text | None, tuple[Word, ...]]] = [(None, ())]
"""The words joined last: callers often ask a text for its words again and again."""

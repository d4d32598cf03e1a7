"""Edits: what changed between two texts, how to apply it again, and how much it is."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from difflib import SequenceMatcher
from functools import lru_cache
from itertools import accumulate

import regex

from brittle.text import LONG, Layout, SwappedText, Text, Word, changed_positions, words_of

_CONTROLS = regex.compile(r"[\p{Cc}\p{Cf}]")
MAX_CELLS = 1_000_000  # of the table for the distance of two strings: about 0.4 s


@dataclass(frozen=True)
class Edit:
    """One replaced stretch of a field of the original text; offsets are in code points."""

    field: str
    start: int
    stop: int
    old: str
    new: str


def diff(original: Text, changed: Text) -> tuple[Edit, ...]:
    """List the edits that turn the original into the changed text, field by field.

    Stretches are whole words if the frame is the same, else runs of words and gaps.
    """
    if original.frame is changed.frame:
        return _diff_words(original, changed)
    edits = []
    before = dict(_parts(original))
    for name, new in _parts(changed):
        old = before[name]
        if old == new:
            continue
        offsets = [0, *accumulate(map(len, old))]
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


def diff_strings(old: str, new: str, field: str = "text") -> tuple[Edit, ...]:
    """List the edits that turn one string into another, for people to see what changed.

    Unlike `diff`, words that stand elsewhere because others came or went are not changed.

    >>> [(edit.old, edit.new) for edit in diff_strings("ein guter Film", "ein schlechter Film")]
    [('guter', 'schlechter')]
    >>> [(edit.old, edit.new) for edit in diff_strings("der Mann geht heute", "heute geht er")]
    [('der Mann', 'heute'), ('heute', 'er')]
    """
    edits: list[Edit] = []
    start = 0
    for before, after in _aligned(_words_and_gaps(old), _words_and_gaps(new)):
        stop = start + len(before)
        if before != after:
            if edits and edits[-1].stop == start:
                last = edits.pop()
                edit = Edit(field, last.start, stop, last.old + before, last.new + after)
            else:
                edit = Edit(field, start, stop, before, after)
            edits.append(edit)
        start = stop
    return tuple(edits)


def _aligned(old: Sequence[str], new: Sequence[str]) -> Iterator[tuple[str, str]]:
    """Yield stretches of two lists of gaps and words, old beside new; joined, they are the lists.

    Only words are matched, since nearly all gaps are alike. Marks around them match always, and
    the equal ends of both lists with them. Above 200 words the matcher passes over frequent ones,
    which keeps its time in bounds.
    """
    before, after = ["", *old[1::2], ""], ["", *new[1::2], ""]
    for tag, a, b, c, d in SequenceMatcher(None, before, after).get_opcodes():
        if tag == "equal":
            for i, j in zip(range(a, b), range(c, d)):
                yield before[i], after[j]
                yield "".join(old[2 * i : 2 * i + 1]), "".join(new[2 * j : 2 * j + 1])
            continue
        ours, theirs = old[2 * a - 1 : 2 * b - 1], new[2 * c - 1 : 2 * d - 1]
        gap = ours[-1] if ours and theirs and ours[-1] == theirs[-1] else ""
        yield "".join(ours).removesuffix(gap), "".join(theirs).removesuffix(gap)
        yield gap, gap


def _words_and_gaps(string: str) -> list[str]:
    [(_, parts)] = _parts(Text.of(string))
    return parts


def _diff_words(original: Text, changed: Text) -> tuple[Edit, ...]:
    """List the swapped words of two texts in one frame, as nearly all compared texts are."""
    if len(original) > LONG and not original.once(Layout).holes:
        return _diff_long(original, changed)
    edits = []
    for field, (start, stop) in zip(original.frame.fields, original.frame.spans):
        offset = 0
        for gap, i in zip(field.gaps, range(start, stop)):
            offset += len(gap)
            old, new = _render(original.words[i]), changed.words[i]
            if new is not original.words[i] and _render(new) != old:
                edits.append(Edit(field.name, offset, offset + len(old), old, _render(new)))
            offset += len(old)
    return tuple(edits)


def _diff_long(original: Text, changed: Text) -> tuple[Edit, ...]:
    """List the swapped words of two long texts, without a look at all the others."""
    if isinstance(changed, SwappedText) and changed.source is original:
        swapped = changed.swapped
    else:
        words = changed.words
        swapped = tuple((i, words[i]) for i in changed_positions(original.words, words))
    return tuple(filter(None, map(original.once(_SwapEdits).__getitem__, swapped)))


class _SwapEdits(dict[tuple[int, Word], Edit | None]):
    """The edits of a text by position and new word; the steps of a case share most of them."""

    def __init__(self, text: Text) -> None:
        self.words, self.frame, self.layout = text.words, text.frame, text.once(Layout)

    def __missing__(self, swap: tuple[int, Word]) -> Edit | None:
        i, old, new = swap[0], _render(self.words[swap[0]]), _render(swap[1])
        n = next(n for n, (first, last) in enumerate(self.frame.spans) if first <= i < last)
        start = self.layout.starts[i] - self.layout.bounds[n][0]
        field = self.frame.fields[n].name
        self[swap] = None if old == new else Edit(field, start, start + len(old), old, new)
        return self[swap]


def _render(word: Word) -> str:
    return word if isinstance(word, str) else "____"


def patch(fields: Mapping[str, str], edits: Sequence[Edit]) -> dict[str, str]:
    """Apply edits to the original's rendered fields; the inverse of `diff`.

    Edits that start at the same offset (insertions, and at most one other edit after them) are
    taken in the order in which they are listed.
    """
    patched = dict(fields)
    # The last edit first, so that no offset moves; the sort keeps the order of equal offsets.
    for edit in sorted(edits, key=lambda e: (e.field, e.start))[::-1]:
        raw = patched.get(edit.field, "")
        if edit.field not in fields or raw[edit.start : edit.stop] != edit.old:
            raise ValueError(f"edit expects {edit.old!r} at {edit.field}[{edit.start}]")
        patched[edit.field] = raw[: edit.start] + edit.new + raw[edit.stop :]
    return patched


def edit_rows(edits: Iterable[Edit]) -> list[tuple[str, int, int, str, str]]:
    """Return edits as plain rows, for JSON; `Edit(*row)` builds each again."""
    return [(e.field, e.start, e.stop, e.old, e.new) for e in edits]


def words_changed(edits: Iterable[Edit]) -> int:
    """Count the changed words: of each edit its old or its new words, whichever are more.

    A word whose letters are spaced out, or parted by invisible characters, is one word.

    >>> words_changed([Edit("text", 0, 3, "bad", "b a d"), Edit("text", 4, 8, "film", "one film")])
    3
    """
    return sum(max(_count_words(e.old), _count_new_words(e.old, e.new)) for e in edits)


def _count_new_words(old: str, new: str) -> int:
    """Count the words of what was put in, or of what stood there if it has the same letters."""
    if "".join(words_of(new)) == "".join(words_of(old)):
        new = old
    return _count_words(_CONTROLS.sub("", new))


def _count_words(string: str) -> int:
    return 1 if string.isalnum() else len(words_of(string))


def characters_changed(edits: Iterable[Edit]) -> int:
    """Sum the Levenshtein distances of the edits, in code points."""
    return sum(distance(e.old, e.new) for e in edits)


def _parts(text: Text) -> list[tuple[str, list[str]]]:
    """List every field's name, and its gaps and words in turn; a locked field is one part."""
    parts = []
    for field, (start, stop) in zip(text.frame.fields, text.frame.spans):
        if field.raw is None:
            words = [_render(word) for word in text.words[start:stop]]
            row = [""] * (2 * len(words) + 1)
            row[::2], row[1::2] = list(field.gaps), words
            parts.append((field.name, row))
        else:
            parts.append((field.name, [field.raw]))
    return parts


@lru_cache(maxsize=1 << 16)
def distance(a: str, b: str) -> int:
    """Return the Levenshtein distance of two strings, in code points.

    >>> distance("mood", "mooP"), distance("mood", "moods"), distance("mood", "od")
    (1, 1, 2)
    """
    return count_operations(a, b)[0]


def is_further(new: str, old: str, original: str) -> bool:
    """Tell whether an edit takes a word further from the original: it undoes no other edit.

    >>> is_further("mxxd", "moxd", "mood"), is_further("moyd", "moxd", "mood")
    (True, False)
    """
    return old == original or distance(new, original) > distance(old, original)


def count_operations(a: str, b: str) -> tuple[int, int]:
    """Count the fewest character operations from one string to another, and the shifts among them.

    An operation flips, inserts or deletes one code point; an insert or a delete is a shift. Of
    several shortest ways the one with the most flips counts. Two long strings without common ends
    (above `MAX_CELLS`) count as changed in all their characters.

    >>> count_operations("mood", "mooP"), count_operations("abcd", "bcda")
    ((1, 0), (2, 2))
    """
    start = _common_prefix(a, b)
    a, b = a[start:], b[start:]
    end = _common_prefix(a[::-1], b[::-1])
    a, b = a[: len(a) - end], b[: len(b) - end]
    if len(a) * len(b) > MAX_CELLS:
        return max(len(a), len(b)), abs(len(a) - len(b))
    # One number holds both counts: a flip costs `unit`, a shift one more; all shifts together
    # stay below `unit`.
    unit = len(a) + len(b) + 1
    row = [(unit + 1) * j for j in range(len(b) + 1)]
    for i, x in enumerate(a, 1):
        diagonal, row[0] = row[0], (unit + 1) * i
        for j, y in enumerate(b, 1):
            shifted = min(row[j], row[j - 1]) + unit + 1
            diagonal, row[j] = row[j], min(shifted, diagonal + (unit if x != y else 0))
    return divmod(row[-1], unit)


def _common_prefix(a: str, b: str) -> int:
    return next((i for i, (x, y) in enumerate(zip(a, b)) if x != y), min(len(a), len(b)))

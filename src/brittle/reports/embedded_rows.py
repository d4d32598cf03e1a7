"""The rows of a run as a block of JSON inside the page: every text once, then its edits.

`strings` holds every label, status and reason once; `shapes` every list of field names. A row is
`[case, status, reason, label, predicted, confidence, adversarial label, adversarial confidence,
queries, words, words changed, shape, [text of each field], [field, start, stop, new, …]]`; labels,
status and reason are indices into `strings` (−1: none), offsets count UTF-16 units, as JavaScript
does. A text that the target answered is one more field. Of pictures there are no texts; a last
element has their images (pictures.py).
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any

import regex

from brittle.edits import Edit
from brittle.formatting import rounded
from brittle.reports.excerpts import shown_fields
from brittle.reports.pictures import embedded_pictures
from brittle.results import Result

_SURROGATE = regex.compile(r"\p{Cs}")


def embedded_rows(results: Sequence[Result], has_pictures: bool = False) -> str:
    """Write result rows as JSON that cannot end the script element it stands in."""
    strings: dict[str | None, int] = {None: -1}
    shapes: dict[tuple[str, ...], int] = {}
    rows = [_row(r, strings, shapes) for r in results]
    if has_pictures:
        rows = [
            [*row[:-2], [], [], images] for row, images in zip(rows, embedded_pictures(results))
        ]
    del strings[None]
    data = {"strings": list(strings), "shapes": list(shapes), "rows": rows}
    text = json.dumps(data, ensure_ascii=False, separators=(",", ":"))
    # Inside a script element only "<" can do harm ("</script", "<!--"); a lone surrogate cannot
    # be written as UTF-8.
    return str(_SURROGATE.sub(lambda m: f"\\u{ord(m.group()):04x}", text.replace("<", "\\u003c")))


def _row(
    r: Result, strings: dict[str | None, int], shapes: dict[tuple[str, ...], int]
) -> list[Any]:
    def index(value: str | None) -> int:
        return strings.setdefault(value, len(strings) - 1)

    fields = shown_fields(r)
    names = tuple(name for name, _, _ in fields)
    numbers = [index(value) for value in (r.status, r.reason, r.label, r.predicted)]
    return [
        *(r.case, *numbers, rounded(r.confidence), index(r.adversarial_label)),
        *(rounded(r.adversarial_confidence), r.queries, r.words, r.words_changed),
        *(shapes.setdefault(names, len(shapes)), [raw for _, raw, _ in fields], _edits(fields)),
    ]


def _edits(fields: Sequence[tuple[str, str, Sequence[Edit]]]) -> list[Any]:
    flat: list[Any] = []
    for number, (_, text, edits) in enumerate(fields):
        for edit in sorted(edits, key=lambda e: (e.start, e.stop)):
            flat += [number, _units(text, edit.start), _units(text, edit.stop), edit.new]
    return flat


def _units(text: str, offset: int) -> int:
    """Convert an offset in code points to one in UTF-16 units."""
    head = text[:offset]
    return offset if head.isascii() else offset + sum(char > "\uffff" for char in head)

"""The rows of a run as a block of JSON inside the page: every text once, then its edits.

`strings` holds every label, status and reason once; `shapes` every list of field names. A row is
`[case, status, reason, label, predicted, confidence, adversarial label, adversarial confidence,
queries, words, words changed, shape, [text of each field], [field, start, stop, new, …], path,
cost, kept items]`; labels, status and reason are indices into `strings` (−1: none), offsets count
UTF-16 units, as JavaScript does. A text that the target answered is one more field; `answered` says
of every shape whether its last field is one. Of pictures there are no texts; a last element has
their images (pictures.py). A path is how the search came there (paths.py), kept items are what it
wanted to be shown (kept_items.py). `cost` is the attack's word for its costs, null if it has none.
`levels` has the levels of a run that climbs the ladder, and the one of each row (ladder_page.py);
it is null for other runs.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from functools import partial
from typing import Any

import regex

from brittle.edits import Edit
from brittle.formatting import rounded
from brittle.reports.excerpts import shown_fields
from brittle.reports.kept_items import embedded_kept
from brittle.reports.paths import embedded_path, steps_by_case
from brittle.reports.pictures import embedded_pictures
from brittle.results import Result, Step

Shape = tuple[tuple[str, ...], bool]
"""The names of the fields of a row, and whether the last one is an answer."""

_SURROGATE = regex.compile(r"\p{Cs}")


def embedded_rows(
    results: Sequence[Result],
    has_pictures: bool = False,
    steps: Iterable[Step] = (),
    cost: str | None = None,
    levels: Mapping[str, Any] | None = None,
) -> str:
    """Write result rows as JSON that cannot end the script element it stands in."""
    strings: dict[str | None, int] = {None: -1}
    shapes: dict[Shape, int] = {}
    by_case = steps_by_case(steps)
    rows = [_row(r, by_case.get(r.case, ()), strings, shapes, has_pictures) for r in results]
    if has_pictures:
        rows = [[*row, own] for row, own in zip(rows, embedded_pictures(results))]
    del strings[None]
    data = {
        "strings": list(strings),
        "shapes": [names for names, _ in shapes],
        "answered": [has_answer for _, has_answer in shapes],
        "cost": cost,
        "levels": levels,
        "rows": rows,
    }
    return embedded_json(data)


def embedded_json(data: Any) -> str:
    """Write any data as JSON that cannot end the script element it stands in.

    >>> embedded_json({"text": "</script>"})
    '{"text":"\\\\u003c/script>"}'
    """
    text = json.dumps(data, ensure_ascii=False, separators=(",", ":"))
    # Inside a script element only "<" can do harm ("</script", "<!--"); a lone surrogate cannot
    # be written as UTF-8.
    return str(_SURROGATE.sub(lambda m: f"\\u{ord(m.group()):04x}", text.replace("<", "\\u003c")))


def _row(
    r: Result,
    steps: Sequence[Step],
    strings: dict[str | None, int],
    shapes: dict[Shape, int],
    is_picture: bool,
) -> list[Any]:
    def index(value: str | None) -> int:
        return strings.setdefault(value, len(strings) - 1)

    fields = shown_fields(r)
    numbers = [index(value) for value in (r.status, r.reason, r.label, r.predicted)]
    shape = tuple(name for name, _, _ in fields), r.answer is not None
    texts = [] if is_picture else [raw for _, raw, _ in fields]
    return [
        *(r.case, *numbers, rounded(r.confidence), index(r.adversarial_label)),
        *(rounded(r.adversarial_confidence), r.queries, r.words, r.words_changed),
        *(shapes.setdefault(shape, len(shapes)), texts, [] if is_picture else _edits(fields)),
        embedded_path(steps, partial(_flat_by_name, r.fields), index),
        *(rounded(r.cost), embedded_kept(r, index, is_picture)),
    ]


def _edits(fields: Sequence[tuple[str, str, Sequence[Edit]]]) -> list[Any]:
    flat: list[Any] = []
    for number, (_, text, edits) in enumerate(fields):
        for edit in sorted(edits, key=lambda e: (e.start, e.stop)):
            flat += _flat(number, text, edit)
    return flat


def _flat(number: int, text: str, edit: Edit) -> list[Any]:
    return [number, _units(text, edit.start), _units(text, edit.stop), edit.new]


def _flat_by_name(fields: Sequence[tuple[str, str]], edit: Edit) -> list[Any]:
    """Write the edit of a step; one of a field that the row has not (a damaged file) is empty."""
    for number, (name, text) in enumerate(fields):
        if name == edit.field:
            return _flat(number, text, edit)
    return [0, 0, 0, ""]


def _units(text: str, offset: int) -> int:
    """Convert an offset in code points to one in UTF-16 units."""
    head = text[:offset]
    return offset if head.isascii() else offset + sum(char > "\uffff" for char in head)

"""Cases on a page: excerpts of long texts, pictures, paths of a search, and the rows embedded.

Excerpts of texts for people: the clearest examples, and texts cut around their edits. A picture,
its reconstruction, its adversary and the difference, as images for the page. The path of a case for
the page: its steps, each as what it changed since the step before.

A path is `[[field, start, stop, new, …], total, step, …]`. The first list has every edit of the
path once. `total` counts the stored steps, the original included; of very many, some in between are
left out. A step is `[query, label, confidence, [edits that came], [edits that went]]`, followed by
its cost and its answer where there are any. Edits are indices into the first list, label and answer
into the strings of the page.

The rows of a run as a block of JSON inside the page: every text once, then its edits.

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

import base64
import json
import math
from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import partial
from typing import Any

import numpy as np
import regex
from numpy.typing import NDArray

from brittle.edits import Edit, diff_strings
from brittle.formatting import label_in_words, rounded
from brittle.picture import Picture, png
from brittle.reports.kept import embedded_kept, reconstruction
from brittle.results import Result, Step, has_adversary

ELLIPSIS = " … "


def clearest(results: Sequence[Result], n: int = 5) -> list[Result]:
    """Return the broken cases with the least changed, then the highest confidence.

    Of a text that is the number of words, of a picture the largest change of a pixel, of a search
    in a latent space the distance there.
    """
    broken = filter(has_adversary, results)
    return sorted(broken, key=lambda r: (_change(r), -(r.adversarial_confidence or 0)))[:n]


def _change(result: Result) -> float:
    if result.cost is not None and reconstruction(result) is not None:
        return result.cost
    if result.linf is None:
        return result.words_changed
    # By float32 pixels one ε is 0.09999999 here and 0.10000002 there.
    return rounded(result.linf) or 0.0


def shown_fields(result: Result) -> list[tuple[str, str, Sequence[Edit]]]:
    """List every field of a result with its name and edits; a text that was answered is the last.

    The edits of an answer are what the attack changed in it.
    """
    fields: list[tuple[str, str, Sequence[Edit]]] = [
        (name, raw, [e for e in result.edits if e.field == name]) for name, raw in result.fields
    ]
    if result.answer is not None:
        new = result.answer if result.adversarial_answer is None else result.adversarial_answer
        fields.append(("answer", result.answer, diff_strings(result.answer, new, "answer")))
    return fields


def split_at_edits(raw: str, edits: Sequence[Edit], context: int | None = None) -> list[str | Edit]:
    """Split a field into unchanged parts and edits, in order.

    With `context`, an unchanged part is cut to that many characters beside an edit.

    >>> split_at_edits(
    ...     "in short a warm, funny film", [Edit("text", 17, 22, "funny", "odd")], context=6
    ... )
    [' … warm, ', Edit(field='text', start=17, stop=22, old='funny', new='odd'), ' film']
    """
    if context is not None and not edits:
        return [cut(raw, 2 * context, 0)]
    parts: list[str | Edit] = []
    start = 0
    for edit in sorted(edits, key=lambda e: (e.start, e.stop)):
        parts += [raw[start : edit.start], edit]
        start = edit.stop
    parts.append(raw[start:])
    if context is not None:
        last = len(parts) - 1
        parts = [
            cut(part, context * (i > 0), context * (i < last)) if isinstance(part, str) else part
            for i, part in enumerate(parts)
        ]
    return [part for part in parts if part]


def cut(text: str, head: int, tail: int) -> str:
    """Keep that many characters at each end, unless the text is hardly longer than that.

    >>> cut("a rather long sentence about nothing", 8, 8)
    'a rather …  nothing'
    """
    if len(text) <= head + tail + 2 * len(ELLIPSIS):
        return text
    return text[:head] + ELLIPSIS + (text[-tail:] if tail else "")


BLUE, RED = np.array([0.13, 0.36, 0.75]), np.array([0.80, 0.20, 0.13])
MAX_BYTES = 24_000_000  # of images in one page; what comes after them is left out


def embedded_pictures(results: Sequence[Result]) -> list[list[Any]]:
    """Return for every row its norms and images.

    A row is [l2, largest change, images by their names], the images as PNG in base64; those of an
    adversary are missing if there is none, and all beyond a limit on the page's size. The
    difference is that of the adversary to the original.
    """
    rows: list[list[Any]] = []
    total = 0
    for result in results:
        images = _images(result) if total < MAX_BYTES else {}
        total += sum(map(len, images.values()))
        rows.append([rounded(result.l2), rounded(result.linf), images])
    return rows


def _images(result: Result) -> dict[str, str]:
    original = Picture.decode(result.original).pixels
    images = {"original": _bytes(original)}
    rebuilt = reconstruction(result)
    if rebuilt is not None:
        images["reconstruction"] = _bytes(Picture.decode(rebuilt.item).pixels)
    if result.adversarial is not None:
        adversary = Picture.decode(result.adversarial).pixels
        images["adversary"] = _bytes(adversary)
        images["difference"] = difference_image(original, adversary)
    return {name: _encoded(image) for name, image in images.items()}


def embedded_picture(encoded: str) -> str:
    """Return a stored picture as PNG in base64."""
    return _encoded(_bytes(Picture.decode(encoded).pixels))


def _encoded(image: NDArray[np.uint8]) -> str:
    return base64.b64encode(png(image)).decode("ascii")


def _bytes(pixels: NDArray[Any]) -> NDArray[np.uint8]:
    rounded: NDArray[np.uint8] = np.rint(255 * pixels).astype(np.uint8)
    return rounded


def difference_image(
    original: NDArray[np.float32], adversary: NDArray[np.float32]
) -> NDArray[np.uint8]:
    """Colour what became brighter blue and what became darker red; no change is white.

    The largest change of the picture has the full colour. Of several channels the mean counts.
    """
    difference = (adversary.astype(np.float64) - original).mean(axis=2)
    largest = np.abs(difference).max() or 1.0
    share = np.abs(difference)[:, :, None] / largest
    colour = np.where(difference[:, :, None] > 0, BLUE, RED)
    return _bytes(1 - share * (1 - colour))


MAX_STEPS = 40


def steps_by_case(steps: Iterable[Step]) -> dict[str, list[Step]]:
    """Group the steps of a run by case, in the order of their queries."""
    grouped: dict[str, list[Step]] = defaultdict(list)
    for step in steps:
        grouped[step.case].append(step)
    return {case: sorted(own, key=lambda step: step.query) for case, own in grouped.items()}


def embedded_path(
    steps: Sequence[Step],
    flatten: Callable[[Edit], list[Any]],
    index: Callable[[str | None], int],
) -> list[Any]:
    """Return the path of one case, or an empty list if nothing but the original was ever best.

    `flatten` writes an edit as the row does, and `index` finds a string in the table of the page.
    """
    if len(steps) < 2:
        return []
    numbers: dict[Edit, int] = {}
    rows: list[list[Any]] = []
    before: set[int] = set()
    for step in _thinned(steps):
        now = {numbers.setdefault(edit, len(numbers)) for edit in step.edits}
        row: list[Any] = [step.query, index(_shown_label(step.label)), rounded(step.confidence)]
        row += [sorted(now - before), sorted(before - now)]
        if step.cost is not None or step.answer is not None:
            row += [rounded(step.cost), index(step.answer)]
        rows.append(row)
        before = now
    return [[value for edit in numbers for value in flatten(edit)], len(steps), *rows]


def _thinned(steps: Sequence[Step]) -> Sequence[Step]:
    """Keep at most `MAX_STEPS` steps, always the first and the last."""
    if len(steps) <= MAX_STEPS:
        return steps
    stride = (len(steps) - 1) / (MAX_STEPS - 1)
    return [steps[math.floor(n * stride + 0.5)] for n in range(MAX_STEPS)]


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


def _shown_label(label: str | None) -> str | None:
    return None if label is None else label_in_words(label)


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
    labels = map(_shown_label, (r.label, r.predicted, r.adversarial_label))
    *numbers, after = (index(value) for value in (r.status, r.reason, *labels))
    shape = tuple(name for name, _, _ in fields), r.answer is not None
    texts = [] if is_picture else [raw for _, raw, _ in fields]
    return [
        *(r.case, *numbers, rounded(r.confidence), after),
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

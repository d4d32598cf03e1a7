"""Excerpts of texts for people: the clearest examples, and texts cut around their edits."""

from __future__ import annotations

from collections.abc import Sequence

from brittle.edits import Edit, diff_strings
from brittle.formatting import rounded
from brittle.reports.kept_items import reconstruction
from brittle.results import Result, has_adversary

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

"""The page of a study, of any kind: what it shows is data, and one template draws it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, ClassVar

from brittle.edits import diff_strings
from brittle.reports.excerpts import cut, split_at_edits
from brittle.reports.page import render_page

CONTEXT_CHARACTERS = 140
LONG_TEXT_CHARACTERS = 700

Note = str | tuple[str, str, str]
"""A sentence, or a name, words that follow it, and a reason."""


@dataclass(frozen=True)
class Part:
    """A section: what it shows below its heading.

    `shows` are tables, charts, heat maps, marked texts, or anything with `__html__`; `css` are the
    classes of what holds them, `scroll` those of what holds a wide table. `lines` are paragraphs,
    `below` is small print.
    """

    heading: str = ""
    lead: str = ""
    shows: Sequence[Any] = ()
    lines: Sequence[str] = ()
    below: Any = ""
    css: str = ""
    scroll: str = ""
    anchor: str = ""


@dataclass(frozen=True)
class StudyPage:
    """Everything that the page of a study shows, in its order.

    `headline` are figures: name, value, and what it is over. `notes` are warnings and failures.
    """

    title: str
    mark: str = "brittle"
    facts: Sequence[object] = ()
    notes: Sequence[Note] = ()
    notes_are: str = "Read this first"
    headline: Sequence[tuple[str, Any, str]] = ()
    parts: Sequence[Part] = ()
    settings: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True)
class MarkedField:
    """A field of a text; a part of it is unchanged, or what was taken out and what was put in."""

    name: str
    parts: Sequence[str | tuple[str, str]]


@dataclass(frozen=True)
class MarkedText:
    """A text before and after an attack, as lists of fields; `about` stands at its right."""

    status: Any
    label: str
    about: Any
    original: Sequence[tuple[str, str]]
    adversarial: Sequence[tuple[str, str]]
    shown_as: ClassVar = "text"

    @property
    def fields(self) -> list[MarkedField]:
        """The fields with their edits marked; one alone needs no name."""
        pairs = zip(self.original, self.adversarial)
        is_named = len(self.original) > 1
        return [
            MarkedField(name if is_named else "", marked_parts(old, new))
            for (name, old), (_, new) in pairs
        ]


def marked_parts(old: str, new: str) -> list[str | tuple[str, str]]:
    """Split a text at its edits; a long one is cut around them."""
    context = CONTEXT_CHARACTERS if len(old) > LONG_TEXT_CHARACTERS else None
    parts: list[str | tuple[str, str]] = []
    for part in split_at_edits(old, diff_strings(old, new), context):
        if isinstance(part, str):
            parts.append(part)
        else:
            words = (part.old, part.new)
            parts.append(tuple(cut(w, CONTEXT_CHARACTERS, CONTEXT_CHARACTERS) for w in words))  # type: ignore[arg-type]
    return parts


def study_page(
    study: Any,
    template: str = "study.html.jinja",
    *,
    style: str = "",
    script: str = "",
    **values: Any,
) -> str:
    """Render the page of a study; a kind that shows more extends the template."""
    return render_page(template, study.title, style=style, script=script, study=study, **values)

"""The page of a study, and the study in the terminal.

The page of a study, of any kind: what it shows is data, and one template draws it. What is shown of
a study of any kind: its page, and the same in the terminal.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, ClassVar

from brittle.edits import diff_strings
from brittle.redaction import visible
from brittle.reports.cases import cut, split_at_edits
from brittle.reports.page import render_page

if TYPE_CHECKING:
    from rich.console import RenderableType

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


@dataclass(frozen=True)
class Plain:
    """A line of the terminal that is no small print; one to be copied does not wrap."""

    text: str
    wraps: bool = True


@dataclass(frozen=True)
class StudyView:
    """The page of a study, and what the terminal shows: tables, texts, and lines of small print.

    Where there is something `about` the study, it stands in the terminal behind its name, and the
    notes of the page stand at the end. `template`, `style` and `script` are those of the
    page, if it needs its own.
    """

    page: StudyPage
    terminal: Sequence[Any]
    about: str = ""
    template: str = "study.html.jinja"
    style: str = ""
    script: str = ""

    @property
    def headline(self) -> Sequence[tuple[str, Any, str]]:
        """The figures that come first: name, value, and what it is over."""
        return self.page.headline

    @property
    def tables(self) -> list[Any]:
        """The tables of the page."""
        return self._shown_as("table")

    @property
    def charts(self) -> list[Any]:
        """The charts of the page."""
        return self._shown_as("chart")

    @property
    def texts(self) -> list[Any]:
        """The texts of the page, before and after an attack."""
        return self._shown_as("text")

    def _shown_as(self, kind: str) -> list[Any]:
        items = [item for part in self.page.parts for item in part.shows]
        return [item for item in items if getattr(item, "shown_as", "") == kind]

    def html(self) -> str:
        """Render the page: one file that needs no network."""
        return study_page(self.page, self.template, style=self.style, script=self.script)

    def block(self) -> RenderableType:
        """Build what the terminal shows."""
        from rich.console import Group
        from rich.text import Text

        from brittle.reports.terminal import note_block

        shown = [_shown(item) for item in self.terminal]
        if not self.about:
            return Group(*shown)
        name = (visible(self.page.title), "bold")
        title = Text.assemble(name, "  ", (visible(self.about), "dim"))
        return Group(title, "", *shown, *map(note_block, map(in_words, self.page.notes)))


def in_words(note: Note) -> str:
    """Return a note as a sentence."""
    return note if isinstance(note, str) else "".join(note)


def _shown(item: Any) -> RenderableType:
    from rich.text import Text

    if isinstance(item, str):
        return Text(visible(item), style="dim")
    if isinstance(item, Plain):
        text = visible(item.text)
        return Text(text) if item.wraps else Text(text, no_wrap=True, overflow="ignore")
    return text_block(item) if isinstance(item, MarkedText) else item


def text_block(text: MarkedText) -> RenderableType:
    """Show a text with its edits marked, below what it did."""
    from rich.console import Group
    from rich.padding import Padding
    from rich.text import Text

    from brittle.reports.terminal import CONTEXT_CHARACTERS, LONG_TEXT_CHARACTERS

    about = f"   label {visible(text.label)}, {visible(str(text.about))}"
    head = Text.assemble((f"  {visible(str(text.status))}", "bold red"), (about, "dim"))
    body = Text(overflow="fold")
    for (name, old), (_, new) in zip(text.original, text.adversarial):
        if len(text.original) > 1:
            body.append(("\n" if body else "") + f"{visible(name)}: ", style="dim")
        context = CONTEXT_CHARACTERS if len(old) > LONG_TEXT_CHARACTERS else None
        for part in split_at_edits(old, diff_strings(old, new), context):
            if isinstance(part, str):
                body.append(visible(part))
            else:
                body.append(f"[{visible(part.old)}→{visible(part.new)}]", style="bold")
    return Group(head, Padding(body, (0, 0, 0, 2), expand=False))

"""What is shown of a study of any kind: its page, and the same in the terminal."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from brittle.edits import diff_strings
from brittle.reports.excerpts import split_at_edits
from brittle.reports.study_page import MarkedText, Note, StudyPage, study_page
from brittle.visible import visible

if TYPE_CHECKING:
    from rich.console import RenderableType


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

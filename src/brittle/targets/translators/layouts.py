"""How the texts of a batch stand in the input of a line filter, so that none is read into the next.

Not every program takes a line by itself. Apertium, for one, reads a line without a full stop and
the next line as one sentence, and mixes their words. A blank line between two texts parts them. As
a pure filter keeps blank lines too, it is the first that is tried: whether plain lines are mixed
could be seen only in texts of the language that the program reads, which is not known.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from brittle.errors import TargetError
from brittle.formatting import plural
from brittle.targets.fingerprints.hashing import SENTENCES

PROBES = tuple(sentence.rstrip(".!") for sentence in SENTENCES[:3])
"""Sentences of the fingerprint without their full stops."""


@dataclass(frozen=True)
class Layout:
    """Whether a blank line stands between two texts, and how many texts one process may have."""

    blank_between: bool
    max_texts: int | None = None

    @property
    def _lines_apart(self) -> int:
        return 2 if self.blank_between else 1

    def write(self, texts: Sequence[str]) -> list[str]:
        """Return the lines of the input, for texts of one line each."""
        lines = [""] * (self._lines_apart * (len(texts) - 1) + 1)
        lines[:: self._lines_apart] = texts
        return lines

    def read(self, lines: Sequence[str], who: str, count: int) -> list[str]:
        """Return the answers among as many lines as `write` returned for `count` texts."""
        expected = self._lines_apart * (count - 1) + 1
        between = " (of which every second is blank)" if self.blank_between and count > 1 else ""
        if len(lines) != expected:
            raise TargetError(
                f"{who} gave {plural(len(lines), 'lines')} for {expected}{between}. Expected one "
                "for every line of its input, in order."
            )
        if self.blank_between and any(line.strip() for line in lines[1::2]):
            raise TargetError(
                f"{who} is out of step: it gave a text for a blank line of its input. Expected a "
                "blank line for every blank line, in order."
            )
        return list(lines[:: self._lines_apart])


PARTED, PLAIN, ALONE = Layout(True), Layout(False), Layout(False, max_texts=1)


def find_layout(ask: Callable[[Sequence[str], Layout], list[str]]) -> Layout:
    """Return the first layout in which a batch of plain sentences is answered as each alone.

    If there is none, every text gets a process of its own. A program that answers at random is
    not known to mix its lines; it gets the first layout that keeps step.
    """
    alone = [ask([sentence], ALONE)[0] for sentence in PROBES]
    in_step = []
    for layout in (PARTED, PLAIN):
        try:
            answers = ask(PROBES, layout)
        except TargetError:
            continue
        if answers == alone:
            return layout
        in_step.append(layout)
    if in_step and [ask([sentence], ALONE)[0] for sentence in PROBES] != alone:
        return in_step[0]
    return ALONE

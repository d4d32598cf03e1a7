"""Progress of what takes long: a bar in a terminal and in a notebook, and nothing anywhere else.

A function that takes long has a keyword `progress`. True, its default, shows a bar; False shows
nothing; a function receives the reports. A report is a value with a text, and with `done` and
`planned` where it is known how much there is to do. Bars stand on stderr. rich is imported when the
first report comes.
"""

from __future__ import annotations

import html
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import wraps
from importlib import import_module
from typing import Any, ParamSpec, Protocol, TypeVar

from brittle.redaction import redact, visible

P = TypeVar("P")
A = ParamSpec("A")
R = TypeVar("R")
Progress = Callable[[P], None] | bool
"""How progress is reported: to a function, as a bar (True), or not at all (False)."""
SECONDS_BETWEEN_UPDATES = 0.2  # of a notebook, where every one is a message to the browser


class ProgressBar(Protocol):
    """Something that shows how far something is."""

    def update(self, done: int | None, planned: int | None, text: str) -> None:
        """Show how much is done, of how much if that is known, and what there is to say."""
        ...

    def close(self) -> None:
        """Leave the last state, or nothing, and show no more."""
        ...


@contextmanager
def reporting(progress: Progress[P] | None, what: str) -> Iterator[Callable[[P], None] | None]:
    """Yield who receives the reports, None if nobody does; a bar ends with the `with` block.

    `what` names what is done, such as "attacking". The bar appears with the first report.
    """
    if callable(progress):
        yield progress
        return
    make = _kind_of_bar() if progress else None
    if make is None:
        yield None
        return
    bars: list[ProgressBar] = []

    def report(state: P) -> None:
        if not bars:
            bars.append(make(what))
        counts = getattr(state, "done", None), getattr(state, "planned", None)
        bars[0].update(*counts, visible(redact(str(state))))

    try:
        yield report
    finally:
        for bar in bars:
            bar.close()


def shows_progress(what: str) -> Callable[[Callable[A, R]], Callable[A, R]]:
    """Show a bar while a function runs whose keyword `progress` is not False, or a function."""

    def decorate(function: Callable[A, R]) -> Callable[A, R]:
        @wraps(function)
        def call(*args: A.args, **keywords: A.kwargs) -> R:
            progress: Any = keywords.get("progress", True)
            with reporting(progress, what) as report:
                keywords["progress"] = listener(report)
                return function(*args, **keywords)

        return call

    return decorate


def listener(progress: Progress[P] | None) -> Callable[[P], None]:
    """Return the function that receives the reports: the one that was handed in, or none at all."""
    return progress if callable(progress) else _nobody


def _nobody(state: object) -> None:
    """Ignore a report."""


def _kind_of_bar() -> Callable[[str], ProgressBar] | None:
    """Return what shows progress here; None where nobody would see it move."""
    if _in_notebook():
        return NotebookBar
    return TerminalBar if sys.stderr is not None and sys.stderr.isatty() else None


def _in_notebook() -> bool:
    """Tell whether a notebook runs this: its shell has a kernel. Nothing is imported for it."""
    ipython = sys.modules.get("IPython")
    shell = None if ipython is None else ipython.get_ipython()
    return getattr(shell, "kernel", None) is not None


class TerminalBar:
    """A line of the terminal that is written anew."""

    def __init__(self, what: str) -> None:
        from rich.console import Console
        from rich.progress import BarColumn, TextColumn, TimeRemainingColumn
        from rich.progress import Progress as Live

        text = TextColumn("{task.fields[text]}", markup=False)
        columns = (what, BarColumn(), text, TimeRemainingColumn())
        self._live = Live(*columns, console=Console(stderr=True))
        self._task = self._live.add_task("", total=None, text="")
        self._live.start()

    def update(self, done: int | None, planned: int | None, text: str) -> None:
        counts = f"{done}/{planned} " if planned else ""
        self._live.update(self._task, completed=done or 0, total=planned, text=counts + text)

    def close(self) -> None:
        self._live.stop()


class NotebookBar:
    """An element below the cell of a notebook that is written anew."""

    def __init__(self, what: str) -> None:
        shown = import_module("IPython.display")
        self.what, self._html = what, shown.HTML
        self._handle: Any = shown.display(shown.HTML(""), display_id=True)
        self._next = 0.0
        self._last = ""

    def update(self, done: int | None, planned: int | None, text: str) -> None:
        self._last = _notebook_line(self.what, done, planned, text)
        now = time.monotonic()
        if now >= self._next:
            self._next = now + SECONDS_BETWEEN_UPDATES
            self._handle.update(self._html(self._last))

    def close(self) -> None:
        self._handle.update(self._html(self._last))


def _notebook_line(what: str, done: int | None, planned: int | None, text: str) -> str:
    """Draw the line: a bar that moves by itself where it is not known how much there is to do."""
    share = "" if done is None or not planned else f' value="{done}" max="{planned}"'
    counts = "" if not share else f" {done}/{planned}"
    return (
        f"<div>{html.escape(what)} <progress{share}></progress>{counts} {html.escape(text)}</div>"
    )

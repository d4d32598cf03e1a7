"""What a person sees: progress and warnings on stderr, tables and JSON on stdout."""

from __future__ import annotations

import argparse
import contextlib
import json
import signal
import sys
import threading
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from rich.console import RenderableType
    from rich.table import Table

    from brittle.runs.runner import RunProgress
    from brittle.training import TrainingProgress

SECONDS_BETWEEN_LINES = 5.0


def show(block: RenderableType) -> None:
    """Print a renderable or a string on stdout."""
    from rich.console import Console

    console = Console(highlight=False, soft_wrap=False)
    # Not printed by rich: it ends the program with an error when a reader such as head goes away.
    with console.capture() as captured:
        # A line that may not wrap is there to be copied whole, however narrow the terminal is.
        console.print(block, crop=False)
    print(captured.get(), end="")


def print_result(
    args: argparse.Namespace, data: Callable[[], Any], block: Callable[[], RenderableType]
) -> None:
    """Print a result as the flags ask: as JSON, as a block for people, or not at all."""
    if args.json:
        dump(data())
    elif not args.quiet:
        show(block())


def print_path(args: argparse.Namespace, path: Path) -> None:
    """Print the path of what a command wrote."""
    print_result(args, lambda: {"written": str(path)}, lambda: str(path))


def table(rows: Sequence[Mapping[str, Any]]) -> Table:
    """Build a table with the keys of the first row as its head."""
    from rich.table import Table
    from rich.text import Text

    grid = Table(box=None, padding=(0, 2, 0, 0), pad_edge=False)
    for name in rows[0]:
        grid.add_column(name, overflow="fold")
    for row in rows:
        grid.add_row(*(Text(str(value)) for value in row.values()))
    return grid


def tell(message: str) -> None:
    """Print a message on stderr, where it does not disturb what is piped."""
    print(message, file=sys.stderr, flush=True)


def dump(value: Any) -> None:
    """Print JSON on stdout."""
    escaped = sys.stdout.encoding.lower() not in ("utf-8", "utf8")
    print(json.dumps(value, indent=2, ensure_ascii=escaped))


@contextlib.contextmanager
def progress(quiet: bool) -> Iterator[Callable[[RunProgress], None] | None]:
    """Show how far a run is: a live line on a terminal, else a line every few seconds."""
    if quiet:
        yield None
    elif sys.stderr.isatty():
        with _live() as update:
            yield update
    else:
        yield _lines()


@contextlib.contextmanager
def _live() -> Iterator[Callable[[RunProgress], None]]:
    from rich.console import Console
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn
    from rich.progress import TimeRemainingColumn as TimeColumn

    columns = ("attacking", BarColumn(), MofNCompleteColumn(), TextColumn("{task.fields[state]}"))
    with Progress(*columns, TimeColumn(), console=Console(stderr=True)) as bar:
        task = bar.add_task("", total=None, state="")

        def update(p: RunProgress) -> None:
            bar.update(task, total=p.planned, completed=p.done, state=_state(p))

        yield update


def _lines() -> Callable[[RunProgress], None]:
    last = time.monotonic()

    def update(p: RunProgress) -> None:
        nonlocal last
        if p.done == p.planned or time.monotonic() - last >= SECONDS_BETWEEN_LINES:
            last = time.monotonic()
            tell(f"{p.done}/{p.planned} cases, {_state(p)}")

    return update


def _state(p: RunProgress) -> str:
    attacked = sum(p.counts.get(s, 0) for s in ("broken", "held", "out of budget", "unconfirmed"))
    broken = p.counts.get("broken", 0)
    rate = p.sent / p.seconds if p.seconds > 0 else 0.0
    return f"{broken}/{attacked} broken, {rate:,.0f} rows/s"


@contextlib.contextmanager
def gentle_interrupt() -> Iterator[threading.Event]:
    """Turn the first Ctrl-C into a request to stop after the current batch; the second kills."""
    stopping = threading.Event()

    def handle(number: int, frame: Any) -> None:
        if stopping.is_set():
            raise KeyboardInterrupt
        stopping.set()
        tell("\nStopping after the batch under way (Ctrl-C again to stop at once).")

    if threading.current_thread() is not threading.main_thread():
        yield stopping
        return
    before = {n: signal.signal(n, handle) for n in (signal.SIGINT, signal.SIGTERM)}
    try:
        yield stopping
    finally:
        for n, handler in before.items():
            signal.signal(n, handler)


@contextlib.contextmanager
def training(quiet: bool) -> Iterator[Callable[[TrainingProgress], None]]:
    """Show a training: a line for each epoch, and on a terminal the steps between them."""
    live = sys.stderr.isatty() and not quiet

    def update(state: TrainingProgress) -> None:
        if quiet:
            return
        if state.dev_accuracy is not None or not state.epochs:
            tell(f"\r\x1b[K{state}" if live else str(state))
        elif live:
            print(f"\r\x1b[K{state}", end="", file=sys.stderr, flush=True)

    yield update
    if live:
        print("\r\x1b[K", end="", file=sys.stderr, flush=True)

"""What a person sees while something runs: progress and warnings on stderr, tables on stdout."""

from __future__ import annotations

import contextlib
import json
import signal
import sys
import threading
import time
from collections.abc import Callable, Iterator
from typing import Any

from brittle.runs.runner import RunProgress


def show(thing: Any) -> None:
    """Print a renderable or a string on stdout."""
    from rich.console import Console

    console = Console(highlight=False, soft_wrap=False)
    # Printed by us: rich would end the program with an error when a reader such as head goes away.
    with console.capture() as shown:
        console.print(thing)
    print(shown.get(), end="")


def tell(message: str) -> None:
    """Say something on stderr, where it does not disturb what is piped."""
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
    from rich.progress import BarColumn, MofNCompleteColumn, TextColumn, TimeRemainingColumn
    from rich.progress import Progress as Bar

    columns = ("attacking", BarColumn(), MofNCompleteColumn(), TextColumn("{task.fields[told]}"))
    with Bar(*columns, TimeRemainingColumn(), console=Console(stderr=True)) as bar:
        task = bar.add_task("", total=None, told="")

        def update(p: RunProgress) -> None:
            bar.update(task, total=p.planned, completed=p.done, told=_told(p))

        yield update


def _lines(every: float = 5.0) -> Callable[[RunProgress], None]:
    last = time.monotonic()

    def update(p: RunProgress) -> None:
        nonlocal last
        if p.done == p.planned or time.monotonic() - last >= every:
            last = time.monotonic()
            tell(f"{p.done}/{p.planned} cases, {_told(p)}")

    return update


def _told(p: RunProgress) -> str:
    attacked = sum(p.counts.get(s, 0) for s in ("broken", "held", "out of budget", "unconfirmed"))
    broken = p.counts.get("broken", 0)
    rate = p.sent / p.seconds if p.seconds > 0 else 0.0
    return f"{broken}/{attacked} broken, {rate:,.0f} rows/s"


@contextlib.contextmanager
def gentle_interrupt() -> Iterator[threading.Event]:
    """Turn the first Ctrl-C into a wish to stop after the batch under way; the second one kills."""
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
def training(quiet: bool) -> Iterator[Callable[[Any], None]]:
    """Show a training: its epochs as lines, and on a terminal the steps between them."""
    live = sys.stderr.isatty() and not quiet

    def update(told: Any) -> None:
        if quiet:
            return
        if told.dev_accuracy is not None:
            tell(f"\r\x1b[K{told}" if live else str(told))
        elif live:
            print(f"\r\x1b[K{told}", end="", file=sys.stderr, flush=True)

    yield update
    if live:
        print("\r\x1b[K", end="", file=sys.stderr, flush=True)

"""What a person sees: results on stdout, progress and warnings on stderr, and paths as typed.

Where results are printed. What a target prints itself goes to stderr, and spoils no JSON. Paths of
a command: fixed when it is called, since a target may change the working folder. The command that
goes on with a run that stopped. What a person sees: progress and warnings on stderr, tables and
JSON on stdout.
"""

from __future__ import annotations

import argparse
import contextlib
import io
import json
import os
import re
import signal
import sys
import threading
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, TextIO

from brittle.errors import LimitReached, RunStopped
from brittle.formatting import plural
from brittle.progress import Progress, reporting
from brittle.redaction import redact, visible

if TYPE_CHECKING:
    from rich.console import Console, ConsoleOptions, RenderableType, RenderResult

    from brittle.reports.table import Table
    from brittle.runs.runner import RunProgress
    from brittle.training import TrainingProgress

_results: TextIO | None = None


def results() -> TextIO:
    """Return the stream for results: the stdout that the command was called with."""
    return sys.stdout if _results is None else _results


def prepare_streams() -> None:
    """Open streams that are closed, and have stdout show a question mark for what it cannot."""
    for number in range(3):
        try:
            os.fstat(number)
        except OSError:
            os.open(os.devnull, os.O_RDWR)  # else a run's file would get this number
    for name in ("stdout", "stderr"):
        if getattr(sys, name) is None:
            setattr(sys, name, open(os.devnull, "w", encoding="utf-8"))  # noqa: SIM115
    if isinstance(sys.stdout, io.TextIOWrapper):
        sys.stdout.reconfigure(errors="replace")


@contextlib.contextmanager
def own_stdout() -> Iterator[None]:
    """Keep stdout for results; all else that is printed, by child processes too, goes to stderr."""
    global _results
    before, stdout = _results, sys.stdout
    with _aside(stdout) as stream:
        _results, sys.stdout = stream, sys.stderr
        try:
            yield
            stream.flush()
        finally:
            _results, sys.stdout = before, stdout


@contextlib.contextmanager
def _aside(stdout: TextIO) -> Iterator[TextIO]:
    """Yield a stream to where stdout leads, and have its descriptor lead to stderr meanwhile."""
    if not _has_descriptor(stdout, 1) or not _has_descriptor(sys.stderr, 2):
        yield stdout
        return
    stdout.flush()
    kept = os.dup(1)
    os.dup2(2, 1)
    stream = open(kept, "w", encoding=stdout.encoding, errors="replace")  # noqa: SIM115
    stream.reconfigure(line_buffering=os.isatty(kept))
    try:
        yield stream
    except BrokenPipeError:
        # The reader (head, less) is gone: nothing more can be printed.
        os.dup2(os.open(os.devnull, os.O_WRONLY), kept)
    finally:
        stdout.flush()
        os.dup2(kept, 1)
        stream.close()


def _has_descriptor(stream: TextIO, number: int) -> bool:
    try:
        return stream.fileno() == number
    except (OSError, ValueError, AttributeError):
        return False


WRITTEN = ("runs", "out", "report", "folder")
"""The arguments that name files and folders that a command writes to."""
STDOUT = ("/dev/stdout", "/dev/fd/1", "/proc/self/fd/1")
_given: dict[Path, str] = {}


def fix_paths(args: argparse.Namespace) -> None:
    """Make the paths that a command writes to absolute, before any code of a target runs."""
    _given.clear()
    for name in WRITTEN:
        value = getattr(args, name, None)
        if value is not None:
            path = Path(value).absolute()
            if str(value) in STDOUT:  # descriptor 1 is stderr while a command runs: streams.py
                path = Path(f"/dev/fd/{results().fileno()}")
            _given[path] = str(value)
            setattr(args, name, type(value)(path))


def shown(path: str | Path) -> str:
    """Return a path as it is shown: as it was given, if it was, or lies in or beside what was."""
    path = Path(path)
    for given in (path, *path.parents):
        if given in _given:
            return str(Path(_given[given]) / path.relative_to(given))
    for given, words in _given.items():
        if given.parent == path.parent:
            return str(Path(words).parent / path.name)
    return str(path)


CONTINUED = 4
"""By so many blanks the continuation of a line is indented."""
BEGINNING_FLAGS = ("--new",)  # it starts over


def resuming_words(words: Sequence[str], error: RunStopped, limit: int | None) -> list[str]:
    """Return the words of the command that goes on: nothing begins anew, and the limit is doubled.

    >>> resuming_words(["attack", "--new", "--max-sent", "60"], LimitReached(), 60)
    ['attack', '--max-sent', '120']
    """
    kept = [word for word in words if word not in BEGINNING_FLAGS]
    if not isinstance(error, LimitReached) or limit is None:
        return kept
    for n, word in enumerate(kept):
        if word.startswith(f"{error.flag}="):
            del kept[n]
            break
        if word == error.flag:
            del kept[n : n + 2]
            break
    return [*kept, error.flag, str(2 * limit)]


SECONDS_BETWEEN_LINES = 5.0
SECONDS_BETWEEN_LIVE_LINES = 0.2
CLEAR_LINE = "\r\x1b[K"
_LINE_END = re.compile(r"(?:[ ]|\x1b\[[\d;]*m)+$", re.MULTILINE)
_BACKGROUND = re.compile(r"\x1b\[(?:[\d;]*;)?(?:4\d|10\d|7)(?:;[\d;]*)?m")
_MORE_CONTROLS = re.compile("[\x7f-\x9f]")


def is_one_screen() -> bool:
    """Tell whether results and messages go to the same place, such as one terminal."""
    try:
        out, err = os.fstat(results().fileno()), os.fstat(sys.stderr.fileno())
    except (OSError, ValueError, AttributeError):
        return False
    return os.path.samestat(out, err)


def show(block: RenderableType) -> None:
    """Print a renderable or a string on stdout."""
    from rich.console import Console

    # No markup: words of a text or of an answer could be links and colours.
    quiet: dict[str, Any] = {"highlight": False, "markup": False, "emoji": False}
    console = Console(file=results(), soft_wrap=False, **quiet)
    # Not printed by rich: it ends the program with an error when a reader such as head goes away.
    with console.capture() as captured:
        # A line that may not wrap is there to be copied whole, however narrow the terminal is.
        console.print(_Visible(block), crop=False)
    print(_without_padding(captured.get()), end="", file=results())


def _without_padding(text: str) -> str:
    """Remove the blanks at the ends of lines that fill a table; a coloured blank is drawn.

    >>> _without_padding("a \\x1b[2mb  \\x1b[0m  \\nc\\n") == "a \\x1b[2mb\\x1b[0m\\nc\\n"
    True
    """
    return _LINE_END.sub(
        lambda m: m[0] if _BACKGROUND.search(m[0]) else m[0].replace(" ", ""), text
    )


class _Visible:
    """A block whose texts cannot steer the terminal; the styles that we add stay."""

    def __init__(self, block: RenderableType) -> None:
        self.block = block

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        from rich.segment import Segment

        for text, style, control in console.render(self.block, options):
            yield Segment(text if control else visible(text), style, control)


@dataclass(frozen=True)
class Lines:
    """Lines of text; where one is too long, what follows is indented further than its start."""

    text: str

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        from rich.text import Text

        for line in self.text.splitlines():
            words = line.lstrip(" ")
            indent = len(line) - len(words)
            first, *rest = Text(words).wrap(console, max(1, options.max_width - indent)) or [Text()]
            yield Text(" " * indent) + first
            if rest:
                indent += CONTINUED
                left = Text(words[len(first) :].lstrip(" "))
                for part in left.wrap(console, max(1, options.max_width - indent)):
                    yield Text(" " * indent) + part


def print_result(
    args: argparse.Namespace,
    data: Callable[[], Any],
    block: Callable[[], RenderableType],
    made: str | Path | None = None,
) -> None:
    """Print a result as the flags ask: as JSON, as a block for people, or not at all.

    A quiet command still prints the path of what it `made`, on a line of its own.
    """
    if args.json:
        dump(data())
    elif not args.quiet:
        show(block())
    elif made is not None:
        print(visible(shown(made)), file=results())


def print_path(args: argparse.Namespace, path: Path) -> None:
    """Print the path of what a command wrote."""
    print_result(args, lambda: {"written": shown(path)}, lambda: shown(path), path)


def print_text(text: str) -> None:
    """Print the content of a file on stdout: exactly, but for a terminal."""
    print(visible(text) if results().isatty() else text, end="", file=results())


def table(rows: Sequence[Mapping[str, Any]]) -> Table:
    """Build a table with the keys of the first row as its head; names in it can be copied."""
    from brittle.reports.table import Table

    return Table.of(rows, keeps_words=True)


def tell(message: str) -> None:
    """Print a message on stderr, where it does not disturb what is piped."""
    print(visible(redact(message)), file=sys.stderr, flush=True)


def dump(value: Any) -> None:
    """Print JSON on stdout."""
    # A stream may have no encoding; escaped JSON is right in all of them.
    encoding = str(getattr(results(), "encoding", None)).lower()
    escaped = encoding not in ("utf-8", "utf8")
    text = json.dumps(value, indent=2, ensure_ascii=escaped)
    # JSON escapes most of what steers a terminal by itself, but not these.
    text = _MORE_CONTROLS.sub(lambda match: f"\\u{ord(match[0]):04x}", text)
    print(text, file=results())


@contextlib.contextmanager
def progress(quiet: bool) -> Iterator[Callable[[RunProgress], None] | None]:
    """Show how far a run is: a live line on a terminal, else a line every few seconds."""
    if quiet:
        yield None
    elif sys.stderr.isatty():
        bar: Progress[RunProgress] = True
        with reporting(bar, "attacking") as update:
            yield update
    else:
        yield _lines()


def _lines() -> Callable[[RunProgress], None]:
    last = time.monotonic()

    def update(p: RunProgress) -> None:
        nonlocal last
        if p.done == p.planned or time.monotonic() - last >= SECONDS_BETWEEN_LINES:
            last = time.monotonic()
            tell(f"{p.done}/{plural(p.planned, 'cases')}, {p}")

    return update


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
        if live:
            print(CLEAR_LINE, end="", file=sys.stderr)
        if state.dev_accuracy is not None or not state.epochs:
            tell(str(state))
        elif live:
            print(visible(str(state)), end="", file=sys.stderr, flush=True)

    yield update
    if live:
        print(CLEAR_LINE, end="", file=sys.stderr, flush=True)


@contextlib.contextmanager
def counting(quiet: bool, what: str) -> Iterator[Callable[[int, int], None]]:
    """Show how many of some things are done: on a terminal a live line, else one now and then."""
    live = sys.stderr.isatty()
    seconds = SECONDS_BETWEEN_LIVE_LINES if live else SECONDS_BETWEEN_LINES
    last = time.monotonic()

    def update(done: int, planned: int) -> None:
        nonlocal last
        if quiet or time.monotonic() - last < seconds:
            return
        last = time.monotonic()
        line = f"{done:,}/{plural(planned, what)}"
        if live:
            print(f"{CLEAR_LINE}{line}", end="", file=sys.stderr, flush=True)
        else:
            tell(line)

    yield update
    if live and not quiet:
        print(CLEAR_LINE, end="", file=sys.stderr, flush=True)

"""What a run asks at this moment, written down: the next start can tell what ended this one.

While a target is asked in this process, NAME.asking stands beside the run. Its first line is JSON:
the cases, whether they are attacked or only asked about, and how often in a row a start has ended
without a word. What faulthandler says of a crash follows. At every end that Python knows of, the
file is removed.

After an end without a word the target is asked by a worker process, whose death is survived. Where
that cannot be, as for a live object, cases are asked one at a time, so that the file names one.
"""

from __future__ import annotations

import contextlib
import faulthandler
import json
import os
import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from brittle.asks import ANSWER, Case
from brittle.engine.broker import Broker
from brittle.runs.job import Job
from brittle.runs.workers.setup import is_asked_by_driver
from brittle.runs.workers.starting import Workforce
from brittle.safety.files import DAMAGED
from brittle.text import Text

ASKED, ATTACKED = "asked", "attacked"
DOING = {ASKED: "the target was asked about", ATTACKED: "it attacked"}
ENDS_PROCESS = "the process ended without an error message when the target was asked about it"
MAX_SHOWN_CASES, MAX_SHOWN_CHARACTERS = 5, 200
APART = "The target now runs in a separate process, to find the case that causes this."
ONE_BY_ONE = (
    "Cases now go one at a time: if it happens again, the next start knows which case causes it."
)
ENDED = "The case counts as an error; --retry-errors attacks it again."
_CRASH = re.compile(rb"Fatal Python error: ([^\n]+)")


@dataclass(frozen=True)
class LastStart:
    """What a start was doing when it ended without a word, and how it ended, if that is known.

    `silent` is how many starts before it ended so, with no case finished in between.
    """

    stage: str
    cases: tuple[str, ...]
    silent: int = 0
    crash: str | None = None

    @property
    def is_suspicious(self) -> bool:
        """Tell whether one of the cases is probably to blame, and not a kill from outside."""
        return self.crash is not None or self.stage == ASKED or self.silent > 0


class UnderWay:
    """The file in which a start of a run notes what it asks; `last` is the start before it."""

    def __init__(self, path: Path, started: str) -> None:
        """Read what the last start of the run was doing; a run of another time is another one."""
        self.path, self._started = asking_path(path), started
        self.last = _read(self.path, started)
        self.is_careful = False
        self._cases: dict[str, None] = {}
        self._silent = 0 if self.last is None else self.last.silent + 1
        self._file: int | None = None

    @contextlib.contextmanager
    def noted(self, is_needed: bool) -> Iterator[None]:
        """Note what is asked while the block runs, if this process asks itself."""
        self.path.unlink(missing_ok=True)
        if not is_needed:
            yield
            return
        flags = os.O_RDWR | os.O_CREAT | os.O_EXCL | getattr(os, "O_NOFOLLOW", 0)
        self._file = os.open(self.path, flags, 0o600)
        try:
            with _crashes_written(self.path):
                yield
        finally:
            os.close(self._file)
            self._file = None
            self.path.unlink(missing_ok=True)

    @contextlib.contextmanager
    def asking(self, cases: Iterable[str]) -> Iterator[None]:
        """Note that these cases are asked about while the block runs."""
        self._write(ASKED, cases)
        yield
        self._write(ATTACKED, self._cases)

    def begun(self, cases: Iterable[Case[Any]]) -> Iterator[Case[Any]]:
        """Yield cases, and note that each is attacked from now on."""
        for case in cases:
            self._cases[case.id] = None
            self._write(ATTACKED, self._cases)
            yield case

    def end(self, cases: Iterable[str]) -> None:
        """Note that cases are finished."""
        for case in cases:
            self._cases.pop(case, None)
            self._silent = 0
        self._write(ATTACKED, self._cases)

    def _write(self, stage: str, cases: Iterable[str]) -> None:
        if self._file is not None:
            noted = {"run": self._started, "stage": stage, "silent": self._silent}
            noted |= {"cases": list(cases)}
            # One write, which outlives the process; what a longer line has left is not read. A full
            # disk is no reason to stop: the run itself may have room.
            with contextlib.suppress(OSError):
                os.lseek(self._file, 0, os.SEEK_SET)
                os.write(self._file, json.dumps(noted).encode() + b"\n")


def asking_path(path: Path) -> Path:
    """Return the file that notes what a run asks."""
    return path.with_suffix(".asking")


def _read(path: Path, started: str) -> LastStart | None:
    """Read what the last start was doing; None if it has ended as it should."""
    try:
        line, _, rest = path.read_bytes().partition(b"\n")
        noted = json.loads(line)
        stage, silent = str(noted["stage"]), int(noted["silent"])
        cases = tuple(map(str, noted["cases"]))
    except (OSError, *DAMAGED):
        return None
    crash = _CRASH.search(rest)
    how = None if crash is None else crash[1].decode("utf-8", "replace")
    return LastStart(stage, cases, silent, how) if cases and noted.get("run") == started else None


@contextlib.contextmanager
def _crashes_written(path: Path) -> Iterator[None]:
    """Have a crash described at the end of a file, unless the user has it described elsewhere."""
    if faulthandler.is_enabled():
        yield
        return
    with path.open("ab") as file:
        faulthandler.enable(file, all_threads=False)
        try:
            yield
        finally:
            faulthandler.disable()


def suspects_of(under_way: UnderWay, cases: Iterator[Case[Any]]) -> list[Case[Any]]:
    """Return the unfinished cases of which one has probably ended the last start."""
    last = under_way.last
    if last is None or not last.is_suspicious:
        return []
    named = set(last.cases)
    return [case for case in cases if case.id in named]


def react(
    under_way: UnderWay,
    suspects: Sequence[Case[Any]],
    workforce: Workforce,
    job: Job,
    warn: Callable[[str], None],
) -> Workforce:
    """Tell what ended the last start, and have it not happen again; return who works now."""
    if not suspects or under_way.last is None:
        return workforce
    workforce = workforce.apart(job) if workforce.is_one_process else workforce
    under_way.is_careful = workforce.is_one_process or is_asked_by_driver(job.target)
    last = under_way.last
    how = f" ({last.crash})" if last.crash else ""
    remedy = (ENDED if len(suspects) == 1 else ONE_BY_ONE) if under_way.is_careful else APART
    warn(
        f"The last start of this run ended without an error message{how} while "
        f"{DOING.get(last.stage, last.stage)} {describe_cases(suspects)}. {remedy}"
    )
    return workforce


def ask_one_by_one(
    under_way: UnderWay, suspects: Sequence[Case[Any]], broker: Broker, warn: Callable[[str], None]
) -> None:
    """Ask about suspects, each alone, and say so before; their answers are remembered."""
    for case in suspects:
        warn(f"The target is asked about {describe_cases([case])}.")
        with under_way.asking([case.id]):
            broker.answer(ANSWER, [case.item])


def describe_cases(cases: Sequence[Case[Any]]) -> str:
    """Name cases; one that is alone with its text."""
    if len(cases) == 1:
        item = cases[0].item
        text = f": {str(item)[:MAX_SHOWN_CHARACTERS]!r}" if isinstance(item, Text) else ""
        return f"the case {cases[0].id}{text}"
    shown = ", ".join(case.id for case in cases[:MAX_SHOWN_CASES])
    return f"{len(cases)} cases ({shown}{', …' if len(cases) > MAX_SHOWN_CASES else ''})"

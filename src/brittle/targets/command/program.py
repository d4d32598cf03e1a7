"""A program that answers line by line: its words, its pipes, its start and its end.

The command line of a program: parsed without a shell, and hashed with the files it names. It may
hold `${NAME}`, the value of an environment variable, which only the program sees. A program and its
pipes: its start, threads that serve them, what it wrote to stderr, its end. A running program that
answers line by line; it may hang, end, or print too much.
"""

from __future__ import annotations

import os
import queue
import re
import shlex
import shutil
import signal
import subprocess
import threading
import weakref
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import suppress
from pathlib import Path
from typing import IO

from brittle.errors import UsageError
from brittle.redaction import MIN_SECRET_CHARACTERS, is_secret_name, redact
from brittle.targets.fingerprints import hash_parts
from brittle.targets.options import VARIABLE, fill_in

INSTALLED_BY = {"apertium": "apt install apertium apertium-eng-spa"}
"""The commands that install the programs named in the docs."""
_NAMED_VALUE = re.compile(r"(-{0,2}[\w.-]+)(?:=|:(?!//))\s*(.+)", re.DOTALL)
_BEFORE_NAME = re.compile("^-[DH]")  # -Dname=value, -HName:value
_SHELLS = ("sh", "bash", "dash", "ksh", "zsh", "fish")
_PASSWORD_FLAGS = "pP"
_KEY_FLAGS = "akstw"  # such as -t TOKEN; they mean other things as often
_USER_FLAGS = "uU"
_ATTACHED = re.compile(r"(-[a-zA-Z])(?![a-z_-]*(?:=|$))(.+)", re.DOTALL)  # -pVALUE, but not -port=1
_PLAIN_VALUE = re.compile(r"[a-z][a-z_./,-]*|[-+]?\d{1,5}|[-+]?\d*\.\d+|[~.]*/.*|\w+://.*")
_USER_AND_PASSWORD = re.compile(r"[^\s:%/]+[:%][^\s/]+")
_PASSWORD_IN_ADDRESS = re.compile(r"\w+://[^\s/@:]*:[^\s/@]+@")


def parse_command(command: str, prefix: str) -> list[str]:
    """Split what stands after the prefix into a program that is there and its arguments."""
    try:
        arguments = shlex.split(command.removeprefix(prefix))
    except ValueError as error:
        # The command itself is not quoted: it may hold a secret, which is not known yet.
        raise UsageError(
            f"Cannot read the command after {prefix!r}: {error}. Close every quotation mark."
        ) from error
    if not arguments:
        raise UsageError(f"Got an empty command. Expected {prefix}PROGRAM ARGS, without a shell.")
    if shutil.which(arguments[0]) is None:
        install = INSTALLED_BY.get(arguments[0])
        remedy = f" On Debian, install it with: {install}" if install else ""
        raise UsageError(
            f"There is no program {arguments[0]!r}. Use its path, or a name on PATH; the "
            f"command runs without a shell.{remedy}"
        )
    if name := _name_of_secret(arguments):
        raise UsageError(
            f"The command line holds the value of {name}, which looks like a secret and "
            "would be stored in the run. Put it into an environment variable and write "
            f"the variable in single quotes: {prefix}'PROGRAM {name} ${{SECRET}}'. If it "
            "is not a secret, use the long name of the flag, or a variable."
        )
    fill_arguments(arguments)  # a variable that is not set is an error now
    return arguments


def fill_arguments(arguments: Sequence[str]) -> list[str]:
    """Return the arguments as the program gets them, with the values of environment variables."""
    return [fill_in(argument, f"command {arguments[0]!r}") for argument in arguments]


def _name_of_secret(arguments: Sequence[str]) -> str | None:
    """Return what names a value that looks like a secret: a flag, a variable or a header."""
    for name, value in _named_values(arguments):
        is_secret = is_secret_name(name) or _is_secret_of_short_flag(name, value)
        if is_secret and not VARIABLE.search(value):
            return name
    addresses = (word for word in arguments if _PASSWORD_IN_ADDRESS.search(word))
    return next(("an address" for word in addresses if not VARIABLE.search(word)), None)


def _named_values(arguments: Sequence[str]) -> Iterator[tuple[str, str]]:
    """Yield names and values: of `--name value`, `--name=value`, `NAME=value` and `Name: value`.

    The blank after a colon may be missing. Of a short flag the value may follow at once, `-pVALUE`.
    The script of a shell, `-c SCRIPT`, has words of its own.
    """
    is_shell = Path(arguments[0]).name in _SHELLS if arguments else False
    for word, following in zip(arguments, [*arguments[1:], "-"]):
        if match := _NAMED_VALUE.fullmatch(word):
            yield _BEFORE_NAME.sub("", match[1]), match[2]
        elif word.startswith("-") and not following.startswith("-"):
            yield word, following
        if match := _ATTACHED.fullmatch(word):
            yield match[1], match[2]
        if word == "-c" and is_shell:
            with suppress(ValueError):
                yield from _named_values(shlex.split(following))


def _is_secret_of_short_flag(flag: str, value: str) -> bool:
    """Tell whether the value of a flag such as -p or -t looks like a password or a key.

    Nobody knows what a short flag means. After -p all but numbers, paths and addresses count;
    after others what is neither that nor a word in small letters, since keys have digits and
    capitals; after -u a user with a password.
    """
    if not re.fullmatch(r"-[a-zA-Z]", flag) or len(value) < MIN_SECRET_CHARACTERS:
        return False
    if flag[1] in _USER_FLAGS:
        return bool(_USER_AND_PASSWORD.fullmatch(value))
    if flag[1] not in _PASSWORD_FLAGS + _KEY_FLAGS or os.path.exists(value):
        return False
    is_word = value[0].isalpha() and flag[1] in _PASSWORD_FLAGS
    return is_word or not _PLAIN_VALUE.fullmatch(value)


def hash_command(arguments: Sequence[str], *about: str) -> str:
    """Hash a command line and the files it names: an edited script is another target."""
    paths = [Path(word) for word in arguments if os.sep in word or "." in word]
    contents = [path.read_bytes() for path in paths if path.is_file()]
    return hash_parts(*arguments, *about, *contents)


GRACE_SECONDS = 0.5  # for a program to end by itself, or its pipes to be read
MAX_STDERR_LINES, MAX_STDERR_CHARACTERS = 8, 200  # what an error message quotes
MAX_STDERR_BYTES = 1 << 16  # of a line; a longer one counts as several


def start_process(
    arguments: Sequence[str],
    who: str,
    stdin: int | IO[bytes] = subprocess.PIPE,
    **environment: str,
) -> subprocess.Popen[bytes]:
    """Start a program with the values of environment variables in its arguments."""
    try:
        # In its own session, Ctrl-C does not reach it, and its children can be ended with it.
        return subprocess.Popen(
            fill_arguments(arguments),
            stdin=stdin,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            env=os.environ | environment,
            start_new_session=True,
        )
    except OSError as error:
        raise UsageError(f"{who} cannot be started: {error}.") from error


def start_thread(work: Callable[..., None], *arguments: object) -> threading.Thread:
    """Start a thread that serves a pipe; it cannot keep the program from ending."""
    thread = threading.Thread(target=work, args=arguments, daemon=True, name="brittle-command")
    thread.start()
    return thread


def read_stderr(pipe: IO[bytes], lines: deque[str]) -> None:
    with pipe:
        while line := pipe.readline(MAX_STDERR_BYTES):
            text = redact(line.decode("utf-8", "replace").strip())
            lines.append(text[:MAX_STDERR_CHARACTERS])


def quote_stderr(lines: Iterable[str]) -> str:
    """Quote the last lines that a program wrote to stderr, for the end of a message."""
    lines = list(lines)
    return f"; it wrote to stderr: {' | '.join(lines)!r}" if lines else ""


def kill(process: subprocess.Popen[bytes]) -> None:
    """Kill a process and its children."""
    try:
        os.killpg(process.pid, signal.SIGKILL)
    except (ProcessLookupError, PermissionError, AttributeError):
        process.kill()
    process.wait()


Lines = queue.SimpleQueue[bytes | None]
"""Lines of a pipe; None is its end."""

MAX_LINE_BYTES = 1 << 24  # an answer without an end is cut here, and the program started again
MAX_WAITING_LINES = 1000  # that nobody asked for; a program that prints more is cut off


class NoAnswer(Exception):
    """The program ended, or did not answer in time."""


class Program:
    """One process, and the threads that serve its pipes, so that no write or read blocks us."""

    def __init__(self, arguments: Sequence[str], who: str) -> None:
        process = start_process(arguments, who, PYTHONUNBUFFERED="1")
        inputs, outputs = Lines(), Lines()
        self.stderr_lines: deque[str] = deque(maxlen=MAX_STDERR_LINES)
        start_thread(_write_inputs, process.stdin, inputs)
        start_thread(_read_outputs, process.stdout, outputs)
        self._stderr_reader = start_thread(read_stderr, process.stderr, self.stderr_lines)
        self._process, self._inputs, self._outputs = process, inputs, outputs
        self._end = weakref.finalize(self, _end, process, inputs)

    def ask(self, line: bytes, timeout: float) -> str:
        """Send one line and wait for the answer; a program that does not answer is killed."""
        self._inputs.put(line)
        try:
            answer = self._outputs.get(timeout=timeout)
        except queue.Empty:
            kill(self._process)
            raise NoAnswer(f"it did not answer within {timeout:g} s") from None
        if answer is None:
            code = self._process.wait()
            self._stderr_reader.join(GRACE_SECONDS)  # what it said last is quoted in the message
            raise NoAnswer(f"it ended with exit code {code}")
        return answer.decode("utf-8", "replace").strip()

    def read_extra_line(self, timeout: float = 0.0) -> str | None:
        """Return a line that answers no question, if there is one."""
        try:
            line = self._outputs.get(timeout=timeout) if timeout else self._outputs.get_nowait()
        except queue.Empty:
            return None
        if line is None:
            self._outputs.put(None)  # the program has ended; the next `ask` must see it too
            return None
        return line.decode("utf-8", "replace").strip()

    def end(self) -> None:
        """Close its input, and kill it if it does not end by itself."""
        self._end()


def _write_inputs(pipe: IO[bytes], lines: Lines) -> None:
    try:
        while (line := lines.get()) is not None:
            pipe.write(line)
            pipe.flush()
    except OSError:
        pass  # the program has ended; whoever waits for its answer sees that
    try:
        pipe.close()
    except OSError:
        return


def _read_outputs(pipe: IO[bytes], lines: Lines) -> None:
    with pipe:
        while line := pipe.readline(MAX_LINE_BYTES):
            lines.put(line)
            if len(line) == MAX_LINE_BYTES or lines.qsize() > MAX_WAITING_LINES:
                break
    lines.put(None)


def _end(process: subprocess.Popen[bytes], inputs: Lines) -> None:
    inputs.put(None)
    try:
        process.wait(GRACE_SECONDS)
    except subprocess.TimeoutExpired:
        kill(process)

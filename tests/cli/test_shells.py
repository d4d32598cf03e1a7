"""Tab in real shells on a terminal: a run may be called anything, and no name runs or falls apart.

The `brittle` of these shells completes as ours does, and writes down the words of any other call.
"""

from __future__ import annotations

import os
import pty
import shlex
import shutil
import signal
import threading
import time
from collections.abc import Iterator, Sequence
from contextlib import suppress
from pathlib import Path

import pytest

from forking import brittle_words

SECONDS = 60.0
PROGRAM = """\
#!/bin/sh
if [ "$1" = setup ]; then exec {brittle} "$@"; fi
for word in "$@"; do printf '%s\\0' "$word"; done > "{record}.new"
mv "{record}.new" "{record}"
"""
SHELLS = {
    "bash": (["bash", "--norc", "--noprofile", "-i"], 'eval "$(brittle setup completion bash)"'),
    "zsh": (
        ["zsh", "-f", "-i"],
        'autoload -Uz compinit; compinit -u -D; eval "$(brittle setup completion zsh)"',
    ),
    "fish": (["fish", "--no-config", "-i"], "brittle setup completion fish | source"),
}
NAMES = (
    *(
        "$(touch x)",
        "`touch x`",
        "a;touch x",
        "a&touch x",
        "a|touch x",
        "a>x",
        "$HOME",
        "<(touch x)",
    ),
    *(
        "two words",
        " begins",
        "ends ",
        'a"b',
        "it's",
        "a\\b",
        "new\nline",
        "a\n touch x",
        "\x1b[2J",
    ),
    *(
        "*",
        "[a-z]?",
        "{a,b}",
        "~root",
        "!!",
        "#no",
        "é ü",
        "a:b c",
        "a=b c",
        "x@y z",
        "-rf",
        "--yes",
    ),
    *("a'$(touch x)'", "'\"`touch x`\"'", "\u202eabc", "%s%n", "(a b)", "=ls", "^a^b"),
)

IN_QUOTES = ("$(touch x)", "two words", "it's", 'a"b', "!!", "new\nline", "'\"`touch x`\"'")
"""Names that are also completed where a quote is open."""


class Terminal:
    """A shell on a terminal of its own, and what its `brittle` was called with."""

    def __init__(self, shell: str, folder: Path, program: Path) -> None:
        self._record = program / "record"
        brittle = shlex.join(brittle_words())
        (program / "brittle").write_text(PROGRAM.format(brittle=brittle, record=self._record))
        (program / "brittle").chmod(0o755)
        environment = os.environ | {
            "PATH": f"{program}:{os.environ['PATH']}",
            "TERM": "dumb",
            "HOME": str(program),
            "HISTFILE": "",
            "LC_ALL": "C.UTF-8",
            "PYTHONUTF8": "1",
        }
        argv, script = SHELLS[shell]
        self._pid, self._terminal = pty.fork()
        if self._pid == 0:
            os.chdir(folder)
            os.execvpe(argv[0], argv, environment)
        self.shown = b""
        threading.Thread(target=self._read, daemon=True).start()
        os.write(self._terminal, f"{script}\n".encode())
        assert self.type("brittle ready\n") == ["ready"]

    def _read(self) -> None:
        with suppress(OSError):
            while part := os.read(self._terminal, 1 << 16):
                self.shown += part

    def type(self, keys: str) -> list[str]:
        """Press keys, of which the last runs a command; return the words of the command."""
        self._record.unlink(missing_ok=True)
        os.write(self._terminal, keys.encode())
        end = time.monotonic() + SECONDS
        while not self._record.exists():
            assert time.monotonic() < end, self.shown[-2000:].decode("utf-8", "replace")
            time.sleep(0.01)
        return self._record.read_text("utf-8").split("\0")[:-1]

    def close(self) -> None:
        os.kill(self._pid, signal.SIGKILL)
        os.waitpid(self._pid, 0)
        os.close(self._terminal)


@pytest.fixture(params=SHELLS)
def terminal(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Terminal]:
    if shutil.which(request.param) is None:
        pytest.skip(f"{request.param} is not installed")
    folder, program = tmp_path / "folder", tmp_path / "program"
    folder.mkdir()
    program.mkdir()
    opened = Terminal(request.param, folder, program)
    yield opened
    opened.close()


def write_runs(folder: Path, names: Sequence[str]) -> None:
    folder.mkdir()
    for name in names:
        (folder / f"{name}.sqlite").touch()


@pytest.mark.slow
def test_a_hostile_name_is_one_word_and_never_runs(terminal: Terminal, tmp_path: Path) -> None:
    folder = tmp_path / "folder"
    for number, name in enumerate(NAMES):
        write_runs(folder / f"d{number}", [name])
    for number, name in enumerate(NAMES):
        by_path = name.startswith(("-", "~"))
        expected = f"d{number}/{name}.sqlite" if by_path else name
        for opened in ("", '"', "'") if name in IN_QUOTES else ("",):
            words = terminal.type(f"brittle show --runs d{number} {opened}\t\n")
            assert words == ["show", "--runs", f"d{number}", expected], (name, opened)
    folders = {f"d{number}" for number in range(len(NAMES))}
    assert {path.name for path in folder.rglob("*") if path.suffix != ".sqlite"} == folders


@pytest.mark.slow
def test_what_names_have_in_common_is_inserted(terminal: Terminal, tmp_path: Path) -> None:
    write_runs(tmp_path / "folder" / "runs", ["two words", "two worlds", "plain", "zoo:a b"])
    assert terminal.type("brittle show tw\td\t\n") == ["show", "two words"]
    assert terminal.type("brittle show 'two worl\t\n") == ["show", "two worlds"]
    assert terminal.type("brittle show two\\ worl\t\n") == ["show", "two worlds"]
    assert terminal.type("brittle show zoo:\t\n") == ["show", "zoo:a b"]
    assert terminal.type("brittle compare plain tw\tl\t\n") == ["compare", "plain", "two worlds"]
    assert terminal.type("brittle attack x pwws --sto\t\n")[-1] == "--stop-words"
    assert terminal.type("brittle attack zoo:naive-b\tim\t\n")[-1] == "zoo:naive-bayes@imdb"

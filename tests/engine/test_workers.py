"""Code of the user's that tries to end the program, in a thread of ours or elsewhere."""

from __future__ import annotations

import os
import posix
import subprocess
import sys
import threading
from collections.abc import Callable
from pathlib import Path

import pytest

from brittle.engine.workers import ProcessExit, exits_refused, within
from brittle.errors import TargetDown

EXITS: dict[str, Callable[[int], object]] = {
    "sys.exit": sys.exit,
    "os._exit": lambda code: os._exit(code),
    "posix._exit": lambda code: posix._exit(code),
}


@pytest.mark.parametrize("name", EXITS)
def test_an_exit_in_a_call_is_an_error(name: str) -> None:
    with exits_refused(), pytest.raises(TargetDown, match="tried to end the whole program"):
        within(5.0, lambda: EXITS[name](0))


def test_the_function_of_the_system_is_back_at_the_end_whoever_ends_last() -> None:
    before = (os._exit, posix._exit)
    begun, ended = threading.Event(), threading.Event()

    def refuse_for_a_while() -> None:
        with exits_refused():
            begun.set()
            ended.wait(10)

    other = threading.Thread(target=refuse_for_a_while)
    with exits_refused():
        other.start()
        assert begun.wait(10)
    with pytest.raises(ProcessExit):
        os._exit(0)
    ended.set()
    other.join()
    assert (os._exit, posix._exit) == before


@pytest.mark.filterwarnings("ignore:.*fork:DeprecationWarning")
def test_a_forked_child_ends_as_it_likes() -> None:
    with exits_refused():
        child = os.fork()
        if child == 0:
            os._exit(7)
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 7


@pytest.mark.parametrize("where", ["import", "attribute"])
def test_an_exit_while_the_target_is_opened_is_no_success(where: str, tmp_path: Path) -> None:
    lines = ["import os", "os._exit(0)"] if where == "import" else ["import os", "class T:"]
    if where == "attribute":
        lines += ["    def __getattr__(self, name):", "        os._exit(0)", "t = T()"]
    (tmp_path / "leaving.py").write_text("\n".join(lines) + "\n")
    (tmp_path / "films.csv").write_text("text,label\na good film,x\na bad film,y\n")
    command = [sys.executable, "-m", "brittle.cli", "attack", "python:leaving:t", "key"]
    command += ["--data", "films.csv", "--labels", "x,y"]
    ended = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True)
    assert ended.returncode in (2, 3) and ended.stderr and "Traceback" not in ended.stderr

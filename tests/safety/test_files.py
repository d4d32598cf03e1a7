"""Files are whole or not there, and locks end with the process that took them."""

from __future__ import annotations

import os
import subprocess
import sys
import time
from pathlib import Path

import pytest

from brittle.safety import files

WRITERS = """
import sys, time
from brittle.safety import files
word, path = sys.argv[1:]
for _ in range(60):
    files.write_whole(path, word * 20_000)
"""


def test_a_file_that_is_not_finished_leaves_the_old_one(tmp_path: Path) -> None:
    path = tmp_path / "report.html"
    files.write_whole(path, "old")
    with pytest.raises(KeyboardInterrupt), files.replacing(path) as new:
        new.write_text("half")
        assert path.read_text() == "old"
        raise KeyboardInterrupt
    assert path.read_text() == "old" and os.listdir(tmp_path) == ["report.html"]


def test_two_writers_of_one_file_never_mix(tmp_path: Path) -> None:
    path = tmp_path / "study.json"
    path.write_text("")
    script = [sys.executable, "-c", WRITERS]
    writers = [subprocess.Popen([*script, word, str(path)]) for word in ("a", "b")]
    while any(writer.poll() is None for writer in writers):
        content = path.read_text()
        assert content in ("", "a" * 20_000, "b" * 20_000)
    assert [writer.returncode for writer in writers] == [0, 0]
    assert os.listdir(tmp_path) == ["study.json"]


def test_what_a_killed_process_left_is_removed_when_it_is_old(tmp_path: Path) -> None:
    path = tmp_path / "rows [1].csv"
    old, young = (tmp_path / f"rows [1].csv.{digit * 8}.new" for digit in "01")
    other = tmp_path / "rows [1].csv.txt.new"
    for file in (old, young, other):
        file.touch()
    os.utime(old, (time.time() - files.ABANDONED_SECONDS - 60,) * 2)
    files.write_whole(path, "rows")
    assert {*tmp_path.iterdir()} == {path, young, other}
    files.remove(path)
    assert {*tmp_path.iterdir()} == {other}


def test_a_link_is_replaced_and_not_followed(tmp_path: Path) -> None:
    (tmp_path / "mine.txt").write_text("mine")
    (tmp_path / "report.html").symlink_to(tmp_path / "mine.txt")
    files.write_whole(tmp_path / "report.html", "report")
    assert (tmp_path / "mine.txt").read_text() == "mine"
    assert (tmp_path / "report.html").read_text() == "report"


def test_devices_and_pipes_are_written_to(tmp_path: Path) -> None:
    files.write_whole("/dev/null", "nothing")
    assert not Path("/dev/null").is_file()
    os.mkfifo(tmp_path / "pipe")
    reader = os.open(tmp_path / "pipe", os.O_RDONLY | os.O_NONBLOCK)
    files.write_whole(tmp_path / "pipe", "piped")
    assert os.read(reader, 10) == b"piped"
    os.close(reader)


def test_an_error_names_the_file_that_was_asked_for(tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError, match=r"none/report\.html'$"):
        files.write_whole(tmp_path / "none" / "report.html", "x")


def test_a_forked_child_does_not_keep_a_lock(tmp_path: Path) -> None:
    reader, writer = os.pipe()
    first = (tmp_path / "lock").open("ab")
    files.lock(first, wait=False)
    child = os.fork()
    if child == 0:
        os.close(writer)
        os.read(reader, 1)  # lives until the test is over
        os._exit(0)
    try:
        with (tmp_path / "lock").open("ab") as second, pytest.raises(OSError):
            files.lock(second, wait=False)  # the child has ended nothing for the parent
        first.close()
        with (tmp_path / "lock").open("ab") as second:
            _lock_soon(second)
    finally:
        os.close(writer)
        os.close(reader)
        os.waitpid(child, 0)


def _lock_soon(file: object) -> None:
    """Lock a file; the child may need a moment to come to life."""
    for _ in range(600):
        try:
            return files.lock(file, wait=False)  # type: ignore[arg-type]
        except OSError:
            time.sleep(0.05)
    raise AssertionError("the forked child keeps the lock")

"""What a run notes before it asks, and what the start after a crash makes of it."""

from __future__ import annotations

import os
import signal
import stat
import subprocess
import sys
from pathlib import Path

import pytest

import brittle
from brittle.asks import Case
from brittle.runs.resuming import delete_run, rename_run
from brittle.runs.under_way import ASKED, ATTACKED, UnderWay, asking_path, describe_cases
from brittle.testing import FakeTarget
from brittle.text import Text

STARTED = "2024-01-01T00:00:00+00:00"
SCRIPT = """
import ctypes, os, sys
import brittle

def classify(texts):
    if any("boom" in text for text in texts):
        ctypes.string_at(0)
    return [[0.8, 0.2] if "bad" in text else [0.3, 0.7] for text in texts]

classify.labels = ["negative", "positive"]
live = [classify]
examples = [(f"a good film of {i} scenes" + " boom" * (i == 7), "positive") for i in range(12)]
run = brittle.attack(live[0], examples, "key", name="run", budget=10, warn=print)
print({row.original: row.status for row in run.results() if row.status == "error"}, flush=True)
"""


def case(number: int) -> Case[Text]:
    return Case(f"case-{number}", Text.of(f"the text {number}"))


def test_what_is_asked_stands_in_the_file_while_it_is(tmp_path: Path) -> None:
    path = tmp_path / "run.sqlite"
    under_way = UnderWay(path, STARTED)
    with under_way.noted(True):
        assert stat.S_IMODE(asking_path(path).stat().st_mode) == 0o600
        with under_way.asking(["a", "b"]):
            last = UnderWay(path, STARTED).last
            assert last is not None and last.cases == ("a", "b") and last.stage == ASKED
            assert last.is_suspicious
        assert UnderWay(path, STARTED).last is None  # nothing is asked
        assert list(under_way.begun([case(1), case(2)]))
        under_way.end(["case-1"])
        last = UnderWay(path, STARTED).last
        assert last is not None and last.cases == ("case-2",) and last.stage == ATTACKED
        assert not last.is_suspicious  # killed once, by whomever
        assert UnderWay(path, "another time").last is None
    assert not asking_path(path).exists() and UnderWay(path, STARTED).last is None


def test_a_second_end_without_a_finished_case_is_suspicious(tmp_path: Path) -> None:
    path = tmp_path / "run.sqlite"
    line = b'{"run": "%s", "stage": "attacked", "silent": 0, "cases": ["case-1"]}\nrest'
    asking_path(path).write_bytes(line % STARTED.encode())
    second = UnderWay(path, STARTED)
    assert second.last is not None and not second.last.is_suspicious
    with second.noted(True):
        assert list(second.begun([case(1)]))
        third = UnderWay(path, STARTED).last
        assert third is not None and third.is_suspicious
        second.end(["case-1"])
        assert list(second.begun([case(2)]))
        later = UnderWay(path, STARTED).last
        assert later is not None and not later.is_suspicious


@pytest.mark.parametrize(
    "content", [b"", b"no JSON", b"[]\n", b'{"stage": 1}\n', b"\xff\n", b"[" * 9999]
)
def test_a_damaged_note_is_none(tmp_path: Path, content: bytes) -> None:
    asking_path(tmp_path / "run.sqlite").write_bytes(content)
    assert UnderWay(tmp_path / "run.sqlite", STARTED).last is None


def test_a_link_in_place_of_the_note_is_not_followed(tmp_path: Path) -> None:
    (tmp_path / "mine").write_text("my own")
    asking_path(tmp_path / "run.sqlite").symlink_to(tmp_path / "mine")
    under_way = UnderWay(tmp_path / "run.sqlite", STARTED)
    with under_way.noted(True), under_way.asking(["a"]):
        assert (tmp_path / "mine").read_text() == "my own"


def test_one_case_is_named_with_its_text() -> None:
    assert describe_cases([case(1)]) == "the case case-1: 'the text 1'"
    assert describe_cases([case(n) for n in range(7)]).startswith("7 cases (case-0, case-1,")


def test_the_note_belongs_to_the_run(tmp_path: Path) -> None:
    run = brittle.attack(FakeTarget({"good": 2.0}), ["a good film"], "key", folder=tmp_path)
    asking_path(run.path).write_text("{}")
    new = rename_run(run.path, "other")
    assert asking_path(new).exists() and not asking_path(run.path).exists()
    assert asking_path(new) in delete_run(new) and not asking_path(new).exists()


@pytest.mark.slow
def test_a_live_object_is_asked_one_case_at_a_time_after_a_crash(tmp_path: Path) -> None:
    """Its script has no `if __name__ == "__main__"`, so that no process can be started."""
    (tmp_path / "script.py").write_text(SCRIPT)

    def start() -> subprocess.CompletedProcess[str]:
        command = [sys.executable, "script.py"]
        return subprocess.run(command, cwd=tmp_path, env=os.environ, capture_output=True, text=True)

    first = start()
    assert first.returncode == -signal.SIGSEGV and not first.stdout
    second = start()
    assert second.returncode == -signal.SIGSEGV
    third = start()
    assert third.returncode == 0, third.stderr
    assert "(Segmentation fault) while the target was asked about the case" in third.stdout
    assert "boom'. The case counts as an error; --retry-errors attacks it again." in third.stdout
    assert "{'a good film of 7 scenes boom': 'error'}" in third.stdout
    assert start().stdout == "{'a good film of 7 scenes boom': 'error'}\n"

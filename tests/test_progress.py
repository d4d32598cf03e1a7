"""Bars in terminals and notebooks, and silence anywhere else."""

from __future__ import annotations

import inspect
import io
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

import brittle
from brittle.progress import Progress, listener, reporting, shows_progress
from brittle.runs.runner import RunProgress
from brittle.testing import FakeTarget
from brittle.training.job import TrainingProgress, after_step, end_of_epoch

EXAMPLES = [("a good film", "positive"), ("a bad film", "negative")]
WEIGHTS = {"good": 1.0, "bad": -1.0}
LONG = ("attack", "augment", "grid", "mine", "robustness", "train", "transfer")


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


OpenTerminal = Callable[[], Terminal]


@pytest.fixture
def open_terminal(monkeypatch: pytest.MonkeyPatch) -> OpenTerminal:
    """Return what makes stderr a terminal; pytest sets stderr after the fixtures."""

    def open_it() -> Terminal:
        stream = Terminal()
        monkeypatch.setattr(sys, "stderr", stream)
        monkeypatch.setenv("TERM", "xterm")
        return stream

    return open_it


class Notebook:
    """What a notebook offers, and what it was asked to show."""

    def __init__(self) -> None:
        self.shown: list[str] = []
        self.kernel = object()

    def get_ipython(self) -> Any:
        return self

    def HTML(self, text: str) -> str:  # noqa: N802
        return text

    def display(self, text: str, display_id: bool) -> Any:
        self.shown.append(text)
        return SimpleNamespace(update=self.shown.append)


@pytest.fixture
def notebook(monkeypatch: pytest.MonkeyPatch) -> Iterator[Notebook]:
    shell = Notebook()
    monkeypatch.setitem(sys.modules, "IPython", shell)
    monkeypatch.setitem(sys.modules, "IPython.display", shell)
    yield shell


def run(folder: Path, **options: Any) -> Any:
    texts: dict[str, Any] = {"candidates": "paper", "folder": folder, **options}
    return brittle.attack(FakeTarget(WEIGHTS), EXAMPLES, "pwws", **texts)


def test_a_terminal_shows_a_bar_and_false_shows_none(
    open_terminal: OpenTerminal, tmp_path: Path
) -> None:
    terminal = open_terminal()
    run(tmp_path)
    shown = terminal.getvalue()
    assert "attacking" in shown and "2/2" in shown and "rows/s" in shown
    terminal.truncate(0)
    run(tmp_path, new=True, progress=False)
    assert "attacking" not in terminal.getvalue().strip("\0")


def test_elsewhere_nothing_is_printed(tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    run(tmp_path)
    assert capfd.readouterr() == ("", "")


def test_a_function_receives_the_reports_and_no_bar_is_shown(
    open_terminal: OpenTerminal, tmp_path: Path
) -> None:
    terminal = open_terminal()
    heard: list[RunProgress] = []
    run(tmp_path, progress=heard.append)
    assert heard[-1].done == heard[-1].planned == 2
    assert terminal.getvalue() == ""


def test_a_notebook_shows_an_element_that_is_written_anew(
    notebook: Notebook, tmp_path: Path
) -> None:
    run(tmp_path)
    assert notebook.shown[0] == "" and 'value="2" max="2"' in notebook.shown[-1]
    assert "attacking" in notebook.shown[-1]
    with reporting(True, "<b>") as report:
        assert report is not None
        report("a & b")
    assert notebook.shown[-1] == "<div>&lt;b&gt; <progress></progress> a &amp; b</div>"


def test_ipython_in_a_terminal_is_no_notebook(
    notebook: Notebook, open_terminal: OpenTerminal, tmp_path: Path
) -> None:
    terminal = open_terminal()
    notebook.kernel = None  # type: ignore[assignment]
    run(tmp_path)
    assert "attacking" in terminal.getvalue() and not notebook.shown


def test_control_characters_are_shown_as_signs(open_terminal: OpenTerminal) -> None:
    terminal = open_terminal()
    with reporting(True, "training") as report:
        assert report is not None
        report("a\x1b]0;title\x07b [bold]c")
    assert "\x1b]0;title" not in terminal.getvalue() and "[bold]c" in terminal.getvalue()


def test_no_bar_without_a_report(open_terminal: OpenTerminal) -> None:
    terminal = open_terminal()
    with reporting(True, "training"):
        pass
    assert terminal.getvalue() == ""


def test_every_function_that_takes_long_has_the_keyword() -> None:
    for name in LONG:
        parameter = inspect.signature(getattr(brittle, name)).parameters["progress"]
        assert parameter.default is True and parameter.kind is parameter.KEYWORD_ONLY, name


def test_a_decorated_function_tells_whoever_listens(open_terminal: OpenTerminal) -> None:
    terminal = open_terminal()

    @shows_progress("counting")
    def count(*, progress: Progress[str] = True) -> int:
        listener(progress)("one")
        return 1

    heard: list[str] = []
    assert count(progress=heard.append) == 1 and heard == ["one"]
    assert count(progress=False) == 1 and terminal.getvalue() == ""
    assert count() == 1 and "counting" in terminal.getvalue()


@pytest.mark.parametrize(
    ("state", "share"),
    [
        (TrainingProgress("m", 2, 4, 5, 10, 0.1), 15 / 40),
        (end_of_epoch("m", 2, 4, 0.1, 0.9, True), 2 / 4),
        (after_step("m", 3, 12, 0.1, "line"), 3 / 12),
    ],
)
def test_how_far_a_training_is(state: TrainingProgress, share: float) -> None:
    assert state.done / (state.planned or 1) == pytest.approx(share)

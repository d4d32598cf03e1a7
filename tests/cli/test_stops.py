"""What a command says before a limit and at a stop, and of errors in an attack of one's own."""

from __future__ import annotations

from pathlib import Path

import pytest

import brittle
from brittle.attacks.recipes import settings
from brittle.cli import main
from brittle.errors import TargetDown, UsageError
from brittle.runs.run import Run
from brittle.testing import FakeTarget

OWN = """
from dataclasses import dataclass
from brittle.asks import Probe, Try

@dataclass(frozen=True)
class Mine:
    words: int
    asks = (Probe, Try)

    def __call__(self, case, rng):
        yield from Probe([case.text])
        helper(case)
        yield from Try([case.text])

def helper(case):
    return case.nothing

def failing(*, words: int = 1):
    return Mine(words)

def positional(words: int = 1, *, other: int = 2):
    return Mine(words)
"""
LINE = OWN.splitlines().index("    return case.nothing") + 1
MODEL = """
labels = ["bad", "good"]

def classify(texts):
    return [[0.3, 0.7] if "fine" in text else [0.6, 0.4] for text in texts]

classify.labels = labels
"""


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    (tmp_path / "own_failing_attack.py").write_text(OWN)
    (tmp_path / "own_counted_model.py").write_text(MODEL)
    rows = [f"a fine film of number {n},good" for n in range(40)]
    (tmp_path / "films.csv").write_text("\n".join(["text,label", *rows]))
    monkeypatch.chdir(tmp_path)
    monkeypatch.syspath_prepend(str(tmp_path))
    return tmp_path


def test_an_error_in_an_own_attack_names_the_attack_and_its_line(folder: Path) -> None:
    films = [(f"a fine film {n}", "positive") for n in range(40)]
    name = "python:own_failing_attack:failing"
    with pytest.raises(TargetDown) as caught:
        brittle.attack(FakeTarget({"fine": 2.0}), films, name, folder=folder, name="mine")
    message = str(caught.value)
    assert f"no attribute 'nothing' (own_failing_attack.py, line {LINE}, in helper)" in message
    assert f"Fix the attack '{name}', then resume" in message
    assert "Fix the target" not in message
    assert caught.value.path == folder / "mine.sqlite"
    (reason,) = {row.reason for row in Run(folder / "mine.sqlite").results()}
    assert f"line {LINE}" in reason


def test_a_failing_target_is_still_the_target(folder: Path) -> None:
    def fails(texts: list[str]) -> list[str]:
        if any("film 1" in text for text in texts) or len(texts) == 1:
            raise RuntimeError("out of order")
        return ["positive"] * len(texts)

    films = [(f"a fine film 1{n}", "positive") for n in range(40)]
    with pytest.raises((TargetDown, UsageError)) as caught:
        brittle.attack(fails, films, "key", folder=folder, labels="negative,positive")
    assert "Fix the attack" not in str(caught.value)


def test_a_setting_that_is_not_keyword_only_is_refused_with_a_word(folder: Path) -> None:
    from brittle.attacks import recipe

    with pytest.raises(UsageError, match=r"'words' of the attack positional is not keyword-only"):
        settings(recipe("python:own_failing_attack:positional"))
    assert [s.name for s in settings(recipe("python:own_failing_attack:failing"))] == ["words"]


def test_a_limit_is_said_before_and_a_stop_is_summed_up(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    command = ["attack", "python:own_counted_model:classify", "key", "--data", "films.csv"]
    assert main([*command, "--name", "one", "--max-sent", "60"]) == 3
    told = capsys.readouterr().err
    assert "60 texts sent, in as many requests or fewer (--max-sent)" in told
    assert "of 40 cases" in told and "left: " in told and "brittle show one" in told
    assert "Resume with: brittle attack" in told and "--max-sent 120" in told
    assert main([*command, "--name", "two", "--budget", "3", "--max-sent", "9999"]) == 0
    told = capsys.readouterr().err
    assert "120 queries (3 for each case)" in told and "left: " not in told
    assert main([*command, "--name", "three", "--limit", "3"]) == 0
    assert "At most" not in capsys.readouterr().err  # nothing is limited

"""What `--limit` takes: a first try of large data, all, or what a stored run has."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from brittle.cli.commands import attack as command
from cli.conftest import Brittle

ATTACK = ("attack", "python:cli_models:weak", "key", "--data", "many.csv")


@pytest.fixture(autouse=True)
def small_first_try(workdir: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(command, "FIRST_TRY", 4)
    rows = [f"a good film {n},positive" for n in range(9)]
    (workdir / "many.csv").write_text("\n".join(["text,label", *rows]) + "\n")
    (workdir / "some.csv").write_text("\n".join(["text,label", *rows[:8]]) + "\n")


def examples(brittle: Brittle, *words: str) -> tuple[int, str]:
    output = brittle(*words, "--json")
    assert output.code == 0, output.err
    return json.loads(output.out)["manifest"]["examples"], output.err


def test_large_data_are_cut_and_it_is_said(brittle: Brittle) -> None:
    count, said = examples(brittle, *ATTACK, "--name", "first")
    assert count == 4
    assert (
        "--limit is not set: 4 of 9 examples are attacked, in a random order. --limit all attacks "
        "all of them." in said
    )
    again, _ = examples(brittle, *ATTACK, "--name", "first")
    assert again == 4
    more, said = examples(brittle, *ATTACK, "--name", "first", "--limit", "all")
    assert more == 9 and "--limit is not set" not in said
    assert examples(brittle, *ATTACK, "--name", "first")[0] == 9, "a run keeps what it has"
    assert examples(brittle, *ATTACK, "--name", "first", "--new")[0] == 4


def test_a_stored_run_keeps_a_larger_limit(brittle: Brittle) -> None:
    assert examples(brittle, *ATTACK, "--name", "six", "--limit", "6")[0] == 6
    assert examples(brittle, *ATTACK, "--name", "six")[0] == 6
    assert examples(brittle, *ATTACK, "--name", "two", "--limit", "2")[0] == 2
    assert examples(brittle, *ATTACK, "--name", "two")[0] == 4


def test_smaller_data_are_attacked_whole(brittle: Brittle) -> None:
    count, said = examples(brittle, *ATTACK[:-1], "some.csv", "--name", "whole")
    assert count == 8 and "--limit" not in said


def test_studies_say_what_they_leave_out(brittle: Brittle, workdir: Path) -> None:
    rows = [f"a good film {n},positive" for n in range(103)]
    (workdir / "hundred.csv").write_text("\n".join(["text,label", *rows]) + "\n")
    both = "python:cli_models:weak,python:cli_models:strong"
    words = ("study", "grid", both, "key", "--data", "hundred.csv", "--workers", "1")
    cut = brittle(*words, "--name", "cut")
    assert cut.code == 0 and "the study takes 100 of 103 examples" in cut.err
    whole = brittle(*words, "--name", "whole-grid", "--limit", "all")
    assert whole.code == 0 and "the study takes" not in whole.err
    assert "103" in whole.out
    wrong = brittle(*words, "--limit", "most")
    assert "got 'most'; expected a whole number of at least 1, or all." in wrong.err

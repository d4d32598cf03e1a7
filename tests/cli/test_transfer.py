"""`brittle transfer`: tables, JSON, what failed, and the settings of the attack."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from cli.conftest import Brittle

pytestmark = pytest.mark.slow

LINES = "# ours\npython:cli_models:weak\npython:cli_models:strong\n"
CALL = ("pwws", "--data", "films.csv", "--limit", "11", "--resamples", "20")


def test_a_study_is_printed_and_stored(brittle: Brittle, workdir: Path) -> None:
    (workdir / "films.txt").write_text(LINES)
    first = brittle("transfer", "pool:films.txt", *CALL, "--name", "two")
    assert first.code == 0, first.err
    assert "python:cli_models:weak" in first.out and "2 sources × 2 targets" in first.out
    assert "two.study.json" in first.out and "winners of 11 texts" in first.err
    again = brittle("transfer", "pool:films.txt", *CALL, "--name", "two", "--json")
    assert again.code == 0 and "begins" not in again.err
    content = json.loads(again.out)
    assert content["attacked"] == 11 and content["rate"][0][0] is None
    assert content["rate"][0][1] is not None
    assert (workdir / "runs" / "two.study.json").is_file()


def test_a_member_that_fails_is_named_after_the_tables(brittle: Brittle, workdir: Path) -> None:
    (workdir / "three.txt").write_text(f"{LINES}python:cli_models:nothing\n")
    output = brittle("transfer", "pool:three.txt", *CALL, "--quiet")
    assert output.code == 3 and "1 member of the pool failed, and its cells are empty" in output.err
    assert "python:cli_models:nothing: " in output.err


def test_why_a_member_failed_is_told_once(brittle: Brittle, workdir: Path) -> None:
    (workdir / "missing.txt").write_text(f"{LINES}./no/such/model\n")
    output = brittle("transfer", "pool:missing.txt", *CALL)
    assert output.code == 3 and "tries it again" in output.err
    told = output.out + output.err
    # The line on the way has the beginning of the reason, the tables have all of it.
    assert told.count("open ./no/such/model: failed") == 1
    assert told.count("python:module:name") == 1 and "python:module:name" in output.out


def test_a_pool_of_one_and_an_unknown_pool_are_refused(brittle: Brittle, workdir: Path) -> None:
    (workdir / "one.txt").write_text("python:cli_models:weak\n")
    assert "has 1 member;" in brittle("transfer", "pool:one.txt", *CALL).err
    assert "Unknown pool 'smal'" in brittle("transfer", "pool:smal", *CALL).err


def test_the_settings_of_the_attack_are_flags(brittle: Brittle) -> None:
    output = brittle("transfer", "pool:small", "genetic", "--help")
    assert output.code == 0 and "--generations" in output.out and "--winners" in output.out

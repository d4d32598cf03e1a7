"""Accepted failures: what the file holds, what the gate leaves out, and what is out of date."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from brittle.errors import UsageError
from brittle.runs.accepted import AcceptedFailure, accept, read_accepted, split_accepted
from brittle.runs.gate import gate

Make = Callable[..., Any]


def test_accepted_failures_do_not_fail(make: Make, tmp_path: Path) -> None:
    old, new = make("old", "h" * 12), make("new", "b" * 8 + "h" * 4)
    path = tmp_path / "deep" / "accepted.toml"
    ids = [row.case for row in new.given[:8]]
    assert gate(old, new).outcome == "fail"
    assert accept(new.given, ids[:7], "irony", path) == 7
    assert accept(new.given, ids, "irony", path) == 1, "those that are known are not added again"
    verdict = gate(old, new, accepted=path)
    assert verdict.outcome == "cannot tell" and not verdict.newly_broken
    assert (verdict.accepted, verdict.cases) == (8, 4)
    assert verdict.notes == ("8 accepted failures left out",)


def test_an_unused_entry_fails(make: Make, tmp_path: Path) -> None:
    rows, path = make("new", "bbhhh").given, tmp_path / "accepted.toml"
    accept(rows, [rows[0].case], "known", path)
    assert gate(make("old", "bbhhh"), make("new", "bbhhh"), accepted=path).outcome != "fail"
    verdict = gate(make("old", "bbhhh"), make("new", "hbhhh"), accepted=path)
    assert verdict.outcome == "fail" and not verdict.is_worse
    assert "1 accepted failure no longer fails" in verdict.headline
    assert f"it no longer fails: {rows[0].case}: funny -> comical" in str(verdict)
    other = replace(rows[0], adversarial="another text")
    known = split_accepted([other], read_accepted(path))
    assert (known.count, len(known.unused)) == (0, 1), "another edit is another failure"


def test_the_file_reads_well_and_back(make: Make, tmp_path: Path) -> None:
    path = tmp_path / "accepted.toml"
    evil = 'so "good" \\ \x7f\x00\n[[accepted]] 😀 \u202e caf\u00e9'
    row = replace(make("r", "b").given[0], adversarial=evil)
    accept([row], [row.case[:3]], 'people said "why" too', path)
    text = path.read_text(encoding="utf-8")
    assert text.startswith("# Failures that are known and accepted")
    assert 'edits = "funny -> comical"' in text and "café" in text and "\u202e" not in text
    assert read_accepted(path) == [AcceptedFailure.of(row, 'people said "why" too')]


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("[[accepted", "cannot be read"),
        ("[other]\n", "holds other; expected entries"),
        ("accepted = 3", "holds accepted; expected entries"),
        ("[[accepted]]\ncase = 'a'", "Entry 1 of .* has case; expected case, text"),
        ("accepted = [3]", "Entry 1 of .* has int"),
    ],
)
def test_a_damaged_file_is_an_error(text: str, message: str, tmp_path: Path) -> None:
    path = tmp_path / "accepted.toml"
    path.write_text(text)
    with pytest.raises(UsageError, match=message):
        read_accepted(path)


def test_what_cannot_be_accepted(make: Make, tmp_path: Path) -> None:
    rows, path = make("r", "bbh").given, tmp_path / "accepted.toml"
    for case, message in (
        ("x", "is no case of this run"),
        ("0000", "begins several cases"),
        (rows[2].case, "is held, not broken"),
    ):
        with pytest.raises(UsageError, match=message):
            accept(rows, [case], "why", path)
    with pytest.raises(UsageError, match="empty reason"):
        accept(rows, [rows[0].case], " ", path)
    with pytest.raises(UsageError, match="No file of accepted failures"):
        read_accepted(path)

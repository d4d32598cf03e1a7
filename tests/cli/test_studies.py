"""A study is shown, reported, exported and listed by the commands for runs."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from brittle.studies.pools import Member
from brittle.studies.study import study_of
from brittle.studies.transfer.study import TransferStudy, Winner
from cli.conftest import Brittle

MEMBERS = (Member("one", "zoo:one"), Member("two", "zoo:two"))
WINNERS = {"one": (Winner("c0", 0, (("text", "a good film"),), (("text", "a fine film"),)),)}
STUDY: TransferStudy = study_of(
    "transfer",
    "duet",
    pool="file",
    attack="pwws",
    settings={},
    data="mr",
    split="test",
    seed=0,
    labels=("neg", "pos"),
    attacked=3,
    sources=MEMBERS,
    targets=MEMBERS,
    winners=WINNERS,
    before={"one": {"c0": 0}, "two": {"c0": 0}},
    after={"two": {"one": (1,)}},
    failures={"one": "no second seed"},
)


@pytest.fixture
def study(workdir: Path) -> Path:
    path = workdir / "runs" / "duet.study.json"
    STUDY.save(path)
    return path


@pytest.mark.parametrize("name", ["duet", "due", "duet.study.json", "runs/duet.study.json"])
def test_a_study_is_opened_by_its_name_or_file(brittle: Brittle, study: Path, name: str) -> None:
    output = brittle("show", name)
    assert output.code == 0
    assert "fools 2 of 2 targets" in output.out and "no second seed" in output.out
    assert json.loads(brittle("show", name, "--json").out)["rate"] == [[None, 1.0], [None, None]]


def test_a_study_is_reported_and_exported(brittle: Brittle, study: Path, workdir: Path) -> None:
    assert brittle("report", "duet").out == "runs/duet.study.html\n"
    assert "no second seed" in study.with_suffix(".html").read_text("utf-8")
    assert brittle("export", "duet", "cells.jsonl").code == 0
    assert len((workdir / "cells.jsonl").read_text().splitlines()) == 4
    assert brittle("export", "duet", "texts.csv", "--texts").code == 0
    assert "a fine film" in (workdir / "texts.csv").read_text()


def test_studies_are_listed_apart_from_runs(brittle: Brittle, study: Path) -> None:
    study.with_name("damaged.study.json").write_text("{")
    output = brittle("list", "studies", "--json")
    assert "Left out: " in output.err
    assert "runs/damaged.study.json is not a transfer study" in output.err
    rows = {row["study"]: row for row in json.loads(output.out)}
    assert (rows["duet"]["attack"], rows["duet"]["texts"]) == ("pwws", 1)
    assert "damaged" not in rows
    runs = [row["run"] for row in json.loads(brittle("list", "runs", "--json").out)]
    assert "weak" in runs and "duet" not in runs
    study.with_name("damaged.study.json").unlink()


def test_what_is_not_a_study_is_named(brittle: Brittle, study: Path) -> None:
    output = brittle("show", "pears.study.json")
    assert output.code == 2 and "Unknown study 'pears'" in output.err
    study.with_name("duets.study.json").write_text(study.read_text())
    output = brittle("show", "due")
    assert output.code == 2 and "'due' is the start of several names of studies" in output.err
    study.with_name("duets.study.json").unlink()
    output = brittle("export", "weak", "x.csv", "--texts")
    assert output.code == 2 and "'weak' is a run" in output.err
    output = brittle("report", "duet", "--nearest")
    assert output.code == 2 and "'duet' is a study" in output.err


def test_studies_are_compared_with_studies(brittle: Brittle, study: Path) -> None:
    output = brittle("compare", "duet", "duet")
    assert output.code == 0 and "mean transfer rate" in output.out
    rows = json.loads(brittle("compare", "duet", "duet", "--json").out)
    assert [row["mean transfer rate"] for row in rows] == [1.0, 1.0]
    assert rows[0]["mean base rate"] is None
    output = brittle("compare", "duet", "weak")
    assert output.code == 2 and "'weak' is a run, and others are studies" in output.err
    output = brittle("compare", "duet", "nosuch")
    assert output.code == 2 and "'nosuch'" in output.err
    assert brittle("compare", "duet", "duet", "--fail-if-worse").code == 2

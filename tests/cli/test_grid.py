"""`brittle study grid`: tables, JSON, settings of several attacks, and what reads a grid."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from cli.conftest import Brittle

TARGETS = "python:cli_models:weak,python:cli_models:strong"
DATA = ("--data", "films.csv", "--limit", "8", "--workers", "1")


def test_the_settings_of_all_attacks_are_flags(brittle: Brittle) -> None:
    output = brittle("study", "grid", "pool:small", "key,genetic,key:draws=3", "--help")
    assert output.code == 0 and "--each-right" in output.out
    assert "settings of key" in output.out and "settings of genetic" in output.out
    for flag in ("--generations", "--draws", "--share"):
        assert output.out.count(f"  {flag} ") == 1, flag


def test_bad_calls_are_refused(brittle: Brittle, workdir: Path) -> None:
    both = ("--all-right", "--each-right")
    assert brittle("study", "grid", TARGETS, "key", *DATA, *both).code == 2
    assert "Unknown attack 'kye'" in brittle("study", "grid", TARGETS, "kye", *DATA).err
    assert brittle("study", "grid", TARGETS, "key", *DATA, "--generations", "3").code == 2
    one = brittle("study", "grid", "python:cli_models:weak", "key", *DATA)
    assert one.code == 2 and "has 1 member" in one.err


@pytest.mark.slow
def test_a_grid_is_printed_stored_and_read_by_the_commands_for_studies(
    brittle: Brittle, workdir: Path
) -> None:
    call = ("study", "grid", TARGETS, "key,pwws,hotflip", *DATA, "--draws", "4", "--name", "fair")
    first = brittle(*call, "--report", "fair.html")
    assert first.code == 0, first.err
    assert "8 cases that all targets get right" in first.out and "McNemar" in first.out
    assert "hotflip on python:cli_models:weak: empty" in first.out
    page = (workdir / "fair.html").read_text()
    assert "compared case by case" in page
    # Every attack stands with its settings: on the terminal, on the page, in file and JSON.
    settings = {"key": {"draws": 4}, "pwws": {}, "hotflip": {}}
    assert "  pwws " in first.out and "  key (draws=4) " in first.out
    assert page.count(">pwws<") == 4 and ">hotflip<" in page
    stored = json.loads((workdir / "runs" / "fair.study.json").read_text())
    assert stored["facts"]["settings"] == settings
    again = brittle(*call, "--json")
    content = json.loads(again.out)
    assert "begins" not in again.err and content["cases"] == 8 and len(content["cells"]) == 6
    assert content["settings"] == settings
    assert brittle("show", "fair").out.strip() in first.out
    assert json.loads(brittle("show", "fair", "--json").out)["kind"] == "grid"
    run = next(cell["run"] for cell in content["cells"] if cell["success"] is not None)
    assert "key against python:cli_models:weak" in brittle("show", f"runs/fair/{run}").out
    assert brittle("report", "fair", "--out", "again.html").code == 0
    assert brittle("export", "fair", "cells.csv").code == 0
    assert brittle("export", "fair", "rows.jsonl", "--texts").code == 0
    assert len((workdir / "rows.jsonl").read_text().splitlines()) == 32
    listed = json.loads(brittle("list", "studies", "--json").out)
    (row,) = [row for row in listed if row["study"] == "fair"]
    assert row["kind"] == "grid" and row["texts"] == 8
    assert row["attack"] == "key (draws=4), pwws, hotflip"
    for command in (("compare", "fair", "fair"), ("study", "select", "fair", "--size", "2")):
        refused = brittle(*command)
        assert refused.code == 2 and "is a grid; expected a transfer study" in refused.err
    with (workdir / "runs" / "fair.study.json").open("a") as file:
        file.write("}")
    assert "is not a grid" in brittle("show", "fair").err
    (workdir / "runs" / "fair.study.json").unlink()


@pytest.mark.slow
def test_a_target_that_fails_is_named_after_the_table(brittle: Brittle, workdir: Path) -> None:
    targets = f"{TARGETS},python:cli_models:nothing"
    output = brittle("study", "grid", targets, "key", *DATA, "--name", "three", "--quiet")
    assert output.code == 3 and "python:cli_models:nothing: " in output.err
    (workdir / "runs" / "three.study.json").unlink()

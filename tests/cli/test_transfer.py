"""`brittle study transfer`: tables, JSON, what failed, and the settings of the attack."""

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
    first = brittle("study", "transfer", "pool:films.txt", *CALL, "--name", "between-two")
    assert first.code == 0, first.err
    assert "python:cli_models:weak" in first.out and "2 sources × 2 targets" in first.out
    assert "between-two.study.json" in first.out and "winners of 11 texts" in first.err
    assert "pwws, films.csv" in first.out
    again = brittle("study", "transfer", "pool:films.txt", *CALL, "--name", "between-two", "--json")
    assert again.code == 0 and "begins" not in again.err
    content = json.loads(again.out)
    assert content["attacked"] == 11 and content["rate"][0][0] is None
    assert content["rate"][0][1] is not None
    assert content["attack"] == "pwws" and content["settings"] == {}
    stored = json.loads((workdir / "runs" / "between-two.study.json").read_text())
    assert stored["facts"]["settings"] == {}
    assert brittle("report", "between-two", "--out", "between-two.html").code == 0
    assert ">pwws<" in (workdir / "between-two.html").read_text()
    wide = brittle("study", "transfer", "pool:films.txt", *CALL, "--name", "wide", "--share", "0.5")
    assert "pwws (share=0.5), films.csv" in wide.out
    compared = brittle("compare", "between-two", "wide")
    assert "pwws (share=0.5)" in " ".join(compared.out.split()), compared.out
    rows = json.loads(brittle("compare", "between-two", "wide", "--json").out)
    assert [row["settings"].get("share") for row in rows] == [None, 0.5]


def test_a_member_that_fails_is_named_after_the_tables(brittle: Brittle, workdir: Path) -> None:
    (workdir / "three.txt").write_text(f"{LINES}python:cli_models:nothing\n")
    output = brittle("study", "transfer", "pool:three.txt", *CALL, "--quiet")
    assert output.code == 3 and "1 member of the pool failed, and its cells are empty" in output.err
    assert "python:cli_models:nothing: " in output.err


def test_why_a_member_failed_is_told_once(brittle: Brittle, workdir: Path) -> None:
    (workdir / "missing.txt").write_text(f"{LINES}./no/such/model\n")
    output = brittle("study", "transfer", "pool:missing.txt", *CALL)
    assert output.code == 3 and "tries it again" in output.err
    told = output.out + output.err
    # The line on the way has the beginning of the reason, the tables have all of it.
    assert told.count("open ./no/such/model: failed") == 1
    assert told.count("python:module:name") == 1 and "python:module:name" in output.out


def test_a_pool_of_one_and_an_unknown_pool_are_refused(brittle: Brittle, workdir: Path) -> None:
    (workdir / "one.txt").write_text("python:cli_models:weak\n")
    assert "has 1 member;" in brittle("study", "transfer", "pool:one.txt", *CALL).err
    assert "Unknown pool 'smal'" in brittle("study", "transfer", "pool:smal", *CALL).err


PAIR_MODELS = """
def reader(field):
    def classify(pairs):
        words = [pair[field].split() for pair in pairs]
        return [[0.2, 0.8] if "good" in w else [0.8, 0.2] for w in words]
    classify.labels = ["negative", "positive"]
    return classify

premise, hypothesis = reader("premise"), reader("hypothesis")
"""
PAIRS = ("--data", "pairs.csv", "--text", "premise,hypothesis", "--limit", "4")


def test_a_locked_field_stays_as_it_is(brittle: Brittle, workdir: Path) -> None:
    (workdir / "pair_models.py").write_text(PAIR_MODELS)
    rows = [f"a good film {n},a good story {n},positive" for n in range(3)]
    rows += ["a bad film,a bad story,negative"]
    (workdir / "pairs.csv").write_text("\n".join(["premise,hypothesis,label", *rows]) + "\n")
    targets = "python:pair_models:premise,python:pair_models:hypothesis"
    both = brittle("study", "transfer", targets, "pwws", *PAIRS, "--name", "open", "--quiet")
    assert both.code == 0, both.err
    stored = json.loads((workdir / "runs" / "open.study.json").read_text())
    assert len(stored["results"]["winners"]["python:pair_models:premise"]) == 3
    call = ("study", "transfer", targets, "pwws", *PAIRS, "--locked", "premise")
    found = brittle(*call, "--name", "locked", "--json")
    assert found.code == 0, found.err
    assert json.loads(found.out)["locked"] == ["premise"]
    winners = json.loads((workdir / "runs" / "locked.study.json").read_text())["results"]["winners"]
    assert {name: len(rows) for name, rows in winners.items()} == {
        "python:pair_models:premise": 0,
        "python:pair_models:hypothesis": 3,
    }
    for row in winners["python:pair_models:hypothesis"]:
        assert row["original"][0] == row["adversarial"][0]
        assert row["original"][1] != row["adversarial"][1]
    # Under the name of a study with other locked fields it is refused.
    other = brittle(*call, "--name", "open")
    assert other.code == 2 and "with other settings: locked ()" in other.err
    wrong = brittle("study", "transfer", targets, "pwws", *PAIRS, "--locked", "nothing")
    assert wrong.code == 2 and "nothing" in wrong.err


def test_the_settings_of_the_attack_are_flags(brittle: Brittle) -> None:
    output = brittle("study", "transfer", "pool:small", "genetic", "--help-all")
    assert output.code == 0 and "--generations" in output.out and "--winners" in output.out

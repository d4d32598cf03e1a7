"""Exit codes: 0 fine, 1 a gate failed, 2 usage, 3 incomplete, 130 interrupted."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from cli.conftest import Brittle

ATTACK = ("attack", "python:cli_models:weak", "pwws", "--data", "films.csv")


@pytest.mark.parametrize(
    ("words", "told"),
    [
        (("atack",), "invalid choice: 'atack'"),
        (("attack", "x", "pwws"), "--data"),
        ((*ATTACK, "--limit", "0"), "at least 1"),
        ((*ATTACK, "--share", "much"), "invalid float value: 'much'"),
        ((*ATTACK, "--population", "3"), "unrecognized arguments: --population"),
        ((*ATTACK, "--scores", "odds"), "invalid choice: 'odds'"),
        (("attack", "python:cli_models:weak", "pwsw", "--data", "films.csv"), "'pwws'"),
        (("attack", "python:cli_models:week", "pwws", "--data", "films.csv"), "no 'week'"),
        (("attack", "python:none:weak", "pwws", "--data", "films.csv"), "Cannot import"),
        (("attack", "model.pkl", "pwws", "--data", "films.csv"), "runs whatever code is in it"),
        (("attack", "nothing", "pwws", "--data", "films.csv"), "no kind of target"),
        ((*ATTACK[:-1], "film.csv"), "Did you mean 'films.csv'?"),
        ((*ATTACK, "--text", "review"), "Unknown column"),
        ((*ATTACK, "--labels", "positive=yes"), "--labels"),
        ((*ATTACK, "--toward", "neutral"), "Unknown label 'neutral'"),
        ((*ATTACK, "--confidence", "7"), "confidence of 7"),
        ((*ATTACK, "--split", "test"), "which has no splits"),
        (("attack", "zoo:naive-bayes@mr", "pwws", "--data", "films.csv", "--mask", "_"), "--mask"),
        (("show", "none"), "Unknown run 'none'"),
        (("compare", "weak", "none"), "Unknown run 'none'"),
        (("train", "naive-bays", "--data", "films.csv"), "Did you mean 'naive-bayes'?"),
        (("list", "everything"), "invalid choice"),
    ],
    ids=lambda part: " ".join(part)[-40:] if isinstance(part, tuple) else None,
)
def test_a_wrong_call_ends_with_2_and_says_why(
    brittle: Brittle, words: tuple[str, ...], told: str
) -> None:
    said = brittle(*words)
    assert said.code == 2 and said.out == ""
    assert told in said.err and "Traceback" not in said.err
    assert "Resume" not in said.err


def test_an_incomplete_run_ends_with_3_and_says_how_to_go_on(brittle: Brittle) -> None:
    command = (*ATTACK, "--name", "a part", "--max-sent", "60")
    said = brittle(*command)
    assert said.code == 3 and "The limit of 60 texts" in said.err
    assert (
        "Resume with: brittle attack python:cli_models:weak pwws --data films.csv "
        "--name 'a part' --max-sent 60" in said.err
    )
    assert brittle(*command).code == 3, "nothing more may be sent"
    told = json.loads(brittle("show", "a part", "--json").out)
    assert told["complete"] is False and told["totals"]["sent"] == 60
    assert brittle(*ATTACK, "--name", "a part", "--max-sent", "9999", "--quiet").code == 0
    assert json.loads(brittle("show", "a part", "--json").out)["complete"] is True


def test_an_interrupted_call_ends_with_130(
    brittle: Brittle, place: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def interrupted(*_: object, **__: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr("brittle.data.load", interrupted)
    said = brittle(*ATTACK)
    assert said.code == 130 and "the same command resumes" in said.err


def test_other_settings_for_a_named_run_end_with_2(brittle: Brittle) -> None:
    said = brittle(*ATTACK, "--name", "weak", "--share", "0.4")
    assert said.code == 2 and "settings was" in said.err and "--new" in said.err


def test_a_finished_run_is_shown_again(brittle: Brittle) -> None:
    said = brittle(*ATTACK, "--name", "weak")
    assert said.code == 0 and "Nothing was left to do" in said.err and "--new" in said.err
    assert "attack success" in said.out and "10 of 11 attacked cases" in said.out

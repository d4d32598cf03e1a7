"""Exit codes: 0 fine, 1 a gate failed, 2 usage, 3 incomplete, 130 interrupted."""

from __future__ import annotations

import json
import shlex
from pathlib import Path

import pytest

from cli.conftest import Brittle

SENTENCE = ("try", "python:cli_models:weak", "a good film")
ATTACK = ("attack", "python:cli_models:weak", "pwws", "--data", "films.csv")
AS_PUBLISHED = (*ATTACK, "--candidates=paper")


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (("atack",), "Unknown command 'atack'. Did you mean 'attack'?"),
        (("rules", "mien"), "Unknown command 'mien'. Did you mean 'mine'?"),
        (("attack", "x", "pwws", "--dta", "mr"), "no flag --dta. Did you mean --data?"),
        ((*ATTACK, "--bugdet=5"), "brittle attack has no flag --bugdet. Did you mean --budget?"),
        ((*ATTACK, "--shaer", "1"), "Did you mean --share?"),
        ((*ATTACK, "--lim", "5"), "has no flag --lim. Did you mean --limit?"),
        ((*ATTACK, "--lim=5"), "has no flag --lim. Did you mean --limit?"),
        ((*ATTACK, "--qu"), "has no flag --qu. Did you mean --quiet?"),
        ((*ATTACK, "--max-q"), "has no flag --max-q"),
        ((*ATTACK, "--no-m"), "Did you mean --no-measures"),
        (("study", "grid", "x,y", "key", "--data", "mr", "--each"), "Did you mean --each-right?"),
        ((*ATTACK, "--beam", "4"), "stands behind its name, as in TARGET?beam=4."),
        (("train", "seq2seq-LSTM", "--data", "x", "--beam=4"), "as in TARGET?beam=4."),
        (("rules", "mine", "x", "--siez", "3"), "brittle rules mine has no flag --siez."),
        (("--versoin",), "brittle has no flag --versoin. Did you mean --version?"),
        (("attack", "x", "pwws"), "--data"),
        ((*ATTACK, "--limit", "0"), "at least 1"),
        ((*ATTACK, "--share", "much"), "got 'much'; expected a number."),
        ((*ATTACK, "--population", "3"), "brittle attack has no flag --population"),
        ((*ATTACK, "--scores", "odds"), "got 'odds'; expected auto, prob"),
        (("attack", "python:cli_models:weak", "pwsw", "--data", "films.csv"), "'pwws'"),
        (("attack", "python:cli_models:week", "pwws", "--data", "films.csv"), "no 'week'"),
        (("attack", "python:none:weak", "pwws", "--data", "films.csv"), "Cannot import"),
        (("attack", "model.pkl", "pwws", "--data", "films.csv"), "runs any code in it"),
        (
            ("attack", "nothing", "pwws", "--data", "films.csv"),
            "not a file, a folder or a kind of target",
        ),
        ((*ATTACK[:-1], "film.csv"), "Did you mean 'films.csv'?"),
        ((*ATTACK, "--text", "review"), "Unknown column"),
        ((*ATTACK, "--labels", "positive=yes"), "--labels"),
        ((*ATTACK, "--toward", "neutral"), "Unknown label 'neutral'"),
        ((*ATTACK, "--confidence", "7"), "confidence of 7"),
        ((*ATTACK, "--goal", "untargetted"), "Did you mean 'untargeted'?"),
        ((*ATTACK, "--goal", "any(toward:positive"), "every bracket closed"),
        ((*ATTACK, "--goal", "keyword:Art"), "Use a goal that fits: untargeted, toward:LABEL"),
        ((*SENTENCE, "--goal", "not:copy"), "'copy:0.8' judges translations"),
        ((*ATTACK, "--split", "test"), "which has no splits"),
        ((*ATTACK, "--workers", "0"), "at least 1"),
        (
            (*ATTACK, "--workers", "2", "--backend", "rai"),
            "got 'rai'; expected local or ray. Did you mean ray?",
        ),
        ((*ATTACK, "--workers", "2", "--address", "here:1"), "Add --backend ray"),
        (("attack", "zoo:naive-bayes@mr", "pwws", "--data", "films.csv", "--mask", "_"), "--mask"),
        (("show", "none"), "Unknown run 'none'"),
        (("compare", "weak", "none"), "Unknown run 'none'"),
        (("train", "naive-bays", "--data", "films.csv"), "Did you mean 'naive-bayes'?"),
        (("list", "everything"), "got 'everything'; expected runs, studies"),
    ],
    ids=lambda part: " ".join(part)[-40:] if isinstance(part, tuple) else None,
)
def test_a_wrong_call_ends_with_2_and_says_why(
    brittle: Brittle, words: tuple[str, ...], message: str
) -> None:
    output = brittle(*words)
    assert output.code == 2 and output.out == ""
    assert message in output.err and "Traceback" not in output.err
    assert "Resume" not in output.err


def test_a_goal_that_fails_ends_the_run_with_3_and_names_the_text(
    brittle: Brittle, workdir: Path
) -> None:
    (workdir / "failing_goals.py").write_text("def probe(text, scores): return {'a': 1}[text]")
    output = brittle(*AS_PUBLISHED, "--name", "failing", "--goal", "python:failing_goals:probe")
    assert output.code == 3 and "python:failing_goals:probe failed with KeyError: 'a " in output.err
    assert "Resume with:" in output.err and "Traceback" not in output.err
    # Nothing of a single sentence is stored, so that nothing could be resumed.
    output = brittle(*SENTENCE, "--goal", "python:failing_goals:probe")
    assert output.code == 3 and "failed with KeyError" in output.err
    assert "esume" not in output.err


def test_an_incomplete_run_ends_with_3_and_says_how_to_go_on(brittle: Brittle) -> None:
    command = (*AS_PUBLISHED, "--name", "a part", "--max-sent", "60")
    output = brittle(*command)
    assert output.code == 3 and "The limit of 60 items" in output.err
    assert (
        "Resume with: brittle attack python:cli_models:weak pwws --data films.csv "
        "--candidates=paper --name 'a part' --max-sent 120\n" in output.err
    )
    assert brittle(*command).code == 3, "nothing more may be sent"
    data = json.loads(brittle("show", "a part", "--json").out)
    assert data["complete"] is False and data["totals"]["sent"] == 60
    again = (*AS_PUBLISHED, "--new", "--name", "a new one", "--max-sent=60")
    line = brittle(*again).err.split("Resume with: brittle ")[1]
    assert "--new " not in line and line.endswith("--max-sent 120\n")
    assert brittle(*shlex.split(line)).code == 3
    data = json.loads(brittle("show", "a new one", "--json").out)
    assert data["totals"]["sent"] == 120, "the printed line goes on"
    assert brittle(*AS_PUBLISHED, "--name", "a part", "--max-sent", "9999", "--quiet").code == 0
    assert json.loads(brittle("show", "a part", "--json").out)["complete"] is True


def test_an_interrupted_call_ends_with_130(
    brittle: Brittle, workdir: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def interrupted(*_: object, **__: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr("brittle.data.load", interrupted)
    output = brittle(*AS_PUBLISHED)
    assert output.code == 130 and "the same command resumes" in output.err
    monkeypatch.setattr("brittle.runs.trying.search", interrupted)
    output = brittle(*SENTENCE)
    assert (output.code, output.err) == (130, "brittle: interrupted.\n")


def test_other_settings_for_a_named_run_end_with_2(brittle: Brittle) -> None:
    output = brittle(*AS_PUBLISHED, "--name", "weak", "--share", "0.4")
    assert output.code == 2 and "settings was" in output.err and "--new" in output.err


def test_a_finished_run_is_shown_again(brittle: Brittle) -> None:
    output = brittle(*AS_PUBLISHED, "--name", "weak")
    assert output.code == 0 and "Nothing was left to do" in output.err and "--new" in output.err
    assert "attack success" in output.out and "10 of 11 attacked cases" in output.out

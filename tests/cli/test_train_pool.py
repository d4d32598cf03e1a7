"""`brittle train pool:…` and `brittle list pools`."""

from __future__ import annotations

import json
import sys
from dataclasses import replace
from pathlib import Path

import pytest

from brittle.cli.output import pool_progress
from brittle.studies.pool_tasks import MemberState
from cli.conftest import Brittle

TRAIN = ("train", "pool:mine.txt", "--data", "models.csv", "--workers", "1")


@pytest.fixture(autouse=True)
def data(workdir: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("BRITTLE_CACHE", str(tmp_path))
    rows = [f"a {word} film {n},{word}" for n in range(30) for word in ("good", "bad")]
    (workdir / "models.csv").write_text("\n".join(["text,label", *rows]) + "\n")
    (workdir / "mine.txt").write_text("naive-bayes\nlinear-svm\ncmd:cat\n")


def test_a_line_for_each_finished_model_then_the_table(brittle: Brittle) -> None:
    output = brittle(*TRAIN, "--seeds", "2")
    assert output.code == 0
    ahead, *lines = output.err.splitlines()
    assert ahead == "At most: 4 trainings. No time is known for this." and len(lines) == 4
    assert lines[0].startswith("1/4 zoo:naive-bayes@models.csv#0: trained, dev accuracy 1.000, ")
    head, *rows = output.out.splitlines()
    assert head.split() == ["member", "seed", "state", "dev", "accuracy", "seconds"]
    assert rows[0].split()[:4] == ["naive-bayes", "0", "trained", "1.000"]
    assert "pool:mine: 4 trained." in output.out
    assert "Not models of the zoo, so not trained: cmd:cat." in output.out
    again = brittle(*TRAIN, "--seeds", "2")
    assert not again.err and "pool:mine: 4 already there." in again.out
    assert not brittle(*TRAIN, "--quiet").out


def test_failures_are_named_and_the_same_command_resumes(brittle: Brittle, workdir: Path) -> None:
    (workdir / "mine.txt").write_text("naive-bayes\nMLP\n")
    output = brittle(*TRAIN, "--json", "--new")
    assert output.code == 3 and "--new" not in output.err
    [good, bad] = json.loads(output.out)["models"]
    assert (good["state"], good["reason"], good["dev accuracy"]) == ("trained", None, 1.0)
    assert Path(good["folder"]).is_dir()
    assert bad["state"] == "failed" and "MLP reads pictures" in bad["reason"]
    assert "1 of 2 models are not trained:\n  zoo:MLP@models.csv#0: The data set" in output.err
    assert "Resume with: brittle train pool:mine.txt --data models.csv" in output.err


@pytest.mark.parametrize(
    ("argv", "message"),
    [
        ((*TRAIN, "--set", "hidden=3"), "--set is for one model, but 'pool:mine.txt' is a pool"),
        ((*TRAIN, "--seed", "1"), "--seed is for one model"),
        ((*TRAIN, "--seeds", "3"), "got 3; expected 1 or 2"),
        (("train", "pool:smal", "--data", "models.csv"), "Unknown pool 'smal'. Did you mean"),
        (("train", "pool:small", "--data", "nowhere"), "Unknown data set 'nowhere'"),
        (("train", "naive-bayes", "--data", "models.csv", "--seeds", "2"), "--seeds is for pools"),
    ],
)
def test_strange_calls_are_usage_errors(
    brittle: Brittle, argv: tuple[str, ...], message: str
) -> None:
    output = brittle(*argv)
    assert output.code == 2 and message in output.err


def test_the_live_table(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(sys.stderr, "isatty", lambda: True)
    states = [
        MemberState("LSTM", 0, "zoo:LSTM@mr#0", "trained", 0.75, 28.4),
        MemberState("CNN", 0, "zoo:CNN@mr#0", "training", 0.7, 12.0, note="epoch 2/6"),
        MemberState("MLP", 0, "zoo:MLP@mr#0", "failed", note="it reads pictures"),
        MemberState("MiniLM", 0, "zoo:MiniLM@mr#0"),
    ]
    with pool_progress(quiet=False) as update:
        update(states, states[0])
    shown = capsys.readouterr().err
    for text in (
        "0.750",
        "28",
        "training: epoch 2/6",
        "1 waiting, 1 training, 1 trained, 1 failed",
    ):
        assert text in shown
    assert "it reads pictures" not in shown and "MiniLM" not in shown
    many = [states[1], *(replace(states[0], member=f"LSTM-{n}") for n in range(50))]
    with pool_progress(quiet=False) as update:
        update(many, many[0])
    shown = capsys.readouterr().err
    assert "LSTM-49" in shown and "LSTM-9" not in shown and "epoch 2/6" in shown


def test_pools_are_listed_with_what_is_trained(brittle: Brittle) -> None:
    shown = brittle("list", "pools").out
    assert "pool:small" in shown and "BiLSTM-C-Random-2" in shown and "none" in shown
    pools = {row["pool"]: row for row in json.loads(brittle("list", "pools", "--json").out)}
    assert len(pools["pool:paper"]["members"]) == 63
    models = brittle("list", "models").out
    assert "pool:offline" in models and "brittle train pool:NAME --data DATA" in models
    assert [
        row["pool"] for row in json.loads(brittle("list", "models", "--json").out)["pools"]
    ] == [*pools]


@pytest.mark.slow
def test_what_is_trained_of_a_pool_is_counted(brittle: Brittle) -> None:
    pytest.importorskip("torch")
    argv = ("train", "CNN-W-Random-1", "--data", "models.csv", "--quiet")
    for flags in ((), ("--seed", "1"), ("--size", "tiny", "--seed", "2"), ("--set", "filters=9")):
        assert brittle(*argv, *flags).code == 0
    rows = [line for line in brittle("list", "pools").out.splitlines() if " on models#" in line]
    assert len(rows) == 3 and all("1 on models#0, 1 on models#1" in row for row in rows)

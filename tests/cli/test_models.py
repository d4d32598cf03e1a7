"""`brittle train` with settings, and `brittle list models`."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from cli.conftest import Brittle

TRAIN = ("train", "naive-bayes", "--data", "models.csv", "--quiet", "--json")


@pytest.fixture(autouse=True)
def data(workdir: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("BRITTLE_CACHE", str(tmp_path))
    rows = [f"a {word} film {n},{word}" for n in range(30) for word in ("good", "bad")]
    (workdir / "models.csv").write_text("\n".join(["text,label", *rows]) + "\n")


def test_settings_are_given_on_the_command_line(brittle: Brittle) -> None:
    plain = json.loads(brittle(*TRAIN).out)["written"]
    output = brittle(*TRAIN, "--set", "smoothing=3", "--set", "smoothing=0.5")
    assert output.code == 0 and json.loads(output.out)["written"] != plain
    card = json.loads((Path(json.loads(output.out)["written"]) / "model.json").read_text())
    assert card["changed"] == {"smoothing": 0.5}
    labels = ("--labels", "positive=good,negative=bad")
    argv = ("attack", "zoo:naive-bayes@models.csv?smoothing=0.5", "pwws", "--data", "films.csv")
    assert brittle(*argv, *labels, "--limit", "2", "--quiet", "--name", "rough").code == 0
    runs = {run["run"]: run for run in json.loads(brittle("list", "runs", "--json").out)}
    assert runs["rough"]["target"] == "naive-bayes@models#0?smoothing=0.5"


@pytest.mark.parametrize(
    ("flags", "message"),
    [
        (("--set", "smothing=1"), "Unknown setting of naive-bayes 'smothing'. Did you mean"),
        (("--set", "smoothing"), "Expected NAME=VALUE, such as smoothing=1.0."),
        (("--set", "smoothing=-1"), "Expected a number above 0."),
        (("--size", "papper"), "Unknown size 'papper'. Did you mean 'paper'?"),
    ],
)
def test_strange_settings_are_usage_errors(
    brittle: Brittle, flags: tuple[str, ...], message: str
) -> None:
    output = brittle(*TRAIN, *flags)
    assert output.code == 2 and message in output.err


def test_the_listing_shows_parts_names_and_what_is_trained(brittle: Brittle) -> None:
    empty = brittle("list", "models")
    assert empty.code == 0 and "Nothing is trained yet" in empty.out
    for word in ("ENCODER-INPUT", "BiLSTM", "WC", "fastText", "attention", "CharCNN-LSTM", "hf:"):
        assert word in empty.out
    assert "LSTM-W-GloVe-4" not in empty.out  # the combinations are not written out
    brittle(*TRAIN, "--seed", "3", "--set", "smoothing=0.5")
    line = next(line for line in brittle("list", "models").out.splitlines() if "zoo:" in line)
    assert line.split()[0] == "zoo:naive-bayes@models#3?smoothing=0.5"
    assert line.split()[1].startswith(("0.", "1.")) and line.rstrip().endswith("MB")
    assert line.split()[2] == "-"  # a linear model has no gradients to check


def test_the_listing_shows_how_well_gradients_rank_edits(brittle: Brittle) -> None:
    pytest.importorskip("torch")
    argv = ("train", "CNN-C-Random-1", "--data", "models.csv", "--size", "tiny", "--quiet")
    brittle(*argv)
    shown = brittle("list", "models").out
    line = next(line for line in shown.splitlines() if "zoo:" in line)
    assert 0.1 < float(line.split()[2]) <= 1 and "(masked)" not in shown
    brittle(*argv, "--set", "character_scale=10000")
    assert "(masked)" in brittle("list", "models").out
    rows = json.loads(brittle("list", "models", "--json").out)["trained"]
    assert all(row["gradients"]["correlation"].keys() >= {"flip", "delete"} for row in rows)


def test_json_tells_everything(brittle: Brittle) -> None:
    brittle(*TRAIN, "--seed", "3", "--set", "smoothing=0.5")
    data = json.loads(brittle("list", "models", "--json").out)
    assert data["parts"]["encoders"]["CNN"]["layers"] == [1, 2, 4, 6]
    models = {row["model"]: row for row in data["models"]}
    assert len(models) > 500 and models["LSTM-W-GloVe-4"]["settings"]["embedding"] == 50
    [row] = data["trained"]
    assert models["naive-bayes"]["trained"] == [row["spec"]]
    assert (row["data"], row["seed"], row["changed"]) == ("models", 3, {"smoothing": 0.5})
    assert row["parameters"] > 60 and row["bytes"] > 500 and 0 <= row["dev accuracy"] <= 1


@pytest.mark.slow
def test_a_pair_network_is_trained_attacked_and_verified(brittle: Brittle, workdir: Path) -> None:
    pytest.importorskip("torch")
    pairs = [
        f"a {a} {n // 4} sits,a {b} sits,{'yes' if a == b else 'no'}"
        for n in range(80)
        for a, b in [(("man", "dog")[n % 2], ("man", "dog")[n // 2 % 2])]
    ]
    (workdir / "nli.csv").write_text("\n".join(["premise,hypothesis,label", *pairs]) + "\n")
    columns = ("--text", "premise,hypothesis")
    argv = ("train", "Average-W-Random-pair", "--data", "nli.csv", "--size", "tiny", "--quiet")
    assert brittle(*argv, *columns).code == 0
    spec = "zoo:Average-W-Random-pair@nli.csv?size=tiny"
    attack = ("attack", spec, "hotflip-words", "--data", "nli.csv", "--quiet", "--name", "pairs")
    output = brittle(*attack, *columns, "--locked", "premise", "--limit", "12", "--cosine", "0")
    assert output.code == 0, output.err
    brittle("export", "pairs", "pairs.jsonl")
    rows = [json.loads(line) for line in (workdir / "pairs.jsonl").read_text().splitlines()]
    assert {row["status"] for row in rows} >= {"broken"}
    for row in rows:
        if row["adversarial"] is not None:
            assert row["adversarial"].split("\n")[0] == row["original"].split("\n")[0]
    assert brittle("verify", "pairs").code == 0
    labels = ("--labels", "negative=no,positive=yes", "--quiet")
    single = brittle("attack", spec.replace(".csv", ""), "pwws", "--data", "films.csv", *labels)
    assert single.code == 2 and "--text FIRST,SECOND" in single.err

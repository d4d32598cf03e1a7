"""`brittle study select` and `brittle explain words`: what they print, write and refuse."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

from brittle.cli import console
from brittle.studies.pools import load_pool
from brittle.studies.selecting.selecting import CurvePoint, EnsembleCurves, SelectedEnsemble
from brittle.studies.selecting.view import ensembles_view
from brittle.studies.study import study_of
from brittle.studies.transfer.study import TransferStudy, Winner
from cli.conftest import Brittle

TEXTS = 40
SENTENCE = "a good film"


def save_study(path: Path, pool: str) -> TransferStudy:
    """A study of invented labels: rates from 0.2 to 0.8."""
    rng = np.random.default_rng(0)
    members = load_pool(pool, "mr", seeds=2).members
    names = [member.name for member in members]
    text = (("text", "a"),)
    winners = {name: tuple(Winner(f"c{n}", 0, text, text) for n in range(TEXTS)) for name in names}
    after = {
        target: {s: tuple(map(int, rng.random(TEXTS) < rng.uniform(0.2, 0.8))) for s in names}
        for target in names
    }
    before = {name: {f"c{n}": 0 for n in range(TEXTS)} for name in names}
    study: TransferStudy = study_of(
        "transfer",
        path.name.removesuffix(".study.json"),
        pool="small",
        attack="pwws",
        settings={"candidates": "careful"},
        data="mr",
        split="test",
        seed=0,
        labels=("neg", "pos"),
        attacked=TEXTS,
        sources=members,
        targets=members,
        winners=winners,
        before=before,
        after=after,
        twin_before=before,
    )
    study.save(path)
    return study


@pytest.fixture
def study(workdir: Path) -> TransferStudy:
    (workdir / "runs").mkdir(exist_ok=True)
    return save_study(workdir / "runs" / "invented.study.json", "pool:small")


def test_ensembles_of_every_size_and_method(brittle: Brittle, study: TransferStudy) -> None:
    output = brittle(
        "study", "select", "pool:small", "--size", "2..3,5", "--method", "all", "--json"
    )
    assert output.code == 0
    data = json.loads(output.out)
    methods = ["genetic", "greedy", "expert", "exhaustive", "paper's list"]
    rows = [(row["method"], row["size"]) for row in data["ensembles"]]
    assert rows == [(method, size) for method in methods for size in (2, 3, 5)]
    assert data["study"] == "invented" and len(data["held_out"]) >= 3
    assert data["attack"] == "pwws" and data["settings"] == {"candidates": "careful"}
    by_method = {(row["method"], row["size"]): row for row in data["ensembles"]}
    for size in (2, 3, 5):
        best = by_method["exhaustive", size]
        assert len(set(best["members"])) == size
        assert not set(best["members"]) & set(data["held_out"])
        assert best["objective"] >= by_method["genetic", size]["objective"] - 1e-12
        assert best["objective"] >= by_method["greedy", size]["objective"] - 1e-12
    # The objective, once more by hand, over the targets that are not held out.
    members = best["members"]
    targets = [t.name for t in study.targets if t.name not in data["held_out"]]
    rates = [max(np.mean(study.after[t][s]) for s in members) for t in targets]
    assert best["objective"] == pytest.approx(np.mean(rates))
    outside = [rate for target, rate in zip(targets, rates) if target not in members]
    assert best["outside"] == pytest.approx(np.mean(outside))


def test_what_a_person_sees(brittle: Brittle, study: TransferStudy) -> None:
    names = "LSTM-W-Random-1,CNN-C-Random-1"
    output = brittle("study", "select", "invented.study.json", "--size", "2", "--list", names)
    assert output.code == 0
    lines = output.out.splitlines()
    assert lines[0] == "study invented: pwws (candidates=careful) on mr, 27 sources"
    assert lines[1].startswith("in no ensemble: ")
    spec = "ensemble:zoo:CNN-C-Random-1@mr#0,zoo:LSTM-W-Random-1@mr#0"
    assert spec in lines
    assert (
        "no model is held out" in brittle("study", "select", "pool:small", "--held-out", "none").out
    )
    quiet = brittle("study", "select", "pool:small", "--quiet", "--size", "2")
    assert (quiet.code, quiet.out, quiet.err) == (0, "", "")


def test_a_spec_is_never_cropped(
    brittle: Brittle, study: TransferStudy, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COLUMNS", "40")
    words = ("study", "select", "pool:small", "--size", "4", "--method", "all")
    specs = {row["spec"] for row in json.loads(brittle(*words, "--json").out)["ensembles"]}
    lines = brittle(*words).out.splitlines()
    assert specs <= set(lines) and max(map(len, specs)) > 80


def test_attacked_rates_stand_with_texts_and_intervals(
    study: TransferStudy, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COLUMNS", "120")
    ensemble = SelectedEnsemble("list", study.targets[:2], 0.5, 0.4)
    points = (
        CurvePoint("list", 2, 7, 0.357, 5, None, (0.12, 0.6), None),
        CurvePoint("list", 2, 7, 0.5, 5, 0.25, (0.4, 0.6), (0.0, 0.5)),
    )
    curves = EnsembleCurves(points, None, 0.3, ())
    console.show(ensembles_view(study, [ensemble, ensemble], (), curves).block())
    lines = [" ".join(line.split()) for line in capsys.readouterr().out.splitlines()]
    assert any("2 list 50.0% 40.0% 7 35.7% (12.0–60.0) – " in line for line in lines)
    assert any("50.0% (40.0–60.0) 25.0% (0.0–50.0) " in line for line in lines)


def test_the_page_says_with_which_attack_and_settings(study: TransferStudy, tmp_path: Path) -> None:
    point = CurvePoint("greedy", 2, 7, 0.357, 5, 0.3, (0.12, 0.6), None)
    view = ensembles_view(study, [], (), EnsembleCurves((point,), None, 0.3, ()))
    assert "pwws (candidates=careful)" in view.html() and "<svg" in view.html()


@pytest.mark.parametrize("name", ["invented", "inv", "invented.study.json"])
def test_a_study_is_named_as_elsewhere(brittle: Brittle, study: TransferStudy, name: str) -> None:
    output = brittle("study", "select", name, "--size", "2", "--method", "greedy", "--json")
    assert output.code == 0 and json.loads(output.out)["study"] == "invented"


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (("pool:paper",), "brittle study transfer pool:paper pwws --data DATA"),
        (("pool:small", "--size", "2..99"), "the number of candidates"),
        (("pool:small", "--size", "7..2"), "expected sizes such as 3, 2..7"),
        (("pool:small", "--held-out", "MiniLM-4"), "Unknown model of the study: 'MiniLM-4'"),
        (("pool:small", "--list", "LSTM-W-Random-1,GPT"), "Unknown model of the study: 'GPT'"),
        (("nosuch",), "or the name or file of a study"),
        (("pool:small", "--held-out", "MiniLM", "--list", "MiniLM"), "in --list and in --held-out"),
        (("pool:small", "--out", "x.html"), "use it with --attack"),
        (("pool:small", "--attack", "--out", "x.pdf"), "ends in .html or .svg"),
    ],
)
def test_bad_selections(
    brittle: Brittle, study: TransferStudy, words: tuple[str, ...], message: str
) -> None:
    output = brittle("study", "select", *words)
    assert output.code == 2 and message in " ".join(output.err.split())


POOL = "pool:weighed.txt"


@pytest.fixture
def weighed(workdir: Path) -> None:
    lines = "python:cli_models:weak\npython:cli_models:strong\npython:cli_models:gone\n"
    (workdir / "weighed.txt").write_text(lines)


def test_the_importance_of_words(brittle: Brittle, weighed: None) -> None:
    output = brittle("explain", "words", POOL, SENTENCE, "--json")
    assert output.code == 0
    data = json.loads(output.out)
    assert (data["label"], data["label_is_majority"]) == ("positive", True)
    assert data["columns"] == ["a", "good", "film"]
    weak, strong = data["models"]
    log = np.log1p  # of the logit x, the log likelihood is −log(1 + exp(−x))
    known = [0.0, -log(np.exp(-2)) + log(1), 0.0]
    np.testing.assert_allclose(weak["drop"], known, atol=1e-9)
    known = [-log(np.exp(-2.5)) + log(np.exp(-2)), -log(np.exp(-2.5)) + log(np.exp(-0.5)), 0.0]
    np.testing.assert_allclose(strong["drop"], known, atol=1e-9)
    assert list(data["failures"]) == ["python:cli_models:gone"]
    output = brittle("explain", "words", POOL, SENTENCE)
    assert "Left out: python:cli_models:gone" in output.err
    assert "gold label positive (predicted by most models); 2 of 2 models predict it" in output.out
    assert output.out.splitlines()[-1].split() == ["mean", "0.02", "0.48", "0.00"]
    assert brittle("explain", "words", POOL, SENTENCE, "--quiet").out == ""


def test_importance_is_written(brittle: Brittle, weighed: None, workdir: Path) -> None:
    words = (POOL, SENTENCE, "--word", "good", "--label", "positive")
    assert "full" in brittle("explain", "words", *words, "--out", "map.html").out
    assert "Substitutes of good" in (workdir / "map.html").read_text()
    assert brittle("explain", "words", *words, "--out", "map.svg").code == 0
    assert (workdir / "map.svg").read_text().startswith("<svg xmlns")
    output = brittle("explain", "words", *words, "--out", "map.png")
    assert output.code == 2 and "ends in .html or .svg" in output.err
    one = brittle("explain", "words", "python:cli_models:weak", SENTENCE)
    assert one.code == 0 and "mean" not in one.out


@pytest.mark.parametrize("command", ["study select", "explain words"])
def test_help_has_examples(brittle: Brittle, command: str) -> None:
    output = brittle(*command.split(), "--help")
    assert output.code == 0 and f"brittle {command}" in output.out.split("examples", 1)[1]

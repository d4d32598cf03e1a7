"""Runs on pairs from end to end: what is checked before them, and what attacks learn from."""

from __future__ import annotations

import sqlite3
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import brittle
from brittle.cli import main
from brittle.data import Dataset, Example
from brittle.errors import UsageError
from brittle.runs.job import Job
from brittle.targets.options import Target
from brittle.text import Text

FIELDS = ("premise", "hypothesis")
MODEL = """
def entails(pairs):
    yes = ["asleep" not in pair["hypothesis"] for pair in pairs]
    return [[0.1, 0.9] if is_yes else [0.8, 0.2] for is_yes in yes]
entails.labels = ["no", "yes"]
"""
ROWS = [
    f"{who} plays {where}.,{who} {does}.,{label}"
    for who in ("A man", "A woman", "A girl", "The boy")
    for where in ("outside", "at home", "in a park", "on a stage")
    for does, label in (("makes music", "yes"), ("is asleep", "no"))
]


@pytest.fixture
def files(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    (tmp_path / "nli.csv").write_text("\n".join(["premise,hypothesis,gold", *ROWS]))
    (tmp_path / "pair_model.py").write_text(MODEL)
    monkeypatch.setenv("BRITTLE_CACHE", str(tmp_path / "cache"))
    monkeypatch.chdir(tmp_path)
    monkeypatch.syspath_prepend(str(tmp_path))
    return tmp_path


class Weak:
    """Right on 3 of 4 pairs; on 1 of 8 if they are exchanged and only then, on 1 of 8 never."""

    name, fingerprint, labels = "weak", "0", ("no", "yes")

    def scores(self, items: Sequence[Text]) -> Any:
        return np.array([self._score(*text.fields().values()) for text in items])

    def _score(self, premise: str, hypothesis: str) -> list[float]:
        n = int(premise.split()[-1])
        is_exchanged = premise.startswith("b")
        is_right = n % 8 < 6 or (n % 8 == 6 and is_exchanged)
        truth = n // 8 % 2
        return [0.3, 0.7] if (truth == 1) == is_right else [0.6, 0.4]


def numbered_pairs(count: int) -> list[dict[str, str]]:
    return [
        {"premise": f"a {n}", "hypothesis": f"b {n}", "label": ("no", "yes")[n // 8 % 2]}
        for n in range(count)
    ]


def test_a_run_asks_128_pairs_both_ways(tmp_path: Path) -> None:
    few = brittle.attack(Weak(), numbered_pairs(32), "key", folder=tmp_path, budget=1)
    assert few.manifest["warnings"] == []  # 4 of 32 could be chance
    run = brittle.attack(Weak(), numbered_pairs(140), "key", folder=tmp_path, budget=1)
    [warning] = run.manifest["warnings"]
    assert "Only 96 of 128 pairs" in warning and "but 112 do if premise and" in warning


@pytest.mark.parametrize("attack", ["strongest-swap", "tack-on", "genetic"])
@pytest.mark.parametrize("locked", [[], ["--locked", "premise"]])
def test_attacks_learn_from_pairs_of_a_file(files: Path, attack: str, locked: list[str]) -> None:
    command = ["attack", "python:pair_model:entails", attack, "--data", "nli.csv", "--name", "one"]
    command += [
        "--text",
        "premise,hypothesis",
        "--label",
        "gold",
        "--learn-from",
        f"{files}/nli.csv",
    ]
    command += ["--spare", "3"] if attack == "genetic" else []
    assert main([*command, *locked, "--limit", "4", "--budget", "20", "--quiet"]) == 0
    rows = brittle.open_run("one").results()
    assert len(rows) == 4 and all(row.status != "error" for row in rows)
    changed = {edit.field for row in rows for edit in row.edits}
    assert not locked or "premise" not in changed


def words_learnt(dataset: Dataset, learn_from: Path) -> set[str]:
    from pair_model import entails  # type: ignore[import-not-found]

    target = brittle.as_target(entails, fields=FIELDS)
    job: Any = Job.of(target, dataset, "strongest-swap", {"learn_from": str(learn_from)})
    return set(job.attack.strong.words)


def test_what_is_learnt_is_of_the_open_fields(files: Path) -> None:
    pairs = brittle.data.load("nli.csv", text=FIELDS, label="gold")
    assert {"park", "asleep"} <= words_learnt(pairs, files / "nli.csv")
    pairs = brittle.data.load("nli.csv", text=FIELDS, label="gold", locked=["premise"])
    words = words_learnt(pairs, files / "nli.csv")
    assert "asleep" in words and "park" not in words


def test_examples_without_a_table_are_learnt_for_by_the_names_of_their_fields(files: Path) -> None:
    (files / "train.csv").write_text("\n".join(["premise,hypothesis,label", *ROWS]))
    example = Example.of({"premise": "a", "hypothesis": "b"}, "yes", ["premise"])
    words = words_learnt(Dataset("mine", "all", (example,), ("yes",)), files / "train.csv")
    assert "asleep" in words and "park" not in words


def test_a_lone_text_column_is_learnt_from_by_its_name_too(files: Path) -> None:
    texts = brittle.data.load("nli.csv", text=["hypothesis"], label="gold")
    assert "asleep" in words_learnt(texts, files / "nli.csv")


def test_a_file_with_other_columns_is_read_by_the_usual_ones(files: Path) -> None:
    pairs = brittle.data.load("nli.csv", text=FIELDS, label="gold")
    (files / "usual.csv").write_text("text,label\nawake,yes\nasleep,no\n")
    assert words_learnt(pairs, files / "usual.csv") == {"asleep", "awake"}
    (files / "strange.csv").write_text("premise,sense\nawake,yes\nasleep,no\n")
    with pytest.raises(UsageError, match="'hypothesis'"):
        words_learnt(pairs, files / "strange.csv")


def trained(files: Path) -> str:
    pytest.importorskip("torch")
    columns: dict[str, Any] = {"text": FIELDS, "label": "gold"}
    folder = brittle.train("Average-W-Random-pair", "nli.csv", size="tiny", **columns)
    return str(folder)


def test_a_pair_network_refuses_other_data_before_a_run_is_stored(
    files: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    folder = trained(files)
    for target in (folder, brittle.as_target(folder)):
        with pytest.raises(UsageError, match=r"text of 1 fields \(text\).*sides of a pair"):
            brittle.attack(target, ["a lone text"], "key")
    command = ["attack", folder, "key", "--data", "nli.csv", "--text", "premise"]
    assert main([*command, "--label", "gold"]) == 2
    assert "sides of a pair" in capsys.readouterr().err
    assert not (files / "runs").exists()


def test_fields_in_another_order_than_in_training_are_told_by_name(files: Path) -> None:
    folder = trained(files)
    data = brittle.data.load("nli.csv", text=FIELDS[::-1], label="gold")
    run = brittle.attack(folder, data, "key", limit=3, budget=1)
    assert any("trained on premise, hypothesis" in w for w in run.manifest["warnings"])
    assert any("Use --text premise,hypothesis" in w for w in run.manifest["warnings"])
    data = brittle.data.load("nli.csv", text=FIELDS, label="gold")
    run = brittle.attack(folder, data, "key", limit=3, budget=1)
    assert not any("trained on" in w for w in run.manifest["warnings"])


def test_a_network_of_pairs_is_hardened_by_an_attack_that_learns(files: Path) -> None:
    pytest.importorskip("torch")
    path = files / "train.csv"
    path.write_text("\n".join(["premise,hypothesis,label", *ROWS]))
    method = f"strongest-swap,copies=4,learn_from={path}"
    name = "Average-W-Random-pair"
    folder = brittle.train(name, str(path), size="tiny", text=FIELDS, adversarial=method)
    assert brittle.as_target(str(folder)).name.startswith(f"{name}+strongest-swap")


def test_a_run_on_pairs_is_verified_on_its_own_target(
    files: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    data = ("--data", "nli.csv", "--text", "premise,hypothesis", "--label", "gold")
    words = ["attack", "python:pair_model:entails", "pwws", *data, "--limit", "8", "--name", "p"]
    assert main([*words, "--quiet"]) == 0
    for named in ([], ["--target", "python:pair_model:entails"]):
        assert main(["verify", "p", *named]) == 0
        output = capsys.readouterr()
        assert "still break" in output.out and "not the target" not in output.err

    def entails(pairs: list[Any]) -> list[dict[str, float]]:
        """Name the labels: it can only be opened by the fields of its pairs."""
        yes = [0.2 if "asleep" in pair["hypothesis"] else 0.9 for pair in pairs]
        return [{"yes": score, "no": 1 - score} for score in yes]

    pairs = [{"premise": "A man plays.", "hypothesis": "A man is asleep.", "label": "no"}]
    run = brittle.attack(entails, pairs, "key", folder="live")
    assert run.fields == FIELDS and run.verify(entails) == []


def test_a_run_before_its_first_row_knows_its_fields(files: Path) -> None:
    run = brittle.attack(Weak(), numbered_pairs(1), "key")
    with sqlite3.connect(run.path) as db:
        db.execute("DELETE FROM results")
    assert not run.results() and run.fields == FIELDS


def test_another_target_is_opened_with_the_mask_that_the_attack_asked_for(
    files: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    about = {"spec": "zoo:one", "wanted_mask": "pad"}
    pairs = numbered_pairs(3)
    run = brittle.attack(Weak(), pairs, "key", name="masked", about_target=about)
    opened: list[Target] = []

    def open_with(target: Target) -> Any:
        opened.append(target)
        return Weak()

    monkeypatch.setattr("brittle.opening.as_target", open_with)
    main(["verify", "masked", "--target", "zoo:two", "--quiet"])
    assert [(target.model, target.wanted_mask) for target in opened] == [("zoo:two", "pad")]
    assert opened[0].fields == FIELDS == run.fields

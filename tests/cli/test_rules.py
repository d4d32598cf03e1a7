"""`brittle rules`: mined, shown, checked, exported, and applied by an attack."""

from __future__ import annotations

import csv
import json
from pathlib import Path

import pytest

from cli.conftest import Brittle

pytestmark = pytest.mark.slow

MODEL = """
import numpy as np

class Weighed:
    labels = ("negative", "positive")

    def __init__(self, name, weights):
        self.name, self.fingerprint, self.weights = name, name, weights

    def logits(self, texts):
        sums = [sum(self.weights.get(str(w).lower(), 0.0) for w in t.words) for t in texts]
        return np.array([[-s, s] for s in sums])

    def scores(self, texts):
        e = np.exp(self.logits(texts))
        return e / e.sum(axis=1, keepdims=True)

one = Weighed("one", {"great": 1.0, "funny": 1.0, "dull": -2.0, "laughable": -1.0})
two = Weighed("two", {"great": 2.0, "outstanding": 1.0, "dull": -1.0, "ho-hum": 1.0})
three = Weighed("three", {"great": 1.0})

def reads_first(pairs):
    return [[0.2, 0.8] if "funny" in pair["first"] else [0.8, 0.2] for pair in pairs]

reads_first.labels = ["negative", "positive"]
"""
ENSEMBLE = "ensemble:python:ruled_models:one,python:ruled_models:two"
TEXTS = [("a great film that is funny to see", "positive"), ("a dull film it is", "negative")]


@pytest.fixture
def mined(workdir: Path, brittle: Brittle) -> str:
    (workdir / "ruled_models.py").write_text(MODEL)
    rows = [f"{text} {n} times,{label}" for n in range(12) for text, label in TEXTS]
    (workdir / "ruled.csv").write_text("\n".join(["text,label", *rows]) + "\n")
    done = brittle("rules", "mine", ENSEMBLE, "--data", "ruled.csv", "--out", "two.rules")
    assert (
        done.code == 0 and "rules by uawr (candidates=paper) from 22 texts: two.rules" in done.out
    )
    return "two.rules"


def test_rules_are_mined_shown_and_exported(mined: str, workdir: Path, brittle: Brittle) -> None:
    header, *rules = map(json.loads, (workdir / mined).read_text().splitlines())
    assert header["members"] == ["one", "two"] and header["rules"] == len(rules)
    assert header["candidates"] == "paper"
    assert header["command"] == (
        f"brittle rules mine {ENSEMBLE} --data ruled.csv --method uawr --min-support 1"
    )
    # The mean over both members of 2 · (w − w′), and the other label's alike.
    salience = {(r["word"], r["substitute"]): r["salience"] for r in rules}
    assert salience["funny", "laughable"] == pytest.approx(2 * (2.0 + 0.0) / 2)
    assert salience["great", "outstanding"] == pytest.approx(2 * (1.0 + 1.0) / 2)
    shown = brittle("list", "rules", mined, "--label", "positive", "--word", "Great", "--json")
    assert {r["word"] for r in json.loads(shown.out)["rules"]} == {"great"}
    text = brittle("list", "rules", mined, "--count", "3").out
    assert "3 shown" in text and "PMI positive" in text
    assert "uawr, candidates=paper, one, two" in text
    again = brittle("rules", "mine", ENSEMBLE, "--data", "ruled.csv", "--out", "x.rules")
    assert again.code == 0 and "begins" not in again.err
    exported = brittle("rules", "export", mined, "--to", "csv").out.splitlines()
    assert [row["word"] for row in csv.DictReader(exported)] == [r["word"] for r in rules]
    table = brittle("rules", "export", mined, "--to", "md").out.splitlines()
    assert table[0].startswith("| label | word |") and len(table) == len(rules) + 2
    assert brittle("rules", "export", mined, "--to", "jsonl", "--out", "x.jsonl").code == 0
    assert len((workdir / "x.jsonl").read_text().splitlines()) == len(rules)
    assert brittle("rules", "export", mined, "--out", "x.md").code == 0
    assert (workdir / "x.md").read_text().splitlines() == table
    assert brittle("rules", "export", mined, "--out", "x.txt", "--to", "md").code == 0
    assert (workdir / "x.txt").read_text() == (workdir / "x.md").read_text()
    refused = brittle("rules", "export", mined, "--out", "y.txt")
    assert refused.code == 2 and "ends in .csv, .jsonl, .md" in refused.err
    assert not (workdir / "y.txt").exists()


def test_a_corpus_is_checked(mined: str, brittle: Brittle) -> None:
    done = brittle("rules", "check", "--rules", mined, "--data", "ruled.csv", "--json")
    by_label = {part["label"]: part for part in json.loads(done.out)["by_label"]}
    assert by_label["positive"]["exposed_texts"] == by_label["positive"]["texts"] == 12
    block = brittle("rules", "check", "--rules", mined, "--data", "ruled.csv").out
    assert "with a rule" in block and "funny → laughable" in block
    assert "rules (in_context=True, candidates=paper)" in block
    assert json.loads(done.out)["settings"] == {"in_context": True, "candidates": "paper"}


def test_rules_are_applied(mined: str, brittle: Brittle) -> None:
    words = ["--rules", mined, "--share", "0.3", "--data", "ruled.csv", "--name", "ruled"]
    done = brittle("attack", "python:ruled_models:one", "rules", *words)
    assert done.code == 0 and "of the finished text" in done.out
    figures = json.loads(brittle("show", "ruled", "--json").out)
    assert figures["success_at_limit"]["of"] == figures["success"]["of"] > 0
    assert figures["success_at_limit"]["count"] <= figures["success"]["count"]


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["show", "none.rules"], "cannot be read"),
        (["mine", "--data", "ruled.csv", "--out", "x"], "needs an ensemble"),
        (["mine", ENSEMBLE, "--data", "films.csv", "--out", "x"], "Found no rule: no replacement"),
        (["mine", "python:cli_models:weak", "--data", "ruled.csv", "--out", "x"], "no logits"),
    ],
)
def test_what_is_refused(mined: str, words: list[str], message: str, brittle: Brittle) -> None:
    done = brittle("rules", *words)
    assert done.code == 2 and message in done.err


def test_pmi_rules_come_without_a_model(mined: str, workdir: Path, brittle: Brittle) -> None:
    done = brittle(
        "rules", "mine", "--method", "pmi", "--data", "ruled.csv", "--out", "pmi.rules", "--json"
    )
    assert json.loads(done.out)["method"] == "pmi"
    assert "no model" in brittle("list", "rules", "pmi.rules").out
    by_label = [
        brittle("list", "rules", "pmi.rules", "--label", name) for name in ("positive", " Positive")
    ]
    assert len({done.out for done in by_label}) == 1 and by_label[0].code == 0
    done = brittle("list", "rules", "pmi.rules", "--label", "fair")
    assert done.code == 2 and "Unknown label 'fair'" in done.err


def test_rules_of_several_sizes_are_tried_on_a_pool(
    mined: str, workdir: Path, brittle: Brittle
) -> None:
    three = f"{ENSEMBLE},python:ruled_models:three"
    words = ["--data", "ruled.csv", "--out", "all.rules", "--each-size"]
    done = brittle("rules", "mine", three, *words)
    assert done.code == 0 and "all.rules, all-2.rules" in done.out
    assert (workdir / "all-2.rules").read_text().splitlines()[1:] == (
        (workdir / mined).read_text().splitlines()[1:]
    )
    (workdir / "pool.txt").write_text("python:ruled_models:one\npython:ruled_models:two\n")
    call = ["rules", "try", "pool:pool.txt", "--rules", "all.rules", "all-2.rules"]
    done = brittle(*call, "--data", "ruled.csv", "--limit", "8", "--json")
    assert done.code == 0, done.err
    settings = {"share": 0.3, "in_context": True, "candidates": "paper"}
    assert json.loads(done.out)["settings"] == settings
    found = json.loads(done.out)["rules"]
    assert set(found) == {"all", "all-2"} and set(found["all"]) == {"models", "share of words"}
    figures = found["all"]["share of words"]["30%"]
    assert figures["at the limit"]["count"] <= figures["first prefix"]["count"]
    assert figures == found["all"]["models"]["all"]
    text = brittle(*call, "--data", "ruled.csv", "--limit", "8").out
    assert "all-2, by share of words" in text and "first prefix" in text
    assert "rules (share=0.3, in_context=True, candidates=paper)" in text
    rows = [f"{text},{text} {n},{label}" for n in range(4) for text, label in TEXTS]
    (workdir / "two-fields.csv").write_text("\n".join(["first,second,label", *rows]) + "\n")
    both = ("--data", "two-fields.csv", "--text", "first,second", "--json")
    spec = "python:ruled_models:reads_first"
    for locked, is_fooled in (("second", True), ("first", False)):
        done = brittle("rules", "try", spec, "--rules", mined, *both, "--locked", locked)
        assert done.code == 0, done.err
        models = json.loads(done.out)["rules"]["two"]["models"]
        assert (models["all"]["first prefix"]["count"] > 0) == is_fooled, locked
    done = brittle("rules", "mine", "python:ruled_models:one", *words)
    assert done.code == 2 and "several members" in done.err

"""A folder with small models and data, and one good file of every kind that brittle reads."""

from __future__ import annotations

import gzip
import json
from pathlib import Path

import numpy as np

MODEL = """
import hashlib, math

def weighed(salt):
    def classify(texts):
        logits = [sum(weight(salt, word) for word in text.lower().split()) for text in texts]
        return [[1 / (1 + math.exp(x)), 1 / (1 + math.exp(-x))] for x in logits]
    classify.labels = ["negative", "positive"]
    return classify

def weight(salt, word):
    return int.from_bytes(hashlib.sha256((salt + word).encode()).digest()[:4], "big") / 2**30 - 2

one, two = weighed("one"), weighed("two")
"""
WORDS = (
    *("good", "bad", "film", "story", "plot", "actor", "great", "dull"),
    *("love", "war", "bright", "dark", "happy", "sad", "idea", "quick"),
)
TARGET = "python:torture_model:one"
ENDPOINT = (
    'url = "http://127.0.0.1:9/"\nlabels = ["a", "b"]\nretries = 0\n[json]\ninputs = "{text}"\n'
)


def write_workspace(folder: Path, count: int = 60) -> Path:
    """Write the models and labelled texts, of which every second is positive."""
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "torture_model.py").write_text(MODEL, "utf-8")
    labels = ("negative", "positive")
    rows = [
        f"{' '.join(WORDS[(i * k + k) % 16] for k in range(1, 6))} {i},{labels[i % 2]}"
        for i in range(count)
    ]
    (folder / "films.csv").write_text("\n".join(["text,label", *rows]) + "\n", "utf-8")
    (folder / "pool.txt").write_text(
        "python:torture_model:one\npython:torture_model:two\n", "utf-8"
    )
    return folder


def write_files(folder: Path) -> dict[str, list[list[str]]]:
    """Write one good file of every kind; return the command lines that read each, by its name."""
    from brittle.cli import main

    rows = (folder / "films.csv").read_text("utf-8")
    (folder / "packed.csv.gz").write_bytes(gzip.compress(rows.encode()))
    pairs = [line.rsplit(",", 1) for line in rows.splitlines()[1:]]
    lines = [json.dumps({"text": text, "label": label}) for text, label in pairs]
    (folder / "films.jsonl").write_text("\n".join(lines) + "\n", "utf-8")
    (folder / "endpoint.toml").write_text(ENDPOINT, "utf-8")
    (folder / "words.json").write_text(json.dumps({w: ["film"] for w in WORDS}), "utf-8")
    pictures = np.arange(4 * 6 * 6).reshape(4, 6, 6) % 250
    np.savez(folder / "pictures.npz", images=pictures.astype(np.uint8), labels=np.arange(4) % 2)
    write_rules(folder / "rules.jsonl")
    quick = ["--data", "films.csv", "--limit", "4", "--quiet", "--workers", "1"]
    for words in (
        ["attack", TARGET, "pwws", *quick, "--name", "run"],
        ["study", "transfer", "pool:pool.txt", "key", *quick, "--name", "moved", "--seeds", "1"],
        [
            "study",
            "grid",
            "python:torture_model:one,python:torture_model:two",
            "key",
            *quick,
            "--name",
            "all",
        ],
        ["train", "naive-bayes", "--data", "films.csv", "--quiet"],
    ):
        assert main(words) == 0, words
    _write_skops(folder)
    attack = ["attack", TARGET, "key", "--limit", "2", "--quiet", "--new", "--name", "again"]
    on_films = ["--data", "films.csv", "--limit", "2", "--quiet", "--new", "--name", "again"]
    return {
        "runs/run.sqlite": [
            ["show", "run"],
            ["report", "run"],
            ["export", "run", "out.jsonl"],
            ["list", "runs"],
            ["compare", "run", "run"],
            ["attack", TARGET, "pwws", *quick, "--name", "run"],
        ],
        "runs/moved.study.json": [
            ["show", "moved"],
            ["report", "moved"],
            ["list", "studies"],
            ["export", "moved", "out.csv"],
        ],
        "runs/all.study.json": [
            ["show", "all"],
            ["report", "all"],
            ["list", "studies"],
            ["export", "all", "out.csv", "--texts"],
        ],
        "films.csv": [[*attack, "--data", "films.csv"]],
        "films.jsonl": [[*attack, "--data", "films.jsonl"]],
        "packed.csv.gz": [[*attack, "--data", "packed.csv.gz"]],
        "pictures.npz": [["attack", "python:torture_model:one", "noise", "--data", "pictures.npz"]],
        "endpoint.toml": [["attack", "http:endpoint.toml", "key", *on_films]],
        "words.json": [["attack", TARGET, "pwws", "--candidates", "words.json", *on_films]],
        "rules.jsonl": [["rules", "show", "rules.jsonl"], ["rules", "export", "rules.jsonl"]],
        "model.skops": [["attack", "model.skops", "key", *on_films]],
        **_model_files(folder),
    }


def _model_files(folder: Path) -> dict[str, list[list[str]]]:
    """Return the files of the trained model, with what reads them."""
    weights = next((folder / "cache" / "models").rglob("model.safetensors"))
    model = str(weights.parent.relative_to(folder))
    words = ["--data", "films.csv", "--limit", "2", "--quiet", "--new", "--name", "again"]
    readers = [["attack", f"{model}/", "key", *words], ["list", "models"]]
    return {f"{model}/{name}": readers for name in ("model.safetensors", "model.json")}


def write_rules(path: Path) -> None:
    from brittle.candidates.rules import Rule, Rules, save_rules

    rules = [Rule("positive", "good", "film", 1.0, 4), Rule("negative", "bad", "film", 0.5, 3)]
    save_rules(Rules(("negative", "positive"), tuple(rules), {"texts": 10}), path)


def _write_skops(folder: Path) -> None:
    import skops.io
    from sklearn.feature_extraction.text import CountVectorizer
    from sklearn.linear_model import LogisticRegression
    from sklearn.pipeline import make_pipeline

    model = make_pipeline(CountVectorizer(), LogisticRegression())
    model.fit(["a good film", "a bad film"], ["positive", "negative"])
    skops.io.dump(model, folder / "model.skops")

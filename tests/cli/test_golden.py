"""What commands print, exactly: a run, each kind of study, and comparisons, as files in golden/.

A line that is added to a summary, or worded otherwise, fails here. If it is meant,

    make golden

writes the files anew; `git diff tests/cli/golden` then shows what people will see.
"""

from __future__ import annotations

import contextlib
import difflib
import io
import re
from pathlib import Path

import pytest

from brittle.cli import main

FOLDER = Path(__file__).parent / "golden"
MODELS = """
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

ONE = {"good": 0.6, "great": 0.8, "funny": 0.5, "clever": 0.3, "smart": -0.6, "comic": -1.0}
ONE |= {"film": 0.2, "movie": -0.9, "story": 0.2, "tale": -0.5, "bad": -0.7, "dull": -0.6}
TWO = {"good": 0.9, "great": 0.4, "full": -0.9, "big": 0.1, "outstanding": -0.8, "bad": -0.8}
TWO |= {"dull": -0.9, "movie": 0.2, "film": -0.1, "ho-hum": 0.8, "tale": 0.3, "tough": 0.9}
THREE = {"good": 0.3, "great": 1.2, "funny": 0.2, "bad": -0.2, "dull": -1.1, "tale": 0.6}
one, two, three = Weighed("one", ONE), Weighed("two", TWO), Weighed("three", THREE)

def shout(texts):
    return [text.upper() for text in texts]

class Films:
    size, item_kind, words = 1, "text", ("good", "great", "dull", "bad")

    def encode(self, items):
        return [[self.words.index(str(item).split()[1])] for item in items]

    def decode(self, rows):
        return [f"a {self.words[min(3, max(0, round(float(r[0]))))]} film" for r in rows]
"""
TEXTS = (
    *("a good film with a clever story", "a great movie and a funny actor", "good and funny"),
    *("a good story of a big house", "the great old movie", "a great film , a great day"),
    "of and to",
    *("a dull film with a poor story", "the bad actor in a bad tale", "a dull and bad movie"),
    *("the story is dull", "a bad film for a big night", "a good try , a bad film"),
)
POSITIVE = 7  # how many of the texts
ONE, TWO, THREE = (f"python:golden_models:{name}" for name in ("one", "two", "three"))
POOL, DATA = f"{ONE},{TWO},{THREE}", ("--data", "films.csv")
ALONE = ("--workers", "1")
RULES = ("--rules", "mined.rules")
CLOUD = ("--generator", "python:golden_models:Films", "--data", "short.csv")
SEARCH = ("--radius", "4", "--samples", "20", "--step", "0.25")
COMMANDS: dict[str, tuple[str, ...]] = {
    "run": ("attack", ONE, "pwws", *DATA, "--candidates", "careful", "--name", "one"),
    "run-auto": ("attack", ONE, "auto", *DATA, "--limit", "7", "--name", "auto"),
    "run-paper": ("attack", ONE, "pwws", *DATA, "--candidates", "paper", "--name", "paper"),
    "run-exhaustive": ("attack", ONE, "exhaustive", *DATA, "--words", "2", "--name", "proved"),
    "run-characters": ("attack", ONE, "key", *DATA, "--name", "key"),
    "run-budget": ("attack", ONE, "genetic", *DATA, "--budget", "4", "--name", "few"),
    "run-toward": ("attack", TWO, "pwws", *DATA, "--toward", "negative", "--name", "toward"),
    "run-translator": (
        *("attack", "python:golden_models:shout", "random-swap", "--data", "plain.csv"),
        *("--answers", "text", "--goal", "keyword:MOVIE", "--name", "shout"),
    ),
    "run-other-target": (
        *("attack", TWO, "pwws", *DATA, "--candidates", "careful", "--name", "two"),
    ),
    "run-shown": ("show", "one", "--examples", "1"),
    "run-auto-whole": ("show", "auto", "--all", "--examples", "1"),
    "compare-two-runs": ("compare", "one", "two"),
    "compare-runs": ("compare", "one", "two", "paper", "key"),
    "study-grid": (
        "study",
        "grid",
        POOL,
        "pwws,key",
        *DATA,
        "--limit",
        "8",
        "--name",
        "grid",
        *ALONE,
    ),
    "study-transfer": (
        *("study", "transfer", POOL, "pwws", *DATA, "--resamples", "20", "--name", "moves", *ALONE),
    ),
    "study-transfer-key": (
        *("study", "transfer", POOL, "key", *DATA, "--resamples", "20", "--name", "typed", *ALONE),
    ),
    "study-robustness": ("study", "robustness", POOL, *CLOUD, *SEARCH, "--name", "near"),
    "study-robustness-seed": (
        *("study", "robustness", POOL, *CLOUD, *SEARCH, "--seed", "1", "--name", "other"),
    ),
    "compare-transfer": ("compare", "moves", "typed"),
    "compare-robustness": ("compare", "near", "other"),
    "select": ("study", "select", "moves", "--size", "2", "--held-out", "none", *ALONE),
    "importance": ("explain", "words", POOL, "a good film", "--label", "positive"),
    "rules-mine": (
        *("rules", "mine", f"ensemble:{ONE},{TWO}", "--data", "many.csv", "--out", RULES[1]),
        *ALONE,
    ),
    "rules-show": ("list", "rules", RULES[1]),
    "rules-try": ("rules", "try", POOL, *RULES, *DATA, *ALONE),
    "studies": ("list", "studies"),
}
"""The commands in the order in which they are run: later ones read what earlier ones left."""
VARYING = {
    r" texts · (?:[\d.]+ s|\d+ min \d+ s)$": " texts · … s",
    r"\d[\d,]* calls?, (?:[\d.]+ s|\d+ min \d+ s)": "… calls, … s",
    r"version:[\d.]+": "version:…",
}
"""What depends on the machine and on what is installed: the size of batches, time, a version."""


@pytest.fixture(scope="module")
def printed(tmp_path_factory: pytest.TempPathFactory) -> dict[str, str]:
    """Run all commands in a folder of their own; return what each wrote to stdout."""
    folder = tmp_path_factory.mktemp("golden")
    (folder / "golden_models.py").write_text(MODELS)
    labels = ["positive"] * POSITIVE + ["negative"] * (len(TEXTS) - POSITIVE)
    rows = [f'"{text}",{label}' for text, label in zip(TEXTS, labels)]
    (folder / "films.csv").write_text("\n".join(["text,label", *rows]) + "\n")
    many = [f'"{text} {n}",{label}' for n in range(4) for text, label in zip(TEXTS, labels)]
    (folder / "many.csv").write_text("\n".join(["text,label", *many]) + "\n")
    (folder / "plain.csv").write_text(
        "\n".join(["text", "a good film to see", "the old film of a day"]) + "\n"
    )
    short = ("a good film,positive", "a great film,positive", "a dull film,negative")
    (folder / "short.csv").write_text("\n".join(["text,label", *short]) + "\n")
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(folder)
        patch.syspath_prepend(folder)
        patch.setenv("COLUMNS", "80")
        return {name: stdout_of(*words) for name, words in COMMANDS.items()}


def stdout_of(*words: str) -> str:
    with contextlib.redirect_stdout(io.StringIO()) as out:
        code = main(words)
    assert code == 0, (words, out.getvalue())
    text = "".join(f"{line.rstrip()}\n" for line in out.getvalue().splitlines())
    for pattern, instead in VARYING.items():
        text = re.sub(pattern, instead, text, flags=re.MULTILINE)
    return text


@pytest.mark.parametrize("name", COMMANDS)
def test_a_command_prints_what_it_did(
    name: str, printed: dict[str, str], request: pytest.FixtureRequest
) -> None:
    file, now = FOLDER / f"{name}.txt", f"$ brittle {' '.join(COMMANDS[name])}\n\n{printed[name]}"
    if request.config.getoption("--update-golden"):
        file.write_text(now, "utf-8")
    before = file.read_text("utf-8") if file.exists() else ""
    diff = difflib.unified_diff(before.splitlines(), now.splitlines(), "before", "now", "", "", 2)
    assert now == before, (
        f"{file.name} is no longer what `brittle {COMMANDS[name][0]}` prints. If it should print "
        "this, run `make golden` and commit the files.\n" + "\n".join(diff)
    )


def test_every_file_is_that_of_a_command() -> None:
    assert {file.stem for file in FOLDER.iterdir()} == set(COMMANDS)

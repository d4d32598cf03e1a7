"""A folder with a model, data and two runs, and the command line called in this process."""

from __future__ import annotations

import shutil
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import pytest

from brittle.cli import main

MODEL = """
from math import exp

def weighed(weights):
    def classify(texts):
        logits = [sum(weights.get(word.lower(), 0.0) for word in text.split()) for text in texts]
        return [[1 / (1 + exp(x)), 1 / (1 + exp(-x))] for x in logits]
    classify.labels = ["negative", "positive"]
    return classify

weak = weighed({"good": 2.0, "bad": -2.0})
other = weighed({"good": 1.5, "bad": -1.0})
strong = weighed({"good": 2.0, "full": 2.0, "goodness": 2.0, "a": 0.5, "bad": -2.0})
"""


@dataclass(frozen=True)
class Output:
    """What a command printed, and its exit code."""

    code: int
    out: str
    err: str


Brittle = Callable[..., Output]


@pytest.fixture(scope="session")
def template(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder that each file of tests gets a copy of; its runs are named weak and strong."""
    folder = tmp_path_factory.mktemp("template")
    (folder / "cli_models.py").write_text(MODEL)
    texts = [f"a good film of {i} scenes,positive" for i in range(10)]
    (folder / "films.csv").write_text(
        "\n".join(["text,label", *texts, "a bad one,negative"]) + "\n"
    )
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(folder)
        patch.syspath_prepend(folder)
        for name in ("weak", "strong"):
            argv = ["attack", f"python:cli_models:{name}", "pwws", "--data", "films.csv"]
            assert main([*argv, "--name", name, "--quiet", "--candidates=paper"]) == 0
    return folder


@pytest.fixture(scope="module")
def workdir(template: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Copy the folder for one file of tests, so that names of runs meet no others."""
    return shutil.copytree(template, tmp_path_factory.mktemp("workdir") / "copy")


@pytest.fixture
def brittle(
    workdir: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> Brittle:
    """Call a command in the folder; usage errors of the parser give their exit code too."""
    monkeypatch.chdir(workdir)
    monkeypatch.syspath_prepend(workdir)
    monkeypatch.setenv("COLUMNS", "100")

    def call(*argv: str) -> Output:
        try:
            code = main(argv)
        except SystemExit as left:
            code = int(left.code or 0)
        return Output(code, *capsys.readouterr())

    return call

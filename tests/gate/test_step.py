"""The step of a pipeline, as the Action runs it, and the Action's file."""

from __future__ import annotations

import shlex
from collections.abc import Callable
from pathlib import Path

import pytest

from brittle.ci.step import arguments, main
from brittle.testing import FakeTarget

ROOT = Path(__file__).parents[2]
MODEL = """
from brittle.testing import FakeTarget
weak, strong = FakeTarget({"good": 2.0}), FakeTarget({"good": 2.0, "a": 9.0})
classify_weak, classify_strong = weak.scores, strong.scores
"""
Step = Callable[..., tuple[int, str]]


@pytest.fixture
def step(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Step:
    """Return a function that runs the step in a project, and returns what the summary got."""
    rows = [f"a good film number {n},positive" for n in range(12)]
    (tmp_path / "films.csv").write_text("\n".join(["text,label", *rows]) + "\n")
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("BRITTLE_MEASURES", "none")
    targets = {"strong": FakeTarget({"good": 2.0, "a": 9.0}), "weak": FakeTarget({"good": 2.0})}

    def call(model: str, *words: str) -> tuple[int, str]:
        summary = tmp_path / "summary.md"
        summary.unlink(missing_ok=True)
        monkeypatch.setattr(
            "brittle.runs.runner.as_target", lambda target: targets[str(target.model)]
        )
        code = main([model, "pwws", "--data", "films.csv", "--summary", str(summary), *words])
        return code, summary.read_text() if summary.exists() else ""

    return call


def test_two_commits(step: Step, tmp_path: Path) -> None:
    code, said = step("strong")
    assert code == 0 and "there is no baseline yet" in said, "a first pull request does not fail"
    assert step("strong", "--strict")[0] == 1
    code, said = step("strong", "--write-baseline")
    assert code == 0 and "Baseline written" in said
    before = (tmp_path / ".brittle/baseline.sqlite").read_bytes()
    code, said = step("strong", "--max-broken", "", "--accepted", "", "--limit", "")
    assert code == 0 and said.startswith("## Robustness: pass")
    code, said = step("weak")
    assert code == 1 and said.startswith("## Robustness: fail\n\n'candidate' is worse")
    assert "### 12 cases newly broken, 5 of them" in said and "~~good~~" in said
    assert "Newly broken" in (tmp_path / ".brittle/report.html").read_text()
    assert (tmp_path / ".brittle/baseline.sqlite").read_bytes() == before


def test_a_wrong_call_ends_with_2(step: Step) -> None:
    assert step("weak", "--max-broken", "7")[0] == 2


def test_the_action_passes_arguments_that_the_step_knows() -> None:
    text = (ROOT / "action.yml").read_text()
    [command] = [part for part in text.split("run: >-\n") if part.startswith("        python -m")]
    words = shlex.split(command.split("    - if")[0])
    assert words[:3] == ["python", "-m", "brittle.ci.step"]
    values = {"$LIMIT": "5", "$STRICT": "--strict", "$BASELINE": "--write-baseline"}
    args = arguments([values.get(word, word.replace("$", "")) for word in words[3:]])
    assert (args.target, args.limit, args.strict, args.write_baseline) == (
        "TARGET",
        "5",
        True,
        True,
    )
    shells = [part.split("\n\n")[0] for part in text.split("run:")[1:]]
    assert not any("${{" in part.split("- if")[0] for part in shells), "no value becomes shell code"
    assert "permissions" not in text and "secrets" not in text

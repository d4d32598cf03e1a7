"""The command line opens translators as it is told, and refuses what they do not have."""

from __future__ import annotations

import argparse

import pytest

from brittle.cli.command import add_target_flags
from brittle.cli.targets import describe_target, open_target
from brittle.errors import UsageError


def parsed(*words: str) -> argparse.Namespace:
    parser = argparse.ArgumentParser()
    parser.add_argument("target")
    parser.add_argument("--quiet", action="store_true")
    add_target_flags(parser)
    return parser.parse_args(words)


def test_answers_decide_what_a_program_is() -> None:
    args = parsed("cmd:cat", "--answers", "text")
    assert hasattr(open_target(args), "translate")
    assert describe_target(args)["answers"] == "text"
    assert hasattr(open_target(parsed("cmd:cat", "--labels", "a,b")), "scores")


def test_what_a_translator_does_not_have_is_refused() -> None:
    for words in (("--labels", "a,b"), ("--scores", "label")):
        with pytest.raises(UsageError, match="no labels and no scores"):
            open_target(parsed("filter:cat", *words))

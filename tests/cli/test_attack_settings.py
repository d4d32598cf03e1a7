"""The settings of the attack that a command line names are flags of its command."""

from __future__ import annotations

from pathlib import Path

import pytest

from brittle.cli.attack_flags import named_attacks, parsed_settings
from brittle.cli.commands import load_command
from brittle.cli.parser import build_parser
from cli.conftest import Brittle

OWN = """
def limited(*, limit: int = 3): ...

def negated(*, no_retry: bool = False, retry: bool = True): ...
"""


@pytest.mark.parametrize(
    ("line", "attack"),
    [
        ("attack x pwws", "pwws"),
        ("attack x PWWS --help", "PWWS"),
        ("attack --name pwws x genetic", "genetic"),
        ("attack --name=pwws --new x genetic --limit 3", "genetic"),
        ("attack x --share 0.3 pwws --data mr", "pwws"),
        ("attack x strongest-swap --n 3 --data mr", "strongest-swap"),
        ("attack pwws", None),
        ("attack x pwsw --data pwws", None),
        ("attack x pwws --limit 0", None),
        ("attack", None),
        ("try x y --attack genetic", "genetic"),
        ("try x y --attack=genetic -h", "genetic"),
        ("try x pwws", None),
        ("train LSTM --data mr --adversarial pwws,copies=3", "pwws"),
        ("train LSTM --data mr --adversarial hotflip", None),
        ("train pwws --help", None),
        ("show pwws", None),
        ("study transfer pool:small pwws", "pwws"),
    ],
)
def test_the_attack_is_found_wherever_it_stands(line: str, attack: str | None) -> None:
    command, *words = line.replace("study transfer", "study_transfer").split()
    command = command.replace("_", " ")
    assert named_attacks(load_command(command), words) == ([] if attack is None else [attack])


def test_a_command_that_takes_several_attacks_has_them_all() -> None:
    words = ["a,b", "pwws,key:share=1,python:mine:shout,key", "--data", "mr"]
    assert named_attacks(load_command("study grid"), words) == ["pwws", "key", "python:mine:shout"]


def test_a_setting_is_not_taken_for_the_start_of_a_flag() -> None:
    words = ["attack", "x", "strongest-swap", "--data", "mr", "--n", "3", "--words", "7"]
    args = build_parser(words).parse_args(words)
    assert parsed_settings(args) == {"n": 3, "words": 7} and args.name is None


def test_a_setting_that_training_has_already_is_one_flag(brittle: Brittle) -> None:
    output = brittle("train", "LSTM", "--data", "mr", "--adversarial", "pwws", "--help")
    assert output.code == 0 and "settings of pwws" in output.out and "--no-inflect" in output.out
    assert output.out.count("  --share ") == 1


@pytest.mark.parametrize(("name", "setting"), [("limited", "limit"), ("negated", "retry")])
def test_a_setting_with_the_name_of_a_flag_is_refused(
    brittle: Brittle, workdir: Path, name: str, setting: str
) -> None:
    (workdir / "cli_collisions.py").write_text(OWN)
    output = brittle("attack", "x", f"python:cli_collisions:{name}", "--data", "films.csv")
    assert output.code == 2 and output.out == ""
    assert (
        f"The setting '{setting}' of python:cli_collisions:{name} is also a flag of" in output.err
    )
    assert "brittle attack. Give the setting another name." in output.err

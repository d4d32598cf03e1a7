"""Help: brittle on one screen, the usual flags of a command, all flags, and what is missing."""

from __future__ import annotations

import pytest

from brittle.cli.commands import HEADINGS, OWN_COMMANDS, command_names, commands
from brittle.cli.help import HELP_ALL
from brittle.cli.parser import MAX_FLAGS, command_parsers
from cli.conftest import Brittle

PARSERS = dict(command_parsers())


def test_brittle_help_is_one_screen(brittle: Brittle, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", "80")
    lines = brittle("--help").out.splitlines()
    assert len(lines) <= 24 and max(map(len, lines)) <= 80
    headings = [line.split()[0] for line in lines if line[:8].strip() in HEADINGS]
    assert headings == list(HEADINGS)
    shown = [line[8:18].strip() for line in lines[3:] if line[:8].strip() in ("", *HEADINGS)]
    assert [name for name in shown if name] == command_names()


@pytest.mark.parametrize("columns", [80, 120])
@pytest.mark.parametrize("name", PARSERS)
def test_every_screen_fits(
    name: str, columns: int, brittle: Brittle, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COLUMNS", str(columns))
    for flag in ("--help", HELP_ALL):
        output = brittle(*name.split(), flag)
        assert output.code == 0 and not output.err
        prose = [line for line in output.out.splitlines() if not line.startswith("  brittle ")]
        assert max(map(len, prose)) <= columns, max(prose, key=len)


@pytest.mark.parametrize("name", PARSERS)
def test_a_command_with_many_flags_shows_the_usual_ones(name: str, brittle: Brittle) -> None:
    parser = PARSERS[name]
    flags = [a for a in parser._actions if a.option_strings and a.help != "==SUPPRESS=="]
    shown = brittle(*name.split(), "--help").out
    if len(flags) - 2 <= MAX_FLAGS:
        return
    assert HELP_ALL in shown, f"{name} has {len(flags)} flags: say in `usual` which are usual"
    few = shown.count("\n  --")
    assert few <= MAX_FLAGS + 3
    whole = brittle(*name.split(), HELP_ALL).out
    assert all(action.option_strings[-1] in whole for action in flags)
    assert whole.count("\n  --") > few


@pytest.mark.parametrize("name", PARSERS)
def test_every_flag_has_one_sentence_of_help(name: str) -> None:
    for action in PARSERS[name]._actions:
        assert action.help, (name, action)
        assert "  " not in action.help and "\n" not in action.help
        assert not action.help.rstrip(")").endswith("."), (name, action.option_strings)


def test_help_of_attack_is_short_and_the_settings_of_an_attack_stay(brittle: Brittle) -> None:
    usual = brittle("attack", "--help").out
    assert usual.count("\n  brittle attack ") <= 5 and len(usual.splitlines()) <= 50
    assert "--watchdog" not in usual and "--budget" in usual
    whole = brittle("attack", HELP_ALL).out
    assert "--watchdog" in whole and "\ntargets:\n" in whole and "zoo:NAME" in whole
    named = brittle("attack", "x", "genetic", "--help").out
    assert "settings of genetic" in named and "--population" in named and "--watchdog" not in named


def test_every_group_lists_its_commands(brittle: Brittle) -> None:
    groups = {name.partition(" ")[0] for name in OWN_COMMANDS if " " in name}
    for group in groups:
        shown = brittle(group, "--help").out
        for one in command_names(group):
            assert commands()[f"{group} {one}"].help[:30] in " ".join(shown.split())


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (("attack",), "brittle attack needs a target, an attack and --data, for example: brittle "),
        (("study",), "brittle study needs a command: transfer, grid, robustness or select."),
        (("study", "grid", "x"), "brittle study grid needs attacks and --data, for example:"),
        (("try", "x", "a", "b"), "brittle try takes no further words, and got b."),
        (("try", "x", "a", "--budget"), "brittle: --budget of brittle try needs a value after it"),
        (("show",), "brittle show needs a run, for example: brittle show demo\n"),
        (("list",), "brittle list needs a kind, for example: brittle list runs"),
    ],
)
def test_what_is_missing_is_one_line_with_an_example(
    brittle: Brittle, words: tuple[str, ...], message: str
) -> None:
    output = brittle(*words)
    assert (output.code, output.out) == (2, "") and output.err.startswith(message)
    assert "usage" not in output.err and len(output.err.splitlines()) == 1

"""What Tab offers, from the parsers; and the scripts of the shells, in the shells."""

from __future__ import annotations

import os
import shlex
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from brittle.attacks import ATTACKS
from brittle.cli.completion import split_line
from brittle.cli.parser import COMMANDS
from cli.conftest import Brittle

Offered = Callable[..., list[str]]
BREAKS = " \t\n\"'@><=;|&(:"


@pytest.fixture
def offered(brittle: Brittle) -> Offered:
    """Return the words that are offered for the last of the words."""

    def ask(*words: str) -> list[str]:
        line = shlex.join(["brittle", *words])
        output = brittle("completion", "fish", "--line", line)
        assert output.code == 0 and not output.err
        return [line.split("\t")[0] for line in output.out.splitlines()]

    return ask


def test_commands_and_flags(offered: Offered) -> None:
    assert offered("") == list(COMMANDS) and offered("at") == ["attack"]
    assert offered("--v") == ["--version"]
    assert offered("attack", "--bud") == ["--budget"]
    assert {"mine", "check"} <= set(offered("rules", ""))
    assert "--each-size" in offered("rules", "mine", "x", "--e")
    assert offered("nothing", "") == [] and "--line" not in offered("completion", "--")


def test_values_by_what_they_are(offered: Offered, workdir: Path) -> None:
    assert offered("attack", "x", "") == list(ATTACKS)
    assert offered("attack", "x", "pwws", "--data", "m") == ["mr", "mnist"]
    assert offered("attack", "x", "pwws", "--data=im") == ["--data=imdb"]
    assert offered("attack", "--limit", "3", "zoo:naive-b") == ["zoo:naive-bayes@"]
    assert offered("attack", "zoo:naive-bayes@b") == ["zoo:naive-bayes@bbc"]
    assert "zoo:LSTM-WC-ELMo-1-max@" in offered("try", "zoo:LSTM-WC-ELMo-1-ma")
    assert {"zoo:", "http:", "cmd:"} <= set(offered("attack", ""))
    assert offered("attack", "x", "pwws", "--scores", "l") == ["logits", "label"]
    assert offered("grid", "x", "key,salient") == ["key,salient-swap"]
    assert {"weak", "strong"} <= set(offered("show", "")) and "weak" in offered("compare", "x", "w")
    assert offered("show", "--runs", "nowhere", "") == []
    assert "pool:small" in offered("transfer", "pool:")
    assert offered("export", "weak", "") == []  # a file: the shell's own business


def test_the_settings_of_the_named_attack(offered: Offered) -> None:
    assert offered("attack", "x", "genetic", "--pop") == ["--population"]
    assert offered("attack", "x", "pwws", "--pop") == []
    assert offered("try", "x", "y", "--attack", "genetic", "--pop") == ["--population"]


def test_no_code_of_the_user_runs(offered: Offered, workdir: Path) -> None:
    (workdir / "trap_attack.py").write_text("raise SystemExit('ran')")
    assert offered("attack", "x", "python:trap_attack:f", "--bud") == ["--budget"]


@pytest.mark.parametrize("line", ["", "brittle", "brittle 'a", 'brittle "a \\', "brittle a\\"])
def test_any_line_is_split(line: str, brittle: Brittle) -> None:
    assert isinstance(split_line(line), list)
    assert brittle("completion", "bash", "--line", line).code == 0


def test_bash_replaces_what_follows_a_word_break(brittle: Brittle) -> None:
    def offer(line: str) -> str:
        return brittle("completion", "bash", "--line", line, "--breaks", BREAKS).out.strip()

    assert offer("brittle attack zoo:naive-b") == "naive-bayes@"
    assert offer("brittle attack zoo:naive-bayes@im") == "@imdb"
    assert offer("brittle attack x pwws --data=im") == "imdb"
    assert offer("brittle sho") == "show"


SESSIONS = {
    "bash": """
eval "$(brittle completion bash)"
COMP_LINE="brittle attack x pwws --sto" COMP_POINT=27 COMP_WORDBREAKS=$' \\n:=@'
_brittle; printf '%s\\n' "${COMPREPLY[@]}"
""",
    "zsh": """
zmodload zsh/zpty
zpty shell 'zsh -f -i'
zpty -w shell 'autoload -Uz compinit; compinit -u -D; eval "$(brittle completion zsh)"'
zpty -w shell 'print re''ady'
zpty -r shell line '*ready*'
zpty -w -n shell $'brittle attack x pwws --sto\\t'
zpty -r shell line '*--stop-words*' && print -- --stop-words
zpty -d shell
""",
    "fish": """
brittle completion fish | source
complete -C 'brittle attack x pwws --sto'
""",
}


@pytest.mark.slow
@pytest.mark.parametrize("shell", SESSIONS)
def test_a_real_shell_completes(shell: str, tmp_path: Path) -> None:
    if shutil.which(shell) is None:
        pytest.skip(f"{shell} is not installed")
    script = tmp_path / "brittle"
    script.write_text(f'#!/bin/sh\nexec "{sys.executable}" -m brittle.cli "$@"\n')
    script.chmod(0o755)
    env = os.environ | {"PATH": f"{tmp_path}:{os.environ['PATH']}", "TERM": "dumb"}
    arguments = {"bash": ["--norc"], "zsh": ["-f"], "fish": ["--no-config"]}[shell]
    done = subprocess.run(
        [shell, *arguments, "-c", SESSIONS[shell]],
        capture_output=True,
        text=True,
        env=env,
        timeout=300,
    )
    assert "--stop-words" in done.stdout, done.stderr

"""What Tab offers, from the parsers; and the scripts of the shells, in the shells."""

from __future__ import annotations

import shlex
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from brittle.attacks import ATTACKS
from brittle.cli.commands import command_names
from brittle.cli.shells import ShellLine, quote, read_line
from cli.conftest import Brittle

Offered = Callable[..., list[str]]


@pytest.fixture
def offered(brittle: Brittle) -> Offered:
    """Return the words that are offered for the last of the words."""

    def ask(*words: str) -> list[str]:
        line = shlex.join(["brittle", *words])
        output = brittle("setup", "completion", "fish", "--line", line)
        assert output.code == 0 and not output.err
        return [one.split("\t")[0] for one in output.out.split("\0")[:-1]]

    return ask


def test_commands_and_flags(offered: Offered) -> None:
    assert offered("") == command_names() and offered("at") == ["attack"]
    assert offered("--v") == ["--version"]
    assert offered("attack", "--bud") == ["--budget"]
    assert {"mine", "check"} <= set(offered("rules", ""))
    assert "--each-size" in offered("rules", "mine", "x", "--e")
    assert offered("nothing", "") == [] and "--line" not in offered("setup", "completion", "--")


def test_values_by_what_they_are(offered: Offered, workdir: Path) -> None:
    assert offered("attack", "x", "") == list(ATTACKS)
    assert offered("attack", "x", "pwws", "--data", "m") == ["mr", "mnist"]
    assert offered("attack", "x", "pwws", "--data=im") == ["--data=imdb"]
    assert offered("attack", "--limit", "3", "zoo:naive-b") == ["zoo:naive-bayes@"]
    assert offered("attack", "zoo:naive-bayes@b") == ["zoo:naive-bayes@bbc"]
    assert "zoo:LSTM-WC-ELMo-1-max@" in offered("try", "zoo:LSTM-WC-ELMo-1-ma")
    assert {"zoo:", "http:", "cmd:"} <= set(offered("attack", ""))
    assert offered("attack", "x", "pwws", "--scores", "l") == ["logits", "label"]
    assert offered("study", "grid", "x", "key,salient") == ["key,salient-swap"]
    assert {"weak", "strong"} <= set(offered("show", "")) and "weak" in offered("compare", "x", "w")
    assert offered("show", "--runs", "nowhere", "") == []
    assert "pool:small" in offered("study", "transfer", "pool:")
    assert offered("export", "weak", "") == []  # a file: the shell's own business


def test_the_settings_of_the_named_attack(offered: Offered) -> None:
    assert offered("attack", "x", "genetic", "--pop") == ["--population"]
    assert offered("attack", "x", "pwws", "--pop") == []
    assert offered("try", "x", "y", "--attack", "genetic", "--pop") == ["--population"]


def test_no_code_of_the_user_runs(offered: Offered, workdir: Path) -> None:
    (workdir / "trap_attack.py").write_text("raise SystemExit('ran')")
    assert offered("attack", "x", "python:trap_attack:f", "--bud") == ["--budget"]


@pytest.mark.parametrize(
    "line", ["", "brittle", "brittle 'a", 'brittle "a \\', "brittle a\\", "brittle $'a\\"]
)
def test_any_line_is_read(line: str, brittle: Brittle) -> None:
    assert read_line(line).words
    assert brittle("setup", "completion", "bash", "--line", line).code == 0


@given(st.lists(st.text("a\\'\" $`é!\n\t\x1b", min_size=1), min_size=1, max_size=3))
def test_what_is_quoted_is_read_back(words: list[str]) -> None:
    line = " ".join(map(quote, words))
    assert read_line(line) == ShellLine(tuple(words))


@given(st.text("ab\\'\" $`é!~*;\n\t\x1b"), st.text("ab\\'\" $`é!~*;\n\t\x1b"))
@settings(max_examples=30, deadline=None)
def test_bash_reads_a_quoted_text_as_one_word(before: str, text: str) -> None:
    """Also where the word is begun in a quote, which readline closes."""
    opened = {"'": "'", '"': '"', "$'": "'"}
    words = [start + quote(text, start) + end for start, end in opened.items()]
    words += [quote(text), quote(before) + quote(text)]
    script = f"printf '%s\\0' {' '.join(words)}"
    printed = subprocess.run(["bash", "--norc", "-c", script], capture_output=True, check=True)
    assert printed.stdout.decode().split("\0")[:-1] == [text] * 4 + [before + text]


def test_bash_replaces_what_follows_a_word_break(brittle: Brittle) -> None:
    def offer(line: str, replaced: str) -> str:
        output = brittle("setup", "completion", "bash", "--line", line, "--replaced", replaced)
        return output.out.rstrip("\0")

    assert offer("brittle attack zoo:naive-b", "naive-b") == "naive-bayes@"
    assert offer("brittle attack zoo:naive-bayes@im", "@im") == "@imdb"
    assert offer("brittle attack x pwws --data=im", "im") == "imdb"
    assert offer("brittle sho", "sho") == "show"
    assert offer("brittle attack 'zoo:naive-b", "zoo:naive-b") == "zoo:naive-bayes@"

"""Whatever a model, an endpoint or a file says, it steers no terminal."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from rich.console import Group
from rich.table import Table
from rich.text import Text

from brittle import redaction
from brittle.cli import console, main

NASTY = "a\x1b]0;title\x07 b\x1b[2J c\x9b31m d\x7f e\r f\u202e g"
STEERING = ("\x1b", "\x07", "\x9b", "\x7f", "\r", "\u202e")


def assert_harmless(shown: str) -> None:
    assert not any(sign in shown for sign in STEERING)
    assert "␛" in shown


def nasty_table() -> Table:
    table = Table(NASTY, title=NASTY)
    table.add_row(NASTY)
    return table


@pytest.mark.parametrize(
    "block",
    [NASTY, Text(NASTY), nasty_table(), Group(NASTY, Text(NASTY)), console.table([{NASTY: NASTY}])],
)
def test_blocks(capsys: pytest.CaptureFixture[str], block: object) -> None:
    console.show(block)  # type: ignore[arg-type]
    assert_harmless(capsys.readouterr().out)


def test_words_are_no_markup(capsys: pytest.CaptureFixture[str]) -> None:
    console.show("[link=https://example.org]click[/link] [bold]x[/bold] :smile:")
    shown = "[link=https://example.org]click[/link] [bold]x[/bold] :smile:\n"
    assert capsys.readouterr().out.replace("\n", " ").split() == shown.split()


def test_messages(capsys: pytest.CaptureFixture[str]) -> None:
    redaction.remember("s3cret")
    console.tell(f"{NASTY} s3cret")
    shown = capsys.readouterr().err
    assert_harmless(shown)
    assert "s3cret" not in shown


def test_json_says_the_same_without_the_characters(capsys: pytest.CaptureFixture[str]) -> None:
    console.dump({NASTY: [NASTY, "é"]})
    shown = capsys.readouterr().out
    assert not any(sign in shown for sign in STEERING[:-1])
    assert json.loads(shown) == {NASTY: [NASTY, "é"]}


@pytest.mark.parametrize(
    "words",
    [
        ["show", NASTY],
        ["list", NASTY],
        ["attack", NASTY, "pwws", "--data", "mr"],
        ["attack", "python:a:b", "pwws", "--data", NASTY],
    ],
)
def test_errors(
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    words: list[str],
) -> None:
    monkeypatch.chdir(tmp_path)
    try:
        code = main(words)
    except SystemExit as ended:
        code = int(ended.code or 0)
    assert code == 2
    shown = capsys.readouterr().err
    assert not any(sign in shown for sign in STEERING)


def test_a_run_whose_name_and_target_steer(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    import brittle

    monkeypatch.chdir(tmp_path)

    def classify(texts: list[str]) -> list[list[float]]:
        if any("fail" in text for text in texts):
            raise RuntimeError(NASTY)
        return [[0.4, 0.6] for _ in texts]

    classify.labels = ["neg\x1b[2J", "pos"]  # type: ignore[attr-defined]
    texts = ["a good film", "these fail"]
    brittle.attack(classify, texts, "random-swap", name="x\x1b[2J", budget=2)
    for words in (["list", "runs"], ["show", "x"]):
        assert main(words) == 0
        assert_harmless(capsys.readouterr().out)

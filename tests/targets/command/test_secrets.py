"""Keys on the command line of a program: from the environment, seen by the program alone."""

from __future__ import annotations

import shutil
import sys
from pathlib import Path
from typing import Any

import pytest

import brittle
from brittle.cli import main
from brittle.errors import TargetError, UsageError
from brittle.opening import as_target
from brittle.targets.command.program import fill_arguments, parse_command, quote_stderr
from brittle.text import Text

SECRET = "s3cret-k3y"
ECHO = """
import json, sys
for line in sys.stdin:
    text = json.loads(line)["text"]
    if "fail" in text:
        sys.exit("x" * 195 + sys.argv[2])
    print(json.dumps(text + " " + sys.argv[2]), flush=True)
"""


@pytest.fixture
def command(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> str:
    monkeypatch.setenv("BRITTLE_TEST_KEY", SECRET)
    monkeypatch.chdir(tmp_path)
    Path("echo.py").write_text(ECHO)
    return f"cmd:'{sys.executable}' -S echo.py --key '${{BRITTLE_TEST_KEY}}'"


def test_the_program_gets_the_key_and_nothing_stores_it(command: str, tmp_path: Path) -> None:
    run = brittle.attack(
        command, ["a good film", "these fail"], "random-swap", answers="text", goal="keyword:zzzz"
    )
    assert run.manifest["about_target"]["spec"] == command
    assert "***" in str(run.results()[0].answer)
    for path in tmp_path.rglob("*"):
        assert path.is_dir() or SECRET.encode() not in path.read_bytes(), path


def test_the_key_is_not_part_of_the_fingerprint(
    command: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    before = as_target(command, answers="text").fingerprint
    monkeypatch.setenv("BRITTLE_TEST_KEY", "another-key")
    assert as_target(command, answers="text").fingerprint == before


def test_what_the_program_writes_to_stderr_is_redacted_before_it_is_cut(command: str) -> None:
    target: Any = as_target(command, answers="text")
    with pytest.raises(TargetError, match="stderr") as caught:
        target.translate([Text.of("these fail")])
    target.close()
    assert "s3cr" not in str(caught.value)
    assert quote_stderr([]) == ""


@pytest.mark.parametrize(
    "words",
    [
        "--api-key abc123",
        "--api-key=abc123",
        "--token abc123",
        "API_KEY=abc123",
        "-H 'Authorization: Bearer abc123'",
        *("-H Authorization:abc123", "-HAuthorization:abc123", "X-Api-Key:abc123"),
        "-H'Cookie: session=abc123'",
        *("-p abc123", "-pabc123", "-p=abc123", "-P Abc123", "-p letmein", "-pQWxhYWJjMTIz=="),
        *("-t abc123", "-tABCDabc123", "-k abc123x", "-a abc123", "-w abc123", "-s abc123"),
        *("-u me:abc123", "-U me%abc123", "-pw abc123", "--pass abc123", "--pwd=abc123"),
        *("-Dpassword=abc123", "-Dapi.key=abc123", "-x http://me:abc123@proxy:3128"),
        "--url https://me:abc123@host/path",
    ],
)
@pytest.mark.parametrize("prefix", ["cmd:", "filter:"])
def test_a_key_that_is_written_out_is_refused(prefix: str, words: str) -> None:
    with pytest.raises(UsageError, match="looks like a secret") as caught:
        parse_command(f"{prefix}'{sys.executable}' {words}", prefix)
    assert "abc123" not in str(caught.value) and "letmein" not in str(caught.value)


def test_the_script_of_a_shell_is_read_too() -> None:
    with pytest.raises(UsageError, match="the value of -p, which looks like a secret"):
        parse_command("cmd:sh -c 'exec login -p abc123'", "cmd:")


def test_a_command_that_cannot_be_read_is_not_quoted() -> None:
    with pytest.raises(UsageError, match="Close every quotation mark") as caught:
        parse_command("cmd:program --api-key 'abc123", "cmd:")
    assert "abc123" not in str(caught.value)


@pytest.mark.parametrize("words", ["-p s3cret-k3y", "-ps3cret-k3y"])
def test_a_run_with_a_short_flag_leaves_no_secret(
    words: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("echo.py").write_text(ECHO)
    Path("films.csv").write_text("text,label\na good film,x\na bad film,y\n")
    spec = f"cmd:'{sys.executable}' -S echo.py {words}"
    code = main(["attack", spec, "key", "--data", "films.csv", "--answers", "text", "--timeout=5"])
    printed = "".join(capfd.readouterr())
    assert code == 2 and "-p ${SECRET}" in printed and SECRET not in printed
    for path in tmp_path.rglob("*"):
        assert path.is_dir() or SECRET.encode() not in path.read_bytes(), path


@pytest.mark.parametrize(
    "words",
    [
        *("--tokenizer bert", "--max-tokens 5", "--key-file a.txt", "--key", "--key --json"),
        *(
            "--keyboard us",
            "a:b",
            "secret://x",
            "-Heading:1",
            "monkey=1",
            "-p 8080",
            "-p 0.5",
            "-port=8080",
            "-pretty",
        ),
        *("-u eng-spa", "-u user", "-t 0.7", "-t sentiment", "-k 10", "-W error::UserWarning"),
        *("-p ${HOME}", "-p/usr/bin", "-p ./model.bin", "-m model.bin", "-Xmx512m", "-O2", "-p ab"),
        *(
            "-k https://host:80/x",
            "-s greedy",
            "--url https://host/a@b",
            "-e s/a:b/c/",
            "-u s/a:b/c/",
        ),
    ],
)
def test_other_arguments_are_not(words: str) -> None:
    assert parse_command(f"cmd:'{sys.executable}' {words}", "cmd:")[1:] == words.split()


def test_a_variable_that_is_not_set_is_an_error_at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("BRITTLE_TEST_KEY", raising=False)
    with pytest.raises(UsageError, match="BRITTLE_TEST_KEY, which is not set"):
        parse_command(f"cmd:'{sys.executable}' ${{BRITTLE_TEST_KEY}}", "cmd:")


@pytest.mark.skipif(shutil.which("sed") is None, reason="needs sed")
def test_a_line_filter_gets_the_key_too(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("BRITTLE_TEST_KEY", SECRET)
    target: Any = as_target("filter:sed 's/$/ ${BRITTLE_TEST_KEY}/'")
    assert SECRET in str(fill_arguments(target.arguments))
    assert SECRET not in f"{target!r}"
    assert target.translate([Text.of("a film")]) == ["a film ***"]

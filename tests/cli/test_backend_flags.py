"""The flags that say where tasks run, and those that carry them to another machine."""

from __future__ import annotations

import argparse
from pathlib import Path

import pytest

from brittle.cli import main
from brittle.cli.command import add_backend_flags, backend_of
from brittle.errors import UsageError
from brittle.workflow.backends import Workers
from brittle.zoo.device import cores


def parse(*words: str) -> Workers:
    parser = argparse.ArgumentParser()
    add_backend_flags(parser, "--jobs")
    return backend_of(parser.parse_args(words))


def test_where_tasks_run() -> None:
    assert parse() == Workers(cores())
    assert parse("--jobs", "3") == parse("--workers", "3") == Workers(3)
    assert parse("--backend", "ray") == Workers(None, "ray")
    at = ("--backend", "ray", "--address", "10.0.0.1:6379", "--workers", "8")
    assert parse(*at) == Workers(8, "ray", "10.0.0.1:6379")
    with pytest.raises(UsageError, match="Add --backend ray, or leave --address out"):
        parse("--address", "auto")
    with pytest.raises(UsageError, match=r"Unknown backend 'rai'\. Did you mean 'ray'\?"):
        Workers(backend="rai")


def test_the_flags_of_a_paper(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    data = tmp_path / "films"
    data.mkdir()
    for split in ("train", "test"):
        rows = [f"{word} film {n},{word}" for n in range(20) for word in ("good", "bad")]
        (data / f"{split}.csv").write_text("\n".join(["text,label", *rows]) + "\n")
    command = ["papers", "imdb", "--data", str(data), "--out", str(tmp_path / "out"), "--jobs", "1"]
    archive = str(tmp_path / "archive")

    def run(machine: str, *words: str) -> str:
        monkeypatch.setenv("BRITTLE_CACHE", str(tmp_path / machine / "cache"))
        folder = ["--folder", str(tmp_path / machine / "folder")]
        assert main([*command, *folder, *words]) == 0
        return " ".join(capsys.readouterr().out.split())

    run("one", "--only", "data")
    assert "1 of" in run("one", "--pack", archive)
    assert "folder: 1 task added, 0 already existed." in run("two", "--unpack", archive)
    for file in (path for path in (tmp_path / "one").rglob("*") if path.is_file()):
        copy = tmp_path / "two" / file.relative_to(tmp_path / "one")
        assert copy.read_bytes() == file.read_bytes()
    assert "0 tasks added, 1 already existed." in run("two", "--unpack", archive)

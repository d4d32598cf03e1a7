"""Tables fit the terminal, and never break a name."""

from __future__ import annotations

from random import Random

import pytest

from brittle.cli import console
from cli.conftest import Brittle

LONG = "BiLSTM-W-GloVe-2-pair@nli-0-pwws-nli.csv-1de8af-budget50"


@pytest.mark.parametrize("width", [60, 80, 100])
def test_no_word_is_broken_and_no_line_too_long(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], width: int
) -> None:
    monkeypatch.setenv("COLUMNS", str(width))
    rng = Random(width)
    for _ in range(30):
        names = [f"column{n}" for n in range(rng.randint(1, 6))]
        rows = [
            {
                name: " ".join("x" * rng.randint(1, 12) for _ in range(rng.randint(0, 6)))
                for name in names
            }
            for _ in range(4)
        ]
        console.show(console.table(rows))
        out = capsys.readouterr().out
        assert all(len(line) <= width for line in out.splitlines())
        words = sorted(word for row in rows for cell in row.values() for word in cell.split())
        heads = {*names, *(f"{name}:" for name in names)}
        shown = [word.strip(",") for word in out.split() if word not in heads]
        assert sorted(shown) == words


def test_a_name_that_is_too_long_for_a_column_has_its_own_line(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("COLUMNS", "80")
    console.show(console.table([{"run": LONG, "target": LONG.split("-pwws")[0], "broken": 3}]))
    first, second, *_ = capsys.readouterr().out.splitlines()
    assert first == LONG and second.startswith("  target: BiLSTM-W-GloVe-2-pair@nli-0")


@pytest.mark.parametrize("what", ["attacks", "data", "goals", "models", "pools", "runs"])
def test_every_list_fits_80_columns(
    brittle: Brittle, monkeypatch: pytest.MonkeyPatch, what: str
) -> None:
    monkeypatch.setenv("COLUMNS", "80")
    output = brittle("list", what)
    assert output.code == 0 and all(len(line) <= 80 for line in output.out.splitlines())

from __future__ import annotations

import io
import json
from collections.abc import Callable
from dataclasses import replace

from rich.console import Console

from brittle.reports.rate_matrix import MatrixModel
from brittle.studies.transfer.factors import FactorRow
from brittle.studies.transfer.showing import TransferFigures
from brittle.studies.transfer.view import transfer_json, transfer_view

MakeFigures = Callable[..., TransferFigures]


def printed(study: TransferFigures, width: int, colour: bool = False) -> str:
    system = "truecolor" if colour else None
    console = Console(
        file=io.StringIO(), width=width, color_system=system, force_terminal=colour, highlight=False
    )
    console.print(transfer_view(study).block())
    assert isinstance(console.file, io.StringIO)
    return console.file.getvalue()


def test_the_matrix_is_shown_where_it_fits(make_figures: MakeFigures) -> None:
    wide = printed(make_figures(), 80).splitlines()
    (row,) = [line for line in wide if line.startswith("    2 CNN-b")]
    assert row.split() == ["2", "CNN-b", "25", "70", "–"]
    narrow = printed(make_figures(), 21)
    assert "2 CNN-b" not in narrow
    assert "brittle report" in " ".join(narrow.split())


def test_figures_classes_factors_texts_and_failures(make_figures: MakeFigures) -> None:
    text = printed(make_figures(), 100)
    for part in (
        "mean transfer rate  35.9%",
        "59.2  32.2",
        "28.6     27.0–30.0     12",
        "fools 3 of 3 targets",
        "a [good→fine] film",
        "! 412 winners of 500 asked for.",
        "! CNN-b has empty cells: the file is damaged",
    ):
        assert part in text


def test_factors_have_both_rates(make_figures: MakeFigures) -> None:
    of_right = [FactorRow("input form", 0.25, 12, 0.2, 0.31)]
    rows = printed(make_figures(factors_of_right=of_right), 100).splitlines()
    (row,) = [line for line in rows if line.startswith("  input form")]
    assert row.split()[2:] == ["28.6", "27.0–30.0", "12", "25.0", "20.0–31.0"]


def test_rows_with_long_names_can_be_told_apart(make_figures: MakeFigures) -> None:
    names = ["CNN-C-Random-1 + CNN-W-Random-1", "CNN-C-Random-1 + CNN-W-Random-2", "LSTM-a"]
    study = make_figures()
    sources = tuple(MatrixModel(name) for name in names)
    lines = printed(make_figures(matrix=replace(study.matrix, sources=sources)), 60).splitlines()
    start = next(n for n, line in enumerate(lines) if line.startswith("  source ↓") and "1" in line)
    rows = [line.split() for line in lines[start + 1 : start + 4]]
    assert [row[0] for row in rows] == ["4", "5", "1"]
    assert rows[0][1:4] == ["CNN-C-Random-1", "+", "CNN-W-…"]
    for line in ("    4 CNN-C-Random-1 + CNN-W-Random-1", "    2 CNN-b  (target alone)"):
        assert line in [shown.rstrip() for shown in lines]


def test_only_long_texts_are_cut(make_figures: MakeFigures) -> None:
    text = make_figures().texts[0]

    def shown(words: str) -> str:
        fields = [(("text", f"{word} {words}end"),) for word in ("good", "fine")]
        long = replace(text, original=fields[0], adversarial=fields[1])
        return " ".join(printed(make_figures(texts=[long]), 100).split())

    assert "[good→fine]" in shown("word " * 60) and "end" in shown("word " * 60)
    assert "[good→fine]" in shown("word " * 90) and "end" not in shown("word " * 90)


def test_names_cannot_steer_the_terminal(make_figures: MakeFigures) -> None:
    text = printed(make_figures(name="\x1b[31mred", warnings=["\x1b]0;x\x07[bold]y"]), 100)
    assert "\x1b" not in text and "[bold]y" in text
    assert "\x1b[" in printed(make_figures(), 100, colour=True)


def test_json_has_null_for_empty_cells(make_figures: MakeFigures) -> None:
    data = json.loads(json.dumps(transfer_json(make_figures()), allow_nan=False))
    assert data["rate"][1] == [0.25, 0.7, None]
    assert data["classes"][0]["without_base"] == [[0.45, 0.3225], [0.25, None]]

from __future__ import annotations

import io
import json
from collections.abc import Callable
from dataclasses import replace

from rich.console import Console

from brittle.reports.studies.tables import ReportedStudy
from brittle.reports.studies.terminal import study_block, study_json

MakeStudy = Callable[..., ReportedStudy]


def printed(study: ReportedStudy, width: int, colour: bool = False) -> str:
    system = "truecolor" if colour else None
    console = Console(
        file=io.StringIO(), width=width, color_system=system, force_terminal=colour, highlight=False
    )
    console.print(study_block(study))
    assert isinstance(console.file, io.StringIO)
    return console.file.getvalue()


def test_the_matrix_is_shown_where_it_fits(make_study: MakeStudy) -> None:
    wide = printed(make_study(), 80).splitlines()
    (row,) = [line for line in wide if line.startswith("    2 CNN-b")]
    assert row.split() == ["2", "CNN-b", "25", "70", "–"]
    narrow = printed(make_study(), 21)
    assert "2 CNN-b" not in narrow
    assert "brittle report" in " ".join(narrow.split())


def test_figures_classes_factors_texts_and_failures(make_study: MakeStudy) -> None:
    text = printed(make_study(), 100)
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


def test_only_long_texts_are_cut(make_study: MakeStudy) -> None:
    text = make_study().texts[0]

    def shown(words: str) -> str:
        fields = [(("text", f"{word} {words}end"),) for word in ("good", "fine")]
        long = replace(text, original=fields[0], adversarial=fields[1])
        return " ".join(printed(make_study(texts=[long]), 100).split())

    assert "[good→fine]" in shown("word " * 60) and "end" in shown("word " * 60)
    assert "[good→fine]" in shown("word " * 90) and "end" not in shown("word " * 90)


def test_names_cannot_steer_the_terminal(make_study: MakeStudy) -> None:
    text = printed(make_study(name="\x1b[31mred", warnings=["\x1b]0;x\x07[bold]y"]), 100)
    assert "\x1b" not in text and "[bold]y" in text
    assert "\x1b[" in printed(make_study(), 100, colour=True)


def test_json_has_null_for_empty_cells(make_study: MakeStudy) -> None:
    data = json.loads(json.dumps(study_json(make_study()), allow_nan=False))
    assert data["rate"][1] == [0.25, 0.7, None]
    assert data["classes"][0]["without_base"] == [[0.45, 0.3225], [0.25, None]]

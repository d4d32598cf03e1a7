"""Figures and tables of a run by their names, in LaTeX, and as files."""

from __future__ import annotations

import re
import sys
from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace
from typing import Any
from xml.etree import ElementTree

import pytest

from brittle.errors import MissingPackage, UsageError
from brittle.metrics.samples import sample_ladder
from brittle.reports.drawing_files import save_drawing
from brittle.reports.latex import in_latex
from brittle.reports.plots import standalone_svg
from brittle.reports.run_figures import FIGURES, ladder_figure, run_figure, run_table
from brittle.reports.table import Cell, Column, Row, Table
from reports.test_notebook import climbed

MakeRun = Callable[..., Any]


def test_every_figure_is_a_file_of_its_own(make_run: MakeRun, tmp_path: Path) -> None:
    run = make_run(climbed(), attack="auto", confidence=0.6)
    drawn = [name for name, draw in FIGURES.items() if draw(run) is not None]
    assert {"ladder", "queries", "words", "confidence"} <= set(drawn)
    for name in drawn:
        figure = run_figure(run, name)
        out = figure.save(tmp_path / "new" / f"{name}.svg")
        root = ElementTree.fromstring(out.read_text("utf-8"))
        assert root.tag.endswith("svg")
        assert figure._repr_html_().startswith('<img src="data:image/svg+xml;base64,')


def test_the_ladder_has_a_bar_for_each_level() -> None:
    root = ElementTree.fromstring(standalone_svg(ladder_figure(sample_ladder())))
    bars = [e for e in root.iter() if e.tag.endswith("rect") and "fill" in e.get("class", "")]
    widths = [float(bar.get("width", "0")) for bar in bars]
    assert len(widths) == 3 and widths == sorted(widths, reverse=True)
    assert widths[1] / widths[0] == pytest.approx(50 / 90, abs=0.01)
    texts = ["".join(e.itertext()) for e in root.iter() if e.tag.endswith("text")]
    assert "40 broken" in texts and "50%" in texts


def test_what_is_not_there_is_named(make_run: MakeRun) -> None:
    run = make_run()
    with pytest.raises(UsageError, match=r"Unknown figure 'laddr'. Did you mean 'ladder'"):
        run_figure(run, "laddr")
    with pytest.raises(UsageError, match=r"no figure 'ladder': .*It has queries, words"):
        run_figure(run, "ladder")
    with pytest.raises(UsageError, match="pwws does not climb one"):
        run_table(run, "ladder")
    with pytest.raises(UsageError, match="Unknown table 'rungs'"):
        run_table(run, "rungs")
    with pytest.raises(UsageError, match="has none, for no case was attacked"):
        run_figure(make_run([]), "queries")


def test_tables_hold_numbers_and_write_latex(make_run: MakeRun) -> None:
    run = make_run(climbed(), attack="auto")
    by_name = {row["figure"]: row["value"] for row in run_table(run, "figures").records()}
    assert by_name["attack success"] == pytest.approx(3 / 5)
    rows = run_table(run, "ladder").records()
    assert [row["edits"] for row in rows] == ["none", "careful synonym", "any synonym"]
    text = run_table(run, "ladder").latex()
    assert text.startswith("\\begin{tabular}{lrlrl}\n\\toprule\n") and text.count("\\midrule") == 1
    assert "careful synonym & 71.4\\% &" in text
    ran_out = [row for row in climbed() if row.status == "out of budget"]
    note = f"{len(ran_out)} of 5 attacked texts ran out of budget before all edits were tried."
    assert ran_out and note in text
    assert text.rstrip().endswith("}")


def test_latex_is_escaped_and_leaves_drawings_out() -> None:
    class Bar:
        def __html__(self) -> str:
            return "<b>"

    columns = [Column("a_b"), Column("", key="bar"), Column("share", "right")]
    rows = [
        Row(["all & some"]),
        ["50% {x}", Bar(), Cell(0.5, "50%", small=["1 of 2"], strong=True, beside="*")],
    ]
    table = Table(columns, rows, notes=["p < 0.05"])
    assert table.latex().splitlines() == [
        r"\begin{tabular}{lr}",
        r"\toprule",
        r"a\_b & share \\",
        r"\midrule",
        r"\multicolumn{2}{l}{\textbf{all \& some}} \\",
        r"50\% \{x\} & \textbf{50\%} * (1 of 2) \\",
        r"\bottomrule",
        r"\end{tabular}",
        r"\par{\footnotesize p \textless{} 0.05}",
    ]
    float_of = table.latex(caption="50% broken", label="tab:x")
    assert r"\caption{50\% broken}" in float_of and r"\label{tab:x}" in float_of
    assert float_of.rstrip().endswith(r"\end{table}")
    assert in_latex("a\\b~c^d\x00") == r"a\textbackslash{}b\textasciitilde{}c\textasciicircum{}d␀"


@pytest.mark.parametrize("ending", [".pdf", ".png"])
def test_other_files_are_made_by_cairosvg(
    ending: str, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    got: dict[str, Any] = {}

    def convert(**given: Any) -> bytes:
        got.update(given)
        return b"made"

    monkeypatch.setitem(sys.modules, "cairosvg", SimpleNamespace(svg2pdf=convert, svg2png=convert))
    out = save_drawing(ladder_figure(sample_ladder()), tmp_path / f"ladder{ending}")
    assert out.read_bytes() == b"made" and got["bytestring"].startswith(b"<svg xmlns=")
    assert ("scale" in got) == (ending == ".png")


def test_what_cannot_be_written_is_said(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    figure = ladder_figure(sample_ladder())
    with pytest.raises(UsageError, match=r"Got 'x.jpg' .*\.svg, \.pdf or \.png"):
        save_drawing(figure, tmp_path / "x.jpg")
    monkeypatch.setitem(sys.modules, "cairosvg", None)
    with pytest.raises(MissingPackage, match=r"as \.pdf needs the package 'cairosvg'.*pip install"):
        save_drawing(figure, tmp_path / "x.pdf")

    def no_library(name: str, *rest: Any) -> Any:
        raise OSError('no library called "cairo" was found')

    monkeypatch.setattr("brittle.reports.drawing_files.require", no_library)
    with pytest.raises(MissingPackage, match=r"needs the library cairo.*libcairo2.*\.svg"):
        save_drawing(figure, tmp_path / "x.pdf")
    assert not re.findall("x", " ".join(path.name for path in tmp_path.iterdir()))


def test_cairosvg_itself_writes_a_pdf(tmp_path: Path) -> None:
    try:
        pytest.importorskip("cairosvg")
    except OSError as error:
        pytest.skip(str(error))
    out = save_drawing(ladder_figure(sample_ladder()), tmp_path / "ladder.pdf")
    assert out.read_bytes().startswith(b"%PDF")

"""Heat maps of word importance and curves of ensembles: what they show, and that they are safe."""

from __future__ import annotations

import re
from xml.etree import ElementTree

from rich.console import Console

from brittle.reports.importance import STYLE, importance_figure, importance_page, terminal_tables
from brittle.reports.plots import ensemble_figure, standalone_svg
from brittle.reports.study_page import study_page

HOSTILE = "<script>alert(1)</script>"
COLUMNS = ("warm", HOSTILE, "film")
ROWS = (("LSTM", (2.0, -1.0, -0.001)), ("a <b>model</b>", (0.5, 0.0, 0.1)))


def test_a_page_has_every_value_and_escapes_everything() -> None:
    about = ([f"fact {HOSTILE}"], COLUMNS, ROWS, [f"left out {HOSTILE}"])
    page = study_page(importance_page(HOSTILE, *about), style=STYLE)
    assert "<script" not in page and "<b>model" not in page
    cells = re.findall(r'<td class="(\w+) heat-(\d+)">([-\d.]+)</td>', page)
    assert cells == [
        ("wrong", "10", "2.00"), ("right", "5", "-1.00"), ("right", "0", "0.00"),
        ("wrong", "2", "0.50"), ("wrong", "0", "0.00"), ("wrong", "0", "0.10"),
    ]  # fmt: skip
    assert "default-src 'none'; style-src 'sha256-" in page


def test_a_figure_has_every_value() -> None:
    root = ElementTree.fromstring(standalone_svg(importance_figure(COLUMNS, ROWS, "Words")))
    texts = [node.text for node in root.iter("{http://www.w3.org/2000/svg}text")]
    assert {"Words", "warm", HOSTILE, "LSTM", "2.00", "-1.00", "0.00", "0.50"} <= set(texts)
    assert len(list(root.iter("{http://www.w3.org/2000/svg}title"))) == 6


def test_a_map_wider_than_the_terminal_is_cut() -> None:
    columns = [f"word-{n}" for n in range(12)]
    rows = [("a model", [n / 10 for n in range(12)])]
    tables = terminal_tables(columns, rows, 40)
    console = Console(width=40)
    with console.capture() as captured:
        for table in tables:
            console.print(table)
    assert len(tables) > 1
    assert all(word in captured.get() for word in columns)
    assert len(terminal_tables(columns, rows, 200)) == 1


def test_curves_and_lines_of_ensembles() -> None:
    curves = {"genetic": [(3, 0.6), (2, 0.5)], "expert": [(2, 0.4)]}
    figure = ensemble_figure(curves, {"mean base rate": 0.7, HOSTILE: 0.3}, "Models outside")
    root = ElementTree.fromstring(standalone_svg(figure))
    texts = {node.text for node in root.iter("{http://www.w3.org/2000/svg}text")}
    assert {"2", "3", "genetic", "expert", "mean base rate 70.0%", f"{HOSTILE} 30.0%"} <= texts
    assert len(list(root.iter("{http://www.w3.org/2000/svg}circle"))) == 3
    assert "genetic, 2: 50.0%, 3: 60.0%; expert, 2: 40.0%" in root.attrib["aria-label"]

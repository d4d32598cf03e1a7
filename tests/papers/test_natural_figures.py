"""Sheets of pictures and plots of trends: what they show, and that they are sound as files."""

from __future__ import annotations

import base64
import io
from itertools import pairwise
from xml.etree import ElementTree

import numpy as np
import pytest

from brittle.metrics.summary import Figure, rate
from brittle.reports.plots import scatter_figure, standalone_svg
from brittle_papers.natural.drawings import SEARCH, TRAINING, Chain, chain_figure
from brittle_papers.natural.robustness_page import trend_figure
from brittle_papers.natural.sheets import CHANGED, INK, SheetPicture, SheetRow, sheet_figure

SVG = "{http://www.w3.org/2000/svg}"
EVIL = "<b onload=x>&\"' \x00]]>"


def parsed(svg: str) -> ElementTree.Element:
    return ElementTree.fromstring(standalone_svg(svg))


def test_a_sheet_holds_its_pictures_names_and_corners() -> None:
    image_module = pytest.importorskip("PIL.Image")
    grey = np.linspace(0, 1, 12, dtype=np.float32).reshape(3, 4, 1)
    colour = np.arange(36, dtype=np.uint8).reshape(3, 4, 3)
    rows = [
        SheetRow("original", [SheetPicture(grey, "7"), SheetPicture(colour)]),
        SheetRow(EVIL, [None, SheetPicture(grey, "1", stands_out=True)]),
    ]
    svg = parsed(sheet_figure(rows, ["first", EVIL]))
    images = list(svg.iter(f"{SVG}image"))
    assert len(images) == 3
    content = [base64.b64decode(str(i.get("href")).partition(",")[2]) for i in images]
    decoded = [np.array(image_module.open(io.BytesIO(png))) for png in content]
    assert (decoded[0] == np.rint(255 * grey[:, :, 0])).all() and (decoded[1] == colour).all()
    places = [(float(i.get("x") or 0), float(i.get("y") or 0)) for i in images]
    assert places[0][1] == places[1][1] < places[2][1] and places[1][0] == places[2][0]
    texts = ["".join(t.itertext()) for t in svg.iter(f"{SVG}text")]
    assert {"original", "first", "7", "1"} <= set(texts)
    fills = [r.get("fill") for r in svg.iter(f"{SVG}rect")][1:]  # the first is the card
    assert fills == [INK, CHANGED]
    assert "onload" not in {name for e in svg.iter() for name in e.attrib}


def test_an_empty_sheet_is_a_figure() -> None:
    assert parsed(sheet_figure([])).get("viewBox")


def test_a_trend_joins_the_values_that_are_there() -> None:
    figures = [rate(1, 4, "x"), None, rate(3, 4, "x"), Figure(None, None, None, None, 0, "x")]
    svg = parsed(trend_figure(["2", "4", "8", EVIL], {EVIL: figures}, "neurons", "accuracy"))
    circles = list(svg.iter(f"{SVG}circle"))
    assert len(circles) == 2
    assert float(circles[0].get("cy") or 0) > float(circles[1].get("cy") or 0)
    kinds = [path.get("class") for path in svg.iter(f"{SVG}path")]
    assert kinds.count("line") == 1 and kinds.count("whisker") == 2
    assert parsed(trend_figure(["2"], {"a": [None]}, "x", "y")).get("viewBox")


def test_marks_and_a_level_stand_on_a_scatter_plot() -> None:
    cloud = {"data": [(0.0, 0.0), (1.0, 1.0)]}
    svg = parsed(scatter_figure(cloud, marks={"x": (0.5, 3.0), EVIL: (0.5, 0.5)}, level=0.5))
    marks = [c for c in svg.iter(f"{SVG}circle") if c.get("class") == "whisker"]
    assert len(marks) == 2 and float(marks[0].get("cy") or 0) < float(marks[1].get("cy") or 0)
    [level] = [p for p in svg.iter(f"{SVG}path") if p.get("stroke-dasharray") == "5 4"]
    height = float(str(level.get("d")).partition(" ")[2].partition("H")[0])
    assert height == pytest.approx(float(marks[1].get("cy") or 0), abs=0.11)
    assert "x" in ["".join(t.itertext()) for t in svg.iter(f"{SVG}text")]


@pytest.mark.parametrize("chains", [TRAINING, SEARCH], ids=["training", "search"])
def test_a_drawing_has_its_boxes_side_by_side_within_the_figure(chains: tuple[Chain, ...]) -> None:
    svg = parsed(chain_figure(chains))
    boxes = [r for r in svg.iter(f"{SVG}rect") if r.get("stroke")]
    count = sum(len(chain.boxes) for chain in chains)
    arrows = [p for p in svg.iter(f"{SVG}path") if p.get("stroke")]
    assert len(boxes) == count and len(arrows) == count - len(chains)
    width = float(str(svg.get("viewBox")).split()[2])
    by_row: dict[str, list[tuple[float, float]]] = {}
    for box in boxes:
        x, wide = float(str(box.get("x"))), float(str(box.get("width")))
        by_row.setdefault(str(box.get("y")), []).append((x, x + wide))
    for row in by_row.values():
        assert all(a[1] < b[0] for a, b in pairwise(row)) and row[-1][1] <= width
    texts = {"".join(t.itertext()) for t in svg.iter(f"{SVG}text")}
    assert texts == {c.title for c in chains} | {b.text for c in chains for b in c.boxes}

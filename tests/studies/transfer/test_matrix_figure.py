from __future__ import annotations

import re
import xml.etree.ElementTree as ET
from collections.abc import Callable
from dataclasses import replace

from brittle.reports.heat_map import EMPTY
from brittle.reports.plots import standalone_svg
from brittle.reports.rate_matrix import MatrixModel, matrix_figure
from brittle.studies.transfer.showing import TransferFigures


def test_every_cell_has_its_colour_and_every_base_rate_its_frame(
    make_figures: Callable[..., TransferFigures],
) -> None:
    matrix = make_figures().matrix
    drawn = ET.fromstring(standalone_svg(matrix_figure(matrix)))
    paths = {p.get("fill"): p.get("d") or "" for p in drawn.iter() if p.tag.endswith("path")}
    assert sum(len(re.findall("M", path)) for path in paths.values()) == 9
    assert len(re.findall("M", paths[EMPTY])) == 1
    frames = [r for r in drawn.iter() if r.tag.endswith("rect") and r.get("fill") == "none"]
    assert len(frames) == 3
    of_right = ET.fromstring(matrix_figure(matrix, of_right=True))
    (empty,) = [p.get("d") or "" for p in of_right.iter("path") if p.get("fill") == EMPTY]
    assert len(re.findall("M", empty)) == 2


def test_names_are_escaped_and_cut(make_figures: Callable[..., TransferFigures]) -> None:
    evil = tuple(MatrixModel(f"<b>&{n}" + "x" * 99) for n in range(3))
    matrix = replace(make_figures().matrix, sources=evil, targets=evil)
    drawn = ET.fromstring(matrix_figure(matrix))
    names = [t.text for t in drawn.iter("text") if (t.text or "").startswith("<b>&0")]
    assert names and all(len(name or "") == 22 for name in names)

"""Heat maps as tables and as drawings: groups, empty and framed cells, names that stay text."""

from __future__ import annotations

import math
import re
from xml.etree import ElementTree

import pytest
from markupsafe import Markup

from brittle.reports.heat_map import EMPTY, LEVELS, HeatMap, Legend, Scale, ShadedMap, colour_rules

EVIL = '<b onclick="x">\x1b'
NAMES = (EVIL, "LSTM", "CNN")
VALUES = ([0.1, 0.5, None], [0.25, math.nan, 0.9], [0.0, 0.3, 0.4])
MAP = HeatMap(
    NAMES,
    NAMES,
    (VALUES, VALUES),
    Scale(),
    f"A map of {EVIL}",
    row_groups=("first", EVIL, "first"),
    column_groups=("a group with a long name that has no room", "b", "b"),
    framed={(0, 0), (1, 1)},
)


def test_a_scale_runs_from_0_to_100_percent() -> None:
    scale = Scale()
    assert (scale.low, scale.high) == (0.0, 1.0) and len(scale.ticks) == 11
    assert scale.css(0.0) == "a0" and scale.css(1.0, "b") == f"b{LEVELS - 1}"
    assert scale.css(None) == scale.css(math.nan) == "ae"
    assert f".a{LEVELS - 1}{{" in colour_rules()


def test_a_group_of_one_member_with_its_name_is_labelled_once() -> None:
    groups = ("naive-bayes", "LSTM", "LSTM")
    names = ("naive-bayes", "LSTM-1", "LSTM-2")
    one = HeatMap(names, names, (VALUES,), Scale(), "", groups, groups)
    page = Markup(one)
    assert page.count('title="naive-bayes">naive-bayes<') == 2  # of its row and of its column
    assert page.count('title="LSTM">LSTM<') == 2
    texts = [text.text for text in ElementTree.fromstring(one.svg("", "")).iter("text")]
    assert texts.count("naive-bayes") == 2


def test_rows_stand_in_their_groups() -> None:
    assert MAP.row_sets == [("first", [0, 2]), (EVIL, [1])]
    page = Markup(MAP)
    assert 'data-rows="0 2 1" data-columns="0 1 2"' in page
    assert page.count('<th rowspan="2" class="group">') == 1
    assert page.count('class="g narrow"') == 1
    cells = re.findall(r'<td class="([^"]*)"><b class="all">(\d*)</b>', page)
    assert len(cells) == 9 and cells[0] == ("a5 b5 g d", "10")
    assert [name for name, number in cells if not number] == ["ae be", "ae be g"]
    assert "<b on" not in page and "\x1b" not in page


def test_a_drawing_has_every_cell_and_every_name() -> None:
    root = ElementTree.fromstring(MAP.svg(f"About {EVIL}", "grey: empty"))
    paths = {path.get("fill"): path.get("d") or "" for path in root.iter("path")}
    assert sum(path.count("M") for path in paths.values()) == 9 and paths[EMPTY].count("M") == 2
    assert len([r for r in root.iter("rect") if r.get("fill") == "none"]) == 1
    assert {text.text for text in root.iter("text")} >= {"LSTM", "grey: empty"}


def test_a_legend_names_what_there_is() -> None:
    whole, bare = Markup(Legend(MAP.scale, "base", "empty")), Markup(Legend(MAP.scale))
    assert 'class="swatch d"' in whole and 'class="swatch ae"' in whole
    assert "swatch" not in bare and bare.count("%</span>") == 11


@pytest.mark.parametrize("has_numbers", [True, False])
def test_shades_show_strength_and_sign(has_numbers: bool) -> None:
    rows = [(EVIL, [1.0, -2.0, None]), ("b", [0.0, 0.5, -0.001])]
    hints = [[f"{name}: {value}" for value in values] for name, values in rows]
    shaded = ShadedMap(
        rows, ("x", EVIL, "z"), hints, EVIL, "", has_numbers, marked_rows=[1], marked_columns=[0]
    )
    root = ElementTree.fromstring(Markup(shaded))
    cells = [rect for rect in root.iter("rect") if rect.find("title") is not None]
    assert [cell.get("class") for cell in cells] == [
        *("fill", "fill tone-0", "track"),
        *("fill", "fill", "fill tone-0"),
    ]
    strongest = "0.70" if has_numbers else "1.00"
    assert cells[1].get("fill-opacity") == strongest
    texts = [text.text for text in root.iter("text")]
    assert ("-2.00" in texts) == has_numbers and "-0.00" not in texts
    assert len([r for r in root.iter("rect") if r.get("class") == "frame"]) == 2
    assert (root.get("width") is None) == has_numbers

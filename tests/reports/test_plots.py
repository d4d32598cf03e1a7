"""The figures show what the metrics say, and are sound as files of their own."""

from __future__ import annotations

import random
import re
from importlib.resources import files
from itertools import pairwise
from xml.etree import ElementTree

import pytest

from brittle.errors import UsageError
from brittle.metrics import AttackedTarget, ConfidenceCurve, grid, histogram, success_by_words
from brittle.metrics.samples import sample_results
from brittle.metrics.summary import summary
from brittle.reports import (
    confidence_figure,
    grid_figure,
    histogram_figure,
    scatter_figure,
    standalone_svg,
)
from brittle.reports.axes import PlotArea, fold
from brittle.reports.figures import curve_figure
from brittle.reports.page import draw_part

EVIL = "<b onload=x>&\"' \x00\x1b\ufffe]]>"
SVG = "{http://www.w3.org/2000/svg}"
CURVE = ConfidenceCurve((0.55, 0.6, 0.6, 0.95), 5, 0.9)
ROWS = sample_results()
GRID = grid(
    [
        AttackedTarget("a", "x", ROWS),
        AttackedTarget("a", "y", ROWS[:4]),
        AttackedTarget("b", "x", ROWS),
    ]
)


def parsed(svg: str) -> ElementTree.Element:
    return ElementTree.fromstring(standalone_svg(svg))


def words(svg: str) -> list[str]:
    return [text.text or "" for text in parsed(svg).iter(f"{SVG}text")]


def elements(svg: str, tag: str, kind: str) -> list[ElementTree.Element]:
    return [e for e in parsed(svg).iter(SVG + tag) if kind in (e.get("class") or "").split()]


def all_figures() -> dict[str, str]:
    some = [(float(i % 7), float(i % 5)) for i in range(40)]
    figures = summary(ROWS)
    return {
        "confidence": confidence_figure({"beam": CURVE, EVIL: CURVE}, EVIL),
        "confidence of one": confidence_figure({"": CURVE}),
        "confidence of nothing": confidence_figure({"": ConfidenceCurve((), 0, 0.0)}),
        "grid": grid_figure(GRID, "all"),
        "grid of strange names": grid_figure(grid([AttackedTarget(EVIL, EVIL, ROWS)]), EVIL),
        "grid of nothing": grid_figure(grid([])),
        "histogram": histogram_figure(histogram([1, 2, 2, 9]), EVIL, EVIL, EVIL),
        "histogram of nothing": histogram_figure(histogram([])),
        "scatter": scatter_figure({"pos": some, EVIL: some[:5]}, EVIL, EVIL, EVIL),
        "scatter of one point": scatter_figure({"pos": [(1.0, 1.0)]}),
        "scatter of nothing": scatter_figure({}),
        "curve": curve_figure(success_by_words(ROWS), EVIL),
        "scale": draw_part("bars.scale", figures.before, figures.after, "accuracy"),
    }


@pytest.mark.parametrize("name", all_figures())
def test_a_figure_is_sound_xml_and_says_in_words_what_it_shows(name: str) -> None:
    svg = all_figures()[name]
    root = parsed(svg)
    assert root.tag == f"{SVG}svg" and root.get("role") == "img" and root.get("aria-label")
    assert "nan" not in svg and "inf" not in svg
    assert 'style="' not in svg and "<script" not in svg
    tags = {element.tag.removeprefix(SVG) for element in root.iter()}
    assert tags <= {"svg", "style", "rect", "path", "text", "circle", "g", "title"}


@pytest.mark.parametrize("name", all_figures())
def test_everything_lies_inside(name: str) -> None:
    root = parsed(all_figures()[name])
    left, top, width, height = map(float, (root.get("viewBox") or "").split())
    assert (width, height) == (float(root.get("width", 0)), float(root.get("height", 0)))
    for element in root.iter():
        for key, start, size in (("x", left, width), ("y", top, height), ("cx", left, width)):
            if element.get(key):
                assert start <= float(element.get(key, 0)) <= start + size


def test_every_class_has_its_colours_in_the_page_and_in_the_file() -> None:
    style = files("brittle.reports").joinpath("report.css").read_text(encoding="utf-8")
    used = {
        kind
        for svg in all_figures().values()
        for found in re.findall(r'class="([^"]*)"', svg)
        for kind in found.split()
    } - {"plot", "name", "scale"}
    assert used >= {"line", "band", "fill", "dots", "whisker", "tone-0", "tone-1", "heading"}
    own = re.search(r"<style>(.*?)</style>", standalone_svg(all_figures()["grid"]))
    assert own is not None
    for kind in used:
        assert f".{kind}" in style and f".{kind}" in own[1], kind
    assert "var(" not in own[1]  # a file has no page around it


def test_a_confidence_curve_ends_where_it_is_known() -> None:
    svg = confidence_figure({"": CURVE})
    area = PlotArea((0.5, 0.9), y_label="y", x_label="x")  # the axis ends with the curve
    (line,) = elements(svg, "path", "line")
    assert line.get("d") == "".join(
        [
            f"M{area.x_at(0.5):.1f} {area.y_at(0.8):.1f}",
            f"V{area.y_at(0.8):.1f}H{area.x_at(0.55):.1f}",
            f"V{area.y_at(0.6):.1f}H{area.x_at(0.6):.1f}",
            f"V{area.y_at(0.2):.1f}H{area.x_at(0.9):.1f}",
        ]
    )
    (end,) = elements(svg, "circle", "fill")
    assert float(end.get("cx", 0)) == pytest.approx(area.x_at(0.9), abs=0.06)
    assert "20.0% at confidence 0.9" in svg
    assert {"confidence asked for", "attacked cases broken", "0.5", "0.9"} <= set(words(svg))
    assert "1.0" not in words(svg)


def test_a_run_that_asked_for_no_confidence_is_a_dot() -> None:
    svg = confidence_figure({"": ConfidenceCurve((0.6, 0.7), 4, 0.0)})
    (line,), (end,) = elements(svg, "path", "line"), elements(svg, "circle", "fill")
    assert re.fullmatch(r"M([\d.]+) ([\d.]+)V\2H\1", line.get("d") or "")
    assert float(end.get("cy", 0)) == pytest.approx(
        PlotArea((0, 1), y_label="y", x_label="x").y_at(0.5)
    )


def test_a_curve_that_never_falls_is_still_a_line() -> None:
    svg = confidence_figure({"": ConfidenceCurve((0.85, 0.9), 2, 0.8)})
    (line,) = elements(svg, "path", "line")
    area = PlotArea((0.4, 0.8), y_label="y", x_label="x")
    left, right = area.x_at(0.4), area.x_at(0.8)
    assert line.get("d") == f"M{left:.1f} 12.0V12.0H{right:.1f}"


def test_several_curves_have_a_legend_and_tones_of_their_own() -> None:
    names = ("beam", "greedy", "black box")
    svg = confidence_figure(dict.fromkeys(names, CURVE), "Success")
    assert {*names, "Success"} <= set(words(svg))
    tones = [line.get("class") for line in elements(svg, "path", "line")]
    assert tones[:3] == tones[3:] == ["line tone-0", "line tone-1", "line tone-2"]


def test_a_curve_of_thousands_of_steps_stays_small() -> None:
    many = tuple(sorted(random.Random(0).random() for _ in range(20_000)))
    assert len(confidence_figure({"": ConfidenceCurve(many, 30_000, 1.0)})) < 20_000


def test_bars_are_as_high_as_their_figures() -> None:
    svg = grid_figure(GRID)
    bars = [e for e in elements(svg, "rect", "fill") if float(e.get("height", 0)) != 12]
    heights = [float(bar.get("height", 0)) for bar in bars]
    # Target a: clean, x, y; target b: clean, x.
    shares = [6 / 7, 3 / 7, 1 / 4, 6 / 7, 3 / 7]
    assert [h / heights[0] for h in heights] == pytest.approx(
        [share / shares[0] for share in shares], abs=0.01
    )
    assert len(elements(svg, "path", "whisker")) == 5
    texts = words(svg)
    assert texts.count("*") == 1 and "* over other examples than the rest" in texts
    assert {"clean", "x", "y", "a", "b", "accuracy"} <= set(texts)
    assert "*" not in words(grid_figure(grid([AttackedTarget("a", "x", ROWS)])))


def test_bars_do_not_overlap() -> None:
    bars = [
        e for e in elements(grid_figure(GRID), "rect", "fill") if float(e.get("height", 0)) != 12
    ]
    spans = sorted(
        (float(b.get("x", 0)), float(b.get("x", 0)) + float(b.get("width", 0))) for b in bars
    )
    assert all(end <= start for (_, end), (start, _) in pairwise(spans))


def test_a_histogram_has_a_bar_for_every_bin() -> None:
    svg = histogram_figure(histogram([1, 1, 3]))
    heights = [float(bar.get("height", 0)) for bar in elements(svg, "rect", "fill")]
    assert heights == pytest.approx([heights[0], 0, heights[0] / 2], abs=0.1)
    assert {"1", "2", "3", "words changed", "broken cases"} <= set(words(svg))
    assert "1: 2; 3: 1" in svg
    assert "1–10" in words(histogram_figure(histogram([1, 250])))


def test_a_cloud_is_thinned_by_the_same_lot_and_keeps_its_proportions() -> None:
    rng = random.Random(3)
    points = [(rng.random(), rng.random()) for _ in range(3000)]
    clouds = {"big": points, "small": points[:1000]}
    svg = scatter_figure(clouds, max_points=400)
    dots = [
        (e.get("class") or "", (e.get("d") or "").count("M")) for e in elements(svg, "path", "dots")
    ]
    assert sum(n for kind, n in dots if "tone-0" in kind) == 300
    assert sum(n for kind, n in dots if "tone-1" in kind) == 100
    assert "400 of 4,000 points" in svg
    assert svg == scatter_figure(clouds, max_points=400)
    assert len(scatter_figure({"big": points * 3})) < 60_000


def test_a_point_lies_where_its_values_are() -> None:
    svg = scatter_figure({"a": [(0.0, 0.0), (10.0, 1.0), (5.0, 0.5)]})
    places = [
        tuple(map(float, place))
        for e in elements(svg, "path", "dots")
        for place in re.findall(r"M([\d.]+) ([\d.]+)", e.get("d") or "")
    ]
    (x0, y0), (x1, y1), (x2, y2) = sorted(places)
    assert x1 == pytest.approx((x0 + x2) / 2, abs=0.1) and y0 > y1 > y2
    assert {"0", "5", "10", "0.5"} <= set(words(svg))


def test_names_are_cut_and_folded_to_their_room() -> None:
    assert fold("tack-on", 200) == ["tack-on"]
    assert fold("strongest-swap words 3", 70) == ["strongest-", "swap words", "3"]
    assert fold("a b c d e f g h", 10, max_lines=2) == ["a b", "c d…"]
    long = "x" * 500
    texts = words(confidence_figure({long: CURVE, "b": CURVE}))
    assert max(map(len, texts)) < 60


def test_only_our_own_figures_become_files() -> None:
    with pytest.raises(UsageError, match="expected a figure"):
        standalone_svg("<svg><script/></svg>")


def test_figures_are_the_same_each_time() -> None:
    assert all_figures() == all_figures()

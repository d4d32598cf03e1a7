"""Ensembles of a pool: their transfer against their size."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from brittle.formatting import percent
from brittle.reports.axes import PERCENT_TICKS, PlotArea, draw, tone
from brittle.reports.escaping import escape

Points = Sequence[tuple[int, float]]
"""The size of an ensemble and its rate."""


def ensemble_figure(
    curves: Mapping[str, Points], lines: Mapping[str, float], title: str = ""
) -> str:
    """Draw a curve for every method, and level lines, each with its name written on it."""
    sizes = sorted({size for points in curves.values() for size, _ in points})
    low, high = sizes[0] - 0.4, sizes[-1] + 0.4
    legend = tuple(curves)
    area = PlotArea(
        *((low, high), (0.0, 1.0), "members of the ensemble", "texts that fool others"),
        *(title, legend, "line"),
    )
    body, values = [], []
    for name, rate in lines.items():
        y = area.y_at(rate)
        # Curves mostly run between the lines, so the name of the lowest stands below it.
        text_y = y + 14 if rate == min(lines.values()) else y - 4
        body.append(
            f'<path class="axis" stroke-dasharray="3 3" d="M{area.left} {y:.1f}H{area.right}"/>'
            f'<text x="{area.right}" y="{text_y:.1f}" text-anchor="end">{escape(name)} '
            f"{percent(rate)}</text>"
        )
        values.append(f"{name}: {percent(rate)}")
    for n, (name, points) in enumerate(curves.items()):
        colour = tone(n, len(curves))
        places = [(area.x_at(size), area.y_at(rate)) for size, rate in sorted(points)]
        path = "L".join(f"{x:.1f} {y:.1f}" for x, y in places)
        body.append(f'<path class="line{colour}" d="M{path}"/>')
        body += [
            f'<circle class="fill{colour}" cx="{x:.1f}" cy="{y:.1f}" r="3"/>' for x, y in places
        ]
        shown = ", ".join(f"{size}: {percent(rate)}" for size, rate in sorted(points))
        values.append(f"{name}, {shown}")
    ticks = [(float(size), str(size)) for size in sizes]
    description = f"Texts that fool other models, by size of the ensemble. {'; '.join(values)}"
    return draw(area, description, ticks, PERCENT_TICKS, "".join(body))

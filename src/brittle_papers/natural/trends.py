"""A plot of values at named steps, with their intervals."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from brittle.metrics.summary import Figure
from brittle.reports.axes import PlotArea, draw, padded_range, ticks_inside, tone
from brittle.reports.hover import value_title


def trend_figure(
    steps: Sequence[str],
    curves: Mapping[str, Sequence[Figure | None]],
    x_label: str,
    y_label: str,
    title: str = "",
) -> str:
    """Draw values at named steps, one apart, with their intervals; a missing one is left out."""
    known = [f for values in curves.values() for f in values if f is not None]
    ends = [x for f in known for x in (f.value, f.low, f.high) if x is not None]
    y = padded_range(ends)
    legend = tuple(curves) if len(curves) > 1 else ()
    area = PlotArea((-0.5, len(steps) - 0.5), y, x_label, y_label, title, legend, "line")
    body, values = [], []
    for n, (name, figures) in enumerate(curves.items()):
        colour = tone(n, len(curves))
        places = []
        for step, figure in enumerate(figures):
            if figure is None or figure.value is None:
                continue
            x_at, y_at = area.x_at(step), area.y_at(figure.value)
            places.append(f"{x_at:.1f} {y_at:.1f}")
            value = f"{name}, {steps[step]}: {figure.value:.3g}"
            if figure.low is not None and figure.high is not None:
                low, high = area.y_at(figure.low), area.y_at(figure.high)
                body.append(f'<path class="whisker" d="M{x_at:.1f} {low:.1f}V{high:.1f}"/>')
            dot = f'class="fill{colour}" cx="{x_at:.1f}" cy="{y_at:.1f}" r="3.5"'
            body.append(f"<circle {dot}>{value_title(value)}</circle>")
            values.append(value)
        if places:
            body.insert(0, f'<path class="line{colour}" d="M{"L".join(places)}"/>')
    ticks = [(float(n), step) for n, step in enumerate(steps)]
    description = f"{y_label} by {x_label}. {'; '.join(values)}"
    return draw(area, description, ticks, ticks_inside(y), "".join(body))

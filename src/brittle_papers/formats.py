"""How figures are written on a page and in the evidence of a claim."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from brittle.formatting import NO_VALUE, number, percent
from brittle.metrics.paired import Contrast
from brittle.metrics.summary import Figure


def format_value(value: Figure | Contrast | int) -> str:
    """Format a rate, a difference of two paired rates in points, or a count.

    >>> from brittle.metrics.paired import contrast
    >>> from brittle.metrics.summary import rate
    >>> format_value(rate(8, 10, "cases")), format_value(rate(0, 0, "cases"))
    ('80.0% (49.0–94.3; 8 of 10)', '– (no case)')
    >>> format_value(contrast([(False, True)] * 9 + [(True, True)]))
    '+90.0 points (+48.8 to +98.2; n = 10, p = 0.004)'
    """
    if isinstance(value, int):
        return number(value)
    of = number(value.of)
    if isinstance(value, Contrast):
        if value.difference is None or value.low is None or value.high is None:
            return f"{NO_VALUE} (no shared case)"
        p = "p < 0.001" if value.p < 0.001 else f"p = {value.p:.3f}"
        interval = f"{100 * value.low:+.1f} to {100 * value.high:+.1f}"
        return f"{100 * value.difference:+.1f} points ({interval}; n = {of}, {p})"
    if value.value is None or value.low is None or value.high is None:
        return f"{NO_VALUE} (no case)"
    over = f"n = {of}" if value.count is None else f"{number(value.count)} of {of}"
    return f"{100 * value.value:.1f}% ({100 * value.low:.1f}–{100 * value.high:.1f}; {over})"


def format_mean(figure: Figure) -> str:
    """Format a mean that is no share.

    >>> format_mean(Figure(10.7, 9.0, 12.4, None, 30, "words"))
    '10.70 (9.00–12.40; n = 30)'
    """
    if figure.value is None or figure.low is None or figure.high is None:
        return format_value(figure)
    return f"{figure.value:.2f} ({figure.low:.2f}–{figure.high:.2f}; n = {number(figure.of)})"


def format_signed_mean(figure: Figure) -> str:
    """Format a mean that may be below zero.

    >>> format_signed_mean(Figure(1.234, -1.0, 1.5, None, 10, "digits"))
    '1.23 (-1.00 to 1.50; n = 10)'
    """
    if figure.value is None or figure.low is None or figure.high is None:
        return f"{NO_VALUE} (no case)"
    return f"{figure.value:.2f} ({figure.low:.2f} to {figure.high:.2f}; n = {figure.of:,})"


def format_rate(figure: Figure) -> str:
    """Format a mean rate with its interval, as tables of transfer write rates.

    >>> format_rate(Figure(0.5, 0.25, 0.75, None, 10, "texts"))
    '.500 (.250–.750)'
    """
    if figure.value is None or figure.low is None or figure.high is None:
        return NO_VALUE
    numbers = [f"{x:.3f}".replace("0.", ".", 1) for x in (figure.value, figure.low, figure.high)]
    return f"{numbers[0]} ({numbers[1]}–{numbers[2]})".replace("–-", " to -")


def format_points(figure: Figure) -> str:
    """Format a difference of two shares in points, with its interval."""
    if figure.value is None or figure.low is None or figure.high is None:
        return NO_VALUE
    low, high = 100 * figure.low, 100 * figure.high
    return f"{100 * figure.value:+.1f} points ({low:+.1f} to {high:+.1f})"


def format_difference(value: Figure | Contrast) -> str:
    """Format a difference of two shares in points, paired or not."""
    return format_value(value) if isinstance(value, Contrast) else format_points(value)


def format_change(figure: Figure) -> str:
    """Format a difference that is no share, such as one of BLEU."""
    if figure.value is None or figure.low is None or figure.high is None:
        return format_points(figure)
    return f"{figure.value:+.2f} ({figure.low:+.2f} to {figure.high:+.2f}; n = {figure.of})"


def format_distance(figure: Figure) -> str:
    """Format a small distance with its interval."""
    return f"{figure.value or 0:.3f} ({figure.low or 0:.3f}–{figure.high or 0:.3f})"


def format_score(figure: Figure) -> str:
    """Format a score on a scale of its own, such as BLEU, with its interval."""
    if figure.value is None or figure.low is None or figure.high is None:
        return NO_VALUE
    return f"{figure.value:.2f} ({figure.low:.2f}–{figure.high:.2f})"


def format_p(p: float) -> str:
    """Format a p that stands in a column of its own.

    >>> format_p(0.0312), format_p(0.00001)
    ('0.031', '< 0.001')
    """
    return "< 0.001" if p < 0.001 else f"{p:.3f}"


FORMATS: Mapping[str, Callable[[Any], str]] = {
    "value": format_value,
    "mean": format_mean,
    "signed mean": format_signed_mean,
    "rate": format_rate,
    "points": format_points,
    "change": format_change,
    "distance": format_distance,
    "score": format_score,
    "number": lambda figure: number(figure.value),
    "percent": lambda figure: percent(figure.value),
}
"""The formats that paper.toml names."""

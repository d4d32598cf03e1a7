"""A plot as an SVG file of its own, with its colours inside, for Markdown pages and papers."""

from __future__ import annotations

import re
from pathlib import Path

from brittle.errors import UsageError

MARGIN = 8
_OPENING = re.compile(r'<svg (class="(?:plot|scale)") viewBox="0 0 (\d+) (\d+)"')
_NOT_IN_XML = re.compile("[\ufffe\uffff]")
_TONES = ("#33658a", "#c1452f", "#d9a441", "#7a5ea8", "#23774b", "#8a8780")
_DASHES = ("", "7 3", "2.5 2.5", "9 3 2 3", "12 4", "4 4")
_STYLE = "".join(Path(__file__).with_name("plot.css").read_text("utf-8").splitlines()) + "".join(
    f".line.tone-{n},.dots.tone-{n}{{stroke:{tone}}}"
    f".fill.tone-{n},.band.tone-{n}{{fill:{tone}}}"
    f".line.tone-{n}{{stroke-dasharray:{_DASHES[n] or 'none'}}}"
    for n, tone in enumerate(_TONES)
)


def standalone_svg(plot: str) -> str:
    """Return a plot as the text of a file: on a white card, which is readable on any page."""
    opening = _OPENING.match(plot)
    if opening is None:
        raise UsageError(f"Got {plot[:40]!r}; expected a figure of brittle.reports.")
    width, height = (int(size) + 2 * MARGIN for size in opening.groups()[1:])
    size = f'width="{width}" height="{height}"'
    box = f'viewBox="{-MARGIN} {-MARGIN} {width} {height}"'
    attributes, body = plot[opening.end() :].split(">", 1)
    text = (
        f'<svg xmlns="http://www.w3.org/2000/svg" {opening[1]} {size} {box}{attributes}>'
        f'<style>{_STYLE}</style><rect x="{-MARGIN}" y="{-MARGIN}" {size} rx="8" fill="#ffffff"/>'
        f"{body}\n"
    )
    return _NOT_IN_XML.sub("\ufffd", text)

"""A plot as an SVG file of its own, with its colours inside, for Markdown pages and papers."""

from __future__ import annotations

import re

from brittle.errors import UsageError

MARGIN = 8
_OPENING = re.compile(r'<svg (class="(?:plot|scale)") viewBox="0 0 (\d+) (\d+)"')
_NOT_IN_XML = re.compile("[\ufffe\uffff]")
_TONES = ("#33658a", "#c1452f", "#d9a441", "#7a5ea8", "#23774b", "#8a8780")
_DASHES = ("", "7 3", "2.5 2.5", "9 3 2 3", "12 4", "4 4")
_STYLE = "".join(
    [
        "text{font:12px system-ui,-apple-system,'Segoe UI',Roboto,sans-serif;fill:#555b63}",
        ".heading{font-size:14px;font-weight:600;fill:#23262b}.axis,.grid,.line{fill:none}",
        ".axis{stroke:#a5a39d}.grid{stroke:#e3e0da}.whisker{stroke:#23262b;stroke-width:1.25}",
        ".line{stroke:#c1452f;stroke-width:2.25;stroke-linejoin:round}.fill{fill:#c1452f}",
        ".band{fill:#c1452f;opacity:.14}.dots{fill:none;stroke:#c1452f;stroke-width:4;stroke-linecap:round;",
        "opacity:.55}.before,.after{fill:none;stroke-width:2}.before{stroke:#33658a}",
        ".after{stroke:#c1452f}.before circle{fill:#33658a}.after circle{fill:#c1452f}",
        *(
            f".line.tone-{n},.dots.tone-{n}{{stroke:{tone}}}"
            f".fill.tone-{n},.band.tone-{n}{{fill:{tone}}}"
            f".line.tone-{n}{{stroke-dasharray:{_DASHES[n] or 'none'}}}"
            for n, tone in enumerate(_TONES)
        ),
    ]
)


def standalone_svg(plot: str) -> str:
    """Return a plot as the text of a file: on a white card, which is readable on any page."""
    opening = _OPENING.match(plot)
    if opening is None:
        raise UsageError(f"Got {plot[:40]!r}; expected a figure of brittle.reports.")
    css_class, width, height = (
        opening[1],
        int(opening[2]) + 2 * MARGIN,
        int(opening[3]) + 2 * MARGIN,
    )
    size = f'width="{width}" height="{height}"'
    box = f'viewBox="{-MARGIN} {-MARGIN} {width} {height}"'
    attributes, body = plot[opening.end() :].split(">", 1)
    text = (
        f'<svg xmlns="http://www.w3.org/2000/svg" {css_class} {size} {box}{attributes}>'
        f'<style>{_STYLE}</style><rect x="{-MARGIN}" y="{-MARGIN}" {size} rx="8" fill="#ffffff"/>'
        f"{body}\n"
    )
    return _NOT_IN_XML.sub("\ufffd", text)

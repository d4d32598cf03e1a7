"""A figure as a file of its own, with its colours inside, for Markdown pages and papers."""

from __future__ import annotations

import re

from brittle.errors import UsageError

MARGIN = 8
_OPENING = re.compile(r'<svg (class="(?:plot|scale)") viewBox="0 0 (\d+) (\d+)"')
_NO_XML = re.compile("[\ufffe\uffff]")
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


def standalone(svg: str) -> str:
    """Make a file of a figure: its own colours on a white card, which reads on any page."""
    found = _OPENING.match(svg)
    if found is None:
        raise UsageError(f"Got {svg[:40]!r}; expected a figure of brittle.reports.")
    kind, width, height = found[1], int(found[2]) + 2 * MARGIN, int(found[3]) + 2 * MARGIN
    size = f'width="{width}" height="{height}"'
    box = f'viewBox="{-MARGIN} {-MARGIN} {width} {height}"'
    named, rest = svg[found.end() :].split(">", 1)
    whole = (
        f'<svg xmlns="http://www.w3.org/2000/svg" {kind} {size} {box}{named}>'
        f'<style>{_STYLE}</style><rect x="{-MARGIN}" y="{-MARGIN}" {size} rx="8" fill="#ffffff"/>'
        f"{rest}\n"
    )
    return _NO_XML.sub("\ufffd", whole)

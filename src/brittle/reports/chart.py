"""A drawn chart, as pages and files show it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

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
        from brittle.reports.standalone_svg import standalone_svg

        return standalone_svg(self.svg)

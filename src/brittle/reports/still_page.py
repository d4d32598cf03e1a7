"""A page without a script: a title, and sections that are there already."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from markupsafe import Markup

from brittle.reports.page import render_page


def still_page(title: str, sections: Sequence[Any], further_style: str = "") -> str:
    """Return one HTML file that loads and runs nothing; a section is HTML, or draws itself."""
    parts = [Markup(part) if isinstance(part, str) else part for part in sections]
    return render_page("still.html.jinja", title, style=further_style, sections=parts)

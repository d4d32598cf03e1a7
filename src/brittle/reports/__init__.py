"""Reports, from stored rows only: terminal, plain text, notebook, JSON, HTML, figures, grids."""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

from brittle.reports.stored import StoredRun

if TYPE_CHECKING:
    from brittle.reports.comparison import grid_markdown, grid_of
    from brittle.reports.notebook import summary_html
    from brittle.reports.plots import (
        confidence_figure,
        grid_figure,
        histogram_figure,
        scatter_figure,
        standalone_svg,
    )
    from brittle.reports.run_page import render
    from brittle.reports.summaries import comparison_json, summary_json, summary_text

__all__ = [
    "StoredRun",
    "comparison_json",
    "confidence_figure",
    "grid_figure",
    "grid_markdown",
    "grid_of",
    "histogram_figure",
    "render",
    "scatter_figure",
    "standalone_svg",
    "summary_html",
    "summary_json",
    "summary_text",
]

_HOMES = {
    "comparison_json": "summaries",
    "confidence_figure": "plots",
    "grid_figure": "plots",
    "grid_markdown": "comparison",
    "grid_of": "comparison",
    "histogram_figure": "plots",
    "render": "run_page",
    "scatter_figure": "plots",
    "standalone_svg": "plots",
    "summary_html": "notebook",
    "summary_json": "summaries",
    "summary_text": "summaries",
}


def __getattr__(name: str) -> Any:
    """Import a name when it is first used: a summary in the terminal needs no page."""
    if name not in _HOMES:
        raise AttributeError(f"module 'brittle.reports' has no attribute {name!r}")
    return getattr(importlib.import_module(f"brittle.reports.{_HOMES[name]}"), name)

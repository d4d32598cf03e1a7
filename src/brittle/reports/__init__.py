"""Reports, from stored rows only: terminal, plain text, notebook, JSON, HTML, figures, grids."""

from brittle.reports.grids import grid_markdown, grid_of
from brittle.reports.html import render
from brittle.reports.plots import confidence_figure, grid_figure, histogram_figure, scatter_figure
from brittle.reports.standalone_svg import standalone_svg
from brittle.reports.stored import StoredRun
from brittle.reports.summaries import comparison_json, summary_html, summary_json, summary_text

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

"""Reports, from stored rows only: terminal, plain text, notebook, JSON, self-contained HTML."""

from brittle.reports.html import render
from brittle.reports.stored import StoredRun
from brittle.reports.summaries import (
    comparison_json,
    summary_html,
    summary_json,
    summary_text,
)

__all__ = [
    "StoredRun",
    "comparison_json",
    "render",
    "summary_html",
    "summary_json",
    "summary_text",
]

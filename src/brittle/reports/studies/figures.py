"""The heat map of a rate matrix as one SVG, for Markdown pages and papers."""

from __future__ import annotations

from brittle.formatting import plural
from brittle.reports.studies.heat_map import heat_map, scale_of
from brittle.reports.studies.rate_matrix import RateMatrix


def matrix_figure(matrix: RateMatrix, by: str = "architecture", of_right: bool = False) -> str:
    """Draw the matrix with its models grouped by a class."""
    description = (
        f"Transfer rates of {plural(len(matrix.sources), 'sources')} (rows) to "
        f"{plural(len(matrix.targets), 'targets')} (columns); framed: base rates"
    )
    legend = "framed: base rate; grey: empty"
    return heat_map(matrix, by, scale_of(matrix)).svg(description, legend, int(of_right))

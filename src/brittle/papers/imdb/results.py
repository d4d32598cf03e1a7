"""What the page of the IMDb paper reads from the results of its tasks."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property

from brittle.metrics.grid import AttackedTarget, Grid, grid
from brittle.metrics.paired import Contrast, contrast, paired
from brittle.metrics.summary import ATTACKED, Figure, is_judged, is_right_after, rate
from brittle.papers.imdb.plan import ATTACKS, COMPONENTS, LSTM, RUN, TARGETS, TRANSFER
from brittle.papers.results import PaperResults
from brittle.results import Result
from brittle.studies.transfer import transferred_rows

FEW_WORDS = 5


@dataclass(frozen=True)
class ImdbResults(PaperResults):
    """The results of the tasks, with the figures that more than one part of the page uses."""

    @cached_property
    def cells(self) -> Mapping[tuple[str, str], list[Result]]:
        """The rows of every target under every attack, in the order of Figure 8."""
        return {(target, name): self._cell(target, name) for target in TARGETS for name in ATTACKS}

    def _cell(self, target: str, attack: str) -> list[Result]:
        if (target, attack) in RUN:
            return self.rows(RUN[target, attack])
        labels = self.results[TRANSFER[target, attack]]["labels"]
        return transferred_rows(self.rows(RUN[LSTM, attack]), labels)

    @cached_property
    def grid(self) -> Grid:
        return grid([AttackedTarget(*names, rows) for names, rows in self.cells.items()])

    def compare_cells(self, a: tuple[str, str], b: tuple[str, str]) -> Contrast:
        """Compare the accuracy under attack in cell b with that in cell a, case by case."""
        return paired(self.cells[a], self.cells[b]).accuracy

    def fall(self, target: str, attack: str) -> Contrast:
        """Compare the accuracy of a target under attack with that on the same originals."""
        rows = [row for row in self.cells[target, attack] if is_judged(row)]
        return contrast([(row.predicted == row.label, is_right_after(row)) for row in rows])

    def broken_by_few(self, attack: str, label: str | None = None) -> Figure:
        """Compute the share of attacked reviews, of one class or all, that few words broke."""
        rows = [row for row in self.cells[LSTM, attack] if row.status in ATTACKED]
        rows = [row for row in rows if label in (None, row.label)]
        few = [row.status == "broken" and row.words_changed <= FEW_WORDS for row in rows]
        return rate(sum(few), len(few), "attacked cases")

    def parted(self, features: str) -> Figure:
        """Compute the share of training reviews that lie nearest to their own class."""
        components = self.results[COMPONENTS[features]]
        return rate(components["parted"], len(components["label"]), "training reviews")

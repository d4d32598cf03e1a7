"""What the page of the IMDb paper reads from the results of its tasks."""

from __future__ import annotations

from dataclasses import dataclass

from brittle.metrics.summary import ATTACKED, Figure, rate
from brittle_papers.grid_results import GridResults
from brittle_papers.imdb.plan import ATTACKS, COMPONENTS, LSTM, RUN, TARGETS, TRANSFER

FEW_WORDS = 5


@dataclass(frozen=True)
class ImdbResults(GridResults):
    """The results of the tasks, with the figures that more than one part of the page uses."""

    targets, attacks, runs, transfers, source = TARGETS, ATTACKS, RUN, TRANSFER, LSTM

    def broken_by_few(self, attack: str, label: str | None = None) -> Figure:
        """Compute the share of attacked reviews, of one class or all, that few words broke."""
        rows = [row for row in self.cells[LSTM, attack] if row.status in ATTACKED]
        rows = [row for row in rows if label in (None, row.label)]
        few = [row.status == "broken" and row.words_changed <= FEW_WORDS for row in rows]
        return rate(sum(few), len(few), "attacked cases")

    def parted(self, features: str) -> Figure:
        """Compute the share of training reviews that lie nearest to their own class."""
        components = self[COMPONENTS[features]]
        return rate(components["parted"], len(components["label"]), "training reviews")

"""What papers read that attack several targets by several attacks: a grid of cells."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import ClassVar

from brittle.metrics.grid import AttackedTarget, Grid, grid
from brittle.metrics.paired import Contrast, contrast, paired
from brittle.metrics.summary import is_judged, is_right_after
from brittle.results import Result
from brittle.studies.transfer.labels import transferred_rows
from brittle_papers.results import PaperResults

TargetAndAttack = tuple[str, str]


@dataclass(frozen=True)
class GridResults(PaperResults):
    """Results by target and attack, in the order of `targets` and `attacks`.

    `runs` names the attack task of a cell. A cell without one is in `transfers`: the task by which
    its target answered the texts that the attack made on the target `source`.
    """

    targets: ClassVar[Sequence[str]]
    attacks: ClassVar[Sequence[str]]
    runs: ClassVar[Mapping[TargetAndAttack, str]]
    transfers: ClassVar[Mapping[TargetAndAttack, str]] = {}
    source: ClassVar[str] = ""

    @cached_property
    def cells(self) -> Mapping[TargetAndAttack, list[Result]]:
        """The rows of every target under every attack."""
        return {
            (target, name): self._cell(target, name)
            for target in self.targets
            for name in self.attacks
        }

    def _cell(self, target: str, attack: str) -> list[Result]:
        if (target, attack) in self.runs:
            return self.rows(self.runs[target, attack])
        labels = self.results[self.transfers[target, attack]]["labels"]
        return transferred_rows(self.rows(self.runs[self.source, attack]), labels)

    @cached_property
    def grid(self) -> Grid:
        return grid([AttackedTarget(*names, rows) for names, rows in self.cells.items()])

    def compare_cells(self, a: TargetAndAttack, b: TargetAndAttack) -> Contrast:
        """Compare the accuracy under attack in cell b with that in cell a, case by case."""
        return paired(self.cells[a], self.cells[b]).accuracy

    def fall(self, target: str, attack: str) -> Contrast:
        """Compare the accuracy of a target under attack with that on the same originals."""
        rows = [row for row in self.cells[target, attack] if is_judged(row)]
        return contrast([(row.predicted == row.label, is_right_after(row)) for row in rows])

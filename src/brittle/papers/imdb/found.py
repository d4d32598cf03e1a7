"""What the steps of the IMDb paper have left, as rows and figures."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from functools import cached_property
from typing import Any

from brittle.asks import Status
from brittle.metrics.grid import AttackedTarget, Grid, grid
from brittle.metrics.paired import Contrast, contrast, paired
from brittle.metrics.summary import Figure, rate
from brittle.papers.imdb.plan import BLACK_BOX, JSMA, LSTM, TARGETS
from brittle.papers.order import PaperResults
from brittle.papers.tasks import open_task_run
from brittle.results import Result
from brittle.runs.run import Run

COLUMNS = (*BLACK_BOX, *JSMA.values())


class Found:
    """What the steps have left, read once."""

    def __init__(self, made: PaperResults) -> None:
        self.made = made

    def result(self, task: str) -> Any:
        return self.made.results[task]

    def run(self, attack: str, target: str = LSTM) -> Run:
        return open_task_run(self.made.folder, self.result(f"{attack} on {target}"))

    @cached_property
    def rows(self) -> Mapping[tuple[str, str], list[Result]]:
        """The rows of every target under every attack, in the order of Figure 8."""
        return {
            (target, attack): self._rows(target, attack) for target in TARGETS for attack in COLUMNS
        }

    def _rows(self, target: str, attack: str) -> list[Result]:
        if target == LSTM or attack in BLACK_BOX:
            return self.run(attack, target).results()
        return carried(self.run(attack).results(), self.result(f"{attack} carried to {target}"))

    @cached_property
    def grid(self) -> Grid:
        return grid(
            [AttackedTarget(target, attack, rows) for (target, attack), rows in self.rows.items()]
        )

    def accuracy(self, a: tuple[str, str], b: tuple[str, str]) -> Contrast:
        """Compare the accuracy under attack in cell b with that in cell a, case by case."""
        return paired(self.rows[a], self.rows[b]).accuracy

    def fall(self, target: str, attack: str) -> Contrast:
        """Compare a target's accuracy under attack with that on the same originals."""
        rows = [row for row in self.rows[target, attack] if row.status != "error"]
        right = [(row.predicted == row.label, row.status != "broken") for row in rows]
        return contrast([(before, before and held) for before, held in right])

    def clean(self, target: str) -> Figure:
        return self._share(f"clean {target}")

    def dev(self, name: str) -> Figure:
        return self._share(f"dev {name}")

    def versus(self, kind: str, a: str, b: str) -> Contrast:
        """Compare the accuracy of b with that of a on all texts of a side: clean, or dev."""
        bits = zip(*(self.result(f"{kind} {name}")["right"] for name in (a, b)))
        return contrast([(x == "1", y == "1") for x, y in bits])

    def _share(self, task: str) -> Figure:
        bits = self.result(task)["right"]
        return rate(bits.count("1"), len(bits), "examples answered")

    def by_class(self, attack: str) -> dict[str, Figure]:
        """Give the success of an attack on the LSTM by the class of the original."""
        attacked = [r for r in self.rows[LSTM, attack] if r.status not in ("skipped", "error")]
        labels = sorted({str(row.label) for row in attacked})
        return {
            label: rate(
                sum(row.status == "broken" for row in attacked if row.label == label),
                sum(row.label == label for row in attacked),
                "attacked cases",
            )
            for label in labels
        }


def carried(rows: list[Result], told: Mapping[str, Any]) -> list[Result]:
    """Give the rows of a target that was shown the texts another one was attacked with.

    A case is broken if this target is right on the original and wrong on the text the attack left.
    """
    found = []
    answers = {case: said for case, *said in zip(told["cases"], told["before"], told["after"])}
    for row in rows:
        before, after = answers[row.case]
        is_right = before == row.label
        status: Status = "skipped" if not is_right else "held" if after == row.label else "broken"
        made = replace(
            row,
            status=status,
            reason="" if is_right else "already wrong",
            predicted=before,
            confidence=None,
            adversarial_label=after,
            adversarial_confidence=None,
        )
        found.append(made)
    return found

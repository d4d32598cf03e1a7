"""What the page of the self-attention paper reads from its tasks: grids and insides.

First the words that the files of the paper share: tasks, targets and attacks.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property

from brittle.asks import NO_CANDIDATES
from brittle.inside.file import load_inside
from brittle.inside.measures import InsideCase, InsideRun
from brittle.metrics.paired import Contrast, contrast
from brittle.metrics.summary import ATTACKED, Figure, mean_by_text
from brittle.studies.grid.study import (
    CellRow,
    GridCase,
    GridCell,
    GridStudy,
    best_attention,
    success,
)
from brittle.text import words_of
from brittle_papers.attention import stages
from brittle_papers.claims import difference as newcombe
from brittle_papers.results import PaperResults

SENTIMENT, ENTAILMENT = CLASSIFIED = ("sentiment", "entailment")

LSTM, ENCODER, SCRATCH = TARGETS = ("BiLSTM", "MiniLM", "BERT-NOPT")
"""The classifiers in the paper's order: its LSTM, its BERT, and its BERT without pretraining."""

RANDOM, GS_GR, GS_EC = "random-word", "gs-gr", "gs-ec"
LIST, WORDNET_LIST = "list:neighbours=counterfitted", "list"
BY_ATTENTION = ("asmin-gr", "asmax-gr", "asmin-ec", "asmax-ec")
ATTACKS = (RANDOM, LIST, *BY_ATTENTION, GS_GR, GS_EC)
"""The rows of Tables 1 and 5 in the paper's order."""
LAST_LAYER = "asmax-ec:layer=last"
"""The attack of the paper's footnote."""
WORD_MODEL = "Transformer-W"
"""The Transformer with the words of the LSTM, and its task."""
ON_WORD_MODELS = "word models"
OWN_WORDS = (RANDOM, "asmin-gr", "asmax-gr", GS_GR)
"""The attacks that are also run on each target's own words."""
ON_WORDS = (RANDOM, LIST, WORDNET_LIST, "asmin-gr", "asmax-gr", GS_GR)
OF_WORDS = ":attention_of=words"
NEAREST = (50, 100, 200, 400)
PAPER_NAMES = {RANDOM: "RANDOM", LIST: "LIST", WORDNET_LIST: "LIST (WordNet)"}
"""The attacks that the paper calls otherwise; the others are in capitals there."""


def attack_name(attack: str) -> str:
    """Return the paper's name of an attack.

    >>> attack_name("random-word"), attack_name("gs-ec")
    ('RANDOM', 'GS-EC')
    """
    return PAPER_NAMES.get(attack, attack.upper())


Difference = Contrast | Figure
"""A difference of two success rates: paired by McNemar's test, or a mean where draws count."""
Measure = Callable[[InsideCase], float | None]


def counted(study: GridStudy) -> GridStudy:
    """Count texts in which an attack may edit nothing as held: a paper's success is over all."""
    cells = {
        attack: {
            target: replace(cell, rows=tuple(map(_held, cell.rows)))
            for target, cell in by_target.items()
        }
        for attack, by_target in study.cells.items()
    }
    return study.changed(cells=cells)


def _held(row: CellRow) -> CellRow:
    return replace(row, status="held") if row.reason == NO_CANDIDATES else row


def outcomes(cell: GridCell) -> dict[str, float]:
    """Return for every attacked case whether it is broken, or the share of its draws that won."""
    return {
        row.case: (row.won or 0) / row.tried if row.tried else float(row.status == "broken")
        for row in cell.rows
        if row.status in ATTACKED
    }


def difference(a: GridCell, b: GridCell) -> Difference:
    """Compare the success of cell b with that of cell a, over the cases attacked in both.

    Where one of them counts draws, the intervals of both rates are combined (Newcombe): a bootstrap
    over texts would take a rate of 0 for certain.
    """
    first, second = outcomes(a), outcomes(b)
    shared = [case for case in first if case in second]
    count_draws = [any(row.tried for row in cell.rows) for cell in (a, b)]
    if all(count_draws):
        return mean_by_text([(case, second[case] - first[case]) for case in shared], "texts")
    if not any(count_draws):
        return contrast([(first[case] > 0, second[case] > 0) for case in shared])
    rates = success(a), success(b)
    low, high = newcombe(*rates)
    gap = None if low is None else (rates[1].value or 0.0) - (rates[0].value or 0.0)
    return Figure(gap, low, high, None, len(shared), "texts")


def editable_words(case: GridCase, locked: Sequence[str]) -> int:
    """Count the words of the fields that an attack may edit."""
    return sum(len(words_of(text)) for name, text in case.fields if name not in locked)


@dataclass(frozen=True)
class AttentionResults(PaperResults):
    """The results of the tasks; what is loaded is kept."""

    @cached_property
    def studies(self) -> Mapping[str, GridStudy]:
        """The grids by task: sentiment, and entailment if it was run."""
        return {
            task: self._grid(f"attacks for {task}")
            for task in CLASSIFIED
            if f"attacks for {task}" in self.results
        }

    def targets(self, task: str) -> list[str]:
        """List the targets that were attacked, the LSTM first."""
        return [target.name for target in self.studies[task].targets]

    def cell(self, task: str, attack: str, target: str) -> GridCell | None:
        """Return a cell of a grid; None if the attack asks for what the target does not offer."""
        return self.studies[task].results.cells[attack].get(target)

    def success_of(self, task: str, attack: str, target: str) -> Figure | None:
        """Compute the success of an attack; of RANDOM, the mean success of a draw."""
        cell = self.cell(task, attack, target)
        return None if cell is None else success(cell)

    def best_attention(self, task: str, target: str) -> tuple[str, Figure] | None:
        """Return the best of the four attention attacks on a target (the paper's A*)."""
        four = self.studies[task].changed(attacks=BY_ATTENTION)
        return best_attention(four, target)

    def between_targets(self, task: str, attack: str, a: str, b: str) -> Difference | None:
        """Compare the success of an attack on target b with that on target a."""
        cells = self.cell(task, attack, a), self.cell(task, attack, b)
        return None if cells[0] is None or cells[1] is None else difference(cells[0], cells[1])

    def between_attacks(self, task: str, target: str, a: str, b: str) -> Difference | None:
        """Compare the success of attack b on a target with that of attack a."""
        cells = self.cell(task, a, target), self.cell(task, b, target)
        return None if cells[0] is None or cells[1] is None else difference(cells[0], cells[1])

    @cached_property
    def own_words(self) -> Mapping[str, GridStudy]:
        """The grids by task in which each target has its own words."""
        return {
            task: self._grid(f"attacks for {task}, own words")
            for task in CLASSIFIED
            if f"attacks for {task}, own words" in self.results
        }

    @cached_property
    def word_models(self) -> GridStudy:
        """The grid of the LSTM and the Transformer with its words."""
        return self._grid(f"attacks on {ON_WORD_MODELS}")

    def _grid(self, task: str) -> GridStudy:
        return counted(stages.load_grid(self.folder, self.results[task]))

    def nearest_cell(self, task: str, target: str, nearest: int | None) -> GridCell | None:
        """Return GS-EC's cell as if it had tried only the `nearest` words; all of them if None.

        It tries them in the order of their distance and stops at the first that works, so the
        number of its query says how many were nearer. Before them it asked one query for the text
        and one for each word that it erased.
        """
        cell = self.cell(task, GS_EC, target)
        if cell is None or nearest is None:
            return cell
        erased = {
            case.case: editable_words(case, self.studies[task].locked)
            for case in self.studies[task].cases
        }
        rows = tuple(
            replace(row, status="held", adversarial=None)
            if row.status == "broken" and row.queries - 1 - erased[row.case] > nearest
            else row
            for row in cell.rows
        )
        return replace(cell, rows=rows)

    @cached_property
    def last_insides(self) -> Mapping[str, InsideRun]:
        """What was seen of the last layer on sentiment, by target."""
        found = self.results.get("last layer inside for sentiment", {"inside": {}})["inside"]
        return {target: load_inside(self.folder / file) for target, file in found.items()}

    @cached_property
    def insides(self) -> Mapping[str, Mapping[str, Mapping[str, InsideRun]]]:
        """What was seen, by task, attack and target."""
        return {
            task: {
                attack: {target: load_inside(self.folder / file) for target, file in files.items()}
                for attack, files in self.results[f"inside for {task}"]["inside"].items()
            }
            for task in CLASSIFIED
            if f"inside for {task}" in self.results
        }

    def seen_cases(self, task: str, target: str) -> Sequence[InsideCase]:
        """Return the cases of GS-EC that were looked into, up to the limit of the scale."""
        run = self.insides.get(task, {}).get(GS_EC, {}).get(target)
        limit: int = self.results[f"inside for {task}"]["limit"] if run else 0
        return run.cases[:limit] if run else ()

    def inside_case(self, task: str, attack: str, target: str, key: str) -> InsideCase | None:
        """Return the case of a figure: that under `case` or `attended` in the result."""
        run = self.insides.get(task, {}).get(attack, {}).get(target)
        wanted = self.results[f"inside for {task}"].get(key) if run else None
        return next((c for c in run.cases if c.case == wanted), None) if run and wanted else None

    def measured(self, task: str, target: str, measure: Measure) -> Figure:
        """Average a measure over the cases of a target that were looked into."""
        values = [(case.case, measure(case)) for case in self.seen_cases(task, target)]
        return mean_by_text([(case, v) for case, v in values if v is not None], "broken cases")

    def compare_measured(self, task: str, measure: Measure, a: str, b: str) -> Figure:
        """Average the measure on target b minus that on target a, over cases broken on both."""
        return self._compare(self.seen_cases(task, a), self.seen_cases(task, b), measure)

    def compare_last_layer(self, measure: Measure, a: str, b: str) -> Figure:
        """Do the same with the attention of the last layer, on sentiment."""
        first, second = (
            run.cases if (run := self.last_insides.get(target)) else () for target in (a, b)
        )
        return self._compare(first, second, measure)

    def _compare(
        self, a: Sequence[InsideCase], b: Sequence[InsideCase], measure: Measure
    ) -> Figure:
        first, second = ({case.case: measure(case) for case in cases} for cases in (a, b))
        pairs = [(case, value, second.get(case)) for case, value in first.items()]
        gaps = [(case, y - x) for case, x, y in pairs if x is not None and y is not None]
        return mean_by_text(gaps, "cases broken on both")

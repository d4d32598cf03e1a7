"""What is odd in HotFlip (Ebrahimi et al., 2018): one run read at several confidences."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

from brittle.formatting import number, plural
from brittle.metrics.curves import success_by_confidence
from brittle.metrics.paired import Contrast, paired
from brittle.metrics.summary import Figure, mean, rate, summary
from brittle.metrics.words import Operations, operations
from brittle.reports.plots import confidence_figure
from brittle.results import Result
from brittle_papers.declared import add_table
from brittle_papers.page import PaperPage, TableCell, format_examples, format_table
from brittle_papers.paper import Paper
from brittle_papers.results import PaperResults
from brittle_papers.spec import PaperRequest

CONFIDENCE = 0.9
"""What the attacks ask for; success at lower confidences is read from the steps of their runs."""
OF_OPERATIONS = 0.5
"""The confidence at which operations are counted."""
MAX_EDITS_SHOWN, MAX_SWAPS_SHOWN = 8, 12


@dataclass(frozen=True)
class HotFlipResults(PaperResults):
    """The figures of HotFlip's page."""

    def reached(self, attack: str, confidence: float) -> list[Result]:
        """Return the rows of an attack as if it had asked for this confidence."""
        return self.rows_at(attack, confidence, CONFIDENCE)

    def success_at(self, attack: str, confidence: float = CONFIDENCE) -> Figure:
        return summary(self.reached(attack, confidence)).success

    def compare_at(self, a: str, b: str, confidence: float = CONFIDENCE) -> Contrast:
        """Compare the success of attack b with that of attack a, case by case."""
        return paired(self.reached(a, confidence), self.reached(b, confidence)).success

    def compare_at_queries(self, a: str, b: str, confidence: float = CONFIDENCE) -> Contrast:
        """Compare attack b with attack a where a may ask as often as b did in the same case."""
        spent = {row.case: row.queries for row in self.reached(b, confidence)}
        capped = [
            replace(row, status="held")
            if row.status == "broken" and row.queries > spent.get(row.case, 0)
            else row
            for row in self.reached(a, confidence)
        ]
        return paired(capped, self.reached(b, confidence)).success

    def characters(self, attack: str) -> Figure:
        """Compute the share of the characters that an attack changed."""
        return self._operations(attack).share

    def flips(self, attack: str) -> Figure:
        """Compute the share of flips among the operations of an attack."""
        counted = self._operations(attack)
        return rate(counted.flips, counted.total, "operations")

    def deletes(self, attack: str) -> Figure:
        """Compute the share of deletes among deletes and inserts."""
        counted = self._operations(attack)
        return rate(counted.deletes, counted.deletes + counted.inserts, "deletes and inserts")

    def deletes_to_inserts(self, attack: str) -> TableCell:
        """Return the same share as two counts."""
        counted = self._operations(attack)
        return TableCell(self.deletes(attack), text=f"{counted.deletes} : {counted.inserts}")

    def _operations(self, attack: str) -> Operations:
        return operations(self.reached(attack, OF_OPERATIONS))

    def queries(self, attack: str) -> Figure:
        return summary(self.rows(attack)).queries

    def lost(self, task: str = "nearest") -> Figure:
        """Compute the share of edited words whose original is no longer among the nearest words."""
        changes = self.results[task]["changes"]
        return rate(sum(change["is_lost"] for change in changes), len(changes), "edited words")

    def correlation(self, estimate: str, kind: str) -> Figure:
        """Compute the mean rank correlation of estimated and true changes, over texts."""
        return mean(self.results[f"estimates, {estimate}"]["correlations"][kind], "texts")

    def neighbours(self, threshold: str) -> Figure:
        """Compute the mean number of words within a cosine, over the words of the test split."""
        return mean(self.results["words, neighbours"]["neighbours"][threshold], "words")

    def broken_by_one_word(self, attack: str) -> int:
        rows = self.rows(attack)
        return sum(row.status == "broken" and row.words_changed == 1 for row in rows)


def _figure_1(page: PaperPage, results: HotFlipResults) -> None:
    page.add_section("figure 1")
    curves = {}
    for name, attack in page.spec.tables["figure 1"]["curves"].items():
        steps = results.run(attack).steps()
        curves[name] = success_by_confidence(results.rows(attack), steps, CONFIDENCE)
    page.add_plot("hotflip-confidence", confidence_figure(curves), "success against confidence")
    add_table(page, "figure 1", results)


def _table_1(page: PaperPage, results: HotFlipResults) -> None:
    page.add_section("table 1")
    page.add(format_examples(page.spec.examples["table 1"], results.rows("Table 1")))


def _words(page: PaperPage, results: HotFlipResults) -> None:
    """Add the word level: constraints, the swaps that broke sentences, and the paper's own."""
    page.add_section("words")
    add_table(page, "word level", results)
    broken = [row for row in results.rows("words, all four") if row.status == "broken"]
    swaps = dict.fromkeys(f"{edit.old} → {edit.new}" for row in broken for edit in row.edits)
    if swaps:
        shown = ", ".join([*swaps][:MAX_SWAPS_SHOWN])
        page.add(f"Swaps that broke sentences under all four: {shown}.")
    page.add_section("neighbours")
    add_table(page, "neighbours", results)
    page.add_section("table 3")
    page.add(format_examples(page.spec.examples["table 3"], results.rows("words, Table 3")))


def _table_4(page: PaperPage, results: HotFlipResults) -> None:
    """Add the paper's own pairs of words, then those that our own edits made."""
    nearest, own = results["nearest"], results["Table 4"]
    values = {"layer": nearest["layer"], "k": nearest["k"], "words": number(nearest["words"])}
    own_lost = TableCell(results.lost("Table 4"))
    page.add_section("table 4", own_lost=own_lost, **values)
    paper = page.spec.examples["table 4"].values()
    head = ["edit", "nearest before", "nearest after", "nearer than the original"]
    rows = [[*_neighbours(c), words] for c, words in zip(own["changes"], paper, strict=True)]
    page.add(format_table([*head, "nearest after, paper"], rows, of_words=True))
    changes, lost = nearest["changes"], results.lost()
    count = number(len(changes))
    page.add_section("table 4, own edits", count=count, lost=TableCell(lost), **values)
    shown = [change for change in changes if change["is_lost"]][:MAX_EDITS_SHOWN]
    page.add(format_table(head, [_neighbours(change) for change in shown], of_words=True))
    paper_lost = results.lost("Table 4")
    page.record(["nearest"], {"lost": lost, "paper": paper_lost, "layer": nearest["layer"]})


def _neighbours(change: Mapping[str, Any]) -> list[str]:
    """Return the cells of an edited word: its nearest words, and how many are nearer to it."""
    before, after = (
        ", ".join(neighbour["word"] for neighbour in change[side]) for side in ("before", "after")
    )
    edit = f"{change['word']} → {change['edited']}"
    return [edit, before, after, plural(change["rank"], "words")]


def _values(request: PaperRequest, values: Mapping[str, Any]) -> Mapping[str, Any]:
    return {"word_cases": request.cases or values["word_cases"]}


PAPER = Paper(
    "hotflip",
    HotFlipResults,
    values=_values,
    parts={"figure 1": _figure_1, "table 1": _table_1, "words": _words, "table 4": _table_4},
)

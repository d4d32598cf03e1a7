"""What is odd in the word attacks on IMDb: a grid with transfers, confusion, words, components."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property

from brittle.formatting import NO_VALUE, number
from brittle.metrics.grid import AttackedTarget, Grid, confusion, grid
from brittle.metrics.paired import Contrast, contrast, paired
from brittle.metrics.summary import ATTACKED, Figure, is_judged, is_right_after, rate, summary
from brittle.metrics.words import words_histogram
from brittle.reports.plots import grid_figure, histogram_figure, scatter_figure
from brittle.results import Result
from brittle.studies.transfer.scoring import transferred_rows
from brittle_papers.claims import JudgedClaim, difference, format_value, within
from brittle_papers.declared import add_table
from brittle_papers.page import PaperPage, TableCell, format_examples, format_table
from brittle_papers.paper import Paper
from brittle_papers.results import PaperResults
from brittle_papers.spec import load_spec

TARGETS = ("naive-bayes", "linear-svm", "LSTM")
JSMA = {"gradient": "JSMA, gradient", "sign": "JSMA, sign"}
"""The white-box attack in both directions: the paper's Figure 4 shows one, its text the other."""
ATTACKS = ("tack-on", "1 swap", "3 swaps", "5 swaps", *JSMA.values())
FEW_WORDS = 5
ALIKE = 0.1
"""How far the classes may differ to count as affected alike: the paper's differ by 9.3 points."""
MAX_SUBSTITUTES_SHOWN = 12


@dataclass(frozen=True)
class ImdbResults(PaperResults):
    """The figures of the page; JSMA needs gradients, so other targets answer what it made."""

    @cached_property
    def cells(self) -> Mapping[tuple[str, str], list[Result]]:
        """The rows of every target under every attack."""
        return {
            (target, attack): self._cell(target, attack) for target in TARGETS for attack in ATTACKS
        }

    def _cell(self, target: str, attack: str) -> list[Result]:
        if not self.is_transfer(target, attack):
            return self.rows(f"{attack} on {target}")
        labels = self.results[f"{attack} carried to {target}"]["labels"]
        return transferred_rows(self.rows(f"{attack} on LSTM"), labels)

    def is_transfer(self, target: str, attack: str) -> bool:
        """Tell whether a target only answered the texts that the attack made on the LSTM."""
        return f"{attack} carried to {target}" in self.results

    @cached_property
    def grid(self) -> Grid:
        return grid([AttackedTarget(*names, rows) for names, rows in self.cells.items()])

    def accuracy_under(self, target: str, attack: str) -> Figure:
        """Compute the accuracy of a target under an attack, or (clean) on the same originals."""
        return self.grid.clean[target] if attack == "clean" else self.grid.cells[target, attack]

    def marked_accuracy(self, target: str, attack: str) -> TableCell:
        """Return the same, and whether it is a transfer."""
        figure = self.accuracy_under(target, attack)
        mark = " (transfer)" if self.is_transfer(target, attack) else ""
        return TableCell(figure, text=f"{format_value(figure)}{mark}")

    def between_attacks(self, target: str, a: str, b: str) -> Contrast:
        """Compare the accuracy of a target under attack b with that under attack a, or clean."""
        if a == "clean":
            rows = [row for row in self.cells[target, b] if is_judged(row)]
            return contrast([(row.predicted == row.label, is_right_after(row)) for row in rows])
        return paired(self.cells[target, a], self.cells[target, b]).accuracy

    def between_targets(self, attack: str, a: str, b: str) -> Contrast:
        """Compare the accuracy of target b under an attack with that of target a."""
        return paired(self.cells[a, attack], self.cells[b, attack]).accuracy

    def broken_by_few(self, attack: str, label: str | None = None) -> Figure:
        """Compute the share of attacked reviews, of one class or all, that few words broke."""
        rows = [row for row in self.cells["LSTM", attack] if row.status in ATTACKED]
        rows = [row for row in rows if label in (None, row.label)]
        few = [row.status == "broken" and row.words_changed <= FEW_WORDS for row in rows]
        return rate(sum(few), len(few), "attacked cases")

    def words(self, task: str) -> Figure:
        """Compute the mean number of words that an attack replaced in broken cases."""
        return summary(self.rows(task)).words

    def parted(self, features: str) -> Figure:
        """Compute the share of training reviews that lie nearest to their own class."""
        components = self[f"components, {features}"]
        return rate(components["parted"], len(components["label"]), "training reviews")

    def variance(self, features: str) -> str:
        return f"{sum(self[f'components, {features}']['share']):.1%}"


def _strongest_words(page: PaperPage, results: ImdbResults) -> None:
    page.add_section("strongest words")
    found = results["strongest words"]["words"]
    rows = []
    for label in found["whole"]:
        paper = page.spec.tables["strongest words"].get(label, [])
        marked = [
            ", ".join(f"**{word}**" if word in paper else word for word in words[label])
            for words in found.values()
        ]
        rows.append([label, ", ".join(paper), *marked])
    head = ["class", "paper", "here, all reviews", "here, train split"]
    page.add(format_table(head, rows, of_words=True))
    page.record(["strongest words"], found)


def _figure_8(page: PaperPage, results: ImdbResults) -> None:
    page.add_section("figure 8")
    description = "accuracy of every target under every attack"
    page.add_plot("imdb-accuracy", grid_figure(results.grid), description)
    add_table(page, "figure 8", results)


def _figure_9(page: PaperPage, results: ImdbResults) -> None:
    page.add_section("figure 9")
    rows, given = [], page.spec.tables["figure 9"]
    for attack in JSMA.values():
        tables = confusion(results.cells["LSTM", attack])
        for i, label in enumerate(tables.labels):
            for j, predicted in enumerate(tables.labels):
                paper = given.get(label, {}).get(predicted, NO_VALUE)
                counts = [number(tables.before[i][j]), number(tables.after[i][j])]
                rows.append([f"{attack}: {label} taken for {predicted}", str(paper), *counts])
        values = {"labels": tables.labels, "before": tables.before, "after": tables.after}
        page.record(["figure 9", attack], values)
    page.add(format_table(["", "paper, after", "here, before", "here, after"], rows))


def _figure_10(page: PaperPage, results: ImdbResults) -> None:
    page.add_section("figure 10")
    for direction, attack in JSMA.items():
        broken = [row for row in results.cells["LSTM", attack] if row.status == "broken"]
        histogram = words_histogram(broken)
        page.add_plot(
            f"imdb-words-{direction}",
            histogram_figure(histogram, "words replaced", "broken cases", attack),
            f"words replaced by {attack} in broken cases",
        )
        bins = [(b.low, b.high, b.count) for b in histogram.bins]
        page.record(["figure 10", attack], {"bins": bins})
    page.add_section("few")
    add_table(page, "figure 10", results)


def _substitutes(page: PaperPage, results: ImdbResults) -> None:
    edits = [e for row in results.rows("JSMA, gradient on LSTM") for e in row.edits]
    often = Counter(edit.new.lower() for edit in edits).most_common(MAX_SUBSTITUTES_SHOWN)
    words = ", ".join(f"{word} ({number(times)})" for word, times in often)
    page.add_section("substitutes", words=words)
    page.add(format_examples(page.spec.examples["jsma"], results.rows("example")))


def _figure_7(page: PaperPage, results: ImdbResults) -> None:
    page.add_section("figure 7")
    for features, row in page.spec.tables["figure 7"]["rows"].items():
        plane = results[f"components, {features}"]
        clouds: dict[str, list[tuple[float, float]]] = {label: [] for label in plane["labels"]}
        for (x, y), label in zip(plane["points"], plane["label"]):
            clouds[plane["labels"][label]].append((x, y))
        page.add_plot(
            f"imdb-components-{features}",
            scatter_figure(clouds, title=row["name"]),
            f"two principal components of the training set: {row['name']}",
        )
        page.record(["figure 7", features], {"variance": plane["share"]})
    page.add_section("components")
    add_table(page, "figure 7", results)


def _same_words(results: ImdbResults) -> JudgedClaim:
    found = results["strongest words"]["words"]["whole"]
    paper = load_spec("imdb").tables["strongest words"]
    shared = sum(len({*words} & {*found.get(label, ())}) for label, words in paper.items())
    order = "in the same order" if found == paper else "in another order"
    evidence = f"{shared} of {sum(map(len, paper.values()))} words are the same, {order}"
    return JudgedClaim("agrees" if found == paper else "disagrees", evidence)


def _both_classes(results: ImdbResults) -> JudgedClaim:
    labels = results["data"]["labels"]
    classes = {label: results.broken_by_few("JSMA, gradient", label) for label in labels}
    evidence = ", ".join(f"{label} {format_value(figure)}" for label, figure in classes.items())
    if len(classes) != 2:
        return JudgedClaim("undecided", evidence)
    return JudgedClaim(within(difference(*classes.values()), ALIKE), evidence)


PAPER = Paper(
    "imdb",
    ImdbResults,
    parts={
        "strongest words": _strongest_words,
        "figure 8": _figure_8,
        "figure 9": _figure_9,
        "figure 10": _figure_10,
        "substitutes": _substitutes,
        "figure 7": _figure_7,
    },
    judges={"strongest-words": _same_words, "both-classes": _both_classes},
)

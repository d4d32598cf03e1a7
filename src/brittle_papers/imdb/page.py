"""The page of the word attacks on sentiment models: the paper's figures beside ours."""

from __future__ import annotations

from collections import Counter

from brittle.formatting import NO_VALUE, number
from brittle.metrics.confusion import confusion
from brittle.metrics.histogram import words_histogram
from brittle.metrics.summary import summary
from brittle.reports.plots import grid_figure, histogram_figure, scatter_figure
from brittle_papers.formats import format_value
from brittle_papers.imdb import plan
from brittle_papers.imdb.claims import JUDGES
from brittle_papers.imdb.plan import JSMA, LSTM, TARGETS
from brittle_papers.imdb.results import ImdbResults
from brittle_papers.page import (
    PaperPage,
    Row,
    TableCell,
    format_examples,
    format_table,
    mean_cell,
)
from brittle_papers.paper import Paper

MAX_SUBSTITUTES_SHOWN = 12


def add_sections(page: PaperPage, results: ImdbResults) -> None:
    """Add the figures of the paper."""
    _strongest_words(page, results)
    _figure_8(page, results)
    _figure_9(page, results)
    _figure_10(page, results)
    _gradient_once(page, results)
    _figure_6(page, results)
    _figure_7(page, results)


def _strongest_words(page: PaperPage, results: ImdbResults) -> None:
    page.add_section("strongest words")
    found = results[plan.STRONGEST]["words"]
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
    paper = page.spec.tables["figure 8"]
    clean = [TableCell(results.grid.clean[target], target) for target in TARGETS]
    rows: dict[str, Row] = {"clean": ["clean", paper["clean"], *clean]}
    for attack in plan.ATTACKS:
        cells = []
        for target in TARGETS:
            figure = results.grid.cells[target, attack]
            is_transfer = (target, attack) in plan.TRANSFER
            text = f"{format_value(figure)} (transfer)" if is_transfer else None
            cells.append(TableCell(figure, target, text))
        rows[attack] = [attack, paper[attack], *cells]
    page.add_table("figure 8", ["attack", f"paper, {LSTM}", *TARGETS], rows)
    page.add_section("clean")
    paper = page.spec.tables["clean"]
    rows = {t: [t, paper[t], results.accuracy(plan.CLEAN[t])] for t in TARGETS}
    page.add_table("clean", ["target", "paper", "here"], rows)


def _gradient_once(page: PaperPage, results: ImdbResults) -> None:
    page.add_section("once")
    rows: dict[str, Row] = {}
    for name, attack in {"after every word": JSMA["gradient"], "once": plan.ONCE}.items():
        found = summary(results.rows(plan.RUN[LSTM, attack]))
        rows[name] = [name, TableCell(found.success, "success"), mean_cell(found.words, "words")]
    head = ["gradient taken", "success on the LSTM", "words replaced in broken cases, mean"]
    page.add_table("once", head, rows)
    edits = [e for row in results.rows(plan.RUN[LSTM, JSMA["gradient"]]) for e in row.edits]
    often = Counter(edit.new.lower() for edit in edits).most_common(MAX_SUBSTITUTES_SHOWN)
    words = ", ".join(f"{word} ({number(times)})" for word, times in often)
    page.add_section("substitutes", words=words)
    page.add(format_examples(page.spec.examples["jsma"], results.rows(plan.EXAMPLES)))


def _figure_9(page: PaperPage, results: ImdbResults) -> None:
    page.add_section("figure 9")
    rows, given = [], page.spec.tables["figure 9"]
    for attack in JSMA.values():
        tables = confusion(results.cells[LSTM, attack])
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
    rows: dict[str, Row] = {}
    for direction, attack in JSMA.items():
        broken = [row for row in results.cells[LSTM, attack] if row.status == "broken"]
        histogram = words_histogram(broken)
        page.add_plot(
            f"imdb-words-{direction}",
            histogram_figure(histogram, "words replaced", "broken cases", attack),
            f"words replaced by {attack} in broken cases",
        )
        cell = TableCell(results.broken_by_few(attack), "five words or fewer")
        rows[attack] = [attack, "a lot (plot only)", cell]
        bins = [(b.low, b.high, b.count) for b in histogram.bins]
        page.record(["figure 10", attack], {"bins": bins})
    page.add_section("few")
    page.add_table("figure 10", ["attack", "paper", "here"], rows)


def _figure_6(page: PaperPage, results: ImdbResults) -> None:
    page.add_section("figure 6")
    paper = page.spec.tables["figure 6"]
    rows: dict[str, Row] = {
        name: [name, paper[name], results.accuracy(task)] for name, task in plan.DEV.items()
    }
    page.add_table("figure 6", ["LSTM", "paper", "here"], rows)


def _figure_7(page: PaperPage, results: ImdbResults) -> None:
    page.add_section("figure 7")
    rows: dict[str, Row] = {}
    for features, task in plan.COMPONENTS.items():
        name, plane = page.spec.tables["figure 7"][features], results[task]
        clouds: dict[str, list[tuple[float, float]]] = {label: [] for label in plane["labels"]}
        for (x, y), label in zip(plane["points"], plane["label"]):
            clouds[plane["labels"][label]].append((x, y))
        page.add_plot(
            f"imdb-components-{features}",
            scatter_figure(clouds, title=name),
            f"two principal components of the training set: {name}",
        )
        parted, variance = (
            TableCell(results.parted(features), "parted"),
            f"{sum(plane['share']):.1%}",
        )
        rows[features] = [name, "some separation (plot only)", parted, variance]
        page.record(["figure 7", features], {"variance": plane["share"]})
    page.add_section("components")
    head = ["features", "paper", "with its class", "variance in the plane"]
    page.add_table("figure 7", head, rows)


PAPER = Paper("imdb", ImdbResults, {"all": add_sections}, JUDGES, plan=plan.plan)

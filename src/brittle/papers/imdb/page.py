"""The page of the word attacks on sentiment models: the paper's figures beside ours."""

from __future__ import annotations

from typing import Any

from brittle.formatting import NO_VALUE, number
from brittle.metrics.confusion import confusion
from brittle.metrics.histogram import words_histogram
from brittle.metrics.summary import rate
from brittle.papers.imdb import plan
from brittle.papers.imdb.claims import CLAIMS, judge_claims
from brittle.papers.imdb.plan import JSMA, LSTM, SVM, TARGETS
from brittle.papers.imdb.results import ImdbResults
from brittle.papers.page import Cell, Page, Row, format_optimizer, format_table, format_value
from brittle.papers.paper import Paper
from brittle.reports.plots import grid_figure, histogram_figure, scatter_figure

PAPER_LSTM = {
    "clean": "82.24%",
    "tack-on": "nearly as clean",
    "1 swap": "nearly as clean",
    "3 swaps": "68.17%",
    "5 swaps": "59.36%",
    "JSMA, gradient": "39.86%",
    "JSMA, sign": "39.86%",
}
"""Section VI; the paper does not say which direction its JSMA took."""

PAPER_CLEAN = {"naive-bayes": "plot only", SVM: "above the LSTM (plot only)", LSTM: "82.24%"}
PAPER_DEV = {
    "32 units": "below 64 units (plot only)",
    "64 units": "82.21%",
    "128 units": "below 64 units (plot only)",
    "64 units, dropout 50%": "81.77%",
}
PAPER_CONFUSION = {
    ("positive", "positive"): 54,
    ("positive", "negative"): 65,
    ("negative", "positive"): 110,
    ("negative", "negative"): 62,
}
"""Figure 9: reviews by their class and by the class that the LSTM predicts under JSMA."""

FEATURES = {"glove": "mean GloVe vector of a review", "words": "shares of the most frequent words"}
FEW_WORDS = 5


def add_sections(page: Page, results: ImdbResults) -> None:
    """Add the figures of the paper."""
    _figure_8(page, results)
    _figure_9(page, results)
    _figure_10(page, results)
    _figure_6(page, results)
    _figure_7(page, results)


def _figure_8(page: Page, results: ImdbResults) -> None:
    page.add("## Accuracy under attack (Figure 8)")
    description = "accuracy of every target under every attack"
    page.add_plot("imdb-accuracy", grid_figure(results.grid), description)
    page.add(
        "Share of the reviews that are right on the original and stay right under the attack; "
        "those wrong before count as wrong. The paper gives numbers for the LSTM only. Cells "
        "marked *transfer* are answers to the texts that JSMA made on the LSTM, broken or not: it "
        "needs gradients, and the paper does not say how it stood there.",
    )
    clean = [Cell(results.grid.clean[target], target) for target in TARGETS]
    rows: dict[str, Row] = {"clean": ["clean", PAPER_LSTM["clean"], *clean]}
    for attack in plan.ATTACKS:
        cells = []
        for target in TARGETS:
            figure = results.grid.cells[target, attack]
            is_transfer = (target, attack) in plan.TRANSFER
            text = f"{format_value(figure)} (transfer)" if is_transfer else None
            cells.append(Cell(figure, target, text))
        rows[attack] = [attack, PAPER_LSTM[attack], *cells]
    page.add_table("figure 8", ["attack", f"paper, {LSTM}", *TARGETS], rows)
    page.add("Without an attack, on the whole test split:")
    rows = {
        target: [target, PAPER_CLEAN[target], results.accuracy(plan.CLEAN[target])]
        for target in TARGETS
    }
    page.add_table("clean", ["target", "paper", "here"], rows)


def _figure_9(page: Page, results: ImdbResults) -> None:
    rows = []
    for attack in JSMA.values():
        tables = confusion(results.cells[LSTM, attack])
        for i, label in enumerate(tables.labels):
            for j, predicted in enumerate(tables.labels):
                paper = PAPER_CONFUSION.get((label, predicted), NO_VALUE)
                counts = [number(tables.before[i][j]), number(tables.after[i][j])]
                rows.append([f"{attack}: {label} taken for {predicted}", str(paper), *counts])
        values = {"labels": tables.labels, "before": tables.before, "after": tables.after}
        page.record(["figure 9", attack], values)
    page.add(
        "## Confusion under JSMA (Figure 9)",
        "Reviews by their class and by what the LSTM takes them for. The paper's 39.86% are the "
        "(54 + 62) right ones of 291 reviews, a subset of its test split.",
        format_table(["", "paper, after", "here, before", "here, after"], rows),
    )


def _figure_10(page: Page, results: ImdbResults) -> None:
    page.add("## Words replaced by JSMA (Figure 10)")
    rows: dict[str, Row] = {}
    for direction, attack in JSMA.items():
        broken = [row for row in results.cells[LSTM, attack] if row.status == "broken"]
        histogram = words_histogram(broken)
        page.add_plot(
            f"imdb-words-{direction}",
            histogram_figure(histogram, "words replaced", "broken cases", attack),
            f"words replaced by {attack} in broken cases",
        )
        few = sum(row.words_changed <= FEW_WORDS for row in broken)
        cell = Cell(rate(few, len(broken), "broken cases"), "five words or fewer")
        rows[attack] = [attack, "a lot (plot only)", cell]
        bins = [(b.low, b.high, b.count) for b in histogram.bins]
        page.record(["figure 10", attack], {"bins": bins})
    page.add("Broken cases that needed five words or fewer:")
    page.add_table("figure 10", ["attack", "paper", "here"], rows)


def _figure_6(page: Page, results: ImdbResults) -> None:
    page.add(
        "## Hidden units and dropout (Figure 6)",
        "Accuracy of the LSTM on the dev split, dropout 25% unless named. "
        f"{plan.ATTACKED_LSTM} at 25% is the one that is attacked, as in the paper.",
    )
    rows: dict[str, Row] = {
        name: [name, PAPER_DEV[name], results.accuracy(task)] for name, task in plan.DEV.items()
    }
    page.add_table("figure 6", ["LSTM", "paper", "here"], rows)


def _figure_7(page: Page, results: ImdbResults) -> None:
    page.add("## Two principal components of the training set (Figure 7)")
    rows: dict[str, Row] = {}
    for features, task in plan.COMPONENTS.items():
        name, plane = FEATURES[features], results.results[task]
        clouds: dict[str, list[tuple[float, float]]] = {label: [] for label in plane["labels"]}
        for (x, y), label in zip(plane["points"], plane["label"]):
            clouds[plane["labels"][label]].append((x, y))
        page.add_plot(
            f"imdb-components-{features}",
            scatter_figure(clouds, title=name),
            f"two principal components of the training set: {name}",
        )
        parted, variance = Cell(results.parted(features), "parted"), f"{sum(plane['share']):.1%}"
        rows[features] = [name, "some separation (plot only)", parted, variance]
        page.record(["figure 7", features], {"variance": plane["share"]})
    page.add(
        "The paper does not say of what its components are; here of two kinds of features. A "
        "review lies with its class if the mean of its class is the nearer one in the plane.",
    )
    head = ["features", "paper", "with its class", "variance in the plane"]
    page.add_table("figure 7", head, rows)


def differences(results: ImdbResults) -> dict[str, tuple[Any, Any]]:
    """List the settings of the paper beside ours."""
    data, card = results.results[plan.DATA], results.results[plan.TRAINING[LSTM]]
    ours, svm = card["settings"], results.results[plan.TRAINING[SVM]]["settings"]
    jsma = results.run(plan.RUN[LSTM, JSMA["gradient"]]).manifest
    tack_on = results.run(plan.RUN[LSTM, "tack-on"]).manifest
    tuned = "tuned" if ours["tuned"] else "not tuned"
    batches = card["epochs"] * -(-card["examples"] // ours["batch"])
    return {
        "training reviews": (25000, data["train"]["examples"]),
        "dev reviews": (12500, data["dev"]["examples"]),
        "test reviews": (12500, data["test"]["examples"]),
        "reviews attacked by the black-box adversaries": (12500, tack_on["examples"]),
        "reviews attacked by JSMA": (291, jsma["examples"]),
        "words of a review": (plan.MAX_WORDS, data["words"]),
        "vocabulary": (
            "400,000 words of the vectors",
            f"{ours['vocabulary']:,} words of the train split at most",
        ),
        "linear SVM": (
            "SGD on the hinge loss, rate 0.0001",
            f"averaged SGD on the hinge loss, rate {svm['rate']:g}, penalty {svm['penalty']:g}",
        ),
        "LSTM": ("1 layer of 64", f"1 layer of {ours['hidden']}"),
        "word vectors": (
            "50 dimensions, pretrained",
            f"GloVe, {ours['embedding']} dimensions, {tuned}",
        ),
        "dropout": ("25% on the hidden units", f"{ours['dropout']:.0%}, on vectors and states"),
        "batch": (24, ours["batch"]),
        "training": (
            "100,000 batches, Adam",
            f"{batches:,} batches, {format_optimizer(ours).capitalize()}",
        ),
        "words JSMA replaces at most": (35, jsma["settings"]["words"]),
        "already wrong reviews": ("attacked too", "left alone, counted as wrong"),
    }


PAPER = Paper(
    "Word attacks on sentiment models: our figures beside the paper's",
    plan.plan,
    ImdbResults,
    add_sections,
    CLAIMS,
    judge_claims,
    differences,
    data="imdb",
)

"""The page of HotFlip (Ebrahimi et al., 2018): its figures beside ours."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from brittle.formatting import number
from brittle.metrics.confidence import success_by_confidence
from brittle.metrics.summary import summary
from brittle.papers.hotflip.findings import findings
from brittle.papers.hotflip.found import THRESHOLDS, Found
from brittle.papers.hotflip.plan import ATTACKS, CONFIDENCE, CONSTRAINTS
from brittle.papers.order import PaperResults
from brittle.papers.page import Page, as_json, contrast_as_json, percents, points, table
from brittle.papers.shell import finished
from brittle.papers.tasks import open_task_run
from brittle.reports.plots import confidence_figure

NAMES = {
    "beam": "beam search",
    "greedy": "greedy search",
    "key-any": "Key* (black box)",
    "key": "Key (black box)",
}
HARDENED = {
    "plain": "baseline",
    "miyato": "noise on the vectors (Miyato et al., 2017)",
    "key": "black-box texts (Key*)",
    "hotflip": "HotFlip texts",
}
PAPER_TABLE_2 = {
    "plain": (8.27, 98.16),
    "miyato": (8.03, 87.43),
    "key": (8.60, 95.63),
    "hotflip": (7.65, 69.32),
}
"""Misclassification error and success rate in per cent, from the paper's Table 2."""

SHOWN, SWAPS = 8, 12


def page(made: PaperResults) -> Page:
    """Write the page from what the steps have left."""
    found = Found(made)
    page = Page("HotFlip: our figures beside the paper's")
    _figure_1(page, found)
    _table_2(page, found)
    if made.order.words:
        _word_level(page, found)
    _table_4(page, found)
    page.add(
        "## People",
        "The paper had 600 texts read by people (median accuracy 87.49% on clean and 85.71% on "
        "adversarial ones). That needs people and is not repeated here.",
    )
    return finished(page, made, findings(found), _differences(found))


def _figure_1(page: Page, found: Found) -> None:
    page.add("## Success against the confidence asked for (Figure 1)")
    curves = {
        NAMES[name]: success_by_confidence(*rows, asked=CONFIDENCE)
        for name, rows in found.first.items()
    }
    page.plot("hotflip-confidence", confidence_figure(curves), "success against confidence")
    said = {0.9: "beam above 90%; greedy and black box below it (plot only)"}
    rows = []
    for confidence in THRESHOLDS:
        figures = {name: found.success(name, confidence) for name in ATTACKS}
        page.figures.setdefault("figure 1", {})[f"{confidence:g}"] = {
            name: as_json(figure) for name, figure in figures.items()
        }
        label = f"{confidence:g}" if confidence else "any"
        cells = (percents(figure) for figure in figures.values())
        rows.append([label, said.get(confidence, "plot only"), *cells])
    page.add(
        "All operations, on the plain model; share of the attacked texts (those the model had "
        "right) that are misclassified with at least this confidence. Each column is read from the "
        f"steps of one run that asked for {CONFIDENCE:g}: with more than two classes, what stands "
        "above the last row is a lower bound.",
        table(["confidence", "paper", *NAMES.values()], rows),
    )
    used = found.used
    page.figures["operations"] = {
        "characters changed": as_json(used.share),
        "flips": as_json(found.flipped),
        "inserts": used.inserts,
        "deletes": used.deletes,
    }
    per = f"{used.deletes / used.inserts:.2f}" if used.inserts else "no insert at all"
    counts = f"{number(used.deletes)} deletes, {number(used.inserts)} inserts"
    rows = [
        ["characters changed, confidence 0.5", "4.18%", percents(used.share)],
        ["flips among the operations", "around 80%", percents(found.flipped)],
        ["deletes for each insert", "2", f"{per} ({counts})"],
    ]
    page.add(table(["beam search", "paper", "here"], rows))


def _table_2(page: Page, found: Found) -> None:
    page.add("## Adversarial training (Table 2)")
    rows = []
    for model, (error, success) in PAPER_TABLE_2.items():
        ours, broken = found.error(model), summary(found.flips[model]).success
        versus = found.hardened("plain", model)
        page.figures.setdefault("table 2", {})[model] = {
            "error": as_json(ours),
            "success": as_json(broken),
            "success against the baseline": contrast_as_json(versus),
            "error against the baseline": contrast_as_json(found.errors("plain", model)),
        }
        difference = points(versus) if model != "plain" else ""
        rows.append(
            [
                *(HARDENED[model], f"{error:.2f}%", percents(ours)),
                *(f"{success:.2f}%", percents(broken), difference),
            ]
        )
    head = ["trained on", "error, paper", "error, here", "success, paper", "success, here"]
    page.add(
        "Flips only, no confidence asked for. The error is on the whole test side; success is over "
        "attacked texts, and its difference over the texts attacked on both models.",
        table([*head, "success against the baseline"], rows),
    )


def _word_level(page: Page, found: Found) -> None:
    page.add("## Words instead of characters (section 5)")
    rows = []
    for name in CONSTRAINTS:
        results = found.rows(f"words, {name}")
        figure = summary(results).success
        one = sum(row.status == "broken" and row.words_changed == 1 for row in results)
        page.figures.setdefault("word level", {})[name] = as_json(figure) | {"one word": one}
        said = "2% (41 texts)" if name == "all four" else "not given"
        rows.append([name, said, percents(figure), number(one)])
    page.add(
        "Share of the rightly classified test sentences that break with one or two swapped words, "
        "under all four constraints and with each of them turned off.",
        table(["constraints", "paper", "here", "of these with one word"], rows),
    )
    broken = [row for row in found.rows("words, all four") if row.status == "broken"]
    swaps = dict.fromkeys(f"{edit.old} → {edit.new}" for row in broken for edit in row.edits)
    if swaps:
        page.add(f"Swaps that broke sentences under all four: {', '.join([*swaps][:SWAPS])}.")


def _table_4(page: Page, found: Found) -> None:
    told = found.result("nearest")
    changes = told["changes"]
    page.figures["nearest"] = {"lost": as_json(found.lost), "layer": told["layer"]}
    rows = [
        [
            f"{change['word']} → {change['edited']}",
            ", ".join(n["word"] for n in change["before"]),
            ", ".join(n["word"] for n in change["after"]),
        ]
        for change in changes
        if change["is_lost"]
    ]
    page.add(
        "## Nearest words (Table 4)",
        f"At the layer `{told['layer']}`, by cosine, among the {number(told['words'])} words of "
        f"the dictionary. Of the {number(len(changes))} words that one edit of a character changed "
        f"in the beam search's clearest wins, {percents(found.lost)} no longer have the original "
        f"among their {told['k']} nearest words. Some of them:",
        table(["edit", "nearest before", "nearest after"], rows[:SHOWN], of_words=True),
    )


def _differences(found: Found) -> dict[str, tuple[Any, Any]]:
    data, card = found.result("data"), found.result("train plain")
    ours = card["settings"]
    run = open_task_run(found.made.folder, found.result("beam")).manifest
    kernels = f"{ours['kernels']} of width {ours['character_window']}"
    differences = {
        "training texts": ("108,000 (120,000 less a tenth)", card["examples"]),
        "test texts attacked, Figure 1": (760, run["examples"]),
        "test texts attacked, Table 2": (
            7600,
            open_task_run(found.made.folder, found.result("flips plain")).manifest["examples"],
        ),
        "test texts for the clean error": (7600, data["test"]["examples"]),
        "character vectors": (25, ours["character_embedding"]),
        "convolutions": ("1,000 of width 6", kernels),
        "highway layers": ("some", ours["highways"]),
        "LSTM": ("2 layers of 500", f"2 layers of {ours['hidden']}"),
        "optimizer": ("SGD, gradients clipped", _optimizer(ours)),
        "batch": (64, ours["batch"]),
        "epochs": ("25 at most", f"{ours['epochs']} at most, {card['epochs']} run"),
        "beam": (10, run["settings"]["beam"]),
        "characters edited at most": (
            "10% of the text",
            f"{run['settings']['share']:.0%} of words",
        ),
        "flips in training": ("20% of the characters", _share(found, "hotflip")),
        "draws in a step of Key and Key*": (None, _draws(found)),
    }
    if found.made.order.words:
        words = found.result("train words")
        differences["word level, training sentences"] = ("6,920 (the set's own)", words["examples"])
        differences["word level, vectors"] = (
            "word2vec, 300 dimensions (Kim, 2014)",
            f"GloVe, {words['settings']['embedding']} dimensions",
        )
    return differences


def _optimizer(ours: Mapping[str, Any]) -> str:
    clipped = f", gradients clipped at {ours['clip']:g}" if ours.get("clip") else ""
    return f"{ours.get('optimizer', 'adam')}{clipped}"


def _share(found: Found, model: str) -> str:
    return f"{found.result(f'train {model}')['hardening']['share']:.0%} of the characters of words"


def _draws(found: Found) -> int:
    manifest = open_task_run(found.made.folder, found.result("key")).manifest
    return int(manifest["settings"]["draws"])

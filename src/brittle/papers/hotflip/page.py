"""The page of HotFlip (Ebrahimi et al., 2018): its figures beside ours."""

from __future__ import annotations

from typing import Any

from brittle.formatting import number
from brittle.metrics.confidence import success_by_confidence
from brittle.metrics.summary import summary
from brittle.papers.hotflip import plan
from brittle.papers.hotflip.claims import CLAIMS, judge_claims
from brittle.papers.hotflip.results import THRESHOLDS, HotFlipResults
from brittle.papers.page import Cell, Page, Row, format_optimizer, format_table, format_value
from brittle.papers.paper import Paper
from brittle.reports.plots import confidence_figure

NAMES = {
    plan.BEAM: "beam search",
    plan.GREEDY: "greedy search",
    plan.KEY_ANY: "Key* (black box)",
    plan.KEY: "Key (black box)",
}
TABLE_2 = {
    plan.PLAIN: ("baseline", "8.27%", "98.16%"),
    "miyato": ("noise on the vectors (Miyato et al., 2017)", "8.03%", "87.43%"),
    "key": ("black-box texts (Key*)", "8.60%", "95.63%"),
    plan.HARDENED: ("HotFlip texts", "7.65%", "69.32%"),
}
"""The models of Table 2: trained on what, with the paper's error and success rate."""

MAX_EDITS_SHOWN, MAX_SWAPS_SHOWN = 8, 12


def add_sections(page: Page, results: HotFlipResults) -> None:
    """Add the figures and tables of the paper."""
    _figure_1(page, results)
    _operations(page, results)
    _table_2(page, results)
    if results.request.words:
        _word_level(page, results)
    _table_4(page, results)
    page.add(
        "## People",
        "The paper had 600 texts read by people (median accuracy 87.49% on clean and 85.71% on "
        "adversarial ones). That needs people and is not repeated here.",
    )


def _figure_1(page: Page, results: HotFlipResults) -> None:
    page.add("## Success against the confidence asked for (Figure 1)")
    curves = {
        NAMES[name]: success_by_confidence(*rows_and_steps, asked=plan.CONFIDENCE)
        for name, rows_and_steps in results.figure_1.items()
    }
    page.add_plot("hotflip-confidence", confidence_figure(curves), "success against confidence")
    page.add(
        "All operations, on the plain model; share of the attacked texts (those the model had "
        "right) that are misclassified with at least this confidence. Each column is read from the "
        f"steps of one run that asked for {plan.CONFIDENCE:g}: with more than two classes, what "
        "stands above the last row is a lower bound.",
    )
    paper = {0.9: "beam above 90%; greedy and black box below it (plot only)"}
    rows: dict[str, Row] = {
        f"{threshold:g}": [
            f"{threshold:g}" if threshold else "any",
            paper.get(threshold, "plot only"),
            *(Cell(results.success(name, threshold), name) for name in NAMES),
        ]
        for threshold in THRESHOLDS
    }
    page.add_table("figure 1", ["confidence", "paper", *NAMES.values()], rows)


def _operations(page: Page, results: HotFlipResults) -> None:
    operations = results.beam_operations
    inserts, deletes = operations.inserts, operations.deletes
    per_insert = f"{deletes / inserts:.2f}" if inserts else "no insert at all"
    counts = f"{number(deletes)} deletes, {number(inserts)} inserts"
    rows: dict[str, Row] = {
        "characters changed": ["characters changed, confidence 0.5", "4.18%", operations.share],
        "flips": ["flips among the operations", "around 80%", results.flip_share],
        "deletes for each insert": ["deletes for each insert", "2", f"{per_insert} ({counts})"],
    }
    page.add_table("operations", ["beam search", "paper", "here"], rows)
    page.record(["operations"], {"inserts": inserts, "deletes": deletes})


def _table_2(page: Page, results: HotFlipResults) -> None:
    page.add(
        "## Adversarial training (Table 2)",
        "Flips only, no confidence asked for. The error is on the whole test split; success is "
        "over attacked texts, and its difference over the texts attacked on both models.",
    )
    versus = "success against the baseline"
    rows: dict[str, Row] = {}
    for model, (trained_on, error, success) in TABLE_2.items():
        ours = Cell(results.error(model), "error")
        broken = Cell(summary(results.rows(plan.FLIPS[model])).success, "success")
        contrast = results.compare_flips(plan.PLAIN, model)
        compared = Cell(contrast, versus, "" if model == plan.PLAIN else None)
        rows[model] = [trained_on, error, ours, success, broken, compared]
    head = ["trained on", "error, paper", "error, here", "success, paper", "success, here", versus]
    page.add_table("table 2", head, rows)
    for model in TABLE_2:
        contrast = results.compare_error(plan.PLAIN, model)
        page.record(["table 2", model], {"error against the baseline": contrast})


def _word_level(page: Page, results: HotFlipResults) -> None:
    page.add(
        "## Words instead of characters (section 5)",
        "Share of the rightly classified test sentences that break with one or two swapped words, "
        "under all four constraints and with each of them turned off.",
    )
    rows: dict[str, Row] = {}
    for name in plan.CONSTRAINTS:
        cases = results.rows(plan.WORDS[name])
        one_word = sum(row.status == "broken" and row.words_changed == 1 for row in cases)
        paper = "2% (41 texts)" if name == plan.ALL_FOUR else "not given"
        rows[name] = [name, paper, summary(cases).success, Cell(one_word, "one word")]
    page.add_table("word level", ["constraints", "paper", "here", "of these with one word"], rows)
    broken = [row for row in results.rows(plan.WORDS[plan.ALL_FOUR]) if row.status == "broken"]
    swaps = dict.fromkeys(f"{edit.old} → {edit.new}" for row in broken for edit in row.edits)
    if swaps:
        shown = ", ".join([*swaps][:MAX_SWAPS_SHOWN])
        page.add(f"Swaps that broke sentences under all four: {shown}.")


def _table_4(page: Page, results: HotFlipResults) -> None:
    nearest = results.results[plan.NEAREST]
    changes = nearest["changes"]
    rows = [
        [
            f"{change['word']} → {change['edited']}",
            ", ".join(neighbour["word"] for neighbour in change["before"]),
            ", ".join(neighbour["word"] for neighbour in change["after"]),
        ]
        for change in [change for change in changes if change["is_lost"]][:MAX_EDITS_SHOWN]
    ]
    page.add(
        "## Nearest words (Table 4)",
        f"At the layer `{nearest['layer']}`, by cosine, among the {number(nearest['words'])} words "
        f"of the vocabulary. Of the {number(len(changes))} words that one edit of a character "
        "changed in the clearest broken cases of the beam search, "
        f"{format_value(results.lost_share)} no longer have the original among their "
        f"{nearest['k']} nearest words. Some of them:",
        format_table(["edit", "nearest before", "nearest after"], rows, of_words=True),
    )
    page.record(["nearest"], {"lost": results.lost_share, "layer": nearest["layer"]})


def differences(results: HotFlipResults) -> dict[str, tuple[Any, Any]]:
    """List the settings of the paper beside ours."""
    card = results.results[plan.TRAINING[plan.PLAIN]]
    ours = card["settings"]
    runs = (plan.BEAM, plan.FLIPS[plan.PLAIN], plan.KEY)
    beam, flips, key = (results.run(name).manifest for name in runs)
    kernels = f"{ours['kernels']} of width {ours['character_window']}"
    edited = f"{beam['settings']['share']:.0%} of words"
    share = results.results[plan.TRAINING[plan.HARDENED]]["hardening"]["share"]
    pairs = {
        "training texts": ("108,000 (120,000 less a tenth)", card["examples"]),
        "test texts attacked, Figure 1": (760, beam["examples"]),
        "test texts attacked, Table 2": (7600, flips["examples"]),
        "test texts for the clean error": (7600, results.results[plan.DATA]["test"]["examples"]),
        "character vectors": (25, ours["character_embedding"]),
        "convolutions": ("1,000 of width 6", kernels),
        "highway layers": ("some", ours["highways"]),
        "LSTM": ("2 layers of 500", f"2 layers of {ours['hidden']}"),
        "optimizer": ("SGD, gradients clipped", format_optimizer(ours)),
        "batch": (64, ours["batch"]),
        "epochs": ("25 at most", f"{ours['epochs']} at most, {card['epochs']} run"),
        "beam": (10, beam["settings"]["beam"]),
        "characters edited at most": ("10% of the text", edited),
        "flips in training": ("20% of the characters", f"{share:.0%} of the characters of words"),
        "draws in a step of Key and Key*": (None, int(key["settings"]["draws"])),
    }
    if results.request.words:
        words = results.results[plan.WORDS_TRAINING]
        pairs["word level, training sentences"] = ("6,920 (the set's own)", words["examples"])
        pairs["word level, vectors"] = (
            "word2vec, 300 dimensions (Kim, 2014)",
            f"GloVe, {words['settings']['embedding']} dimensions",
        )
    return pairs


PAPER = Paper(
    "HotFlip: our figures beside the paper's",
    plan.plan,
    HotFlipResults,
    add_sections,
    CLAIMS,
    judge_claims,
    differences,
    takes_words=True,
)

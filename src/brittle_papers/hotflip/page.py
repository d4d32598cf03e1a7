"""The page of HotFlip (Ebrahimi et al., 2018): its figures beside ours."""

from __future__ import annotations

from brittle.formatting import number
from brittle.metrics.confidence import success_by_confidence
from brittle.metrics.summary import summary
from brittle.reports.plots import confidence_figure
from brittle_papers.estimates import KINDS
from brittle_papers.hotflip import plan
from brittle_papers.hotflip.claims import JUDGES
from brittle_papers.hotflip.results import CONFIDENCES, HotFlipResults
from brittle_papers.page import Page, Row, TableCell, format_examples, format_table, mean_cell
from brittle_papers.paper import Paper

NAMES = {
    plan.BEAM: "beam search",
    plan.GREEDY: "greedy search",
    plan.KEY_ANY: "Key* (black box)",
    plan.KEY: "Key (black box)",
}
MAX_EDITS_SHOWN, MAX_SWAPS_SHOWN = 8, 12


def add_sections(page: Page, results: HotFlipResults) -> None:
    """Add the figures and tables of the paper."""
    _figure_1(page, results)
    _variants(page, results)
    _estimates(page, results)
    _table_2(page, results)
    page.add_section("table 1")
    page.add(format_examples(page.paper.examples["table 1"], results.rows(plan.EXAMPLES)))
    if results.request.words:
        _word_level(page, results)
    _table_4(page, results)
    page.add_section("people")


def _figure_1(page: Page, results: HotFlipResults) -> None:
    page.add_section("figure 1")
    curves = {}
    for name in plan.FIGURE_1:
        steps = results.run(name).steps()
        curves[NAMES[name]] = success_by_confidence(results.rows(name), steps, plan.CONFIDENCE)
    page.add_plot("hotflip-confidence", confidence_figure(curves), "success against confidence")
    paper = {0.9: "beam above 90%; greedy and black box below it (plot only)"}
    rows: dict[str, Row] = {
        f"{threshold:g}": [
            f"{threshold:g}" if threshold else "any",
            paper.get(threshold, "plot only"),
            *(TableCell(results.success_at(name, threshold), name) for name in NAMES),
        ]
        for threshold in CONFIDENCES
    }
    page.add_table("figure 1", ["confidence", "paper", *NAMES.values()], rows)


def _variants(page: Page, results: HotFlipResults) -> None:
    page.add_section("variants")
    rows: dict[str, Row] = {}
    for name, description in page.paper.tables["variants"].items():
        used = results.operations(name)
        against = results.compare_at(plan.BEAM, name)
        rows[name] = [
            description,
            TableCell(results.success_at(name, 0.0), "any"),
            TableCell(results.success_at(name), "0.9"),
            TableCell(against, "against the beam", "" if name == plan.BEAM else None),
            mean_cell(summary(results.rows(name)).queries, "queries"),
            TableCell(used.share, "characters"),
            TableCell(results.flip_share(name), "flips"),
            TableCell(results.delete_share(name), "deletes", f"{used.deletes} : {used.inserts}"),
        ]
    head = ["search", "success, any confidence", "success at 0.9", "against the first row, at 0.9"]
    head += ["queries", "characters changed", "flips", "deletes : inserts"]
    page.add_table("variants", head, rows)


def _estimates(page: Page, results: HotFlipResults) -> None:
    scale = plan.SCALES[results.request.scale]
    page.add_section("estimates", texts=scale.texts, edits=scale.edits)
    rows: dict[str, Row] = {}
    for kind in KINDS:
        found = {name: results.correlation(name, kind) for name in plan.ESTIMATES}
        rows[kind] = [kind, *(mean_cell(figure, name) for name, figure in found.items())]
    page.add_table("estimates", ["edit", "the paper's estimate", "`--estimate word`"], rows)


def _table_2(page: Page, results: HotFlipResults) -> None:
    page.add_section("table 2")
    versus = "success against the baseline"
    rows: dict[str, Row] = {}
    for model, (trained_on, error, success) in page.paper.tables["table 2"].items():
        contrast = results.compare_success(plan.FLIPS[plan.PLAIN], plan.FLIPS[model])
        rows[model] = [
            trained_on,
            error,
            TableCell(results.error(plan.CLEAN[model]), "error"),
            success,
            TableCell(results.success(plan.FLIPS[model]), "success"),
            TableCell(contrast, versus, "" if model == plan.PLAIN else None),
        ]
        contrast = results.compare_accuracy(plan.CLEAN[plan.PLAIN], plan.CLEAN[model])
        page.record(["table 2", model], {"accuracy against the baseline": contrast})
    head = ["trained on", "error, paper", "error, here", "success, paper", "success, here", versus]
    page.add_table("table 2", head, rows)


def _word_level(page: Page, results: HotFlipResults) -> None:
    page.add_section("words")
    rows: dict[str, Row] = {}
    for name in plan.CONSTRAINTS:
        cases = results.rows(plan.WORDS[name])
        one_word = sum(row.status == "broken" and row.words_changed == 1 for row in cases)
        paper = "2% (41 texts)" if name == plan.ALL_FOUR else "not given"
        rows[name] = [name, paper, summary(cases).success, TableCell(one_word, "one word")]
    page.add_table("word level", ["constraints", "paper", "here", "of these with one word"], rows)
    broken = [row for row in results.rows(plan.WORDS[plan.ALL_FOUR]) if row.status == "broken"]
    swaps = dict.fromkeys(f"{edit.old} → {edit.new}" for row in broken for edit in row.edits)
    if swaps:
        shown = ", ".join([*swaps][:MAX_SWAPS_SHOWN])
        page.add(f"Swaps that broke sentences under all four: {shown}.")
    page.add_section("neighbours")
    rows = {f"{t:g}": [f"{t:g}", mean_cell(results.neighbours(t))] for t in plan.THRESHOLDS}
    page.add_table("neighbours", ["cosine", "neighbours of a word, mean"], rows)
    page.add_section("table 3")
    page.add(format_examples(page.paper.examples["table 3"], results.rows(plan.WORDS_EXAMPLES)))


def _table_4(page: Page, results: HotFlipResults) -> None:
    nearest = results[plan.NEAREST]
    changes, lost = nearest["changes"], results.lost_share()
    rows = [
        [
            f"{change['word']} → {change['edited']}",
            ", ".join(neighbour["word"] for neighbour in change["before"]),
            ", ".join(neighbour["word"] for neighbour in change["after"]),
        ]
        for change in [change for change in changes if change["is_lost"]][:MAX_EDITS_SHOWN]
    ]
    values = {"layer": nearest["layer"], "k": nearest["k"], "lost": TableCell(lost)}
    words, count = number(nearest["words"]), number(len(changes))
    page.add_section("table 4", words=words, count=count, **values)
    page.add(format_table(["edit", "nearest before", "nearest after"], rows, of_words=True))
    page.record(["nearest"], {"lost": lost, "layer": nearest["layer"]})


PAPER = Paper(plan.plan, HotFlipResults, add_sections, JUDGES, takes=("words",))

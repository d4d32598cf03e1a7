"""Figures in words: the same lines for terminal, page, notebook and plain text."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from brittle.asks import Status
from brittle.formatting import duration, number, percent, plural
from brittle.metrics.operations import characters_share, is_by_characters, operations
from brittle.metrics.summary import Figure, Summary
from brittle.results import Result

Write = Callable[[float | None], str]
MEANING: Mapping[Status, str] = {
    "broken": "an adversarial text was found and confirmed",
    "held": "the attack ended without success",
    "out of budget": "not broken when the budget of queries ran out",
    "unconfirmed": "not broken: scored alone, the text found no longer reaches the goal",
    "skipped": "not attacked",
    "error": "failed, left out of every figure",
}


@dataclass(frozen=True)
class Line:
    """One figure as it is read: its name, value, interval, and what it is over."""

    key: str
    name: str
    value: str
    interval: str
    over: str


def lines(
    summary: Summary, manifest: Mapping[str, Any], results: Sequence[Result] = ()
) -> list[Line]:
    """Put the figures of a summary into words, the most important first.

    With the rows of a character attack, the share of characters is one of them.
    """
    what = "agreement" if manifest.get("reference") == "predictions" else "accuracy"
    told = [
        _rate("accuracy_before", f"{what} before", summary.before),
        _rate("accuracy_after", f"{what} under attack", summary.after),
        _rate("success", "attack success", summary.success),
        _mean("queries", "queries per case", summary.queries),
        _mean("words_changed", "words changed", summary.words),
        _mean("share_changed", "share of words", summary.share, percent),
    ]
    if is_by_characters(results):
        share = characters_share(results)
        told.append(_mean("characters_changed", "share of characters", share, percent))
    return told


def ended(summary: Summary) -> list[tuple[Status, int]]:
    """Count the statuses that occur, the attacked ones first."""
    return [(status, summary.statuses[status]) for status in MEANING if summary.statuses[status]]


def statuses(summary: Summary) -> str:
    """List the statuses that occur, with their reasons where these say more.

    >>> from brittle.metrics.samples import sample_results
    >>> from brittle.metrics.summary import summary
    >>> statuses(summary(sample_results()))
    'broken 3 · held 1 · out of budget 1 · skipped 2 (already wrong 1, nothing to edit 1) · error 1'
    """
    words = []
    for status, count in ended(summary):
        reasons = summary.reasons.get(status, {}) if status == "skipped" else {}
        counts = [f" {number(n)}" if len(reasons) > 1 else "" for n in reasons.values()]
        told = ", ".join(reason + n for reason, n in zip(reasons, counts))
        words.append(f"{status} {number(count)}" + (f" ({told})" if told else ""))
    return " · ".join(words) or "no case has finished yet"


def edited(results: Sequence[Result]) -> list[str]:
    """Say in one line which character operations were used; nothing where words were replaced.

    >>> from brittle.metrics.samples import sample_results
    >>> edited(sample_results())
    []
    >>> from dataclasses import replace
    >>> from brittle.edits import Edit
    >>> broken = sample_results()[0]
    >>> edit = Edit("text", 11, 16, "funny", "fuumny")
    >>> edited([replace(broken, edits=(edit,), characters_changed=2)])
    ['2 character edits: 50.0% flips, 50.0% inserts, 0.0% deletes']
    """
    if not is_by_characters(results):
        return []
    found = operations(results)
    edits = plural(found.total, ("character edit", "character edits"))
    told = [f"{percent(share)} {name}" for name, share in found.shares.items()]
    return [f"{edits}: {', '.join(told)}"]


def effort(totals: Mapping[str, float]) -> str:
    """Say what the run cost: rows really computed, of all that were asked, and the time.

    >>> effort({"sent": 900, "asked": 1200, "calls": 12, "seconds": 75})
    '900 rows computed of 1,200 asked (25% saved), 12 calls, 1 min 15 s'
    """
    sent, asked = totals.get("sent", 0), totals.get("asked", 0)
    calls = totals.get("calls", 0)
    if not asked:
        return "Nothing has been asked yet"
    saved = f" ({1 - sent / asked:.0%} saved)" if 0 < sent < asked else ""
    rows = f"{number(sent)} rows computed of {number(asked)} asked{saved}"
    return f"{rows}, {number(calls)} calls, {duration(totals.get('seconds', 0))}"


def notes(summary: Summary, manifest: Mapping[str, Any]) -> list[str]:
    """List what a reader must know before believing the figures, the gravest first."""
    found = []
    if not summary.complete:
        found.append(
            f"Incomplete: {number(summary.cases)} of {number(summary.planned)} cases. The figures "
            "cover only these; the same command resumes the run."
        )
    if manifest.get("reference") == "predictions":
        found.append(
            "The examples have no labels: the reference is the target's own prediction on the "
            "original, so agreement before the attack is 100% by definition."
        )
    elif manifest.get("reference") == "mixed":
        found.append(
            "Some examples have no label: for these the reference is the target's own prediction "
            "on the original, which counts as right."
        )
    errors = summary.statuses["error"]
    if errors:
        reasons = summary.reasons.get("error") or {"none given": errors}
        reason, count = next(iter(reasons.items()))
        most = f"Most frequent reason ({number(count)})" if len(reasons) > 1 else "Reason"
        found.append(
            f"{number(errors)} of {number(summary.cases)} cases failed and are left out of every "
            f"figure. {most}: {reason}"
        )
    return found + [str(warning) for warning in manifest.get("warnings") or ()]


def setting(manifest: Mapping[str, Any]) -> str:
    """Say in one line what was attacked with what."""
    data = manifest.get("data")
    where = f" on {data}" if data else ""
    split = f" ({manifest['split']})" if data and manifest.get("split") else ""
    return f"{manifest.get('attack')} against {manifest.get('target')}{where}{split}"


def interval(figure: Figure, write: Write = number) -> str:
    """Write an interval with its unit once, or nothing where there is no value."""
    if figure.low is None or figure.high is None:
        return ""
    low, high = write(figure.low), write(figure.high)
    if low.endswith("%"):
        low = low[:-1]
    return f"{low}–{high}"


def _rate(key: str, name: str, figure: Figure) -> Line:
    over = f"{number(figure.count)} of {number(figure.of)} {figure.over}"
    return Line(key, name, percent(figure.value), interval(figure, percent), over)


def _mean(key: str, name: str, figure: Figure, write: Write = number) -> Line:
    over = f"mean over {number(figure.of)} {figure.over}"
    return Line(key, name, write(figure.value), interval(figure, write), over)

"""Findings: what a paper claims, and what our intervals say of it.

A verdict is read off an interval: it agrees if the whole interval lies where the claim says,
disagrees if the whole interval lies elsewhere, and is undecided in between.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from brittle.metrics.paired import Contrast
from brittle.metrics.summary import Figure

Verdict = Literal["agrees", "disagrees", "undecided"]
Interval = tuple[float | None, float | None]


@dataclass(frozen=True)
class Finding:
    """A claim of a paper, our verdict, and what it rests on; `key` names it in the notes."""

    key: str
    claim: str
    verdict: Verdict
    evidence: str


def above(interval: Interval, bound: float = 0.0) -> Verdict:
    """Judge the claim that a number is higher than a bound.

    >>> above((0.1, 0.2)), above((-0.2, -0.1)), above((-0.1, 0.2))
    ('agrees', 'disagrees', 'undecided')
    """
    low, high = interval
    if low is None or high is None:
        return "undecided"
    if low > bound:
        return "agrees"
    return "disagrees" if high <= bound else "undecided"


def below(interval: Interval, bound: float = 0.0) -> Verdict:
    """Judge the claim that a number is lower than a bound.

    >>> below((0.1, 0.2), 0.25)
    'agrees'
    """
    low, high = interval
    return "undecided" if low is None or high is None else above((-high, -low), -bound)


def within(interval: Interval, bound: float) -> Verdict:
    """Judge the claim that a number is nearly zero: not further from it than a bound.

    >>> within((-0.01, 0.02), 0.05), within((0.06, 0.09), 0.05), within((0.01, 0.09), 0.05)
    ('agrees', 'disagrees', 'undecided')
    """
    low, high = interval
    if low is None or high is None:
        return "undecided"
    if -bound <= low and high <= bound:
        return "agrees"
    return "disagrees" if low > bound or high < -bound else "undecided"


def altogether(verdicts: Sequence[Verdict]) -> Verdict:
    """Judge a claim of several parts: one that fails is enough, one that is open keeps it open.

    >>> altogether(["agrees", "undecided"]), altogether(["agrees", "undecided", "disagrees"])
    ('undecided', 'disagrees')
    """
    if not verdicts or "disagrees" in verdicts:
        return "disagrees" if verdicts else "undecided"
    return "undecided" if "undecided" in verdicts else "agrees"


def nowhere(contrasts: Sequence[Contrast], margin: float) -> Verdict:
    """Judge the claim that b's rate is nowhere below a's, or not by more than a margin.

    It agrees if no interval reaches further down than that; one wholly below zero disagrees.
    """
    if any(below(span(c)) == "agrees" for c in contrasts):
        return "disagrees"
    lows = [c.low for c in contrasts if c.low is not None]
    return "agrees" if lows and min(lows) > -margin else "undecided"


def span(thing: Figure | Contrast) -> Interval:
    """Give the interval of a figure or of a difference."""
    return thing.low, thing.high


def difference(a: Figure, b: Figure) -> Interval:
    """Give Newcombe's interval of b's rate minus a's, of cases that are not the same.

    >>> from brittle.metrics.summary import rate
    >>> [round(x, 4) for x in difference(rate(48, 80, ""), rate(56, 70, "")) if x is not None]
    [0.0524, 0.3339]
    """
    values = (a.value, a.low, a.high, b.value, b.low, b.high)
    if any(value is None for value in values):
        return None, None
    p, low_a, high_a, q, low_b, high_b = (float(value or 0.0) for value in values)
    down = math.hypot(q - low_b, high_a - p)
    up = math.hypot(high_b - q, p - low_a)
    return q - p - down, q - p + up


def format_findings(findings: Sequence[Finding], notes: dict[str, str], file: str) -> str:
    """Write the findings as a list, each with the explanation that stands in the notes."""
    parts = []
    for finding in findings:
        lines = [f"- **{finding.verdict}**: {finding.claim}. Here: {finding.evidence}."]
        note = notes.get(finding.key)
        if note:
            lines += ["", *(f"  {line}".rstrip() for line in note.splitlines()), ""]
        elif finding.verdict == "disagrees":
            lines.append(f"  No explanation yet: `## {finding.key}` in `{file}` is its place.")
        parts.append("\n".join(lines))
    return "\n".join(parts)

"""Findings: the claims of a paper, judged by our intervals, and how figures are written.

How figures are written on a page and in the evidence of a claim. Findings: the claims of a paper in
its own words, judged by our intervals.

A claim *agrees* if the whole interval lies where the claim says, *disagrees* if the whole interval
lies elsewhere, and is *undecided* in between. Two paired rates that the exact McNemar test does not
tell apart are undecided, whatever the interval says. A claim that cannot be tested with the models
and data at hand is *not testable*. What holds by construction is a check of our code, not a claim.
"""

from __future__ import annotations

import math
import re
import shlex
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal, NamedTuple, TypeVar

from brittle.formatting import NO_VALUE, number, percent, plural
from brittle.metrics.paired import Contrast
from brittle.metrics.summary import Figure


def format_value(value: Figure | Contrast | int) -> str:
    """Format a rate, a difference of two paired rates in points, or a count.

    >>> from brittle.metrics.paired import contrast
    >>> from brittle.metrics.summary import rate
    >>> format_value(rate(8, 10, "cases")), format_value(rate(0, 0, "cases"))
    ('80.0% (49.0–94.3; 8 of 10)', '– (no case)')
    >>> format_value(contrast([(False, True)] * 9 + [(True, True)]))
    '+90.0 points (+48.8 to +98.2; n = 10, p = 0.004)'
    """
    if isinstance(value, int):
        return number(value)
    of = number(value.of)
    if isinstance(value, Contrast):
        if value.difference is None or value.low is None or value.high is None:
            return f"{NO_VALUE} (no shared case)"
        p = "p < 0.001" if value.p < 0.001 else f"p = {value.p:.3f}"
        interval = f"{100 * value.low:+.1f} to {100 * value.high:+.1f}"
        return f"{100 * value.difference:+.1f} points ({interval}; n = {of}, {p})"
    if value.value is None or value.low is None or value.high is None:
        return f"{NO_VALUE} (no case)"
    over = f"n = {of}" if value.count is None else f"{number(value.count)} of {of}"
    return f"{100 * value.value:.1f}% ({100 * value.low:.1f}–{100 * value.high:.1f}; {over})"


def format_mean(figure: Figure) -> str:
    """Format a mean that is no share.

    >>> format_mean(Figure(10.7, 9.0, 12.4, None, 30, "words"))
    '10.70 (9.00–12.40; n = 30)'
    """
    if figure.value is None or figure.low is None or figure.high is None:
        return format_value(figure)
    return f"{figure.value:.2f} ({figure.low:.2f}–{figure.high:.2f}; n = {number(figure.of)})"


def format_signed_mean(figure: Figure) -> str:
    """Format a mean that may be below zero.

    >>> format_signed_mean(Figure(1.234, -1.0, 1.5, None, 10, "digits"))
    '1.23 (-1.00 to 1.50; n = 10)'
    """
    if figure.value is None or figure.low is None or figure.high is None:
        return f"{NO_VALUE} (no case)"
    return f"{figure.value:.2f} ({figure.low:.2f} to {figure.high:.2f}; n = {figure.of:,})"


def format_rate(figure: Figure) -> str:
    """Format a mean rate with its interval, as tables of transfer write rates.

    >>> format_rate(Figure(0.5, 0.25, 0.75, None, 10, "texts"))
    '.500 (.250–.750)'
    """
    if figure.value is None or figure.low is None or figure.high is None:
        return NO_VALUE
    numbers = [f"{x:.3f}".replace("0.", ".", 1) for x in (figure.value, figure.low, figure.high)]
    return f"{numbers[0]} ({numbers[1]}–{numbers[2]})".replace("–-", " to -")


def format_points(figure: Figure) -> str:
    """Format a difference of two shares in points, with its interval."""
    if figure.value is None or figure.low is None or figure.high is None:
        return NO_VALUE
    low, high = 100 * figure.low, 100 * figure.high
    return f"{100 * figure.value:+.1f} points ({low:+.1f} to {high:+.1f})"


def format_difference(value: Figure | Contrast) -> str:
    """Format a difference of two shares in points, paired or not."""
    return format_value(value) if isinstance(value, Contrast) else format_points(value)


def format_change(figure: Figure) -> str:
    """Format a difference that is no share, such as one of BLEU."""
    if figure.value is None or figure.low is None or figure.high is None:
        return format_points(figure)
    return f"{figure.value:+.2f} ({figure.low:+.2f} to {figure.high:+.2f}; n = {figure.of})"


def format_distance(figure: Figure) -> str:
    """Format a small distance with its interval."""
    return f"{figure.value or 0:.3f} ({figure.low or 0:.3f}–{figure.high or 0:.3f})"


def format_score(figure: Figure) -> str:
    """Format a score on a scale of its own, such as BLEU, with its interval."""
    if figure.value is None or figure.low is None or figure.high is None:
        return NO_VALUE
    return f"{figure.value:.2f} ({figure.low:.2f}–{figure.high:.2f})"


def format_p(p: float) -> str:
    """Format a p that stands in a column of its own.

    >>> format_p(0.0312), format_p(0.00001)
    ('0.031', '< 0.001')
    """
    return "< 0.001" if p < 0.001 else f"{p:.3f}"


FORMATS: Mapping[str, Callable[[Any], str]] = {
    "value": format_value,
    "mean": format_mean,
    "signed mean": format_signed_mean,
    "rate": format_rate,
    "points": format_points,
    "change": format_change,
    "distance": format_distance,
    "score": format_score,
    "number": lambda figure: number(figure.value),
    "percent": lambda figure: percent(figure.value),
}
"""The formats that paper.toml names."""


R = TypeVar("R")
Verdict = Literal["agrees", "disagrees", "undecided", "not testable"]
Interval = tuple[float | None, float | None]
Rule = Callable[[Interval, float], Verdict]
"""Compares an interval with a bound: `above`, `below` or `within`."""

MAX_P = 0.05
GUESS = "(a guess)"
"""What a note says of a reason that no task tests."""
UNKNOWN = "unknown"
"""What a note says where no reason is known."""


class JudgedClaim(NamedTuple):
    """What we find about a claim."""

    verdict: Verdict
    evidence: str


Judge = Callable[[R], JudgedClaim | None]
"""Judges one claim by a paper's results; None if the tasks that it needs were not run."""


@dataclass(frozen=True)
class Finding:
    """A claim, our verdict, and the evidence; the tasks `tests` test the reasons of its note.

    With `is_check` it holds by construction, so it says something about our code alone.
    """

    key: str
    claim: str
    verdict: Verdict
    evidence: str
    tests: tuple[str, ...] = ()
    is_check: bool = False


def judge(rule: Rule, value: Figure | Contrast, bound: float = 0.0) -> JudgedClaim:
    """Judge a claim by the interval of one value, which is also the evidence."""
    return JudgedClaim(verdict_of(rule, value, bound), format_value(value))


def judge_all(rule: Rule, contrasts: Mapping[str, Contrast]) -> JudgedClaim:
    """Judge a claim about several contrasts; the evidence is the one that supports it least."""
    sign = -1 if rule is below else 1
    weakest = min(contrasts, key=lambda name: sign * (contrasts[name].difference or 0.0))
    evidence = f"{weakest}, {format_value(contrasts[weakest])}"
    verdict = altogether([verdict_of(rule, contrast, 0.0) for contrast in contrasts.values()])
    return JudgedClaim(verdict, f"the weakest of {len(contrasts)} comparisons: {evidence}")


def judge_each(
    rule: Rule, known: Mapping[str, Figure | Contrast], bound: float = 0.0
) -> JudgedClaim:
    """Judge a claim about several differences; the evidence is the one that supports it least.

    How many of them agree and disagree stands before it.
    """
    verdicts = {name: _verdict_with_draws(rule, value, bound) for name, value in known.items()}
    weakest = min(known, key=lambda name: _support(rule, known[name]))
    if len(known) == 1:
        return JudgedClaim(verdicts[weakest], f"{weakest}, {format_difference(known[weakest])}")
    counts = {v: sum(x == v for x in verdicts.values()) for v in ("agrees", "disagrees")}
    evidence = f"{counts['agrees']} of {len(known)} comparisons agree, {counts['disagrees']} "
    evidence += f"disagree; the weakest: {weakest}, {format_difference(known[weakest])}"
    return JudgedClaim(altogether(list(verdicts.values())), evidence)


def _verdict_with_draws(rule: Rule, value: Figure | Contrast, bound: float) -> Verdict:
    if isinstance(value, Contrast) and rule is not within and value.p >= MAX_P:
        return "undecided"
    low, high = interval_of(value)
    if low == high == 0 and rule is not within:  # no draw was ever won, on neither side
        return "undecided"
    return rule((low, high), bound)


def _support(rule: Rule, value: Figure | Contrast) -> float:
    """Return how much a difference speaks for a claim; only the order matters."""
    size = (value.difference if isinstance(value, Contrast) else value.value) or 0.0
    return size if rule is above else -size if rule is below else -abs(size)


def judge_near(value: Figure, expected: float, margin: float) -> JudgedClaim:
    """Judge the claim that a number is `expected`, give or take a margin."""
    low, high = interval_of(value)
    shifted = (None, None) if low is None or high is None else (low - expected, high - expected)
    return JudgedClaim(within(shifted, margin), format_value(value))


def verdict_of(rule: Rule, value: Figure | Contrast, bound: float) -> Verdict:
    """Judge one value by its interval; paired rates that McNemar does not part are undecided."""
    if isinstance(value, Contrast) and bound == 0.0 and value.p >= MAX_P:
        return "undecided"
    return rule(interval_of(value), bound)


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
    """Judge the claim that a number is nearly zero: within a bound on both sides.

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
    """Judge a claim of several parts: one that disagrees decides; else all must agree.

    >>> altogether(["agrees", "undecided"]), altogether(["agrees", "undecided", "disagrees"])
    ('undecided', 'disagrees')
    """
    if not verdicts or "disagrees" in verdicts:
        return "disagrees" if verdicts else "undecided"
    return "undecided" if "undecided" in verdicts else "agrees"


def mostly(verdicts: Sequence[Verdict]) -> Verdict:
    """Judge a claim about most of several cases: more than half must agree.

    It disagrees if that cannot be any more, because half of them or more disagree.

    >>> mostly(["agrees", "agrees", "disagrees"]), mostly(["agrees", "disagrees"])
    ('agrees', 'disagrees')
    >>> mostly(["agrees", "undecided", "undecided"])
    'undecided'
    """
    half = len(verdicts) / 2
    if verdicts.count("agrees") > half:
        return "agrees"
    return "disagrees" if verdicts and verdicts.count("disagrees") >= half else "undecided"


def interval_of(value: Figure | Contrast) -> Interval:
    """Return the interval of a figure or of a difference."""
    return value.low, value.high


def difference(a: Figure, b: Figure) -> Interval:
    """Compute Newcombe's interval of b's rate minus a's, over different cases.

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


def count_findings(findings: Sequence[Finding]) -> str:
    """Count the claims by verdict; checks of our code are none of them.

    >>> count_findings([Finding("a", "", "agrees", ""), Finding("b", "", "agrees", "", (), True)])
    'Of 1 claim, 1 agrees, 0 disagree, 0 are undecided.'
    """
    claims: list[str] = [finding.verdict for finding in findings if not finding.is_check]
    agrees, open_, untestable = map(claims.count, ("agrees", "undecided", "not testable"))
    parts = [
        f"{agrees} {'agrees' if agrees == 1 else 'agree'}",
        f"{claims.count('disagrees')} disagree",
        f"{open_} {'is' if open_ == 1 else 'are'} undecided",
    ]
    if untestable:
        parts.append(f"{untestable} cannot be tested here")
    return f"Of {plural(len(claims), 'claims')}, {', '.join(parts)}."


def reason_status(finding: Finding, note: str) -> str:
    """Say whether the reason that a finding does not agree was tested, and by which tasks.

    >>> reason_status(Finding("a", "", "disagrees", "", ("short texts",)), "Texts are short.")
    'yes: short texts'
    """
    if finding.verdict in ("agrees", "not testable"):
        return ""
    is_guess = GUESS in note
    if not finding.tests:
        return "no, a guess" if is_guess else UNKNOWN
    return f"{'partly' if is_guess else 'yes'}: {', '.join(finding.tests)}"


def table_findings(findings: Sequence[Finding], notes: Mapping[str, str]) -> list[list[str]]:
    """Build the rows of the table that a page begins with: one for each claim."""
    return [
        [
            finding.key.replace("-", " "),
            finding.claim,
            finding.evidence,
            f"**{finding.verdict}**",
            reason_status(finding, notes.get(finding.key, "")),
        ]
        for finding in findings
        if not finding.is_check
    ]


def format_checks(findings: Sequence[Finding]) -> str:
    """Format the checks of our code as a list."""
    words = {"agrees": "holds", "disagrees": "fails"}
    return "\n".join(
        f"- **{words.get(check.verdict, check.verdict)}**: {check.claim}. Here: {check.evidence}."
        for check in findings
        if check.is_check
    )


def format_reasons(findings: Sequence[Finding], notes: Mapping[str, str], file: str) -> str:
    """Format why claims do not agree, with the tasks that test each reason."""
    parts = []
    for finding in findings:
        if finding.is_check or finding.verdict == "agrees":
            continue
        note = notes.get(finding.key, "")
        lines = [f"- **{finding.key.replace('-', ' ')}** ({finding.verdict})"]
        if note:
            lines += ["", *(f"  {line}".rstrip() for line in note.splitlines())]
        if finding.tests:
            tasks = ", ".join(f"`--only {shlex.quote(task)}`" for task in finding.tests)
            lines += ["", f"  Tested by the command above with {tasks}."]
        elif not note and finding.verdict != "not testable":
            where = f"write it under `## {finding.key}` in `{file}`"
            lines += ["", f"  The reason is unknown: {where}, with a task that tests it."]
        parts.append("\n".join(lines))
    return re.sub(r"\n{3,}", "\n\n", "\n".join(parts)).rstrip()

"""The verdict of the gate for CI: what pytest, the command line, an Action and MLflow show."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Any

from brittle.edits import Edit
from brittle.errors import GateFailed
from brittle.formatting import NO_VALUE, label_in_words, listed, percent, plural
from brittle.levels import LEVELS
from brittle.metrics.regression import (
    GENTLE_ROBUSTNESS,
    BoundQuestion,
    Outcome,
    PairedQuestion,
    worst,
)
from brittle.redaction import revealed
from brittle.reports.cases import shown_fields, split_at_edits
from brittle.reports.table import in_markdown
from brittle.results import Result

SHOWN_CASES = 5
CONTEXT_CHARACTERS = 60
TITLES: dict[Outcome, str] = {"pass": "PASS", "fail": "FAIL", "cannot tell": "CANNOT TELL"}


@dataclass(frozen=True)
class Verdict:
    """What the gate found: pass, fail or cannot tell, with all it rests on.

    `old` is the name of the baseline ("" if there are only bounds). `newly_broken` are rows of the
    new run, the clearest ones first. `missing` counts cases of the baseline that the new run does
    not have, `accepted` known failures that are left out, and `unused` lists entries of the file
    of accepted failures that no longer fail. `page` is where both runs stand side by side.
    """

    old: str
    new: str
    level: float
    tolerance: float
    questions: tuple[PairedQuestion, ...] = ()
    bounds: tuple[BoundQuestion, ...] = ()
    newly_broken: tuple[Result, ...] = ()
    missing: int = 0
    accepted: int = 0
    unused: tuple[str, ...] = ()
    is_same_model: bool = False
    notes: tuple[str, ...] = ()
    page: str = ""

    @property
    def outcome(self) -> Outcome:
        """The answer: `pass`, `fail` or `cannot tell`."""
        if self.unused:
            return "fail"
        asked = [one.outcome for one in self.bounds]
        if self.is_same_model and not any(one.worse for one in self.questions):
            asked += ["pass"]
        else:
            asked += [one.outcome for one in self.questions]
        answer = worst(asked)
        return "cannot tell" if answer == "pass" and self.missing else answer

    @property
    def is_worse(self) -> bool:
        """Whether the new run is worse than the old one, by a test."""
        return any(one.outcome == "fail" for one in self.questions)

    @property
    def main(self) -> PairedQuestion:
        """The question in which all meet: accuracy under attack, or a translator's success."""
        return self.questions[-1]

    @property
    def by(self) -> float:
        """By which share accuracy under attack fell, or the attack's success rose."""
        return self.main.drop

    @property
    def cases(self) -> int:
        """How many shared cases `by` is over."""
        return self.main.cases

    @property
    def p(self) -> float:
        """The p-value of `by`."""
        return self.main.p

    @property
    def cases_needed(self) -> int | None:
        """How many cases would tell, if these do not; None if no number is known."""
        asked: tuple[PairedQuestion | BoundQuestion, ...] = (*self.questions, *self.bounds)
        open_questions = [one.cases_needed for one in asked if one.outcome == "cannot tell"]
        known = [count for count in open_questions if count is not None]
        return max(known) if known and self.outcome == "cannot tell" else None

    def with_page(self, page: str) -> Verdict:
        """Return the verdict with the path of the page that shows both runs."""
        return replace(self, page=page)

    @property
    def headline(self) -> str:
        """The verdict in one or two sentences, the reasons first."""
        return f"{TITLES[self.outcome]}: {' '.join(_reasons(self))}"

    def require(self, strict: bool = False) -> None:
        """Raise `GateFailed` if the verdict is a failure, for a test or a script in CI.

        If it is `strict`, it must be a pass.
        """
        if self.outcome == "fail" or (strict and self.outcome != "pass"):
            raise GateFailed(str(self))

    def __str__(self) -> str:
        return "\n".join(verdict_lines(self))

    def plain(self) -> dict[str, Any]:
        """Return the verdict as plain values, for JSON."""
        return {
            "outcome": self.outcome,
            "reason": " ".join(_reasons(self)),
            "old": self.old,
            "new": self.new,
            "level": self.level,
            "tolerance": self.tolerance,
            "questions": [vars(one) for one in self.questions],
            "bounds": [vars(one) for one in self.bounds],
            "newly_broken": [
                {"case": row.case, "text": row.original, "adversarial": row.adversarial}
                for row in self.newly_broken
            ],
            "missing": self.missing,
            "accepted": self.accepted,
            "unused": list(self.unused),
            "cases_needed": self.cases_needed,
            "notes": list(self.notes),
            "page": self.page,
        }


def verdict_lines(verdict: Verdict) -> Iterator[str]:
    """Yield the lines of a verdict as plain text.

    >>> verdict = Verdict("", "after", 0.05, 0.05, unused=("a1: film -> movie",))
    >>> list(verdict_lines(verdict))[0]
    'FAIL: 1 accepted failure no longer fails.'
    """
    yield verdict.headline
    yield ""
    rows = [_cells(one) for one in verdict.questions] + [_bound_cells(b) for b in verdict.bounds]
    widths = [max(map(len, column)) for column in zip(*rows)]
    for cells in rows:
        yield "  " + "  ".join(cell.ljust(width) for cell, width in zip(cells, widths)).rstrip()
    yield from (f"note: {note}" for note in verdict.notes)
    for entry in verdict.unused:
        yield f"accepted, but it no longer fails: {entry}"
    if verdict.newly_broken:
        yield ""
        yield f"{_counted(verdict)}, by which edit (old -> new):"
        yield from ("  " + line for row in _shown(verdict) for line in _case_lines(row))
    if verdict.page:
        yield ""
        yield f"All cases: {verdict.page}"


def verdict_markdown(verdict: Verdict) -> str:
    """Render the verdict in Markdown, as the summary of a step in CI.

    >>> print(verdict_markdown(Verdict("before", "after", 0.05, 0.05)).splitlines()[0])
    ## Robustness: cannot tell
    """
    lines = [f"## Robustness: {verdict.outcome}", "", in_markdown(" ".join(_reasons(verdict))), ""]
    if verdict.questions:
        lines += ["| | before | now | change | cases | answer |", "|---|---:|---:|---:|---:|---|"]
        lines += [
            f"| {one.name} | {_value(one, one.old)} | {_value(one, one.new)} | {_points(one)} "
            f"| {one.cases} | {_answer(one)} |"
            for one in verdict.questions
        ]
        lines.append("")
    if verdict.bounds:
        lines += ["| bound | at most | broken | cases | answer |", "|---|---:|---:|---:|---|"]
        lines += [
            f"| {_title(one)} | {percent(one.bound)} | {percent(one.share)} ({_range(one)}) "
            f"| {one.cases} | {one.outcome} |"
            for one in verdict.bounds
        ]
        lines.append("")
    lines += [f"- {in_markdown(note)}" for note in verdict.notes]
    lines += [f"- Accepted, but it no longer fails: {in_markdown(e)}" for e in verdict.unused]
    if verdict.newly_broken:
        lines += ["", f"### {_counted(verdict)}", ""]
        lines += ["| case | text | label | now read as |", "|---|---|---|---|"]
        lines += [_markdown_case(row) for row in _shown(verdict)]
    if verdict.page:
        lines += ["", f"All cases: `{verdict.page}`"]
    return "\n".join(lines) + "\n"


def _reasons(verdict: Verdict) -> Iterator[str]:
    """Yield the sentences that explain the outcome."""
    if verdict.outcome == "fail":
        failed = [one for one in verdict.questions if one.outcome == "fail"]
        # Accuracy under attack follows from the other two: it is said if none of them is sure.
        said = [one for one in failed if not one.name.startswith("accuracy")] or failed
        if said:
            what = listed([_moved(one) for one in said])
            yield f"{verdict.new!r} is worse than {verdict.old!r}: {what}."
        if said and [one.name for one in said] == ["clean accuracy"]:
            robust = [one for one in verdict.questions if one.name.startswith("robustness")]
            if all(one.outcome == "pass" for one in robust):
                yield "The attack itself does not succeed more often."
            else:
                yield "No rise of the attack's own success is significant."
        for bound in verdict.bounds:
            if bound.outcome == "fail":
                yield f"{_bound_sentence(bound)}, and the bound is {percent(bound.bound)}."
        if verdict.unused:
            count = len(verdict.unused)
            yield f"{plural(count, 'accepted failures')} no longer fail{'s' * (count == 1)}."
    elif verdict.outcome == "pass":
        if verdict.is_same_model:
            yield f"{verdict.new!r} is the same model as {verdict.old!r}."
        elif verdict.questions:
            yield (
                f"{verdict.new!r} is not worse than {verdict.old!r}: a drop of "
                f"{100 * verdict.tolerance:g} points or more is excluded."
            )
        yield from (f"{_bound_sentence(bound)}: within the bound." for bound in verdict.bounds)
    else:
        yield from _why_unknown(verdict)


def _why_unknown(verdict: Verdict) -> Iterator[str]:
    open_names = [one.name for one in verdict.questions if one.outcome == "cannot tell"]
    if open_names:
        yield (
            f"No drop from {verdict.old!r} to {verdict.new!r} is significant, but a drop of "
            f"{100 * verdict.tolerance:g} points is still possible in {listed(open_names)}."
        )
    for bound in verdict.bounds:
        if bound.outcome == "cannot tell":
            yield f"{_bound_sentence(bound)}: the bound of {percent(bound.bound)} is in this range."
    if verdict.cases_needed is not None:
        yield f"A clear answer needs about {plural(_about(verdict.cases_needed), 'cases')}."
    if verdict.missing:
        yield (
            f"{plural(verdict.missing, 'cases')} of the baseline are not in the new run: attack "
            "the same texts, or write the baseline again."
        )


def _moved(one: PairedQuestion) -> str:
    """Say by how much a figure got worse, over which cases, and how sure that is."""
    if one.name.startswith("robustness"):
        what = "gentle edits break" if one.name == GENTLE_ROBUSTNESS else "the attack breaks"
        said = (
            f"of the {plural(one.cases, one.over)} without edits, {what} "
            f"{percent(1 - one.new)} instead of {percent(1 - one.old)}, "
            f"{100 * one.drop:.1f} points more"
        )
    else:
        verb = "rose" if one.name == "attack success" else "fell"
        cases = plural(one.cases, one.over)
        said = f"{one.name} {verb} by {100 * one.drop:.1f} points over {cases}"
        said += f", from {percent(one.old)} to {percent(one.new)}"
    return f"{said} (McNemar's exact test: p = {one.p:.3g})"


def _about(count: int) -> int:
    """Round up to two digits: more would claim a precision that a planning figure has not.

    >>> _about(352), _about(47)
    (360, 47)
    """
    unit = int(10 ** max(0, len(str(count)) - 2))
    return -(-count // unit) * unit


def _value(one: PairedQuestion, share: float) -> str:
    return percent(share if one.cases else None)


def _points(one: PairedQuestion) -> str:
    if not one.cases:
        return NO_VALUE
    change = 100 * (one.new - one.old)
    return f"{change:+.1f} points" if change else "0.0 points"


def _answer(one: PairedQuestion) -> str:
    """Say what is known of a question: its p-value, what is excluded, or what would be noticed."""
    if one.outcome == "fail":
        return f"fail: p = {one.p:.3g}"
    if one.outcome == "pass":
        return f"pass: at most {100 * max(0.0, one.highest_drop):.1f} points worse"
    if not one.cases:
        return "cannot tell: no such case"
    if one.detectable is None:
        return "cannot tell: too few cases to notice any drop"
    drop = plural(round(100 * one.detectable), "points")
    return f"cannot tell: only a drop of {drop} would be noticed"


def _cells(one: PairedQuestion) -> tuple[str, ...]:
    return (
        one.name,
        f"{_value(one, one.old)} -> {_value(one, one.new)}",
        _points(one),
        f"{one.cases} {one.over}",
        _answer(one),
    )


def _bound_cells(one: BoundQuestion) -> tuple[str, ...]:
    broken, bound = f"{percent(one.share)} ({_range(one)})", f"at most {percent(one.bound)}"
    return _title(one), broken, bound, f"{one.cases} attacked", one.outcome


def _bound_sentence(one: BoundQuestion) -> str:
    return (
        f"{_title(one).capitalize()}: {percent(one.share)} of "
        f"{plural(one.cases, 'attacked cases')} ({_range(one)})"
    )


def _title(one: BoundQuestion) -> str:
    return f"broken by {LEVELS[one.name].title}" if one.name in LEVELS else "broken by the attack"


def _range(one: BoundQuestion) -> str:
    return f"{percent(one.low)} to {percent(one.high)}"


def _counted(verdict: Verdict) -> str:
    count, shown = len(verdict.newly_broken), len(_shown(verdict))
    cases = plural(count, "cases") + " newly broken"
    return f"{cases}, {shown} of them" if shown < count else cases


def _shown(verdict: Verdict) -> tuple[Result, ...]:
    return verdict.newly_broken[:SHOWN_CASES]


def _case_lines(row: Result) -> Iterator[str]:
    labels = f"{label_in_words(row.label)} is read as {label_in_words(row.adversarial_label)}"
    yield f"{row.case}  {labels if row.adversarial_label is not None else row.status}"
    if row.l2 is None:
        for _, raw, edits in shown_fields(row):
            parts = split_at_edits(raw, edits, CONTEXT_CHARACTERS)
            yield "    " + "".join(p if isinstance(p, str) else _marked(p) for p in parts)


def _marked(edit: Edit) -> str:
    return f"[{edit.old} -> {revealed(edit.new, edit.old)}]"


def _markdown_case(row: Result) -> str:
    texts = []
    for _, raw, edits in shown_fields(row) if row.l2 is None else ():
        parts = split_at_edits(raw, edits, CONTEXT_CHARACTERS)
        texts.append("".join(_in_cell(part) for part in parts))
    label, now = (in_markdown(label_in_words(it)) for it in (row.label, row.adversarial_label))
    return f"| `{row.case}` | {'<br>'.join(texts)} | {label} | {now} |"


def _in_cell(part: str | Edit) -> str:
    """Write a part of a text in a cell of Markdown: what is removed is struck through."""
    if isinstance(part, str):
        blanks = [" " * edge.isspace() for edge in (part[:1], part[-1:])]
        return in_markdown(part).join(blanks) if part.strip() else " "
    marked = ((part.old, "~~"), (revealed(part.new, part.old), "**"))
    return " ".join(f"{mark}{in_markdown(words)}{mark}" for words, mark in marked if words.strip())

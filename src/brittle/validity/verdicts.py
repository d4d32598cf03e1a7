"""What people said: question by question, and whether an example is valid.

What people said, question by question, as the tables of the papers have it. Validity: label kept as
people read it, meaning kept, and natural enough; all three, and each.
"""

from __future__ import annotations

import statistics
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace

from brittle.errors import UsageError
from brittle.formatting import plural
from brittle.metrics.judged import Agreement, agreement, rate_of_shares
from brittle.metrics.summary import Figure, mean
from brittle.results import Result
from brittle.validity.answers import Given, KeyItem, Person, SampleKey
from brittle.validity.figures import PARTS, VALID, Reading, Thresholds
from brittle.validity.questionnaire import STANDARD, Questionnaire
from brittle.validity.sampling import row_digest

NAMES = {
    "label": "label read right",
    "natural": "naturalness",
    "meaning": "same meaning",
    "similarity": "similarity",
    "original": "taken for the original",
    "handwritten": "looks handwritten",
    "closer": "closer to the original",
    "changes": "more natural changes",
    "grammatical": "grammatical",
    "similar": "similar to the original",
    "readable": "more natural of the two",
}


@dataclass(frozen=True)
class TableRow:
    """One figure of a table: a question, and what it was asked about.

    `unit` is share, or mean of a scale. `relative` is the share divided by the largest of its
    question, as relative readability is; `median` is that of the people, each with an own share.
    """

    question: str
    about: str
    unit: str
    figure: Figure
    answers: int
    relative: float | None = None
    median: float | None = None


def answer_table(
    people: Sequence[Person],
    key: SampleKey,
    questionnaire: Questionnaire,
    rows: Mapping[str, Result],
) -> list[TableRow]:
    """Compute for every question, and all that it was asked about, what people said."""
    votes = list(_votes(people, key, questionnaire, rows))
    names = dict.fromkeys(vote.name for vote in votes)
    table: list[TableRow] = []
    for name in names:
        own = [vote for vote in votes if vote.name == name]
        roles = sorted({vote.role for vote in own}, key=("adversarial", "beside", "original").index)
        shown = [_row(name, role, [v for v in own if v.role == role], key) for role in roles]
        is_relative = own[0].is_choice and questionnaire.relative
        table += _with_relative(shown) if is_relative else shown
    if not questionnaire.median:
        table = [replace(row, median=None) for row in table]
    return table


@dataclass(frozen=True)
class _Vote:
    """What one person said of one panel: a number between 0 and 1, or one of a scale."""

    name: str
    role: str
    case: str
    person: int
    value: float
    is_scale: bool
    is_choice: bool


def _votes(
    people: Sequence[Person],
    key: SampleKey,
    questionnaire: Questionnaire,
    rows: Mapping[str, Result],
) -> Iterator[_Vote]:
    for person in people:
        for number, given in person.answers.items():
            item = key.items[number]
            for question in questionnaire.questions:
                value = given[question.key]
                for place, panel in enumerate(question.about):
                    yield _Vote(
                        question.key.removesuffix("-2"),
                        item.roles[panel],
                        item.case,
                        person.number,
                        question.form.value(value, place, rows[item.case].label),
                        question.form.is_scale,
                        question.form.compares,
                    )


def _row(name: str, role: str, votes: Sequence[_Vote], key: SampleKey) -> TableRow:
    by_case: dict[str, list[float]] = {}
    by_person: dict[int, list[float]] = {}
    for vote in votes:
        by_case.setdefault(vote.case, []).append(vote.value)
        by_person.setdefault(vote.person, []).append(vote.value)
    values = [statistics.fmean(said) for said in by_case.values()]
    about = {"original": "originals", "adversarial": key.runs[0], "beside": key.runs[-1]}[role]
    if votes[0].is_scale:
        return TableRow(NAMES[name], about, "mean", mean(values, "cases"), len(votes))
    median = statistics.median(statistics.fmean(said) for said in by_person.values())
    figure = rate_of_shares(values, "cases")
    return TableRow(NAMES[name], about, "share", figure, len(votes), None, median)


def _with_relative(table: Sequence[TableRow]) -> list[TableRow]:
    """Divide the shares of one question by the largest of them."""
    largest = max(row.figure.value or 0.0 for row in table) or 1.0
    return [replace(row, relative=(row.figure.value or 0.0) / largest) for row in table]


@dataclass
class _Verdicts:
    """The verdicts of people on the items of one role, by part."""

    by_part: dict[str, dict[str, list[bool]]] = field(
        default_factory=lambda: {part: {} for part in (*PARTS, VALID)}
    )

    def add(self, case: str, kept: Mapping[str, bool]) -> None:
        for part, verdict in {**kept, VALID: all(kept.values())}.items():
            self.by_part[part].setdefault(case, []).append(verdict)

    def shares(self, part: str) -> dict[str, float]:
        return {case: sum(said) / len(said) for case, said in self.by_part[part].items()}


def read_sample(
    people: Sequence[Person],
    key: SampleKey,
    rows: Mapping[str, Result],
    thresholds: Thresholds | None = None,
) -> Reading:
    """Compute validity, its parts and the agreement from what people said of a standard sample."""
    thresholds = thresholds or Thresholds()
    check_rows(key, rows)
    verdicts = {"adversarial": _Verdicts(), "original": _Verdicts()}
    for person in people:
        for number, given in person.answers.items():
            item = key.items[number]
            verdicts[item.roles[0]].add(item.case, _kept(given, rows[item.case], thresholds))
    adversaries, originals = verdicts["adversarial"], verdicts["original"]
    who = plural(len(people), ("person", "people"))
    return Reading(
        sample=key.sample,
        people=len(people),
        thresholds=thresholds,
        parts=_rates(adversaries, f"adversaries read by {who}"),
        originals=_rates(originals, f"originals read by {who}"),
        agreement=_agreement(people, key, rows, thresholds),
        shares=adversaries.shares(VALID),
    )


def check_rows(key: SampleKey, rows: Mapping[str, Result]) -> None:
    """Refuse a run whose cases are no longer those that people were shown."""
    for item in key.items.values():
        if item.case not in rows or row_digest(rows[item.case]) != item.digest:
            raise UsageError(
                f"The case {item.case} changed after people read it: the run was started "
                f"over or resumed after the sample {key.sample} was drawn. Let people "
                "read the new run: brittle validity write."
            )


def _kept(given: Given, row: Result, thresholds: Thresholds) -> dict[str, bool]:
    return {
        "label": given["label"] == row.label,
        "meaning": int(given["meaning"]) >= thresholds.meaning,
        "natural": int(given["natural"]) >= thresholds.natural,
    }


def _rates(verdicts: _Verdicts, over: str) -> dict[str, Figure]:
    return {
        part: rate_of_shares(list(verdicts.shares(part).values()), over) for part in (*PARTS, VALID)
    }


def _agreement(
    people: Sequence[Person], key: SampleKey, rows: Mapping[str, Result], thresholds: Thresholds
) -> dict[str, Agreement]:
    """Compute the agreement on each question over all items, and on the verdict on adversaries."""

    def said(pick: Callable[[Given, KeyItem], object], role: str = "") -> list[list[object]]:
        numbers = [n for n, item in key.items.items() if item.roles[0] == role or not role]
        given = [[p.answers[n] for p in people if n in p.answers] for n in numbers]
        return [[pick(one, key.items[n]) for one in own] for n, own in zip(numbers, given)]

    valid = said(
        lambda given, item: all(_kept(given, rows[item.case], thresholds).values()), "adversarial"
    )
    return {
        "label": agreement(said(lambda given, _: given["label"])),
        "meaning": agreement(said(lambda given, _: given["meaning"]), "ordinal"),
        "natural": agreement(said(lambda given, _: given["natural"]), "ordinal"),
        VALID: agreement(valid),
    }


def check_standard(key: SampleKey) -> None:
    """Refuse a sample whose questions do not give a validity."""
    if key.preset != STANDARD:
        raise UsageError(
            f"The sample {key.sample} has the preset {key.preset!r}, which gives no "
            f"validity. Use the preset {STANDARD!r}, which asks for label, meaning and "
            "naturalness."
        )

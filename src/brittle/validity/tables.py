"""What people said, question by question, as the tables of the papers have it."""

from __future__ import annotations

import statistics
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

from brittle.metrics.shares import rate_of_shares
from brittle.metrics.summary import Figure, mean
from brittle.results import Result
from brittle.validity.answers import Person
from brittle.validity.key import SampleKey
from brittle.validity.questionnaire import FIRST, YES, Question, Questionnaire

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
                        _number(question, value, place, rows[item.case]),
                        question.kind == "scale",
                        question.kind == "which",
                    )


def _number(question: Question, value: str | int, place: int, row: Result) -> float:
    if question.kind == "scale":
        return float(value)
    if question.kind == "label":
        return float(value == row.label)
    if question.kind == "yes-no":
        return float(value == YES)
    return float((value == FIRST) == (place == 0))


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

"""The files that people send back: read, and checked before anything is counted."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypedDict

from brittle.errors import UsageError
from brittle.formatting import plural
from brittle.schema import Malformed, Positive, load_json, parse
from brittle.validity.key import SampleId, SampleKey
from brittle.validity.questionnaire import Questionnaire

FORMAT = "brittle answers"
LAYOUT = 1
Given = Mapping[str, str | int]
"""The answers of one person about one item, by question."""


@dataclass(frozen=True)
class Person:
    """What one person answered: by item, then by question."""

    number: int
    file: str
    answers: Mapping[str, Given]


@dataclass(frozen=True)
class AnswerFile:
    """A file as it is, before it is held against a key."""

    path: Path
    sample: str
    preset: str
    person: int
    answers: Mapping[str, Given]


class _Content(TypedDict):
    """What a page saves; `sample` becomes a part of the name of a file."""

    sample: SampleId
    preset: str
    person: Positive
    answers: Mapping[str, Mapping[str, str | int]]


def load_answers(path: Path) -> AnswerFile:
    """Load one file; what is no file of answers is refused by name."""
    try:
        content: Any = load_json(path)
    except OSError as error:
        raise UsageError(f"Cannot read {path}: {error.strerror}.") from error
    except Malformed as error:
        raise _refused(path, str(error)) from error
    if not isinstance(content, dict) or content.get("format") != FORMAT:
        raise _refused(path, "it is not what a page of brittle annotate saves")
    if content.get("layout") != LAYOUT:
        raise _refused(path, f"its layout is {content.get('layout')!r}, expected {LAYOUT}")
    try:
        said = parse(_Content, content)
    except Malformed as error:
        raise _refused(path, f"it is damaged: {error}") from error
    return AnswerFile(path, said["sample"], said["preset"], said["person"], said["answers"])


def check_answers(
    files: Sequence[AnswerFile],
    key: SampleKey,
    questionnaire: Questionnaire,
    unfinished: bool = False,
) -> list[Person]:
    """Hold files against the key of their sample, and return what people said.

    Refused are answers to items that are not of the sample, answers that could not be given, two
    files of one person, and unfinished files, unless `unfinished` says so: then an item counts for
    a person only if all its questions are answered.
    """
    people: dict[int, Person] = {}
    for file in files:
        _check_ids(file, key)
        _check_values(file, key, questionnaire)
        other = people.get(file.person)
        if other is not None:
            raise UsageError(
                f"{file.path} and {other.file} are both of person {file.person}. Leave one out; if "
                "two people used one page, give each a page of their own: brittle annotate … "
                f"--people {key.people + 1} adds one to the same sample."
            )
        questions = questionnaire.by_key()
        whole = {n: given for n, given in file.answers.items() if given.keys() == questions.keys()}
        if len(whole) < len(key.items) and not unfinished:
            answered = plural(len(whole), ("item", "items"))
            raise UsageError(
                f"{file.path} has all answers to {answered} of {len(key.items)}. Have the page "
                "finished (it goes on where it was left), or count what is there with --unfinished."
            )
        people[file.person] = Person(file.person, str(file.path), whole)
    if not any(person.answers for person in people.values()):
        raise UsageError("Nobody has answered all questions about an item yet.")
    return [people[number] for number in sorted(people)]


def _check_ids(file: AnswerFile, key: SampleKey) -> None:
    if file.sample != key.sample or file.preset != key.preset:
        raise UsageError(
            f"{file.path} is of the sample {file.sample} ({file.preset}), and others here are of "
            f"{key.sample} ({key.preset}). Give the files of one sample at a time."
        )
    unknown = [number for number in file.answers if number not in key.items]
    if unknown:
        raise _refused(
            file.path, f"the item {unknown[0]!r} is not of its sample {key.sample}; it was edited"
        )


def _check_values(file: AnswerFile, key: SampleKey, questionnaire: Questionnaire) -> None:
    questions = questionnaire.by_key()
    for number, given in file.answers.items():
        for name, value in given.items():
            if name not in questions:
                raise _refused(file.path, f"item {number} answers {name!r}, which is not asked")
            allowed = questions[name].answers(key.labels)
            if isinstance(value, bool) or value not in allowed:
                listed = ", ".join(map(str, allowed))
                raise _refused(
                    file.path, f"item {number} has {name} = {value!r}; expected one of {listed}"
                )


def _refused(path: Path, reason: str) -> UsageError:
    return UsageError(
        f"Cannot use {path}: {reason}. Save the file from the page again; it keeps the answers."
    )

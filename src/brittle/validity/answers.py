"""The files that people send back, and the key that says which item is what.

The key of a sample: which item is what. It stays with the owner of the run, beside its file. The
files that people send back: read, and checked before anything is counted.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any, TypedDict

from brittle.errors import UsageError
from brittle.formatting import plural
from brittle.safety.files import write_whole
from brittle.safety.schema import Check, Count, Malformed, Positive, load_json, parse
from brittle.validity.questionnaire import PRESETS, Questionnaire
from brittle.validity.sampling import ID_DIGITS, ROLES, DrawnSample, Role

LAYOUT = 1
ENDING = ".key.json"
_ID = re.compile(f"[0-9a-f]{{{ID_DIGITS}}}")
SampleId = Annotated[
    str, Check(lambda name: bool(_ID.fullmatch(name)), f"{ID_DIGITS} digits from 0 to f")
]
"""The id of a sample; nothing else can be part of the name of a key."""


@dataclass(frozen=True)
class KeyItem:
    """One item of a sample: its case, and the roles of its panels."""

    case: str
    roles: tuple[Role, ...]
    digest: str


@dataclass(frozen=True)
class SampleKey:
    """What is needed to read the answers of people."""

    sample: SampleId
    preset: str
    seed: int
    runs: tuple[str, ...]
    labels: tuple[str, ...]
    people: Count
    items: Mapping[str, KeyItem]


def key_path(run: Path, sample: str) -> Path:
    """Return the path of a key: NAME.SAMPLE.key.json beside the file of the run."""
    return run.with_name(f"{run.stem}.{sample}{ENDING}")


def key_paths(run: Path) -> list[Path]:
    """List the keys that belong to the file of a run."""
    head = f"{run.stem}."
    return [
        path
        for path in sorted(run.parent.glob(f"*{ENDING}"))
        if path.name.startswith(head) and "." not in path.name[len(head) :].removesuffix(ENDING)
    ]


def save_key(sample: DrawnSample, path: Path) -> None:
    """Write the key of a sample, whole or not at all, for its owner alone."""
    content = {
        "layout": LAYOUT,
        "sample": sample.id,
        "preset": sample.preset,
        "seed": sample.seed,
        "runs": sample.runs,
        "labels": sample.labels,
        "people": len(sample.orders),
        "items": {
            item.id: [item.case, [panel.role for panel in item.panels], item.digest]
            for item in sample.items
        },
    }
    write_whole(path, json.dumps(content, indent=1, ensure_ascii=False) + "\n", private=True)


def load_key(path: Path) -> SampleKey:
    """Load a key; one that is damaged or of another layout is refused by name."""
    try:
        content = load_json(path)
        if not isinstance(content, dict) or content.pop("layout", None) != LAYOUT:
            raise Malformed(f"a key of layout {LAYOUT}", content)
        key = parse(SampleKey, content)
        _check(key)
    except (OSError, Malformed) as error:
        raise UsageError(
            f"Cannot read the key {path}: {error}. Write it again with the same brittle "
            "validity write command, which draws the same sample."
        ) from error
    return key


def _check(key: SampleKey) -> None:
    """Refuse a key whose items do not fit its questionnaire and its runs."""
    if key.preset not in PRESETS:
        raise Malformed(f"one of {', '.join(PRESETS)}", key.preset, "preset")
    questions = PRESETS[key.preset].questions
    panels = {panel for question in questions for panel in question.shows}
    roles = {*ROLES[: 1 + len(key.runs)]}
    for number, item in key.items.items():
        if len(item.roles) <= max(panels) or not roles.issuperset(item.roles):
            expected = f"{max(panels) + 1} of {', '.join(sorted(roles))}"
            raise Malformed(expected, list(item.roles), f"items.{number}.roles")


FORMAT = "brittle answers"
Given = Mapping[str, str | int]
"""One person's answers about one item, by question."""


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
        raise _refused(path, "it was not saved by a page of brittle validity write")
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
                f"{file.path} and {other.file} both come from person {file.person}. Leave "
                "one out. If two people used one page, give each their own page: brittle "
                f"validity write … --people {key.people + 1} adds a page for the same "
                "sample."
            )
        questions = questionnaire.by_key()
        whole = {n: given for n, given in file.answers.items() if given.keys() == questions.keys()}
        if len(whole) < len(key.items) and not unfinished:
            answered = plural(len(whole), ("item", "items"))
            raise UsageError(
                f"{file.path} has all answers to {answered} of {len(key.items)}. Let the "
                "person finish the page (it continues where they stopped), or count the "
                "existing answers with --unfinished."
            )
        people[file.person] = Person(file.person, str(file.path), whole)
    if not any(person.answers for person in people.values()):
        raise UsageError("Nobody has answered all questions about an item yet.")
    return [people[number] for number in sorted(people)]


def _check_ids(file: AnswerFile, key: SampleKey) -> None:
    if file.sample != key.sample or file.preset != key.preset:
        raise UsageError(
            f"{file.path} belongs to the sample {file.sample} ({file.preset}), but others "
            f"belong to {key.sample} ({key.preset}). Give the files of one sample at a "
            "time."
        )
    unknown = [number for number in file.answers if number not in key.items]
    if unknown:
        raise _refused(
            file.path,
            f"the item {unknown[0]!r} is not in its sample {key.sample}, so the file was edited",
        )


def _check_values(file: AnswerFile, key: SampleKey, questionnaire: Questionnaire) -> None:
    questions = questionnaire.by_key()
    for number, given in file.answers.items():
        for name, value in given.items():
            if name not in questions:
                raise _refused(
                    file.path, f"item {number} answers {name!r}, which is not one of the questions"
                )
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

"""Files that people send back: what is read, and what is refused with which words."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import pytest

from brittle.errors import UsageError
from brittle.validity.answers import (
    AnswerFile,
    SampleKey,
    check_answers,
    key_path,
    key_paths,
    load_answers,
    load_key,
    save_key,
)
from brittle.validity.questionnaire import preset
from brittle.validity.sampling import DrawnSample, PageItem, Source, draw_sample

Write = Callable[..., Path]
STANDARD = preset("standard")


def good(item: PageItem) -> Mapping[str, Any]:
    return {"label": "positive", "natural": 4, "meaning": 5}


@pytest.fixture
def sample(source: Source) -> DrawnSample:
    return draw_sample(source, STANDARD, 8, 2)


def check(files: list[AnswerFile], key: SampleKey, **more: Any) -> Any:
    return check_answers(files, key, STANDARD, **more)


def test_a_finished_file_is_read(
    sample: DrawnSample, keyed: Callable[[DrawnSample], SampleKey], answer_file: Write
) -> None:
    files = [load_answers(answer_file(sample, good, person)) for person in (2, 1)]
    people = check(files, keyed(sample))
    assert [person.number for person in people] == [1, 2]
    assert len(people[0].answers) == 8


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("{", "expected JSON"),
        ("[1]", "not saved by a page of brittle validity write"),
        ('{"format": "other"}', "not saved by a page of brittle validity write"),
        ('{"format": "brittle answers", "layout": 2}', "its layout is 2, expected 1"),
        ('{"format": "brittle answers", "layout": 1}', "expected an object with answers"),
    ],
)
def test_what_is_no_file_of_answers_is_refused(tmp_path: Path, text: str, message: str) -> None:
    path = tmp_path / "file.json"
    path.write_text(text)
    with pytest.raises(UsageError, match=message) as error:
        load_answers(path)
    assert "file.json" in str(error.value) and "Save the file from the page again" in str(
        error.value
    )


def test_a_missing_file_is_named(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match=r"Cannot read .*none.json: No such file"):
        load_answers(tmp_path / "none.json")


def test_the_file_of_another_sample_or_an_edited_one_is_refused(
    sample: DrawnSample,
    source: Source,
    keyed: Callable[[DrawnSample], SampleKey],
    answer_file: Write,
) -> None:
    key = keyed(sample)
    other = draw_sample(source, STANDARD, 8, 2, seed=5)
    with pytest.raises(UsageError, match=rf"to the sample {other.id}.*one sample at a time"):
        check([load_answers(answer_file(other, good))], key)
    foreign = {item.id: good(item) for item in other.items}
    path = answer_file(sample, good, answers=foreign)
    with pytest.raises(UsageError, match="is not in its sample"):
        check([load_answers(path)], key)


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({"label": "broken"}, "has label = 'broken'; expected one of negative, positive, cannot"),
        ({"natural": 6}, "has natural = 6; expected one of 1, 2, 3, 4, 5"),
        ({"natural": True}, "natural is True; expected a text or a whole number"),
        ({"natural": [1]}, r"natural is \[1\]; expected a text or a whole number"),
        ({"colour": "red"}, "answers 'colour', which is not one of the questions"),
    ],
)
def test_answers_that_could_not_be_given_are_refused(
    sample: DrawnSample,
    keyed: Callable[[DrawnSample], SampleKey],
    answer_file: Write,
    given: dict[str, Any],
    message: str,
) -> None:
    path = answer_file(sample, lambda item: {**good(item), **given})
    with pytest.raises(UsageError, match=message):
        check([load_answers(path)], keyed(sample))


def test_two_files_of_one_person_are_refused(
    sample: DrawnSample, keyed: Callable[[DrawnSample], SampleKey], answer_file: Write
) -> None:
    file = load_answers(answer_file(sample, good, 1))
    with pytest.raises(UsageError, match=r"both come from person 1.*--people 3 adds a"):
        check([file, file], keyed(sample))


def test_an_unfinished_file_counts_only_if_asked_for_and_then_by_whole_items(
    sample: DrawnSample, keyed: Callable[[DrawnSample], SampleKey], answer_file: Write
) -> None:
    path = answer_file(sample, good)
    content = json.loads(path.read_text())
    first, second, *_ = content["answers"]
    content["answers"] = {first: {"label": "positive"}, second: content["answers"][second]}
    path.write_text(json.dumps(content))
    key, file = keyed(sample), load_answers(path)
    with pytest.raises(UsageError, match=r"all answers to 1 item of 8.*--unfinished"):
        check([file], key)
    (person,) = check([file], key, unfinished=True)
    assert list(person.answers) == [second]
    path.write_text(json.dumps(content | {"answers": {first: {"label": "positive"}}}))
    with pytest.raises(UsageError, match="Nobody has answered"):
        check([load_answers(path)], key, unfinished=True)


def test_a_damaged_key_says_how_to_write_it_again(sample: DrawnSample, tmp_path: Path) -> None:
    path = key_path(tmp_path / "demo.sqlite", sample.id)
    for text in ("{", '{"layout": 9}', '{"layout": 1}'):
        path.write_text(text)
        with pytest.raises(UsageError, match="the same brittle validity write command, which"):
            load_key(path)


def test_keys_belong_to_the_run_whose_name_they_begin_with(
    sample: DrawnSample, tmp_path: Path
) -> None:
    for run in ("demo", "demo.more", "demolished"):
        save_key(sample, key_path(tmp_path / f"{run}.sqlite", sample.id))
    for run in ("demo", "demo.more", "demolished"):
        (path,) = key_paths(tmp_path / f"{run}.sqlite")
        assert path.name == f"{run}.{sample.id}.key.json"

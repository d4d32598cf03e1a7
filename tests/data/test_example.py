import hashlib
import json

import pytest

from brittle.data import Dataset, Example, as_examples, case_ids
from brittle.errors import UsageError


def test_a_string_is_one_field_named_text() -> None:
    assert Example.of("a fine film", "positive") == Example((("text", "a fine film"),), "positive")


def test_named_fields_keep_their_order_and_locks() -> None:
    example = Example.of({"premise": "p", "hypothesis": "h"}, "neutral", locked=["premise"])
    assert example.fields == (("premise", "p"), ("hypothesis", "h"))
    assert example.locked == ("premise",)


@pytest.mark.parametrize(
    ("source", "label", "locked", "message"),
    [
        ({}, None, (), "has no text"),
        (None, None, (), "'text' is None"),
        ({"a": 3}, None, (), "'a' is 3 (a int)"),
        ("fine", 0.5, (), "the label is 0.5"),
        ("fine", " ", (), "label is missing"),
        ("fine", None, ("premise",), "Unknown locked field 'premise'"),
        ("fine", None, ("text",), "every field is locked"),
        ("fine", None, "text", "takes a list of field names"),
        ("half \ud83d", None, (), "surrogate"),
    ],
)
def test_what_cannot_be_an_example_is_refused(source, label, locked, message) -> None:
    with pytest.raises(UsageError) as error:
        Example.of(source, label, locked)
    assert message in str(error.value)


def test_case_ids_are_the_sha256_of_fields_and_label() -> None:
    content = json.dumps([[["text", "naïve"]], "positive"], ensure_ascii=False)
    expected = hashlib.sha256(content.encode()).hexdigest()[:16]
    assert case_ids([Example.of("naïve", "positive")]) == [expected]


def test_case_ids_number_repeats_in_order() -> None:
    a, b = Example.of("a"), Example.of("b")
    first, other, second, third = case_ids([a, b, a, a])
    assert (second, third) == (f"{first}-2", f"{first}-3")
    assert other != first and "-" not in other


def test_case_ids_do_not_depend_on_locks_but_on_everything_else() -> None:
    pair = {"a": "x", "b": "y"}
    assert case_ids([Example.of(pair)]) == case_ids([Example.of(pair, locked=["a"])])
    different = [
        Example.of("x"),
        Example.of("x", "None"),
        Example.of("x", "y"),
        Example.of({"x": "y"}),
        Example.of({"a": "x", "b": "y"}),
        Example.of({"b": "y", "a": "x"}),
        Example.of({"a": 'x", "b": "y'}),
        Example.of({"a": "x", "b": ""}, "y"),
    ]
    assert len(set(case_ids(different))) == len(different)


EXPECTED = [Example.of("fine", "1"), Example.of("dull", "0")]


@pytest.mark.parametrize(
    "data",
    [
        EXPECTED,
        tuple(EXPECTED),
        iter(EXPECTED),
        Dataset("mine", "all", tuple(EXPECTED), ("0", "1")),
        [("fine", "1"), ("dull", "0")],
        [["fine", 1], ["dull", 0]],
        [("fine", 1.0), ("dull", 0.0)],
        [({"text": "fine"}, 1), ({"text": "dull"}, 0)],
        [{"text": "fine", "label": "1"}, {"label": 0, "text": "dull"}],
    ],
)
def test_every_form_gives_the_same_examples(data) -> None:
    assert as_examples(data) == EXPECTED


def test_strings_and_labels_of_none_are_unlabelled() -> None:
    plain = [Example.of("fine"), Example.of("")]
    assert as_examples(["fine", ""]) == plain
    assert as_examples([("fine", None), ("", None)]) == plain


def test_dicts_without_text_are_named_fields() -> None:
    row = {"premise": "p", "hypothesis": "h", "label": "neutral"}
    assert as_examples([row]) == [Example.of({"premise": "p", "hypothesis": "h"}, "neutral")]


@pytest.mark.parametrize(
    ("data", "message"),
    [
        ("mr", "brittle.data.load"),
        (3, "Expected: a list of strings"),
        (None, "Expected: a list of strings"),
        ({"text": ["a"]}, "Expected: a list of strings"),
        ({"a", "b"}, "Expected: a list of strings"),
        ([], "no examples"),
        (["a", None], "Row 1 (counted from 0) is None"),
        (["a", float("nan")], "Row 1 (counted from 0) is nan"),
        ([("a", "x"), (7, "x")], "Row 1 (counted from 0): the field 'text' is 7"),
        ([("a", "x", "y")], "Row 0 (counted from 0) is"),
        ([{"text": "a"}, {"text": None}], "Row 1 (counted from 0): the field 'text' is None"),
        ([{"label": "x"}], "Row 0 (counted from 0) has no text"),
        ([("a", "")], "label is missing"),
        ([("a", float("nan"))], "the label is nan"),
        ([Example((("text", 3),))], "the field 'text' is 3"),  # type: ignore[arg-type]
        ([Example((("a", "x"), ("a", "y")))], "two fields have one name"),
    ],
)
def test_anything_else_is_refused_with_the_row(data, message) -> None:
    with pytest.raises(UsageError) as error:
        as_examples(data)
    assert message in str(error.value)


def test_data_frames_give_their_text_and_label_columns() -> None:
    pandas = pytest.importorskip("pandas")
    frame = pandas.DataFrame({"id": [1, 2], "text": ["fine", "dull"], "label": [1, 0]})
    assert as_examples(frame) == EXPECTED
    assert as_examples(frame.drop(columns="label")) == [Example.of("fine"), Example.of("dull")]
    assert as_examples(frame["text"]) == [Example.of("fine"), Example.of("dull")]
    assert as_examples(frame[["text", "label"]].to_dict("records")) == EXPECTED


@pytest.mark.parametrize(
    ("columns", "message"),
    [
        ({"body": ["a"], "label": [1]}, "no column 'text' or 'sentence'. Columns: 'body', 'label'"),
        ({"text": ["a", None]}, "Row 1 (counted from 0): the field 'text'"),
        ({"text": ["a", 3]}, "Row 1 (counted from 0): the field 'text' is 3"),
        ({"text": ["a", "b"], "label": [1, None]}, "Row 1 (counted from 0): the label is"),
        ({"text": ["a", "b"], "label": ["x", ""]}, "Row 1 (counted from 0): the label is"),
        ({"text": []}, "no examples"),
    ],
)
def test_bad_data_frames_are_refused(columns, message) -> None:
    pandas = pytest.importorskip("pandas")
    with pytest.raises(UsageError) as error:
        as_examples(pandas.DataFrame(columns))
    assert message in str(error.value)

import pytest

from brittle.data.columns import Columns, choose
from brittle.errors import UsageError


@pytest.mark.parametrize(
    ("available", "options", "expected"),
    [
        (["text"], {}, Columns(("text",))),
        (["sentence", "label"], {}, Columns(("sentence",), "label")),
        (["sentence", "text"], {}, Columns(("text",))),
        (["a", "label"], {"text": ["a"]}, Columns(("a",), "label")),
        (["a", "label"], {"text": ["a"], "label": ""}, Columns(("a",))),
        (["a", "b", "y"], {"text": ["b", "a"], "label": "y"}, Columns(("b", "a"), "y")),
        (["a", "b"], {"text": ["a", "b"], "locked": ["a"]}, Columns(("a", "b"), None, ("a",))),
        (["label"], {"text": ["label"]}, Columns(("label",))),
        (["Text", "Label"], {}, Columns(("Text",), "Label")),
        ([" text ", " label"], {}, Columns((" text ",), " label")),
        (["SENTENCE", "LABEL\t"], {}, Columns(("SENTENCE",), "LABEL\t")),
        (["Text", "text", "LABEL", "label"], {}, Columns(("text",), "label")),
        (["label", "Label"], {"text": ["label"]}, Columns(("label",), "Label")),
        (
            ["Review", " Stars"],
            {"text": ["review"], "label": "stars"},
            Columns(("Review",), " Stars"),
        ),
        (["A", "B"], {"text": ["a", "b"], "locked": ["b"]}, Columns(("A", "B"), None, ("B",))),
    ],
)
def test_columns_are_found(available, options, expected) -> None:
    assert choose("it", available, **options) == expected


@pytest.mark.parametrize(
    ("available", "options", "message"),
    [
        (["body", "label"], {}, "Columns: 'body', 'label'. Name the column of the text with --tex"),
        (["review"], {"text": ["reviw"]}, "Did you mean 'review'? (--text takes a column's name.)"),
        (["text", "gold"], {"label": "glod"}, "Did you mean 'gold'? (--label takes a column's nam"),
        (["text", "text"], {}, "2 columns are called 'text'"),
        (["text", "label", "label"], {}, "2 columns are called 'label'"),
        (["text", "Label", "LABEL"], {}, "2 columns are called 'label' ('Label', 'LABEL'). Rename"),
        (["a"], {"text": ["a", "a"]}, "has a column twice"),
        (["text"], {"label": "text"}, "both text and label"),
        (["a", "b"], {"text": ["a"], "locked": ["b"]}, "Unknown locked field 'b'"),
    ],
)
def test_what_is_not_found_is_told(available, options, message) -> None:
    with pytest.raises(UsageError) as error:
        choose("it", available, **options)
    assert message in str(error.value)


def test_many_columns_are_not_all_listed() -> None:
    with pytest.raises(UsageError, match="and 80 more"):
        choose("it", [f"column {i}" for i in range(100)])


def test_a_lone_column_fills_the_field_text() -> None:
    assert Columns(("review",)).field("review") == "text"
    assert Columns(("a", "b")).field("a") == "a"
    assert Columns((" a", "b")).field(" a") == "a"

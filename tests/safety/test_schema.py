"""Stored values are of their types, or an error names the field, what it is and what belongs."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Annotated, Any, Literal, TypedDict

import pytest

from brittle.errors import UsageError
from brittle.safety.schema import (
    Check,
    Count,
    FileName,
    Malformed,
    Share,
    Unbounded,
    load_json,
    parse,
    reader,
)


@dataclass(frozen=True)
class Row:
    case: str
    status: Literal["held", "broken"]
    queries: Count
    cost: float | None = None


@dataclass(frozen=True)
class Study:
    name: FileName
    rows: Mapping[str, tuple[Row, ...]]
    pairs: tuple[tuple[str, int], ...] = ()
    settings: Mapping[str, Any] = field(default_factory=dict)
    limit: Count | None = None

    def __post_init__(self) -> None:
        if self.name == "refused":
            raise UsageError("Got a name that the class itself refuses.")


GOOD = {
    "name": "one",
    "rows": {"a": [{"case": "c", "status": "held", "queries": 3, "cost": 1}]},
    "pairs": [["x", 1]],
    "settings": {"anything": [None, {}]},
}


def changed(**values: Any) -> dict[str, Any]:
    return json.loads(json.dumps(GOOD)) | values


def test_a_dataclass_is_made_of_json() -> None:
    study = parse(Study, changed())
    row = Row("c", "held", 3, 1.0)
    assert study == Study("one", {"a": (row,)}, (("x", 1),), {"anything": [None, {}]})
    assert type(study.rows["a"][0].cost) is float
    assert parse(Row, ["c", "held", 3]) == Row("c", "held", 3)  # rows may be lists


@pytest.mark.parametrize(
    ("values", "message"),
    [
        ({"rows": []}, "rows is []; expected an object"),
        ({"rows": {"a": {}}}, "rows.a is {}; expected a list"),
        ({"rows": {"a": [5]}}, "rows.a.0 is 5; expected an object"),
        ({"rows": {"a": [["c", "won", 1]]}}, "rows.a.0.status is 'won'; expected one of held, br"),
        ({"rows": {"a": [["c", [], 1]]}}, "rows.a.0.status is []; expected one of"),
        ({"rows": {"a": [["c", "held", -1]]}}, "queries is -1; expected a whole number of at"),
        ({"rows": {"a": [["c", "held", True]]}}, "queries is True; expected a whole number"),
        ({"rows": {"a": [["c", "held", 10**30]]}}, "expected a whole number"),
        ({"rows": {"a": [["c", "held", 1, float("nan")]]}}, "cost is nan; expected a finite"),
        ({"rows": {"a": [["c", "held", 1, "x"]]}}, "cost is 'x'; expected a number"),
        ({"rows": {"a": [{"case": "c"}]}}, "expected an object with the field status"),
        ({"pairs": [["x"]]}, "pairs.0 is ['x']; expected a list of 2 values"),
        ({"pairs": [["x", None]]}, "pairs.0.1 is None; expected a whole number"),
        ({"limit": "5"}, "limit is '5'; expected a whole number"),
        ({"other": 1}, "other is 1; expected no field but name, rows, pairs, settings, limit"),
        ({"name": "refused"}, "a name that the class itself refuses"),
        *(
            ({"name": name}, "expected a file name without a folder")
            for name in ("", ".", "..", "../../etc/passwd", "/etc/passwd", "a\\b", "a\0", "c:x")
        ),
    ],
)
def test_what_does_not_fit_is_named(values: dict[str, Any], message: str) -> None:
    with pytest.raises(Malformed) as error:
        parse(Study, changed(**values))
    assert message in str(error.value)


def test_long_values_are_cut_in_messages() -> None:
    with pytest.raises(Malformed) as error:
        parse(int, "x" * 10_000, "limit")
    assert len(str(error.value)) < 200 and str(error.value).startswith("limit is 'xxx")


class Entries(TypedDict, total=False):
    limit: Count
    keep: Mapping[str, tuple[float, str]]


def test_a_dictionary_is_checked_and_stays_as_it_is() -> None:
    stored = {"limit": 3, "keep": {"fluency": [1, "model"]}, "unknown": object()}
    assert reader(Entries)(stored) == stored and reader(Entries)(stored) is not stored
    with pytest.raises(Malformed, match=r"keep\.fluency\.1 is 5; expected a text"):
        reader(Entries)(stored | {"keep": {"fluency": [1, 5]}})


def test_numbers_at_their_edges() -> None:
    assert parse(Unbounded, float("inf")) == float("inf")
    assert parse(Share, 1) == 1.0  # type: ignore[arg-type]
    for kind, value in ((Unbounded, float("nan")), (float, float("-inf")), (Share, 1.5)):
        with pytest.raises(Malformed):
            reader(kind)(value)
    even = Annotated[int, Check(lambda number: number % 2 == 0, "an even number")]
    with pytest.raises(Malformed, match="it is 3; expected an even number"):
        reader(even)(3)
    with pytest.raises(TypeError, match="no stored value is a"):
        reader(set)


@pytest.mark.parametrize(
    "content", [b"", b"{", b"\xff\xfe", b"[" * 100_000, b"1" * 5000, b"{'a': 1}"]
)
def test_what_is_no_json_is_malformed(tmp_path: Path, content: bytes) -> None:
    (tmp_path / "file.json").write_bytes(content)
    with pytest.raises(Malformed, match=r"expected JSON"):
        load_json(tmp_path / "file.json")

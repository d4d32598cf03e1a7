"""One input, with or without a label, and everything that Python callers may pass as examples.

Checks of pictures that are to be examples. One labelled (or unlabelled) input, and everything that
Python callers may pass as examples.
"""

from __future__ import annotations

import hashlib
import json
import math
import reprlib
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence, Sized
from dataclasses import dataclass
from typing import Any

from brittle.data.columns import LABEL_NAME, Columns, choose, matches
from brittle.errors import UsageError, unknown
from brittle.formatting import plural
from brittle.picture import BYTE, Picture, has_bytes, is_encoded, is_picture
from brittle.picture import FIELD as PICTURE_FIELD

MAX_DARK = 31  # of 255; a picture without a brighter pixel is nearly black
DARK = "The brightest pixel of all pictures is"


def dark_warning(encoded: Iterable[str]) -> str | None:
    """Warn if all pictures are nearly black: whole numbers that end at 1 or 16, not at 255.

    Only up to the first bright picture is anything decoded. Floats are what they are meant to be.
    """
    largest = 0
    for text in encoded:
        if not has_bytes(text):
            return None
        largest = max(largest, round(float(Picture.decode(text).pixels.max() * BYTE)))
        if largest > MAX_DARK:
            return None
    if not largest:
        return None
    return (
        f"{DARK} {largest} of 255, which is nearly black. Whole numbers mean 0 to 255: if "
        f"{largest} stands for white, divide the pixels by {largest} first."
    )


def check_sizes(encoded: Sequence[str], names: Sequence[str] = ()) -> None:
    """Refuse pictures of several sizes: no model that we know reads them."""
    sizes = [text.partition(":")[0] for text in encoded]
    for i, size in enumerate(sizes):
        if size != sizes[0]:
            here, first = (names[i], names[0]) if names else (f"Row {i} (counted from 0)", "row 0")
            raise UsageError(
                f"{here} is a picture of {_size(size)}, but {first} is one of "
                f"{_size(sizes[0])}. Expected pictures of one size and one number of "
                "channels: resize them."
            )


def _size(text: str) -> str:
    height, width, channels = text.split("x")
    return f"{height} × {width} pixels and {plural(int(channels), 'channels')}"


def is_pictures_and_labels(data: Any) -> bool:
    """Tell whether something is the pair of pictures and their labels, arrays or lists."""
    if not isinstance(data, tuple) or len(data) != 2:
        return False
    pictures, labels = data
    dimensions = getattr(pictures, "ndim", 0)
    if dimensions == 2 and _is_column(labels):
        raise _rows_of_pixels(*pictures.shape)
    is_list = isinstance(pictures, list | tuple) and bool(pictures) and _is_column(labels)
    if dimensions < 3 and not (is_list and all(map(is_picture, pictures))):
        return False
    if _is_column(labels) and len(labels) == len(pictures):
        return True
    shape = getattr(labels, "shape", (len(labels),) if isinstance(labels, Sized) else ())
    raise UsageError(
        f"Got {len(pictures)} pictures and labels of shape {tuple(shape)} as examples. Expected "
        "one label for each picture: the number or the name of its class."
    )


def _is_column(labels: Any) -> bool:
    if isinstance(labels, list | tuple):
        return not any(is_picture(label) or isinstance(label, list | tuple) for label in labels)
    return bool(getattr(labels, "ndim", 0) == 1)


def _rows_of_pixels(count: int, pixels: int) -> UsageError:
    side = math.isqrt(pixels)
    shape = f"{count}, {side}, {side}" if side * side == pixels else f"{count}, height, width"
    return UsageError(
        f"Got {count} rows of {pixels} numbers and labels as examples. Expected pictures "
        f"× height × width, with or without channels: pictures.reshape({shape})."
    )


EXPECTED = (
    "a list of strings, of (text, label) pairs, of dicts with 'text' and 'label' (or named fields "
    "and 'label'), of Examples; a data frame with columns 'text' and 'label'; a loaded data set; "
    "or pictures: arrays or PIL images, with or without a label, or (pictures, labels)"
)

_quote = json.JSONEncoder(ensure_ascii=False).encode
_decode = json.JSONDecoder().decode


@dataclass(frozen=True)
class Example:
    """Named fields of text, the label if it is known, and the fields that no attack may edit.

    The one field of a picture is its encoded pixels.
    """

    fields: tuple[tuple[str, str], ...]
    label: str | None = None
    locked: tuple[str, ...] = ()

    @staticmethod
    def of(
        source: str | Mapping[str, str], label: str | None = None, locked: Sequence[str] = ()
    ) -> Example:
        """Build an example; a plain string is one field named "text"."""
        return _build("The example", _pairs(source), label, locked)


def encode_line(example: Example) -> bytes:
    """Encode an example as a line of JSON: its fields, its label and its locked fields.

    >>> encode_line(Example.of("a film", "good"))
    b'[[["text", "a film"]], "good", []]\\n'
    """
    # Put together by hand: json.dumps takes four times as long for a list as for its strings.
    fields = ", ".join([f"[{_quote(name)}, {_quote(text)}]" for name, text in example.fields])
    label = "null" if example.label is None else _quote(example.label)
    locked = ", ".join(map(_quote, example.locked))
    return f"[[{fields}], {label}, [{locked}]]\n".encode("utf-8", "surrogatepass")


def decode_line(line: bytes) -> Example:
    """Build an example from the line that `encode_line` made of it."""
    fields, label, locked = _decode(line.decode("utf-8", "surrogatepass"))
    return Example(tuple([(name, text) for name, text in fields]), label, tuple(locked))


def case_ids(examples: Iterable[Example]) -> list[str]:
    """Compute an id from the content of every example: 16 hex digits, and -2, -3 … for repeats."""
    seen: Counter[str] = Counter()
    ids = []
    for example in examples:
        # JSON quotes every string, so different examples never have the same encoding.
        content = json.dumps([example.fields, example.label], ensure_ascii=False)
        digest = hashlib.sha256(content.encode("utf-8", "surrogatepass")).hexdigest()[:16]
        seen[digest] += 1
        ids.append(digest if seen[digest] == 1 else f"{digest}-{seen[digest]}")
    return ids


def as_examples(data: object, names: Sequence[str] = ()) -> list[Example]:
    """Build examples from everything that the Python API accepts.

    `names` name the examples in messages; by default their numbers do.
    Of a data frame only the text and the label column are used; of a dict every key but "label" is
    a field. A label may be a whole number and becomes a string; a label of None means that the
    example has none.
    """
    if isinstance(data, str):
        raise UsageError(
            f"Got the string {reprlib.repr(data)} as examples. For one text, put it in a list; "
            "for a data set's name or a file, use brittle.data.load."
        )
    if isinstance(data, Mapping | bytes | set | frozenset) or not isinstance(data, Iterable):
        raise UsageError(f"Got {_shown(data)} as examples. Expected: {EXPECTED}.")
    if is_frame(data):
        examples = _from_frame(data)
    else:
        if is_pictures_and_labels(data):
            data = zip(*data, strict=True)
        named = dict(enumerate(names))
        examples = [
            _from_item(named.get(i, f"Row {i} (counted from 0)"), item)
            for i, item in enumerate(data)
        ]
    if not examples:
        raise UsageError(f"There are no examples: the {type(data).__name__} is empty.")
    if kind_of(examples) == "picture":
        check_sizes([example.fields[0][1] for example in examples], names)
    return examples


def kind_of(examples: Sequence[Example]) -> str:
    """Return the kind of items that examples become: pictures are told by their encoding."""
    kinds = {_kind(example) for example in examples}
    if len(kinds) > 1:
        raise UsageError("Got texts and pictures as examples. Expected only one of the two.")
    return kinds.pop() if kinds else "text"


def _kind(example: Example) -> str:
    (name, value), *others = example.fields
    is_one = name == PICTURE_FIELD and not others and is_encoded(value)
    return "picture" if is_one else "text"


def from_rows(
    rows: Iterable[tuple[str, Mapping[str, object]]], columns: Columns
) -> tuple[Example, ...]:
    """Build examples from table rows, each with the words that name it in error messages."""
    read = row_reader(columns)
    return tuple(read(where, row) for where, row in rows)


def row_reader(columns: Columns) -> Callable[[str, Mapping[str, object]], Example]:
    """Return the function that builds an example from a table row and the words that name it."""
    names = [(name, columns.field(name)) for name in columns.text]
    locked = tuple(columns.field(name) for name in columns.locked)

    def read(where: str, row: Mapping[str, object]) -> Example:
        fields = {field: _cell(where, row, name) for name, field in names}
        label = None
        if columns.label is not None:
            label = _cell(where, row, columns.label)
            if label is None:
                raise _no_label(where)
        return _build(where, fields.items(), label, locked)

    return read


def _pairs(source: object) -> Iterable[tuple[object, object]]:
    if isinstance(source, Mapping):
        return source.items()
    return [(PICTURE_FIELD if is_picture(source) else "text", source)]


def _build(
    where: str, pairs: Iterable[tuple[object, object]], label: object, locked: Sequence[str]
) -> Example:
    fields = tuple((str(name), _text(where, str(name), value)) for name, value in pairs)
    if not fields:
        raise UsageError(f"{where} has no text. Expected a string, or a dict of named strings.")
    names = [name for name, _ in fields]
    if names != [PICTURE_FIELD] and any(is_encoded(value) for _, value in fields):
        raise UsageError(
            f"{where} has a picture among the fields {', '.join(map(repr, names))}. Expected one "
            f"field, {PICTURE_FIELD!r}, and a label if there is one: rename or remove the others."
        )
    if len(set(names)) < len(names):
        raise UsageError(f"{where}: two fields have one name (fields: {', '.join(names)}).")
    if isinstance(locked, str):
        raise UsageError(f"{where}: locked takes a list of field names, not the string {locked!r}.")
    for name in locked:
        if name not in names:
            raise unknown("locked field", name, names)
    if set(names) <= set(locked):
        raise UsageError(f"{where}: every field is locked. Leave at least one open to edits.")
    return Example(fields, _label(where, label), tuple(locked))


def _text(where: str, name: str, value: object) -> str:
    if is_picture(value):
        try:
            return Picture.of(value).encode()
        except UsageError as error:
            raise UsageError(f"{where}: {error}") from error
    if not isinstance(value, str):
        raise UsageError(
            f"{where}: the field {name!r} is {_shown(value)}, expected a string. "
            "Fill it in, convert it, or remove the row."
        )
    if not value.isascii():
        try:
            value.encode()
        except UnicodeEncodeError as error:
            raise UsageError(
                f"{where}: the field {name!r} holds half of a surrogate pair at character "
                f"{error.start}, which is not text. Repair or remove the row."
            ) from None
    return str(value)


def _label(where: str, value: object) -> str | None:
    if value is None:
        return None
    if isinstance(value, str):
        if not value.strip():
            raise _no_label(where)
        return value.strip()
    # item() returns the plain Python value of numpy's numbers, which data frames hold.
    plain = value.item() if hasattr(value, "item") else value
    if isinstance(plain, bool | int):
        return str(plain)
    if isinstance(plain, float) and plain.is_integer():
        return str(int(plain))
    missing = isinstance(plain, float) and math.isnan(plain)
    remedy = "Fill it in or remove the row" if missing else "Labels are names of classes"
    raise UsageError(
        f"{where}: the label is {_shown(value)}, expected a string or a whole number. {remedy}."
    )


def _no_label(where: str) -> UsageError:
    return UsageError(
        f"{where}: the label is missing. Fill it in, remove the row, or treat all of the "
        'data as unlabelled (leave the labels out; on the command line, --label "").'
    )


def _cell(where: str, row: Mapping[str, object], name: str) -> Any:
    if name not in row:
        raise UsageError(f"{where}: {name!r} is missing. Fill it in or remove the row.")
    return row[name]


def _from_item(where: str, item: object) -> Example:
    if isinstance(item, Example):
        return _build(where, item.fields, item.label, item.locked)
    if isinstance(item, str) or is_picture(item):
        return _build(where, _pairs(item), None, ())
    if isinstance(item, Mapping):
        labels = matches(LABEL_NAME, [name for name in item if isinstance(name, str)])
        if len(labels) > 1:
            raise UsageError(f"{where} has {len(labels)} labels: {', '.join(map(repr, labels))}.")
        fields = {name: value for name, value in item.items() if name not in labels}
        return _build(where, fields.items(), item[labels[0]] if labels else None, ())
    if isinstance(item, tuple | list) and len(item) == 2:
        return _build(where, _pairs(item[0]), item[1], ())
    raise UsageError(f"{where} is {_shown(item)}. Expected as examples: {EXPECTED}.")


def is_frame(data: object) -> bool:
    """Tell whether something is a table with named columns (pandas, polars, datasets)."""
    return hasattr(data, "columns") or hasattr(data, "column_names")


def frame_columns(frame: Any) -> tuple[list[str], Columns]:
    """Return the names of a data frame's columns, and those that are used."""
    found = frame.columns if hasattr(frame, "columns") else frame.column_names
    names = [str(name) for name in found]
    remedy = (
        "Rename the column, or for pairs hand in dicts: "
        'frame[["premise", "hypothesis", "label"]].to_dict("records").'
    )
    return names, choose(f"The {type(frame).__name__}", names, remedy=remedy)


def _from_frame(frame: Any) -> list[Example]:
    """Build examples from a data frame (pandas, polars, datasets) without importing its library."""
    _, columns = frame_columns(frame)
    rows = named_rows(frame, columns, lambda i: f"Row {i} (counted from 0)")
    return list(from_rows(rows, columns))


def named_rows(
    table: Any, columns: Columns, where: Callable[[int], str]
) -> list[tuple[str, dict[str, object]]]:
    """List the rows of a table with columns, class numbers replaced by their names."""
    used = columns.text if columns.label is None else (*columns.text, columns.label)
    classes = class_names(table, columns.label)
    rows = []
    for i, values in enumerate(zip(*(table[name] for name in used))):
        row = dict(zip(used, values))
        if columns.label is not None:
            row[columns.label] = _class_name(where(i), row[columns.label], classes)
        rows.append((where(i), row))
    return rows


def class_names(table: Any, label: str | None) -> tuple[str, ...]:
    """Return the names that a table of the `datasets` library declares for its label's numbers."""
    features = getattr(table, "features", None)
    if label is None or not isinstance(features, Mapping):
        return ()
    return tuple(getattr(features.get(label), "names", None) or ())


def _class_name(where: str, value: object, classes: tuple[str, ...]) -> object:
    """Replace the number of a class by its name, if names are declared."""
    if not classes or not isinstance(value, int):
        return value
    if 0 <= value < len(classes):
        return classes[value]
    raise UsageError(
        f"{where}: the label is {value}, which is not a class (there are {len(classes)}: "
        f"{', '.join(classes)}). Public test sets often hide their labels: use another "
        'split (--split validation), or treat the data as unlabelled with --label "".'
    )


def _shown(value: object) -> str:
    if value is None:
        return "None"
    return f"{reprlib.repr(value)} (a {type(value).__name__})"

"""Values of stored files, checked against types: what a file holds may be anything.

A loader parses JSON, or reads rows, and hands the plain values to `parse` with the type that they
are to have: a dataclass, a `TypedDict`, or a type such as `Mapping[str, tuple[int, ...]]`. The
first value that does not fit is an error that names its field, what is there, and what belongs
there. The loader adds the name of the file.
"""

from __future__ import annotations

import json
import math
import types
from collections.abc import Callable, Collection, Mapping
from dataclasses import MISSING, dataclass, fields, is_dataclass
from functools import cache
from pathlib import Path
from typing import (
    Annotated,
    Any,
    Literal,
    TypeVar,
    Union,
    cast,
    get_args,
    get_origin,
    get_type_hints,
    is_typeddict,
)

from brittle.errors import BrittleError

T = TypeVar("T")
Reader = Callable[[Any], Any]
MAX_INT = 2**63 - 1  # what SQLite and numpy hold
GOT_CHARACTERS = 60
SEPARATORS = frozenset("/\\\0")


class Malformed(ValueError):
    """A stored value is not what belongs there."""

    def __init__(self, expected: str, got: Any, field: str = "") -> None:
        self.expected, self.got, self.field = expected, got, field
        super().__init__(expected, got, field)

    def within(self, name: object) -> Malformed:
        """Return the same error, as it is seen from one level up."""
        return Malformed(
            self.expected, self.got, f"{name}.{self.field}" if self.field else f"{name}"
        )

    def __str__(self) -> str:
        shown = repr(self.got)
        if len(shown) > GOT_CHARACTERS:
            shown = f"{shown[:GOT_CHARACTERS]}…"
        return f"{self.field or 'it'} is {shown}; expected {self.expected}"


@dataclass(frozen=True)
class Check:
    """What a value must be, beyond its type: a test, and the same in words."""

    holds: Callable[[Any], bool]
    expected: str


def is_file_name(name: str) -> bool:
    """Tell whether a name stays in the folder that it is looked for in."""
    return name not in ("", ".", "..") and not SEPARATORS & set(name) and ":" not in name[1:2]


FileName = Annotated[str, Check(is_file_name, "a file name without a folder")]
Count = Annotated[int, Check(lambda number: number >= 0, "a whole number of at least 0")]
Positive = Annotated[int, Check(lambda number: number > 0, "a whole number above 0")]
Share = Annotated[float, Check(lambda share: 0 <= share <= 1, "a number from 0 to 1")]


class Unbounded(float):
    """A number that may be infinite."""


def load_json(path: Path) -> Any:
    """Load a JSON file; whatever is wrong with its bytes is an OSError or `Malformed`."""
    try:
        return json.loads(path.read_text("utf-8-sig"))
    except (ValueError, RecursionError) as error:
        raise Malformed(f"JSON ({error})", _start(path)) from error


def _start(path: Path) -> str:
    with path.open("rb") as file:
        return file.read(GOT_CHARACTERS).decode("utf-8", "replace")


def parse(kind: type[T], value: Any, field: str = "") -> T:
    """Return a plain value as one of a type; `Malformed` if it is none.

    Lists become tuples. A dataclass is made of an object by the names of its fields, or of a list
    in their order. A TypedDict is a dictionary as it is, once it is checked. `field` is where the
    value stands.

    >>> parse(tuple[int, str], [1, "x"])
    (1, 'x')
    >>> parse(Mapping[str, tuple[int, ...]], {"a": [1, "x"]})
    Traceback (most recent call last):
    ...
    brittle.safety.schema.Malformed: a.1 is 'x'; expected a whole number
    """
    try:
        read: Reader = reader(cast(Any, kind))
        made: T = read(value)
    except Malformed as error:
        raise error.within(field) if field else error from None
    return made


@cache
def reader(kind: Any) -> Reader:
    """Return the function that checks values of a type, and makes what they stand for."""
    origin, arguments = get_origin(kind), get_args(kind)
    if kind in SCALARS:
        return SCALARS[kind]
    if origin is Annotated:
        checks = [check for check in arguments[1:] if isinstance(check, Check)]
        return _checked(reader(arguments[0]), checks)
    if origin is Literal:
        return _one_of(arguments)
    if origin in (Union, types.UnionType):
        return _either([reader(one) for one in arguments])
    if origin is tuple:
        is_list = arguments[1:] == (Ellipsis,)
        return _list_of(reader(arguments[0])) if is_list else _row_of(list(map(reader, arguments)))
    if isinstance(origin, type) and issubclass(origin, Mapping):
        return _mapping_of(reader(arguments[0]), reader(arguments[1]))
    if isinstance(origin, type) and issubclass(origin, Collection):
        return _list_of(reader(arguments[0]))
    if is_typeddict(kind):
        return _entries_of(kind)
    if is_dataclass(kind):
        return _fields_of(kind)
    raise TypeError(f"no stored value is a {kind}")


def _text(value: Any) -> str:
    if type(value) is not str:
        raise Malformed("a text", value)
    return value


def _whole(value: Any) -> int:
    if type(value) is not int or not -MAX_INT <= value <= MAX_INT:
        raise Malformed("a whole number", value)
    return value


def _unbounded(value: Any) -> float:
    if type(value) is not float:
        return float(_whole(value))
    if math.isnan(value):
        raise Malformed("a number", value)
    return value


def _number(value: Any) -> float:
    if type(value) is float:
        if not math.isfinite(value):
            raise Malformed("a finite number", value)
        return value
    if type(value) is not int or not -MAX_INT <= value <= MAX_INT:
        raise Malformed("a number", value)
    return float(value)


def _flag(value: Any) -> bool:
    if type(value) is not bool:
        raise Malformed("true or false", value)
    return value


def _nothing(value: Any) -> None:
    if value is not None:
        raise Malformed("null", value)


SCALARS: Mapping[Any, Reader] = {
    str: _text,
    int: _whole,
    float: _number,
    Unbounded: _unbounded,
    bool: _flag,
    type(None): _nothing,
    Any: lambda value: value,
}


def _checked(read: Reader, checks: list[Check]) -> Reader:
    def checked(value: Any) -> Any:
        made = read(value)
        for check in checks:
            if not check.holds(made):
                raise Malformed(check.expected, value)
        return made

    return checked


def _one_of(known: tuple[Any, ...]) -> Reader:
    def one_of(value: Any) -> Any:
        if not isinstance(value, str | int) or value not in known or type(value) is bool:
            raise Malformed(f"one of {', '.join(map(str, known))}", value)
        return value

    return one_of


def _either(readers: list[Reader]) -> Reader:
    readers.sort(key=lambda read: read is not _nothing)  # most values may be null, and many are
    *others, last = readers

    def either(value: Any) -> Any:
        expected = []
        for read in readers:
            try:
                return read(value)
            except Malformed as error:
                if error.field:  # it is of this type, and a part of it is wrong
                    raise
                expected.append(error.expected)
        raise Malformed(" or ".join(dict.fromkeys(expected)), value)

    def optional(value: Any) -> Any:
        return None if value is None else last(value)

    return optional if others == [_nothing] else either


def _list_of(read: Reader) -> Reader:
    def list_of(value: Any) -> tuple[Any, ...]:
        if not isinstance(value, list | tuple):
            raise Malformed("a list", value)
        made = []
        for number, one in enumerate(value):
            try:
                made.append(read(one))
            except Malformed as error:
                raise error.within(number) from None
        return tuple(made)

    return list_of


def _row_of(readers: list[Reader]) -> Reader:
    def row_of(value: Any) -> tuple[Any, ...]:
        if not isinstance(value, list | tuple) or len(value) != len(readers):
            raise Malformed(f"a list of {len(readers)} values", value)
        made = []
        for number, (read, one) in enumerate(zip(readers, value)):
            try:
                made.append(read(one))
            except Malformed as error:
                raise error.within(number) from None
        return tuple(made)

    return row_of


def _mapping_of(read_key: Reader, read: Reader) -> Reader:
    def mapping_of(value: Any) -> dict[Any, Any]:
        if not isinstance(value, Mapping):
            raise Malformed("an object", value)
        made = {}
        for key, one in value.items():
            try:
                made[read_key(key)] = read(one)
            except Malformed as error:
                raise error.within(key) from None
        return made

    return mapping_of


def _entries_of(kind: Any) -> Reader:
    """Check the entries that a TypedDict names; all of them stay as they are."""
    hints = get_type_hints(kind, include_extras=True)
    readers = {name: reader(hint) for name, hint in hints.items()}

    def entries_of(value: Any) -> dict[str, Any]:
        if not isinstance(value, Mapping):
            raise Malformed("an object", value)
        missing = kind.__required_keys__ - value.keys()
        if missing:
            raise Malformed(f"an object with {', '.join(sorted(missing))}", value)
        for name, read in readers.items():
            if name in value:
                try:
                    read(value[name])
                except Malformed as error:
                    raise error.within(name) from None
        return dict(value)

    return entries_of


@cache
def field_readers(kind: Any) -> Mapping[str, Reader]:
    """Return by the name of each field of a dataclass the function that checks its values."""
    hints = get_type_hints(kind, include_extras=True)
    return {field.name: reader(hints[field.name]) for field in fields(kind)}


def _fields_of(kind: Any) -> Reader:
    readers = field_readers(kind)
    needed = [f.name for f in fields(kind) if f.default is f.default_factory is MISSING]

    def fields_of(value: Any) -> Any:
        if isinstance(value, list | tuple) and len(needed) <= len(value) <= len(readers):
            value = dict(zip(readers, value))
        if not isinstance(value, Mapping):
            raise Malformed("an object", value)
        made = {}
        for name, one in value.items():
            if name not in readers:
                raise Malformed(f"no field but {', '.join(readers)}", one).within(name)
            try:
                made[name] = readers[name](one)
            except Malformed as error:
                raise error.within(name) from None
        for name in needed:
            if name not in made:
                raise Malformed(f"an object with the field {name}", value)
        try:
            return kind(**made)
        except BrittleError as error:  # the class itself refuses its values
            raise Malformed(f"a {kind.__name__} ({error})", value) from error

    return fields_of

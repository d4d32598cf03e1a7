"""What a live object holds, hashed so that it is the same in every process.

It is taken apart as pickle would, and nothing is ever put together again. A pickle's own bytes
would not do: they tell which of two equal objects are one, and sets come in any order.
"""

from __future__ import annotations

import functools
from types import BuiltinFunctionType, FunctionType, MethodType
from typing import Any

import numpy as np

from brittle.targets.fingerprints import hashing as fingerprints
from brittle.targets.fingerprints.code import PLAIN, code_of

# Their classes are known by name: the objects tell the version they were made with.
KNOWN = ("builtins", "collections", "copyreg", "numpy", "scipy", "sklearn")
# Where scikit-learn keeps the address of an object.
ADDRESSES = ("_stop_words_id",)

Memo = dict[int, tuple[Any, str]]


def of_object(thing: Any) -> str:
    """Hash all that an object holds; TypeError, or its own error, if it cannot be taken apart."""
    return _hash(thing, {})


def _hash(thing: Any, memo: Memo) -> str:
    if isinstance(thing, PLAIN):
        return f"{type(thing).__name__} {thing!r}"
    if isinstance(thing, np.generic) or (isinstance(thing, np.ndarray) and not _nested(thing)):
        array = np.ascontiguousarray(thing)
        return fingerprints.of_parts(str(array.dtype), str(thing.shape), array.tobytes())
    if id(thing) in memo:
        return memo[id(thing)][1]
    # The object is kept too, so that no other one gets its number.
    memo[id(thing)] = (thing, "again")
    found = fingerprints.of_parts(type(thing).__qualname__, *_parts(thing, memo))
    memo[id(thing)] = (thing, found)
    return found


def _parts(thing: Any, memo: Memo) -> list[str]:
    if isinstance(thing, FunctionType | MethodType | BuiltinFunctionType | functools.partial):
        return [code_of(thing)]
    if isinstance(thing, type):
        name = f"{thing.__module__}.{thing.__qualname__}"
        return [name] if thing.__module__.split(".")[0] in KNOWN else [name, code_of(thing)]
    if isinstance(thing, np.ndarray):
        return [str(thing.dtype), str(thing.shape), *_all(thing.ravel().tolist(), memo)]
    if type(thing) in (list, tuple):
        return _all(thing, memo)
    if type(thing) in (set, frozenset):
        return sorted(_all(thing, memo))
    if type(thing) is dict:
        held = [pair for pair in thing.items() if pair[0] not in ADDRESSES]
        return sorted(fingerprints.of_parts(*_all(pair, memo)) for pair in held)
    reduced = thing.__reduce_ex__(4)
    if isinstance(reduced, str):  # the name of something global
        return [reduced]
    made, holds, *rest = reduced
    items = [list(part) if n else part for n, part in enumerate(rest[:3]) if part is not None]
    return _all([made, holds, *items], memo)


def _all(things: Any, memo: Memo) -> list[str]:
    return [_hash(thing, memo) for thing in things]


def _nested(array: np.ndarray[Any, Any]) -> bool:
    return bool(array.dtype.hasobject)

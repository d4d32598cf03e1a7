"""The hash of everything that a live object holds; it is the same in every process.

The object is taken apart as pickle does it; nothing is unpickled. The bytes of a pickle are not
stable enough: they depend on the identity of equal objects and on the order of sets.
"""

from __future__ import annotations

import functools
from types import BuiltinFunctionType, FunctionType, MethodType
from typing import Any

import numpy as np

from brittle.targets.fingerprints.code import PLAIN, code_of
from brittle.targets.fingerprints.hashing import hash_parts

# Classes of these packages are hashed by name: their objects hold the version of the package.
HASHED_BY_NAME = ("builtins", "collections", "copyreg", "numpy", "scipy", "sklearn")
# An attribute of scikit-learn that is the address of an object.
ADDRESSES = ("_stop_words_id",)

Memo = dict[int, tuple[Any, str]]


def hash_object(thing: Any) -> str:
    """Hash everything that an object holds; raise TypeError or its own error if that fails."""
    return _hash(thing, {})


def _hash(thing: Any, memo: Memo) -> str:
    if isinstance(thing, PLAIN):
        return f"{type(thing).__name__} {thing!r}"
    if isinstance(thing, np.generic | np.ndarray) and not thing.dtype.hasobject:
        array = np.ascontiguousarray(thing)
        return hash_parts(str(array.dtype), str(thing.shape), array.tobytes())
    if id(thing) in memo:
        return memo[id(thing)][1]
    # The memo also holds the object, so that no other object gets its id.
    memo[id(thing)] = (thing, "again")
    digest = hash_parts(type(thing).__qualname__, *_parts(thing, memo))
    memo[id(thing)] = (thing, digest)
    return digest


def _parts(thing: Any, memo: Memo) -> list[str]:
    if isinstance(thing, FunctionType | MethodType | BuiltinFunctionType | functools.partial):
        return [code_of(thing)]
    if isinstance(thing, type):
        name = f"{thing.__module__}.{thing.__qualname__}"
        package = thing.__module__.split(".")[0]
        return [name] if package in HASHED_BY_NAME else [name, code_of(thing)]
    if isinstance(thing, np.ndarray):
        return [str(thing.dtype), str(thing.shape), *_hash_all(thing.ravel().tolist(), memo)]
    if type(thing) in (list, tuple):
        return _hash_all(thing, memo)
    if type(thing) in (set, frozenset):
        return sorted(_hash_all(thing, memo))
    if type(thing) is dict:
        pairs = [pair for pair in thing.items() if pair[0] not in ADDRESSES]
        return sorted(hash_parts(*_hash_all(pair, memo)) for pair in pairs)
    reduced = thing.__reduce_ex__(4)
    if isinstance(reduced, str):  # the name of a global object
        return [reduced]
    constructor, arguments, *rest = reduced  # then the state, and iterators of items and pairs
    held = [list(part) if n else part for n, part in enumerate(rest[:3]) if part is not None]
    return _hash_all([constructor, arguments, *held], memo)


def _hash_all(things: Any, memo: Memo) -> list[str]:
    return [_hash(thing, memo) for thing in things]

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


def hash_object(value: Any) -> str:
    """Hash everything that an object holds; raise TypeError or its own error if that fails."""
    return _hash(value, {})


def _hash(value: Any, memo: Memo) -> str:
    if isinstance(value, PLAIN):
        return f"{type(value).__name__} {value!r}"
    if isinstance(value, np.generic | np.ndarray) and not value.dtype.hasobject:
        array = np.ascontiguousarray(value)
        return hash_parts(str(array.dtype), str(value.shape), array.tobytes())
    if id(value) in memo:
        return memo[id(value)][1]
    # The memo also holds the object, so that no other object gets its id.
    memo[id(value)] = (value, "again")
    digest = hash_parts(type(value).__qualname__, *_parts(value, memo))
    memo[id(value)] = (value, digest)
    return digest


def _parts(value: Any, memo: Memo) -> list[str]:
    if isinstance(value, FunctionType | MethodType | BuiltinFunctionType | functools.partial):
        return [code_of(value)]
    if isinstance(value, type):
        name = f"{value.__module__}.{value.__qualname__}"
        package = value.__module__.split(".")[0]
        return [name] if package in HASHED_BY_NAME else [name, code_of(value)]
    if isinstance(value, np.ndarray):
        return [str(value.dtype), str(value.shape), *_hash_all(value.ravel().tolist(), memo)]
    if type(value) in (list, tuple):
        return _hash_all(value, memo)
    if type(value) in (set, frozenset):
        return sorted(_hash_all(value, memo))
    if type(value) is dict:
        pairs = [pair for pair in value.items() if pair[0] not in ADDRESSES]
        return sorted(hash_parts(*_hash_all(pair, memo)) for pair in pairs)
    reduced = value.__reduce_ex__(4)
    if isinstance(reduced, str):  # the name of a global object
        return [reduced]
    constructor, arguments, *rest = reduced  # then the state, and iterators of items and pairs
    held = [list(part) if n else part for n, part in enumerate(rest[:3]) if part is not None]
    return _hash_all([constructor, arguments, *held], memo)


def _hash_all(values: Any, memo: Memo) -> list[str]:
    return [_hash(value, memo) for value in values]

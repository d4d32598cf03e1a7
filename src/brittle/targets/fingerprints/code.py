"""The code of a callable as text that is the same in every process: its source, else bytecode."""

from __future__ import annotations

import functools
import inspect
from collections.abc import Iterator
from types import CodeType, FunctionType
from typing import Any

PLAIN = (str, bytes, bool, int, float, complex, type(None))


def code_of(obj: Any) -> str:
    """Return the source of a function, or of the class of an object or method.

    It includes the source of the functions, classes and objects of the same module that it names.
    Values are left out, because a value that changes between calls would change the fingerprint.
    """
    parts: list[str] = []
    _collect(obj, parts, set())
    return "\n".join(parts)


def _collect(obj: Any, parts: list[str], seen: set[int]) -> None:
    if isinstance(obj, functools.partial):
        keywords = sorted(obj.keywords.items())
        parts.append(_plain([*obj.args, *(part for pair in keywords for part in pair)]))
        for part in (obj.func, *obj.args, *obj.keywords.values()):
            if callable(part):
                _collect(part, parts, seen)
        return
    if inspect.ismethod(obj):
        parts.append(obj.__name__)
        obj = obj.__self__
    if inspect.isbuiltin(obj):
        parts.append(f"{obj.__module__}.{obj.__qualname__}")
        return
    if not isinstance(obj, FunctionType | type):
        obj = type(obj)
    if id(obj) in seen:
        return
    seen.add(id(obj))
    parts.append(_text(obj))
    for function in _functions(obj):
        for named in _named(function):
            _collect(named, parts, seen)


def _text(obj: FunctionType | type) -> str:
    # The source of a lambda is its whole line, which two lambdas may share.
    if obj.__name__ != "<lambda>":
        try:
            return inspect.getsource(obj)
        except (OSError, TypeError):
            pass
    codes = [f"{_plain(f.__defaults__ or ())} {_code(f.__code__)}" for f in _functions(obj)]
    return "\n".join([f"{obj.__module__}.{obj.__qualname__}", *codes])


def _functions(obj: FunctionType | type) -> list[FunctionType]:
    if isinstance(obj, FunctionType):
        return [obj]
    return [value for _, value in sorted(vars(obj).items()) if isinstance(value, FunctionType)]


def _named(function: FunctionType) -> Iterator[Any]:
    """Yield what a function names in its module, and the functions in its closure."""
    for name in sorted(_names(function.__code__)):
        value = function.__globals__.get(name)
        definition = value if isinstance(value, FunctionType | type) else type(value)
        if definition.__module__ == function.__module__:
            yield value
    for cell in function.__closure__ or ():
        try:
            value = cell.cell_contents
        except ValueError:  # the cell is still empty
            continue
        if isinstance(value, FunctionType):
            yield value


def _names(code: CodeType) -> set[str]:
    inner = (const for const in code.co_consts if isinstance(const, CodeType))
    return set(code.co_names).union(*map(_names, inner))


def _code(code: CodeType) -> str:
    consts = [
        _code(const) if isinstance(const, CodeType) else _plain(const) for const in code.co_consts
    ]
    return repr((code.co_code, code.co_names, code.co_varnames, code.co_freevars, consts))


def _plain(value: Any) -> str:
    """Format a constant; of other values only the type, because their repr may be an address."""
    if isinstance(value, PLAIN):
        return repr(value)
    if isinstance(value, tuple | list):
        return f"({', '.join(map(_plain, value))})"
    if isinstance(value, frozenset):  # its order differs between processes
        return f"{{{', '.join(sorted(map(_plain, value)))}}}"
    return type(value).__qualname__

"""What a callable does, as text that is the same in every process: its source, else its code."""

from __future__ import annotations

import functools
import inspect
from collections.abc import Iterator
from types import CodeType, FunctionType
from typing import Any

PLAIN = (str, bytes, bool, int, float, complex, type(None))


def code_of(thing: Any) -> str:
    """Give the source of a function, or of the class of an object or method.

    With it comes the source of the functions, classes and objects of the same module that it
    names. Values do not: those that change while it is called would make it another one.
    """
    parts: list[str] = []
    _collect(thing, parts, set())
    return "\n".join(parts)


def _collect(thing: Any, parts: list[str], seen: set[int]) -> None:
    if isinstance(thing, functools.partial):
        keywords = sorted(thing.keywords.items())
        parts.append(_plain([*thing.args, *(part for pair in keywords for part in pair)]))
        for part in (thing.func, *thing.args, *thing.keywords.values()):
            if callable(part):
                _collect(part, parts, seen)
        return
    if inspect.ismethod(thing):
        parts.append(thing.__name__)
        thing = thing.__self__
    if inspect.isbuiltin(thing):
        parts.append(f"{thing.__module__}.{thing.__qualname__}")
        return
    if not isinstance(thing, FunctionType | type):
        thing = type(thing)
    if id(thing) in seen:
        return
    seen.add(id(thing))
    parts.append(_text(thing))
    for function in _functions(thing):
        for named in _named(function):
            _collect(named, parts, seen)


def _text(thing: FunctionType | type) -> str:
    # Two lambdas may share a line, which is all the source there is of either.
    if thing.__name__ != "<lambda>":
        try:
            return inspect.getsource(thing)
        except (OSError, TypeError):
            pass
    codes = [f"{_plain(f.__defaults__ or ())} {_code(f.__code__)}" for f in _functions(thing)]
    return "\n".join([f"{thing.__module__}.{thing.__qualname__}", *codes])


def _functions(thing: FunctionType | type) -> list[FunctionType]:
    if isinstance(thing, FunctionType):
        return [thing]
    return [value for _, value in sorted(vars(thing).items()) if isinstance(value, FunctionType)]


def _named(function: FunctionType) -> Iterator[Any]:
    """Find what a function names in its module, and the functions it closes over."""
    for name in sorted(_names(function.__code__)):
        value = function.__globals__.get(name)
        own = value if isinstance(value, FunctionType | type) else type(value)
        if own.__module__ == function.__module__:
            yield value
    for cell in function.__closure__ or ():
        try:
            value = cell.cell_contents
        except ValueError:  # still empty
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
    """Show a constant; of anything else only the type, for it may show its address."""
    if isinstance(value, PLAIN):
        return repr(value)
    if isinstance(value, tuple | list):
        return f"({', '.join(map(_plain, value))})"
    if isinstance(value, frozenset):  # in another order in every process
        return f"{{{', '.join(sorted(map(_plain, value)))}}}"
    return type(value).__qualname__

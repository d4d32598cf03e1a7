"""Fingerprints: the same target has the same one, and another has another.

Fingerprints of targets: hashes of their files, their contents or their code. Hashes for
fingerprints: of a target's files, else of its contents, its code or its scores. Scores are those of
fixed sentences, in one batch, rounded: the last digits differ between machines. The code of a
callable as text that is the same in every process: its source, else bytecode. The hash of
everything that a live object holds; it is the same in every process.

The object is taken apart as pickle does it; nothing is unpickled. The bytes of a pickle are not
stable enough: they depend on the identity of equal objects and on the order of sets.
"""

from __future__ import annotations

import functools
import hashlib
import inspect
from collections.abc import Callable, Iterator, Sequence
from types import BuiltinFunctionType, CodeType, FunctionType, MethodType
from typing import Any

import numpy as np

from brittle.errors import BrittleError, TargetError, UsageError
from brittle.targets.protocols import Scores
from brittle.text import Text

SENTENCES = (
    "This film was wonderful, and I would gladly see it again.",
    "A dull and lifeless story with terrible acting.",
    "The food was cold but the waiter was friendly.",
    "Shares fell sharply after the bank reported heavy losses.",
    "Our team won the final match of the season in extra time.",
    "Scientists have built a faster chip for small computers.",
    "The president met foreign ministers to discuss the war.",
    "Click here now to win a free prize!",
    "I hate waiting, and nobody answered the phone.",
    "She quietly closed the door and went home.",
    "It is neither good nor bad; it simply exists.",
    "Best product ever, it works perfectly.",
)

Failures = tuple[type[BrittleError], ...]
FAILURES: Failures = (TargetError, UsageError)
"""Errors about single items; other errors, such as a target that is down, stop the run."""

DECIMALS = 4
SIGNIFICANT_DIGITS = 12  # where only scores are known


def probe_texts(fields: Sequence[str] = ("text",)) -> list[Text]:
    """Build texts of the fixed sentences; each field of a text is another sentence."""
    count = len(SENTENCES)
    return [
        Text.of({name: SENTENCES[(i + shift) % count] for shift, name in enumerate(fields)})
        for i in range(count)
    ]


def format_rounded(scores: Scores) -> str:
    """Format scores with few decimals, for a fingerprint that also holds the target's code."""
    # Adding 0 turns −0 into 0.
    table = np.round(np.asarray(scores, dtype=np.float64), DECIMALS) + 0.0
    return repr(table.tolist())


def format_precise(scores: Scores) -> str:
    """Format scores with as many digits as are equal on different machines."""
    return " ".join(f"{score + 0.0:.{SIGNIFICANT_DIGITS}g}" for row in scores for score in row)


def hash_answers(
    noun: str, answer: Callable[[], str], *about: str | bytes, failures: Failures = FAILURES
) -> str:
    """Hash what is known of a model whose weights cannot be seen, and its answers to fixed items.

    The answers depend on weights that its code does not show. If it fails on the items, or answers
    them differently when asked again, they are left out.
    """
    try:
        first, second = answer(), answer()
    except failures:
        return hash_parts("code", *about)
    return hash_parts(noun, *about, first) if first == second else hash_parts("code", *about)


def hash_parts(*parts: str | bytes) -> str:
    """Hash strings and bytes; the boundaries between them count too."""
    digest = hashlib.sha256()
    for part in parts:
        content = part.encode("utf-8", "surrogatepass") if isinstance(part, str) else part
        digest.update(len(content).to_bytes(8, "little"))
        digest.update(content)
    return digest.hexdigest()


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

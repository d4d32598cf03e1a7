"""Any Python function, or any object with a method `translate`, as a target: texts in, texts out.

It receives a list of strings (of dicts if the texts have several fields) and returns a list of
strings. A method whose argument is annotated as `str` is called with one text at a time.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from brittle.errors import BrittleError, TargetError, UsageError
from brittle.targets.fingerprints.code import code_of
from brittle.targets.rendering import render
from brittle.targets.translators.fingerprints import hash_translations
from brittle.targets.translators.texts import parse_texts
from brittle.text import Text


@dataclass(frozen=True, eq=False)
class TranslatingFunction:
    """A function that translates a list of texts, or one text a call if `one_by_one`."""

    call: Callable[[Any], Any]
    name: str
    mask: str = ""
    fields: tuple[str, ...] = ("text",)
    one_by_one: bool = False
    labels: tuple[str, ...] = ()

    @cached_property
    def fingerprint(self) -> str:
        """Hash the code, and the answers to fixed sentences if they are the same twice."""
        about = (self.name, self.mask, code_of(self.call))
        return hash_translations(self.translate, *about, fields=self.fields)

    def translate(self, items: Sequence[Text]) -> list[str]:
        if not items:
            return []
        who = f"Target {self.name!r}"
        texts = [render(item, self.mask) for item in items]
        try:
            answers = [self.call(text) for text in texts] if self.one_by_one else self.call(texts)
        except BrittleError:
            raise
        except Exception as error:
            raise TargetError(f"{who} raised {type(error).__name__}: {error}") from error
        return parse_texts(answers, len(items), who)


def of_function(
    call: Callable[[Any], Any],
    *,
    mask: str = "",
    name: str | None = None,
    fields: Sequence[str] = ("text",),
) -> TranslatingFunction:
    """Build a target from a function or a method that translates."""
    name = name or getattr(call, "__qualname__", None) or type(call).__name__
    one_by_one = _takes_one_text(call, f"The function {name!r}")
    return TranslatingFunction(call, name, mask, tuple(fields), one_by_one)


def _takes_one_text(call: Callable[[Any], Any], who: str) -> bool:
    """Tell whether the first argument is annotated as a string; refuse what takes no argument."""
    try:
        signature = inspect.signature(call)
        bound = signature.bind([])
    except TypeError as error:
        raise UsageError(
            f"{who} cannot be called with one argument, a list of texts ({error})."
        ) from error
    except ValueError:
        return False  # a builtin has no signature: the first call shows whether it fits
    (first, *_) = bound.arguments
    return signature.parameters[first].annotation in (str, "str")

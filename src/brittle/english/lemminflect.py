"""Import of lemminflect without spaCy, which it would import wherever it is installed.

Its hook for spaCy adds two attributes to spaCy's tokens, which nothing here reads. spaCy imports
torch, so the first synonym would cost seconds of import.
"""

from __future__ import annotations

import importlib
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache
from types import ModuleType
from typing import Any

HOOKED = "spacy"


@cache
def load_lemminflect() -> ModuleType:
    """Import lemminflect; spaCy stays as it was: imported, or not imported."""
    with _hidden(HOOKED):
        return importlib.import_module("lemminflect")


class _Hider:
    """A finder that knows no module of one name, in one thread."""

    def __init__(self, name: str) -> None:
        self.name = name
        self.thread = threading.get_ident()

    def find_spec(self, name: str, path: Any = None, target: Any = None) -> None:
        if name == self.name and threading.get_ident() == self.thread:
            raise ModuleNotFoundError(f"No module named {name!r}", name=name)


@contextmanager
def _hidden(name: str) -> Iterator[None]:
    """Make a module that is not imported yet look as if it were not installed."""
    hider = _Hider(name)
    sys.meta_path.insert(0, hider)
    try:
        yield
    finally:
        sys.meta_path.remove(hider)

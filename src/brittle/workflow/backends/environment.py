"""A variable of the environment, set while processes are started."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager

THREADS = "OMP_NUM_THREADS"


@contextmanager
def environment(name: str, value: str) -> Iterator[None]:
    """Set a variable for processes that are started meanwhile: some libraries read it at import."""
    before = os.environ.get(name)
    os.environ[name] = value
    try:
        yield
    finally:
        if before is None:
            del os.environ[name]
        else:
            os.environ[name] = before

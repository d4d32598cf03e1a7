"""Garbage collection during a run: what was made before it is not searched."""

from __future__ import annotations

import gc
from collections.abc import Iterator
from contextlib import contextmanager

# From Python 3.12 on, the collector itself freezes immortal objects, such as the builtin types. A
# host that freezes its own freezes at least the 4,000 objects of a bare interpreter.
MAX_IMMORTAL_OBJECTS = 2000


@contextmanager
def former_objects_frozen() -> Iterator[None]:
    """Keep objects made before a `with` block (a model, word tables) from being searched in it.

    To search them again and again would take much of the engine's time. `gc.unfreeze` thaws all
    objects, whoever froze them: if the host has frozen its own, none are frozen here, so that none
    are thawed afterwards.
    """
    if gc.get_freeze_count() > MAX_IMMORTAL_OBJECTS:
        yield
        return
    gc.freeze()
    try:
        yield
    finally:
        gc.unfreeze()

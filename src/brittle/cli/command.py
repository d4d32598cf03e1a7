"""What a command of the command line is made of."""

from __future__ import annotations

import argparse
from collections.abc import Callable, Sequence
from dataclasses import dataclass


@dataclass(frozen=True)
class Command:
    """One command: its help, its flags, and the function that runs it.

    A command that can name an attack has `attack_words`: from the parsed arguments and the words
    that the parser does not know, it returns those that may be the name. The settings of that
    attack become flags, except `own_settings`, which the command has as flags already.
    """

    help: str
    examples: str
    add_flags: Callable[[argparse.ArgumentParser], None]
    run: Callable[[argparse.Namespace], None]
    attack_words: Callable[[argparse.Namespace, Sequence[str]], Sequence[str]] | None = None
    own_settings: tuple[str, ...] = ()

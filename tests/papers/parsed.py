"""Commands that a page or a note names: whether the command line takes them."""

from __future__ import annotations

import argparse
import re
import shlex

from brittle.cli.parser import build_parser, check_spelling

COMMAND = re.compile(r"`(brittle [^`]+)`")
"""A command in backticks."""


def parse_command(command: str) -> argparse.Namespace:
    """Parse a command; one that the command line does not take is a UsageError."""
    words = shlex.split(command)[1:]
    parser = build_parser(words)
    check_spelling(parser, words)
    return parser.parse_args(words)

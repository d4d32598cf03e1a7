"""What blind readers said of broken texts, by level of edits; shipped as readings.json.

`benchmarks/read_ladder.py` writes the file from verdicts on texts that were read blind, with
untouched ones mixed in. It says who read, and which kind of texts.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from importlib.resources import files

from brittle.schema import parse


@dataclass(frozen=True)
class Reading:
    """How many broken texts of a level keep label, meaning and grammar, of how many read.

    `label` counts those that keep the label alone. `reader` says who read, `texts` what kind of
    texts they were.
    """

    valid: int
    label: int
    of: int
    reader: str
    texts: str


@cache
def readings() -> Mapping[str, Reading]:
    """Load the readings by level."""
    content = files("brittle.validity").joinpath("readings.json").read_text("utf-8")
    return parse(Mapping[str, Reading], json.loads(content))  # type: ignore[type-abstract]

"""What blind readers said of broken texts, by level of edits: of this run, or as shipped.

`readings.json` is shipped. `benchmarks/ladder.py` writes it from verdicts on texts that were read
blind, with untouched ones mixed in. It says who read, and which kind of texts. What people said of
a run itself comes before it, level by level.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from importlib.resources import files

from brittle.formatting import plural
from brittle.results import Result, has_adversary
from brittle.schema import parse
from brittle.validity.figures import Validity


@dataclass(frozen=True)
class LevelReading:
    """How many broken texts of a level keep label, meaning and grammar, of how many read.

    Where several people read a text, `valid` adds the share of them who find it valid. `label`
    counts the texts that keep the label alone; None if that is not known. `reader` says who read,
    `texts` what kind of texts they were; `is_own` marks texts of the run itself.
    """

    valid: float
    label: int | None
    of: int
    reader: str
    texts: str
    is_own: bool = False


@cache
def readings() -> Mapping[str, LevelReading]:
    """Load the readings by level."""
    content = files("brittle.validity").joinpath("readings.json").read_text("utf-8")
    return parse(Mapping[str, LevelReading], json.loads(content))  # type: ignore[type-abstract]


def own_readings(validity: Validity | None, results: Sequence[Result]) -> dict[str, LevelReading]:
    """Return by level what people said of broken texts of this run; {} if nobody read any."""
    if validity is None or validity.reading is None:
        return {}
    shares = validity.reading.shares
    read = [row for row in results if row.case in shares and has_adversary(row)]
    broken = sum(row.status == "broken" for row in results)
    texts = "texts of this run"
    if broken != validity.broken:
        texts += ", before it went on"
    who = plural(validity.reading.people, ("person", "people"))
    by_level: dict[str, list[float]] = {}
    for row in read:
        if row.level is not None:
            by_level.setdefault(row.level, []).append(shares[row.case])
    return {
        level: LevelReading(sum(valid), None, len(valid), who, texts, is_own=True)
        for level, valid in by_level.items()
    }

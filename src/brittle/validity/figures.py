"""What was measured of a run's validity, or read of such texts before, and how it is kept.

What is measured of a run's validity: by people, by a judge, and three floors without either. What
was measured of a run, as the plain data that its file keeps. What blind readers said of broken
texts, by level of edits: of this run, or as shipped.

`readings.json` is shipped. `benchmarks/ladder.py` writes it from verdicts on texts that were read
blind, with untouched ones mixed in. It says who read, and which kind of texts. What people said of
a run itself comes before it, level by level.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from functools import cache
from importlib.resources import files
from pathlib import Path
from typing import Any, Protocol, TypeVar

from brittle.errors import UsageError
from brittle.formatting import plural
from brittle.metrics.judged import Agreement
from brittle.metrics.summary import Figure, product_of_rates
from brittle.results import Result, has_adversary
from brittle.safety.schema import Malformed, parse

PARTS = ("label", "meaning", "natural")
VALID = "valid"


@dataclass(frozen=True)
class Thresholds:
    """From which answer on, of 1 to 5, meaning counts as kept and a text as natural enough."""

    meaning: int = 4
    natural: int = 3

    def __post_init__(self) -> None:
        from brittle.validity.questionnaire import NATURAL, SAME_MEANING

        for name, highest in (("meaning", len(SAME_MEANING)), ("natural", len(NATURAL))):
            if not 1 <= getattr(self, name) <= highest:
                raise UsageError(
                    f"Got --{name} {getattr(self, name)}; expected a number from 1 to {highest}."
                )


@dataclass(frozen=True)
class Reading:
    """What people said of a sample of a run.

    `parts` are the shares of adversaries that keep the label, keep the meaning, are natural enough,
    and do all three (`valid`), over items; `originals` are the same of the originals that were read
    among them: what people would say of texts that nobody changed. There, `meaning` is that of the
    same pairs, read from the other side. `shares` is the share of people who found each case valid.
    """

    sample: str
    people: int
    thresholds: Thresholds
    parts: Mapping[str, Figure]
    originals: Mapping[str, Figure]
    agreement: Mapping[str, Agreement]
    shares: Mapping[str, float]

    def __post_init__(self) -> None:
        for name in ("parts", "originals"):
            if getattr(self, name).keys() != {*PARTS, VALID}:
                raise UsageError(
                    f"Got the figures {', '.join(getattr(self, name)) or 'none'} as {name} of a "
                    f"validity; expected {', '.join((*PARTS, VALID))}."
                )


@dataclass(frozen=True)
class JudgeFigures:
    """What a judge said of the broken cases, and how far people bear it out.

    `calibrated_on` names the runs whose cases people read; `validity` is corrected by them.
    """

    name: str
    fingerprint: str
    said_valid: int
    judged: int
    sensitivity: Figure
    specificity: Figure
    calibrated_on: tuple[str, ...]
    method: str
    validity: Figure


@dataclass(frozen=True)
class Validity:
    """The validity of a run's broken cases, and how many cases it had when that was measured."""

    broken: int
    attacked: int
    reading: Reading | None = None
    judge: JudgeFigures | None = None

    def __post_init__(self) -> None:
        if self.reading is None and self.judge is None:
            raise UsageError(
                "Got a validity without people or a judge; expected at least one of them."
            )

    @property
    def figure(self) -> Figure:
        """The validity: the judge's, corrected by people, or else that of people alone."""
        if self.judge is not None:
            return self.judge.validity
        assert self.reading is not None
        return self.reading.parts[VALID]

    def valid_success(self, success: Figure) -> Figure:
        """Return success times validity, with an interval from both samples."""
        return product_of_rates(success, self.figure, success.over)


@dataclass(frozen=True)
class OtherFamily:
    """How often another classifier reads the label of adversaries, and of their originals."""

    name: str
    adversaries: Figure
    originals: Figure


@dataclass(frozen=True)
class Floors:
    """The floors of a run; `missing` says why one is not there.

    `clean_error` is what the target gets wrong without an attack; `random_edit` how often random
    edits as large as the attack's break the broken cases.
    """

    clean_error: Figure
    random_edit: Figure | None = None
    other: OtherFamily | None = None
    missing: Mapping[str, str] = field(default_factory=dict)


VALIDITY, FLOORS, JUDGEMENTS = "validity", "floors", "judgements"
"""The names of the measurements that are made after a run."""
M = TypeVar("M", Validity, Floors)


class Rechecked(Protocol):
    """An adversary that the target was asked about again."""

    @property
    def row(self) -> Result: ...

    @property
    def still_wins(self) -> bool: ...


class MeasuredRun(Protocol):
    """A stored run, as what measures its validity sees it."""

    @property
    def name(self) -> str: ...

    @property
    def path(self) -> Path: ...

    @property
    def manifest(self) -> dict[str, Any]: ...

    @property
    def fields(self) -> tuple[str, ...]:
        """The names of the fields of its examples."""
        ...

    @property
    def shape(self) -> tuple[int, int, int] | None:
        """The height, width and channels of its pictures."""
        ...

    def results(self) -> list[Result]: ...

    def measured(self, name: str) -> dict[str, Any]:
        """Return what was measured of it before; {} if nothing was."""
        ...

    def keep_measured(self, name: str, value: Mapping[str, Any]) -> None: ...

    def recheck(self, target: Any, rows: Sequence[Result]) -> Iterator[Rechecked]:
        """Ask a target again about the adversaries of rows."""
        ...


def as_stored(measured: Validity | Floors) -> dict[str, Any]:
    """Return what was measured as plain data."""
    return asdict(measured)


def restore_validity(content: Mapping[str, Any]) -> Validity | None:
    """Return the validity that a run keeps; None if nobody has measured it."""
    return _restored(Validity, content)


def restore_floors(content: Mapping[str, Any]) -> Floors | None:
    """Return the floors that a run keeps; None if they were not measured."""
    return _restored(Floors, content)


def _restored(kind: type[M], content: Mapping[str, Any]) -> M | None:
    try:
        return parse(kind, content) if content else None
    except Malformed as error:
        raise UsageError(
            f"The {kind.__name__.lower()} stored in the run cannot be read: {error}. It "
            "is damaged, or comes from another version. Measure it again: brittle "
            "validity read."
        ) from error


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
        texts += ", before it was resumed"
    who = plural(validity.reading.people, ("person", "people"))
    by_level: dict[str, list[float]] = {}
    for row in read:
        if row.level is not None:
            by_level.setdefault(row.level, []).append(shares[row.case])
    return {
        level: LevelReading(sum(valid), None, len(valid), who, texts, is_own=True)
        for level, valid in by_level.items()
    }

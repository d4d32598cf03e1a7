"""What is measured of a run's validity: by people, by a judge, and three floors without either."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from brittle.errors import UsageError
from brittle.metrics.agreement import Agreement
from brittle.metrics.products import product_of_rates
from brittle.metrics.summary import Figure

PARTS = ("label", "meaning", "natural")
VALID = "valid"


@dataclass(frozen=True)
class Thresholds:
    """From which answer on, of 1 to 5, meaning counts as kept and a text as natural enough."""

    meaning: int = 4
    natural: int = 3

    def __post_init__(self) -> None:
        from brittle.validity.presets import NATURAL, SAME_MEANING

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
            raise UsageError("Got a validity that nobody has judged; expected people or a judge.")

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

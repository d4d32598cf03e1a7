"""Validity: label kept as people read it, meaning kept, and natural enough; all three, and each."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field

from brittle.errors import UsageError
from brittle.formatting import plural
from brittle.metrics.agreement import Agreement, agreement
from brittle.metrics.products import product_of_rates
from brittle.metrics.shares import rate_of_shares
from brittle.metrics.summary import Figure
from brittle.results import Result
from brittle.validity.answers import Given, Person
from brittle.validity.key import Key, KeyItem
from brittle.validity.presets import NATURAL, SAME_MEANING, STANDARD
from brittle.validity.sampling import row_digest

PARTS = ("label", "meaning", "natural")
VALID = "valid"


@dataclass(frozen=True)
class Thresholds:
    """From which answer on, of 1 to 5, meaning counts as kept and a text as natural enough."""

    meaning: int = 4
    natural: int = 3

    def __post_init__(self) -> None:
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
class Judged:
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
    judge: Judged | None = None

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


@dataclass
class _Verdicts:
    """The verdicts of people on the items of one role, by part."""

    by_part: dict[str, dict[str, list[bool]]] = field(
        default_factory=lambda: {part: {} for part in (*PARTS, VALID)}
    )

    def add(self, case: str, kept: Mapping[str, bool]) -> None:
        for part, verdict in {**kept, VALID: all(kept.values())}.items():
            self.by_part[part].setdefault(case, []).append(verdict)

    def shares(self, part: str) -> dict[str, float]:
        return {case: sum(said) / len(said) for case, said in self.by_part[part].items()}


def read_sample(
    people: Sequence[Person],
    key: Key,
    rows: Mapping[str, Result],
    thresholds: Thresholds | None = None,
) -> Reading:
    """Compute validity, its parts and the agreement from what people said of a standard sample."""
    thresholds = thresholds or Thresholds()
    check_rows(key, rows)
    verdicts = {"adversarial": _Verdicts(), "original": _Verdicts()}
    for person in people:
        for number, given in person.answers.items():
            item = key.items[number]
            verdicts[item.roles[0]].add(item.case, _kept(given, rows[item.case], thresholds))
    adversaries, originals = verdicts["adversarial"], verdicts["original"]
    who = plural(len(people), ("person", "people"))
    return Reading(
        sample=key.sample,
        people=len(people),
        thresholds=thresholds,
        parts=_rates(adversaries, f"adversaries read by {who}"),
        originals=_rates(originals, f"originals read by {who}"),
        agreement=_agreement(people, key, rows, thresholds),
        shares=adversaries.shares(VALID),
    )


def check_rows(key: Key, rows: Mapping[str, Result]) -> None:
    """Refuse a run whose cases are no longer those that people were shown."""
    for item in key.items.values():
        if item.case not in rows or row_digest(rows[item.case]) != item.digest:
            raise UsageError(
                f"The case {item.case} is not what people were shown: the run was made anew, or "
                f"went on, after the sample {key.sample} was drawn. Have the new run read: brittle "
                "annotate."
            )


def _kept(given: Given, row: Result, thresholds: Thresholds) -> dict[str, bool]:
    return {
        "label": given["label"] == row.label,
        "meaning": int(given["meaning"]) >= thresholds.meaning,
        "natural": int(given["natural"]) >= thresholds.natural,
    }


def _rates(verdicts: _Verdicts, over: str) -> dict[str, Figure]:
    return {
        part: rate_of_shares(list(verdicts.shares(part).values()), over) for part in (*PARTS, VALID)
    }


def _agreement(
    people: Sequence[Person], key: Key, rows: Mapping[str, Result], thresholds: Thresholds
) -> dict[str, Agreement]:
    """Compute the agreement on each question over all items, and on the verdict on adversaries."""

    def said(pick: Callable[[Given, KeyItem], object], role: str = "") -> list[list[object]]:
        numbers = [n for n, item in key.items.items() if item.roles[0] == role or not role]
        given = [[p.answers[n] for p in people if n in p.answers] for n in numbers]
        return [[pick(one, key.items[n]) for one in own] for n, own in zip(numbers, given)]

    valid = said(
        lambda given, item: all(_kept(given, rows[item.case], thresholds).values()), "adversarial"
    )
    return {
        "label": agreement(said(lambda given, _: given["label"])),
        "meaning": agreement(said(lambda given, _: given["meaning"]), "ordinal"),
        "natural": agreement(said(lambda given, _: given["natural"]), "ordinal"),
        VALID: agreement(valid),
    }


def check_standard(key: Key) -> None:
    """Refuse a sample whose questions do not give a validity."""
    if key.preset != STANDARD:
        raise UsageError(
            f"The sample {key.sample} is of the preset {key.preset!r}, which gives no validity: it "
            f"takes label, meaning and naturalness, of the preset {STANDARD!r}."
        )

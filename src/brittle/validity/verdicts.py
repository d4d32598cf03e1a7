"""Validity: label kept as people read it, meaning kept, and natural enough; all three, and each."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field

from brittle.errors import UsageError
from brittle.formatting import plural
from brittle.metrics.agreement import Agreement, agreement
from brittle.metrics.shares import rate_of_shares
from brittle.metrics.summary import Figure
from brittle.results import Result
from brittle.validity.answers import Given, Person
from brittle.validity.figures import PARTS, VALID, Reading, Thresholds
from brittle.validity.key import KeyItem, SampleKey
from brittle.validity.presets import STANDARD
from brittle.validity.sampling import row_digest


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
    key: SampleKey,
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


def check_rows(key: SampleKey, rows: Mapping[str, Result]) -> None:
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
    people: Sequence[Person], key: SampleKey, rows: Mapping[str, Result], thresholds: Thresholds
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


def check_standard(key: SampleKey) -> None:
    """Refuse a sample whose questions do not give a validity."""
    if key.preset != STANDARD:
        raise UsageError(
            f"The sample {key.sample} is of the preset {key.preset!r}, which gives no validity: it "
            f"takes label, meaning and naturalness, of the preset {STANDARD!r}."
        )

"""What was measured of a run, as the plain data that its file keeps."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict
from typing import Any

from brittle.errors import UsageError
from brittle.files import DAMAGED
from brittle.metrics.agreement import Agreement
from brittle.metrics.summary import Figure
from brittle.validity.floors import Floors, OtherFamily
from brittle.validity.verdicts import Judged, Reading, Thresholds, Validity


def as_stored(measured: Validity | Floors) -> dict[str, Any]:
    """Return what was measured as plain data."""
    return asdict(measured)


def restore_validity(content: Mapping[str, Any]) -> Validity | None:
    """Return the validity that a run keeps; None if nobody has measured it."""
    if not content:
        return None
    try:
        reading, judge = content["reading"], content["judge"]
        return Validity(
            broken=int(content["broken"]),
            attacked=int(content["attacked"]),
            reading=None if reading is None else _reading(reading),
            judge=None if judge is None else _judged(judge),
        )
    except DAMAGED as error:
        raise _damaged("validity") from error


def restore_floors(content: Mapping[str, Any]) -> Floors | None:
    """Return the floors that a run keeps; None if they were not measured."""
    if not content:
        return None
    try:
        other, edit = content["other"], content["random_edit"]
        return Floors(
            Figure(**content["clean_error"]),
            None if edit is None else Figure(**edit),
            None if other is None else OtherFamily(other["name"], *_figures(other, OTHER)),
            dict(content["missing"]),
        )
    except DAMAGED as error:
        raise _damaged("floors") from error


OTHER = ("adversaries", "originals")
RATES = ("sensitivity", "specificity")


def _figures(content: Mapping[str, Any], names: tuple[str, ...]) -> list[Figure]:
    return [Figure(**content[name]) for name in names]


def _reading(content: Mapping[str, Any]) -> Reading:
    return Reading(
        sample=str(content["sample"]),
        people=int(content["people"]),
        thresholds=Thresholds(**content["thresholds"]),
        parts={name: Figure(**figure) for name, figure in content["parts"].items()},
        originals={name: Figure(**figure) for name, figure in content["originals"].items()},
        agreement={name: Agreement(**one) for name, one in content["agreement"].items()},
        shares={str(case): float(share) for case, share in content["shares"].items()},
    )


def _judged(content: Mapping[str, Any]) -> Judged:
    sensitivity, specificity, validity = _figures(content, (*RATES, "validity"))
    plain = {name: content[name] for name in ("name", "fingerprint", "said_valid", "judged")}
    calibrated_on = tuple(map(str, content["calibrated_on"]))
    return Judged(
        **plain,
        sensitivity=sensitivity,
        specificity=specificity,
        calibrated_on=calibrated_on,
        method=str(content["method"]),
        validity=validity,
    )


def _damaged(what: str) -> UsageError:
    return UsageError(
        f"The {what} that the run keeps cannot be read: it is damaged, or of another version. "
        "Measure it again: brittle validity."
    )

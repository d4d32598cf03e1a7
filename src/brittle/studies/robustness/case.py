"""One case of the study: what every target predicts for an item, and how far that holds."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Annotated, Any

import numpy as np
from numpy.typing import NDArray

from brittle.attacks.natural import RECONSTRUCTION, open_part, placed
from brittle.errors import UsageError, message_of
from brittle.schema import Check, Count
from brittle.studies.robustness.cloud import Boundary, Cloud, CloudSettings, find_boundaries
from brittle.text import Text

HELD = "no adversary within the radius"
UNCONFIRMED = "no adversary was confirmed"
ITEMS_PER_ASK = 256
Distance = Annotated[float, Check(lambda distance: distance >= 0, "a distance of at least 0")]


@dataclass(frozen=True)
class TargetRow:
    """What was found for one target; without a distance, `reason` says why.

    `adversarial` is the text that is predicted as `became`; a picture is not kept.
    """

    predicted: str
    distance: Distance | None = None
    reason: str = ""
    became: str = ""
    adversarial: str = ""
    queries: Count = 0


@dataclass(frozen=True)
class CaseRow:
    """The rows of all targets for one case, and how many samples were decoded for it.

    `text` is the field of the original that is changed; a picture is not kept.
    """

    case: str
    text: str
    label: str | None
    decoded: Count
    rows: Mapping[str, TargetRow]

    def as_json(self) -> dict[str, Any]:
        return asdict(self)


@dataclass(frozen=True)
class Predictor:
    """Asks a target for the labels that it predicts; ties go to the first label."""

    target: Any

    def __call__(self, items: Sequence[Any]) -> NDArray[np.int64]:
        parts = [
            np.argmax(self.target.scores(items[start : start + ITEMS_PER_ASK]), axis=1)
            for start in range(0, len(items), ITEMS_PER_ASK)
        ]
        return np.concatenate(parts).astype(np.int64)

    def one_by_one(self, items: Sequence[Any]) -> list[int | None]:
        """Predict items; where a batch fails they are asked alone, and None is one that fails."""
        try:
            return [int(number) for number in self(items)] if items else []
        except Exception:
            if len(items) == 1:
                return [None]
        half = len(items) // 2
        return self.one_by_one(items[:half]) + self.one_by_one(items[half:])

    def label(self, number: int) -> str:
        return str(self.target.labels[number])


def measure_case(
    case: str,
    item: Any,
    label: str | None,
    generator: Any,
    targets: Mapping[str, Any],
    settings: CloudSettings,
    seed: int,
) -> CaseRow:
    """Find the nearest adversary of one item for every target, in one cloud.

    The reference is what a target predicts for the item itself. Where it predicts something else
    for the reconstruction already, nothing is searched. Every winner is decoded and asked about
    again, alone; where it is none any more, the next nearest counts.
    """
    part = open_part(item)
    text = str(part) if isinstance(part, Text) else ""
    try:
        [origin] = generator.encode([part])
        [rebuilt] = generator.decode([origin])
    except UsageError:
        raise
    except Exception as error:
        failed = TargetRow("", reason=message_of(error))
        return CaseRow(case, text, label, 0, dict.fromkeys(targets, failed))
    rows: dict[str, TargetRow] = {}
    boundaries: dict[str, Boundary] = {}
    for name, target in targets.items():
        predict = Predictor(target)
        try:
            own, again = predict([item])[0], predict([placed(item, rebuilt)])[0]
        except Exception as error:
            rows[name] = TargetRow("", reason=message_of(error))
            continue
        if own == again:
            boundaries[name] = Boundary(predict, int(own), queries=2)
        else:
            rows[name] = TargetRow(predict.label(own), reason=RECONSTRUCTION, queries=2)
    cloud = Cloud(generator, item, origin, settings, f"{seed}:{case}", decoded=1)
    if boundaries:
        find_boundaries(cloud, boundaries)
    for name, boundary in boundaries.items():
        rows[name] = _row(boundary, generator, item)
    return CaseRow(case, text, label, cloud.decoded, {name: rows[name] for name in targets})


def _row(boundary: Boundary, generator: Any, item: Any) -> TargetRow:
    """Confirm the nearest winner of a target, each alone; return what is left."""
    predict: Any = boundary.predict
    predicted = predict.label(boundary.reference)
    if boundary.failure:
        return TargetRow(predicted, reason=boundary.failure, queries=boundary.queries)
    for distance, point in reversed(boundary.winners):
        [decoded] = generator.decode([point])
        candidate = placed(item, decoded)
        boundary.queries += 1
        try:
            became = int(predict([candidate])[0])
        except Exception as error:
            return TargetRow(predicted, reason=message_of(error), queries=boundary.queries)
        if became != boundary.reference:
            text = str(decoded) if isinstance(decoded, Text) else ""
            found = (distance, "", predict.label(became), text, boundary.queries)
            return TargetRow(predicted, *found)
    reason = UNCONFIRMED if boundary.winners else HELD
    return TargetRow(predicted, reason=reason, queries=boundary.queries)

"""One case in latent space: the cloud of its neighbours, its distance, and the journal of cases.

One cloud of decoded samples around an item, about which every target is asked.

First comes a cloud of balls, each half as wide as the one before, which finds the boundary of every
target roughly. Then each boundary is refined by thin shells, from outside in, as in the second
phase of the hybrid search (Algorithm 2 of Zhao et al., 2018). The shells lie on one grid, and a
shell is decoded once for all targets that look into it.

One case of the study: what every target predicts for an item, and how far that holds. The cases of
a study on disk, one a line, so that a study that was stopped goes on.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from math import ceil
from pathlib import Path
from random import Random
from typing import Annotated, Any

import numpy as np
from numpy.typing import NDArray

from brittle.attacks.natural import RECONSTRUCTION, open_part, placed, placed_all
from brittle.errors import UsageError, message_of
from brittle.latent import LatentPoint, draw_shell
from brittle.safety import files
from brittle.safety.schema import Check, Count, Malformed, parse
from brittle.text import Text

FIRST_ASKED = 64  # samples of a shell that are asked about before the others
BALLS = 3  # a ball has so many times the samples of a shell: a boundary found well needs few shells
Floats = NDArray[np.float64]
Predict = Callable[[Sequence[Any]], NDArray[np.int64]]
"""Returns the index of the predicted label for every item."""


@dataclass(frozen=True)
class CloudSettings:
    """The paper's N, Δr and B, and the radius of the widest ball."""

    samples: int = 500
    step: float = 0.01
    radius: float = 10.0
    misses: int = 5


@dataclass(frozen=True)
class Shell:
    """Decoded samples, sorted by their distance from the middle of the cloud.

    `first` has for every sample the number of the first one that is equal: near a sentence most
    samples are.
    """

    distance: Floats
    points: list[LatentPoint]
    items: Sequence[Any]
    first: NDArray[np.int64]

    def parts(self, count: int) -> Iterator[NDArray[np.int64]]:
        """Yield the numbers of the nearest samples, then of the others; equal ones once."""
        for start, end in ((0, min(FIRST_ASKED, count)), (FIRST_ASKED, count)):
            part = np.arange(start, max(start, end))
            yield part[self.first[part] == part]

    def chosen(self, part: NDArray[np.int64]) -> Sequence[Any]:
        """Return the samples of a part; where nothing is left out, without a copy."""
        start, end = int(part[0]), int(part[-1]) + 1
        if end - start == len(part):
            return self.items[start:end]
        return [self.items[n] for n in part]


@dataclass
class Cloud:
    """The samples around `origin`, the latent point of `original`; each part is drawn by its name.

    `decoded` counts the samples.
    """

    generator: Any
    original: Any
    origin: LatentPoint
    settings: CloudSettings
    seed: str
    decoded: int = 0

    def balls(self) -> Iterator[Shell]:
        """Yield samples of ever smaller balls, down to the width of a shell."""
        radius = self.settings.radius
        while radius >= self.settings.step:
            yield self._draw(0.0, radius, f"ball {radius:.6g}", BALLS * self.settings.samples)
            radius /= 2

    def shell(self, number: int) -> Shell:
        """Return samples of the shell (number · Δr, (number + 1) · Δr]."""
        step = self.settings.step
        name = f"shell {number}"
        return self._draw(number * step, (number + 1) * step, name, self.settings.samples)

    def _draw(self, low: float, high: float, name: str, count: int) -> Shell:
        numbers = np.random.default_rng(Random(f"{self.seed}:{name}").getrandbits(64))
        origin = self.origin.vector
        offset, distance = draw_shell(numbers, count, origin.size, low, high)
        order = np.argsort(distance)
        points = LatentPoint.rows(origin + offset[order])
        self.decoded += count
        items = placed_all(self.original, self.generator.decode(points))
        seen: dict[bytes, int] = {}
        first = [seen.setdefault(item.key, n) for n, item in enumerate(items)]
        return Shell(distance[order], points, items, np.array(first))


@dataclass
class Boundary:
    """What is known of one target: the nearest samples that it predicts otherwise.

    `winners` are distances and points, the nearest last. A target that fails is asked no more;
    `failure` says why.
    """

    predict: Predict
    reference: int
    queries: int = 0
    missed: int = 0
    winners: list[tuple[float, LatentPoint]] = field(default_factory=list)
    failure: str = ""

    @property
    def nearest(self) -> float:
        return self.winners[-1][0] if self.winners else np.inf

    def look(self, shell: Shell) -> bool:
        """Ask about samples nearer than the nearest winner, until one wins; tell whether one did.

        The nearest are asked about first, so those after a winner are of no use.
        """
        for part in shell.parts(int(np.searchsorted(shell.distance, self.nearest))):
            if self.failure or not len(part):
                continue
            self.queries += len(part)
            try:
                labels = self.predict(shell.chosen(part))
            except Exception as error:
                self.failure = message_of(error)
                return False
            won = part[labels != self.reference]
            self.winners += [(float(shell.distance[n]), shell.points[n]) for n in won[::-1]]
            if len(won):
                return True
        return False


def find_boundaries(cloud: Cloud, boundaries: Mapping[str, Boundary]) -> None:
    """Find the nearest adversary of every target in one cloud."""
    for ball in cloud.balls():
        for boundary in boundaries.values():
            boundary.look(ball)
    step = cloud.settings.step
    looking = {
        name: ceil(boundary.nearest / step - 1e-9) - 1
        for name, boundary in boundaries.items()
        if boundary.winners
    }
    while looking:
        # The outermost shell first, so that each is decoded once and none is kept.
        number = max(looking.values())
        shell = cloud.shell(number)
        for name in [name for name, at in looking.items() if at == number]:
            boundary = boundaries[name]
            boundary.missed = 0 if boundary.look(shell) else boundary.missed + 1
            looking[name] = number - 1
            if boundary.missed == cloud.settings.misses or number == 0:
                del looking[name]


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


CASES_FILE = "cases.jsonl"


class CaseJournal:
    """Finished cases by their ids; `about` is what decides them, and stands in the first line."""

    def __init__(self, path: Path, about: Mapping[str, Any]) -> None:
        self.path = path
        self.rows: dict[str, CaseRow] = {}
        self._targets = about.get("targets", {}).keys()
        own = json.dumps(about, sort_keys=True)
        if not path.is_file():
            files.make_private_folder(path.parent)
            files.write_whole(path, f"{own}\n", private=True)
            return
        head, *lines = path.read_text("utf-8", errors="replace").split("\n")
        if head != own:
            raise UsageError(
                f"{path} contains cases of a study with other targets, data or settings. "
                "Choose another --name, or delete the file."
            )
        whole = lines[:-1]  # a line without its end was cut when the program was killed
        for number, line in enumerate(whole, 2):
            row = self._row(line, number)
            self.rows[row.case] = row
        if lines[-1:] != [""]:
            text = "".join(f"{line}\n" for line in [head, *whole])
            files.write_whole(path, text, private=True)

    def _row(self, line: str, number: int) -> CaseRow:
        try:
            row = parse(CaseRow, json.loads(line))
            if row.rows.keys() != self._targets:
                raise Malformed(f"rows of {', '.join(self._targets)}", sorted(row.rows), "rows")
            return row
        except (ValueError, RecursionError) as error:
            raise UsageError(
                f"Line {number} of {self.path} is damaged ({error}). Delete the line, and "
                "its case is measured again."
            ) from error

    def add(self, row: CaseRow) -> None:
        """Keep a case that is finished."""
        self.rows[row.case] = row
        with files.open_private(self.path) as file:
            line = f"{json.dumps(row.as_json(), ensure_ascii=False)}\n"
            file.write(line.encode(errors="backslashreplace"))

"""Simulate studies whose truth is known: how often do the intervals of validity cover it?

    python benchmarks/validity_simulation.py [--studies 4000] [--out FILE]

Writes benchmarks/validity_simulation.json. In every study an attack breaks cases, people read a
sample of them (several people may disagree), and, where there is one, a judge that errs says of all
broken cases whether they are valid; its errors are measured on the cases that people read, or on
those of another run. The interval of validity, and that of valid success, has to cover the truth in
95% of the studies; 93 to 97% is asked for.
"""

from __future__ import annotations

import argparse
import json
from collections.abc import Iterator
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from brittle.metrics import (
    Calibration,
    Figure,
    poststratified,
    product_of_rates,
    rate,
    rate_of_shares,
    rogan_gladen,
)

HERE = Path(__file__).parent
LOWEST, HIGHEST = 0.93, 0.97
Array = NDArray[np.float64]


@dataclass(frozen=True)
class Study:
    """What is true, and how much of it is seen.

    `read` cases are read by `people` each; `divided` says how much the people disagree: 0 not at
    all, near 1 as if each tossed a coin of the same chance for every case. A judge has a
    `sensitivity` and a `specificity`; `calibrated_on` is the number of cases of another run, with
    another validity, on which they are measured, 0 if on the cases of this run that people read.
    """

    attacked: int
    success: float
    read: int
    validity: float
    people: int = 1
    divided: float = 0.0
    sensitivity: float | None = None
    specificity: float | None = None
    calibrated_on: int = 0
    validity_there: float = 0.4


STUDIES = (
    *(Study(66, 0.94, 46, v) for v in (0.1, 0.5, 0.9)),
    *(Study(200, 0.4, 75, v) for v in (0.1, 0.3, 0.7)),
    *(Study(500, 0.9, 75, v) for v in (0.05, 0.1, 0.5)),
    *(Study(200, 0.8, 75, v, people=2, divided=0.5) for v in (0.1, 0.4, 0.8)),
    *(Study(200, 0.6, 50, v, people=3, divided=0.3) for v in (0.2, 0.6)),
    *(Study(500, 0.8, 75, v, sensitivity=0.9, specificity=0.9) for v in (0.1, 0.3, 0.7)),
    *(Study(1000, 0.6, 100, v, sensitivity=0.95, specificity=0.95) for v in (0.1, 0.5)),
    Study(500, 0.8, 75, 0.3, sensitivity=0.6, specificity=0.6),
    Study(500, 0.8, 75, 0.3, people=2, divided=0.4, sensitivity=0.9, specificity=0.85),
    *(Study(500, 0.8, 0, v, 1, 0.0, 0.9, 0.9, calibrated_on=100) for v in (0.1, 0.3, 0.7)),
    *(Study(1000, 0.6, 0, v, 1, 0.0, 0.95, 0.9, calibrated_on=150) for v in (0.1, 0.5)),
    Study(300, 0.9, 0, 0.2, 1, 0.0, 0.8, 0.8, calibrated_on=100),
)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--studies", type=int, default=4000, help="simulated studies of each kind")
    parser.add_argument("--out", type=Path, default=HERE / "validity_simulation.json")
    given = parser.parse_args()
    rows = []
    for study in STUDIES:
        row = {**asdict(study), **coverage(study, given.studies)}
        rows.append(row)
        print(json.dumps(row), flush=True)
    covered = [row[name] for row in rows for name in ("validity_covered", "valid_success_covered")]
    content = {
        "studies_of_each_kind": given.studies,
        "lowest": min(covered),
        "highest": max(covered),
        "kinds": rows,
    }
    given.out.write_text(json.dumps(content, indent=1) + "\n", "utf-8")
    print(f"covered in {min(covered):.1%} to {max(covered):.1%} of the studies: {given.out.name}")


def coverage(study: Study, studies: int, seed: int = 0) -> dict[str, float]:
    """Return how often the two intervals cover the truth, and how wide they are on average."""
    rng = np.random.default_rng(seed)
    seen = [estimates(study, rng) for _ in range(studies)]
    truths = (study.validity, study.validity * study.success)
    result: dict[str, float] = {}
    for name, truth, figures in zip(("validity", "valid_success"), truths, zip(*seen)):
        bounds = np.array(list(_bounds(figures)))
        result[f"{name}_covered"] = float(
            np.mean((bounds[:, 0] <= truth) & (truth <= bounds[:, 1]))
        )
        result[f"{name}_width"] = round(float(np.mean(bounds[:, 1] - bounds[:, 0])), 4)
    return result


def _bounds(figures: Any) -> Iterator[tuple[float, float]]:
    for figure in figures:
        assert figure.low is not None and figure.high is not None
        yield figure.low, figure.high


def estimates(study: Study, rng: np.random.Generator) -> tuple[Figure, Figure]:
    """Simulate one study, and return its validity and its valid success."""
    broken = int(rng.binomial(study.attacked, study.success))
    chances = _chances(study.validity, study.divided, broken, rng)
    shares = _read(chances[: study.read], study.people, rng)
    if study.sensitivity is None or study.specificity is None:
        validity = rate_of_shares(shares, "read")
    else:
        said = _judge(chances, study, rng)
        if study.calibrated_on:
            there = _chances(study.validity_there, study.divided, study.calibrated_on, rng)
            people = _read(there, study.people, rng)
            calibration = Calibration(tuple(people), tuple(_judge(there, study, rng)))
            validity = rogan_gladen(calibration, sum(said), broken, "judged")
        else:
            calibration = Calibration(tuple(shares), tuple(said[: len(shares)]))
            validity = poststratified(calibration, sum(said), broken, "judged")
    success = rate(broken, study.attacked, "attacked cases")
    return validity, product_of_rates(success, validity, "attacked cases")


def _chances(validity: float, divided: float, count: int, rng: np.random.Generator) -> Array:
    """Draw for every case the chance that a reader finds it valid."""
    if not divided:
        return (rng.random(count) < validity).astype(np.float64)
    concentration = divided / (1 - divided)
    return rng.beta(validity * concentration, (1 - validity) * concentration, count)


def _read(chances: Array, people: int, rng: np.random.Generator) -> list[float]:
    return [float(share) for share in rng.binomial(people, chances) / people]


def _judge(chances: Array, study: Study, rng: np.random.Generator) -> list[bool]:
    assert study.sensitivity is not None and study.specificity is not None
    is_valid = rng.random(len(chances)) < chances
    says = np.where(is_valid, study.sensitivity, 1 - study.specificity)
    return [bool(said) for said in rng.random(len(chances)) < says]


if __name__ == "__main__":
    main()

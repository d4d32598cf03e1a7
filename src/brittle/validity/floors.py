"""Three figures that need no people, to read a run's success beside."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from brittle.metrics.summary import Figure


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

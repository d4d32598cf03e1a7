"""The manifest of a run: what is needed to understand its rows, and to run it again.

A stored manifest is a plain dictionary, since versions of brittle differ in what they write. What
they have in common is that an entry, where there is one, has the type that is given here.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Annotated, Any, Literal, TypedDict

from brittle.schema import Check, Count, Positive
from brittle.targets.options import stored_options, stored_types


class ManifestColumns(TypedDict, total=False):
    """The columns of the table that the examples were read from."""

    text: tuple[str, ...]
    label: str | None


if TYPE_CHECKING:
    TargetEntries = Mapping[str, Any]
else:
    _TYPES = {"spec": str} | stored_types()
    TargetEntries = TypedDict("TargetEntries", _TYPES, total=False)
    """The name of the target, and the options it was opened with."""

_OPTIONS = frozenset(("spec", *stored_options()))
AboutTarget = Annotated[
    TargetEntries,
    Check(
        lambda about: about.keys() <= _OPTIONS and (not about or "spec" in about),
        f"nothing, or spec and options out of {', '.join(sorted(_OPTIONS - {'spec'}))}",
    ),
]
"""How a target is opened again; nothing, if it was a live object."""


Amount = Annotated[float, Check(lambda amount: amount >= 0, "a number of at least 0")]


class StoredTotals(TypedDict, total=False):
    """What was computed for a run: the counters of its broker, and the time it took."""

    asked: Amount
    sent: Amount
    calls: Amount
    busy: Amount
    seconds: Amount


class Manifest(TypedDict, total=False):
    """The entries of a manifest; all are there in a run of this version."""

    target: str
    fingerprint: str
    attack: str
    settings: Mapping[str, Any]
    goal: str
    data: str
    split: str
    seed: int
    content: str
    label_map: Mapping[str, str]
    files: Mapping[str, str]
    only: str | None
    kind: Literal["text", "picture"]
    helpers: Mapping[str, str] | None
    goal_code: str | None
    keep: Mapping[str, tuple[float, str]] | None
    measures: Mapping[str, str]
    unmeasured: tuple[str, ...]
    toward: str | None
    confidence: float | None
    limit: Count | None
    budget: Count | None
    examples: Count
    labels: tuple[str, ...]
    answers: str
    cost_name: str | None
    shape: tuple[Positive, Positive, Positive] | None
    columns: ManifestColumns | None
    attacks: tuple[str, ...] | None
    locked: tuple[str, ...]
    reference: str
    warnings: tuple[str, ...]
    started: str
    versions: Mapping[str, str]
    about_target: AboutTarget | None

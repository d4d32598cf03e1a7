"""The results of a run: one flat row per case, and one row per improvement on the way."""

from __future__ import annotations

from dataclasses import dataclass

from brittle.asks import Status
from brittle.edits import Edit

DAMAGED_EDITS = "its stored edits do not fit its text, so that the adversarial text is lost"
"""The reason of a stored row whose adversarial text cannot be built again; its figures count."""


@dataclass(frozen=True)
class Result:
    """The outcome of one case.

    `label` is the reference: the example's own label or, if it has none, the target's prediction
    on the original. `predicted` and `confidence` are the target's answer on the original,
    `adversarial_*` that on the adversarial text (the best candidate, if the case is not broken).
    `original` and `adversarial` join several fields by line breaks; `fields` and `edits` keep them
    apart. `words` counts the editable words of the original.
    """

    case: str
    attack: str
    target: str
    goal: str
    status: Status
    reason: str
    fields: tuple[tuple[str, str], ...]
    original: str
    adversarial: str | None
    edits: tuple[Edit, ...]
    label: str | None
    predicted: str | None
    confidence: float | None
    adversarial_label: str | None
    adversarial_confidence: float | None
    queries: int
    words: int
    words_changed: int
    characters_changed: int
    seed: int


@dataclass(frozen=True)
class Step:
    """One improvement of a case: the best candidate so far, at its query number."""

    case: str
    query: int
    loss: float
    label: str
    confidence: float
    edits: tuple[Edit, ...]

"""The desks of a run: one for every question that the target answers, and the helpers'."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np

from brittle.asks import Attack
from brittle.engine.desks import Desk
from brittle.english.tags import Tagger
from brittle.errors import TargetError, UsageError
from brittle.targets.protocols import HasCanonicalKeys, HasCanonicalScores, HasFlips, HasScores

MAX_CACHED_FLIPS = 4096  # answers; a search rarely asks for the edits of one text twice
REMEDIES = {
    "flips": "Use a target with gradients (a network of the zoo, a transformers classifier, a "
    "torch module by brittle.torch_target), or a black-box attack such as pwws."
}


def make_desks(target: Any) -> dict[str, Desk]:
    """Build a desk for every question that can be asked in a run on this target."""
    desks = {"tags": Desk(Tagger().tags)}
    for question, (capability, make_desk) in CAPABILITIES.items():
        if isinstance(target, capability):
            desks[question] = make_desk(target)
    return desks


def check_asks(attack: Attack, name: str, target: Any, desks: Mapping[str, Desk]) -> None:
    """Refuse, before anything is asked, an attack whose questions no desk answers."""
    for ask in attack.asks:
        if ask.question not in desks:
            offered = " and ".join(question for question in desks if question in CAPABILITIES)
            raise UsageError(
                f"Attack {name!r} asks for {ask.question}, but target {target.name!r} offers only "
                f"{offered}. {REMEDIES.get(ask.question, 'Use another attack.')}"
            )


def scores_desk(target: Any) -> Desk:
    """Build the desk that answers scores, by canonical keys where the target has them."""
    by_keys = isinstance(target, HasCanonicalScores)
    score = target.canonical_scores if by_keys else target.scores
    return Desk(
        _CheckedScores(target, score),
        canonical=target.canonical if isinstance(target, HasCanonicalKeys) else None,
        from_keys=by_keys,
        batch=getattr(target, "batch", None),
        costly=getattr(target, "costly", False),
        **_common(target),
    )


def flips_desk(target: Any) -> Desk:
    """Build the desk that answers scores and first-order edits."""
    batch = getattr(target, "batch", None)
    return Desk(target.flips, batch=batch, cache=MAX_CACHED_FLIPS, **_common(target))


CAPABILITIES: Mapping[str, tuple[Any, Callable[[Any], Desk]]] = {
    "scores": (HasScores, scores_desk),
    "flips": (HasFlips, flips_desk),
}
"""The capability that answers each question, and the function that builds its desk."""


def _common(target: Any) -> dict[str, Any]:
    return {
        "parallel": getattr(target, "parallel", 1),
        "watched": getattr(target, "in_process", True),
        "counted": True,
    }


class _CheckedScores:
    """Scores a batch and checks the scores."""

    def __init__(self, target: Any, score: Callable[[Sequence[Any]], Any]) -> None:
        self.name, self.labels, self.score = target.name, tuple(target.labels), score
        self.has_answered = False

    def __call__(self, batch: Sequence[Any]) -> list[Any]:
        try:
            rows = np.asarray(self.score(batch), dtype=np.float64)
        except UsageError as error:
            # A target that has answered before is called correctly: it fails on this text only.
            if self.has_answered:
                raise TargetError(str(error)) from error
            raise
        if rows.shape != (len(batch), len(self.labels)):
            raise TargetError(
                f"Target {self.name!r} answered an array of shape {rows.shape} for {len(batch)} "
                f"texts; expected ({len(batch)}, {len(self.labels)}): a row for every text and a "
                f"column for every label ({', '.join(self.labels)})."
            )
        if not np.isfinite(rows).all():
            raise TargetError(f"Target {self.name!r} answered scores that are not finite (NaN).")
        self.has_answered = True
        return rows.tolist()  # type: ignore[no-any-return]

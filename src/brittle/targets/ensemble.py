"""An ensemble: several classifiers as one target, by the mean of their raw logits.

The mean of log-probabilities would be another target: with more than two classes they differ from
logits by a number of their own for every text, which a difference of two texts keeps.
"""

from __future__ import annotations

import struct
from collections.abc import Sequence
from functools import cached_property
from typing import Any

import numpy as np

from brittle.engine.desks import Cache
from brittle.errors import TargetError, UsageError
from brittle.targets.fingerprints import hash_parts
from brittle.targets.protocols import (
    Classifies,
    HasCanonicalLogits,
    HasLogits,
    ReadsWords,
    Scores,
    close,
    declared_by,
)
from brittle.targets.scores import softmax
from brittle.text import Text

MAX_CACHED_LOGITS, MAX_CACHED_MEMBERS = 1 << 16, 16
"""How many rows of logits are kept for a member, and for how many members."""
_KEPT: dict[str, Cache] = {}
"""The logits that this process keeps, by the fingerprint of the member, last used last.

Ensembles that are attacked one after another share members and are asked about the same texts.
"""


class Ensemble:
    """One target of several members; it has scores and logits, and no gradients.

    It reads a word if one of its members does.
    """

    in_process = True

    def __init__(self, members: Sequence[Any]) -> None:
        self.members: tuple[Any, ...] = tuple(members)
        self.name = f"ensemble of {', '.join(member.name for member in members)}"
        self.labels: tuple[str, ...] = tuple(members[0].labels)
        self.parallel: int = min(declared_by(member, "parallel") for member in members)
        self.reads_zero_vectors = all(
            declared_by(member, "reads_zero_vectors") for member in members
        )
        batches = [declared_by(member, "batch") for member in members]
        self.batch: int | None = min((batch for batch in batches if batch), default=None)
        fields = {tuple(declared_by(member, "trained_fields")) for member in members}
        self.trained_fields: tuple[str, ...] = fields.pop() if len(fields) == 1 else ()

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self.name!r})"

    @cached_property
    def fingerprint(self) -> str:
        return hash_parts("ensemble", *(member.fingerprint for member in self.members))

    def check_item(self, item: Any) -> None:
        """Refuse an item that one of the members cannot read."""
        for member in self.members:
            check = declared_by(member, "check_item")
            if check is not None:
                check(item)

    def logits(self, items: Sequence[Text]) -> Scores:
        return self._mean([member.logits(items) for member in self.members], len(items))

    def scores(self, items: Sequence[Text]) -> Scores:
        return softmax(self.logits(items))

    def words_read(self, items: Sequence[Text]) -> list[Sequence[int]]:
        read = [
            member.words_read(items)
            if isinstance(member, ReadsWords)
            else [range(len(text)) for text in items]
            for member in self.members
        ]
        return [sorted(set().union(*positions)) for positions in zip(*read)]

    def close(self) -> None:
        for member in self.members:
            close(member)

    def _mean(self, logits: Sequence[Any], rows: int) -> Scores:
        shape = (rows, len(self.labels))
        tables = [np.asarray(table, dtype=np.float64).reshape(-1, shape[1]) for table in logits]
        for member, table in zip(self.members, tables):
            if table.shape != shape or not np.isfinite(table).all():
                raise TargetError(
                    f"The member {member.name!r} of an ensemble returned logits of shape "
                    f"{table.shape}; expected {shape}, all finite."
                )
        mean: Scores = np.mean(tables, axis=0)
        return mean


class KeyedEnsemble(Ensemble):
    """An ensemble whose members all score texts by their keys.

    Its own key of a text holds the keys of the members, each after its length. A member computes
    the logits of a key of its own once, as long as they are kept, for all ensembles of a process.
    """

    def __init__(self, members: Sequence[Any]) -> None:
        super().__init__(members)
        self._kept = [_kept_logits(member.fingerprint) for member in members]

    def canonical(self, items: Sequence[Text]) -> list[bytes]:
        keys = [member.canonical(items) for member in self.members]
        return [b"".join(map(_with_length, parts)) for parts in zip(*keys)]

    def canonical_logits(self, keys: Sequence[bytes]) -> Scores:
        parts = list(zip(*map(self._split, keys))) or [()] * len(self.members)
        logits = [self._member_logits(number, own) for number, own in enumerate(parts)]
        return self._mean(logits, len(keys))

    def canonical_scores(self, keys: Sequence[bytes]) -> Scores:
        return softmax(self.canonical_logits(keys))

    def logits(self, items: Sequence[Text]) -> Scores:
        return self.canonical_logits(self.canonical(items))

    def _member_logits(self, number: int, keys: Sequence[bytes]) -> list[Any]:
        member, kept = self.members[number], self._kept[number]
        rows = kept.find(keys)
        missing = [key for key in dict.fromkeys(keys) if key not in rows]
        if missing:
            computed = dict(zip(missing, np.asarray(member.canonical_logits(missing))))
            kept.keep(computed)
            rows |= computed
        return [rows[key] for key in keys]

    def _split(self, key: bytes) -> list[bytes]:
        parts, start = [], 0
        for _ in self.members:
            [length] = struct.unpack_from("<I", key, start)
            start += 4
            parts.append(key[start : start + length])
            start += length
        return parts


def _kept_logits(fingerprint: str) -> Cache:
    """Return the cache of a member; that of the member unused for longest makes room for it."""
    cache = _KEPT.pop(fingerprint, None) or Cache(MAX_CACHED_LOGITS)
    _KEPT[fingerprint] = cache
    if len(_KEPT) > MAX_CACHED_MEMBERS:
        del _KEPT[next(iter(_KEPT))]
    return cache


def of_members(members: Sequence[Classifies]) -> Ensemble:
    """Build an ensemble; refuse members that cannot be averaged."""
    if len(members) < 2:
        raise UsageError(
            f"Got an ensemble of {len(members)} members; expected 2 or more. Use a single "
            "target without ensemble:."
        )
    check_members(members)
    keyed = all(isinstance(member, HasCanonicalLogits) for member in members)
    return (KeyedEnsemble if keyed else Ensemble)(members)


def check_members(members: Sequence[Classifies]) -> None:
    """Refuse members whose logits cannot be averaged."""
    for member in members:
        if not isinstance(member, HasLogits):
            raise UsageError(
                f"The member {member.name!r} of the ensemble has no logits to average. "
                "Expected a model of the zoo, a transformers classifier, or an object "
                "with a method logits(items). Leave it out."
            )
        if declared_by(member, "item_kind") != "text":
            raise UsageError(
                f"The member {member.name!r} of the ensemble reads pictures; expected targets that "
                "read texts. Leave it out."
            )
        _check_labels(member, members[0])
    _check_distinct(members)


def _check_labels(member: Classifies, first: Classifies) -> None:
    labels, expected = tuple(member.labels), tuple(first.labels)
    if labels == expected:
        return
    problem, remedy = "other labels", "Leave one of them out."
    if sorted(labels) == sorted(expected):
        problem = "the same labels in another order"
        remedy = "Train it on data with the labels in that order, or leave one of them out."
    raise UsageError(
        f"The member {member.name!r} of the ensemble has {problem}: {', '.join(labels)}; "
        f"expected the labels of {first.name!r}: {', '.join(expected)}. {remedy}"
    )


def _check_distinct(members: Sequence[Classifies]) -> None:
    names: dict[str, str] = {}
    for member in members:
        if member.fingerprint in names:
            first = names[member.fingerprint]
            also = "" if first == member.name else f", also as {member.name!r}"
            raise UsageError(
                f"The ensemble has the member {first!r} twice{also}. Name each member once."
            )
        names[member.fingerprint] = member.name


def _with_length(key: bytes) -> bytes:
    return struct.pack("<I", len(key)) + key

"""A transfer study as it is stored: who was attacked, by which texts, and what all targets say."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from brittle.formatting import plural
from brittle.schema import Count, FileName, Malformed
from brittle.studies.pools import Member
from brittle.studies.study import SUFFIX as SUFFIX
from brittle.studies.study import Study, check_known

if TYPE_CHECKING:
    from brittle.studies.transfer.matrix import TransferMatrix


@dataclass(frozen=True)
class Winner:
    """One adversarial text of a source; `label` is the index of the right label."""

    case: str
    label: Count
    original: tuple[tuple[str, str], ...]
    adversarial: tuple[tuple[str, str], ...]


@dataclass(frozen=True)
class TransferFacts:
    """What a transfer study is about.

    `max_winners` is how many texts of a source may count; None in studies that were stored without
    it. No attack has edited the fields that are `locked`.
    """

    pool: str
    attack: str
    settings: Mapping[str, Any]
    data: str
    split: str
    seed: int
    labels: tuple[str, ...]
    attacked: Count
    max_winners: Count | None = None
    locked: tuple[str, ...] = ()


@dataclass(frozen=True)
class TransferResults:
    """The winners of every source, and the labels that every target predicts, by index.

    `after[target][source]` has one label for every winner of the source. Where both are the same
    member, they are those of its twin: the diagonal of the matrix is the base rate. `before` has
    the labels of the original texts by target and case, `twin_before` those of the twins. `runs`
    names the file of every source's run, in the folder of the study.
    """

    sources: tuple[Member, ...]
    targets: tuple[Member, ...]
    winners: Mapping[str, tuple[Winner, ...]]
    before: Mapping[str, Mapping[str, int]]
    after: Mapping[str, Mapping[str, tuple[int, ...]]]
    twin_before: Mapping[str, Mapping[str, int]] = field(default_factory=dict)
    runs: Mapping[str, FileName] = field(default_factory=dict)

    def matrix(self) -> TransferMatrix:
        """Compute the transfer matrix."""
        from brittle.studies.transfer.matrix import transfer_matrix

        return transfer_matrix(self)

    def fooled(self, source: str, target: str) -> NDArray[np.bool_] | None:
        """Tell for every winner of a source whether a target is wrong; None for an empty cell."""
        after = self.after.get(target, {}).get(source)
        if after is None:
            return None
        right = np.array([winner.label for winner in self.winners[source]], dtype=np.int64)
        fooled: NDArray[np.bool_] = np.asarray(after, dtype=np.int64) != right
        return fooled

    def was_right(self, source: str, target: str) -> NDArray[np.bool_]:
        """Tell for every winner of a source whether a target was right on the original."""
        before = (self.twin_before if source == target else self.before)[target]
        winners = self.winners[source]
        return np.array([before[winner.case] == winner.label for winner in winners], dtype=bool)


TransferStudy = Study[TransferFacts, TransferResults]


def restricted(study: TransferStudy, names: Collection[str]) -> TransferStudy:
    """Return a study without the members that are not named."""

    def own(by_member: Mapping[str, Any]) -> dict[str, Any]:
        return {name: value for name, value in by_member.items() if name in names}

    whole = study.results
    results = TransferResults(
        tuple(member for member in whole.sources if member.name in names),
        tuple(member for member in whole.targets if member.name in names),
        own(whole.winners),
        own(whole.before),
        {target: own(by_source) for target, by_source in own(whole.after).items()},
        own(whole.twin_before),
        own(whole.runs),
    )
    return replace(study, results=results, failures=own(study.failures))


def check_transfer(study: TransferStudy) -> None:
    """Refuse a study whose parts do not fit together."""
    results, labels = study.results, study.facts.labels
    sources = {member.name for member in results.sources}
    targets = {member.name for member in results.targets}
    if (len(sources), len(targets)) != (len(results.sources), len(results.targets)):
        raise Malformed("members of different names", sorted(sources | targets), "sources, targets")
    check_known("winners", results.winners, sources)
    check_known("after", results.after, targets)
    for source, winners in results.winners.items():
        for winner in winners:
            if winner.label >= len(labels):
                expected = f"the number of one of {plural(len(labels), 'labels')}"
                raise Malformed(expected, winner.label, f"winners.{source}.{winner.case}.label")
    for target, by_source in results.after.items():
        check_known(f"after.{target}", by_source, results.winners)
        for source, predicted in by_source.items():
            winners = results.winners[source]
            if len(predicted) != len(winners):
                expected = f"one label for each of {plural(len(winners), 'winners')}"
                raise Malformed(expected, len(predicted), f"after.{target}.{source}")
            name = "twin_before" if source == target else "before"
            before = getattr(results, name).get(target, {})
            check_known(f"{name}.{target}", {winner.case for winner in winners}, before)

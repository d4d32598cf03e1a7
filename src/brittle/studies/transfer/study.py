"""A transfer study as it is stored: who was attacked, by which texts, and what all targets say."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from brittle import files
from brittle.attacks.stored_settings import changed_settings
from brittle.errors import require
from brittle.formatting import plural
from brittle.schema import Count, FileName, Malformed
from brittle.studies.pools import Member
from brittle.studies.study_format import SUFFIX as SUFFIX
from brittle.studies.study_format import StudyFormat, check_known

if TYPE_CHECKING:
    from brittle.studies.transfer.matrix import TransferMatrix

FORMAT = StudyFormat("transfer", 1, "transfer study", "brittle transfer")


@dataclass(frozen=True)
class Winner:
    """One adversarial text of a source; `label` is the index of the right label."""

    case: str
    label: Count
    original: tuple[tuple[str, str], ...]
    adversarial: tuple[tuple[str, str], ...]


@dataclass(frozen=True)
class TransferStudy:
    """The winners of every source, and the labels that every target predicts, by index.

    `after[target][source]` has one label for every winner of the source. Where both are the same
    member, they are those of its twin: the diagonal of the matrix is the base rate. `before` has
    the labels of the original texts by target and case, `twin_before` those of the twins.
    `failures` tells why a member has no row or no column. `runs` names the file of every source's
    run, in the folder of the study. `max_winners` is how many texts of a source may count; None in
    studies that were stored without it. No attack has edited the fields that are `locked`.
    """

    name: FileName
    pool: str
    attack: str
    settings: Mapping[str, Any]
    data: str
    split: str
    seed: int
    labels: tuple[str, ...]
    attacked: Count
    sources: tuple[Member, ...]
    targets: tuple[Member, ...]
    winners: Mapping[str, tuple[Winner, ...]]
    before: Mapping[str, Mapping[str, int]]
    after: Mapping[str, Mapping[str, tuple[int, ...]]]
    twin_before: Mapping[str, Mapping[str, int]] = field(default_factory=dict)
    failures: Mapping[str, str] = field(default_factory=dict)
    warnings: tuple[str, ...] = ()
    runs: Mapping[str, FileName] = field(default_factory=dict)
    max_winners: Count | None = None
    locked: tuple[str, ...] = ()

    @property
    def kind(self) -> str:
        return FORMAT.kind

    def save(self, path: str | Path) -> None:
        """Write the study in one step."""
        FORMAT.save(self, path)

    @staticmethod
    def load(path: str | Path) -> TransferStudy:
        """Load a study; any other file is an error."""
        study = FORMAT.load(path, TransferStudy, _check)
        return replace(study, settings=changed_settings(study.attack, study.settings))

    def restricted(self, names: Collection[str]) -> TransferStudy:
        """Return the study without the members that are not named."""

        def own(by_member: Mapping[str, Any]) -> dict[str, Any]:
            return {name: value for name, value in by_member.items() if name in names}

        return replace(
            self,
            sources=tuple(member for member in self.sources if member.name in names),
            targets=tuple(member for member in self.targets if member.name in names),
            winners=own(self.winners),
            before=own(self.before),
            after={target: own(by_source) for target, by_source in own(self.after).items()},
            twin_before=own(self.twin_before),
            failures=own(self.failures),
            runs=own(self.runs),
        )

    def matrix(self) -> TransferMatrix:
        """Compute the transfer matrix."""
        from brittle.studies.transfer.matrix import transfer_matrix

        return transfer_matrix(self)

    def frame(self) -> Any:
        """Return the matrix as a pandas data frame, one row for each cell; empty cells are NaN."""
        pandas = require("pandas", "frames", "TransferStudy.frame()")
        matrix = self.matrix()
        rows = [
            (
                source.name,
                target.name,
                matrix.rate[i, j],
                matrix.rate_of_right[i, j],
                matrix.count[i],
            )
            for i, source in enumerate(self.sources)
            for j, target in enumerate(self.targets)
        ]
        columns = ["source", "target", "rate", "rate_of_right", "count"]
        return pandas.DataFrame.from_records(rows, columns=columns)

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

    def report(self, path: str | Path) -> Path:
        """Write the HTML report, one file that needs no network."""
        from brittle.reports.studies.html import render_study
        from brittle.studies.transfer.showing import reported_study

        out = Path(path)
        out.parent.mkdir(parents=True, exist_ok=True)
        files.write_whole(out, render_study(reported_study(self)), errors="replace")
        return out

    def export(self, path: str | Path, texts: bool = False, exact: bool = False) -> Path:
        """Write a row for every cell, or for every text, as .csv, .jsonl or .parquet."""
        from brittle.studies.transfer.exporting import export_study

        return export_study(self, path, texts, exact)


def _check(study: TransferStudy) -> None:
    """Refuse a study whose parts do not fit together."""
    sources = {member.name for member in study.sources}
    targets = {member.name for member in study.targets}
    if (len(sources), len(targets)) != (len(study.sources), len(study.targets)):
        raise Malformed("members of different names", sorted(sources | targets), "sources, targets")
    check_known("winners", study.winners, sources)
    check_known("after", study.after, targets)
    for source, winners in study.winners.items():
        for winner in winners:
            if winner.label >= len(study.labels):
                expected = f"the number of one of {plural(len(study.labels), 'labels')}"
                raise Malformed(expected, winner.label, f"winners.{source}.{winner.case}.label")
    for target, by_source in study.after.items():
        check_known(f"after.{target}", by_source, study.winners)
        for source, labels in by_source.items():
            winners = study.winners[source]
            if len(labels) != len(winners):
                expected = f"one label for each of {plural(len(winners), 'winners')}"
                raise Malformed(expected, len(labels), f"after.{target}.{source}")
            name = "twin_before" if source == target else "before"
            before = getattr(study, name).get(target, {})
            check_known(f"{name}.{target}", {winner.case for winner in winners}, before)

"""Texts that fool every target (Table 1 of the paper), and how many targets each text fools."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from brittle.studies.transfer.study import TransferStudy, Winner


@dataclass(frozen=True)
class CountedText:
    """A winner of a source, and how many of the targets that saw it it fools.

    The source itself counts, where it is a target: the text was made to fool it. Its twin does not.
    """

    source: str
    winner: Winner
    fooled: int
    targets: int

    @property
    def fools_all(self) -> bool:
        """Whether it fools every target that saw it."""
        return self.fooled == self.targets


def counted_texts(study: TransferStudy) -> list[CountedText]:
    """Count the targets that every winner fools; those that fool most come first."""
    names = {target.name for target in study.targets}
    texts = []
    for source, winners in study.winners.items():
        columns = [
            fooled
            for name in names - {source}
            if (fooled := study.fooled(source, name)) is not None
        ]
        own = int(source in names)
        total = np.sum(columns, axis=0) if columns else np.zeros(len(winners), dtype=int)
        texts += [
            CountedText(source, winner, int(count) + own, len(columns) + own)
            for winner, count in zip(winners, total)
        ]
    return sorted(texts, key=lambda text: (-text.fooled, text.targets, text.source))


def universal_texts(study: TransferStudy) -> list[CountedText]:
    """Return the texts that fool every target."""
    return [text for text in counted_texts(study) if text.fools_all]

"""Synthetic transfer studies."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest

from brittle.studies.pools import Member
from brittle.studies.study import study_of
from brittle.studies.transfer.study import TransferStudy, Winner

MEMBERS = tuple(
    Member(
        f"{architecture}-{reads}",
        f"zoo:{architecture}-{reads}",
        parts={"architecture": architecture, "reads": reads},
    )
    for architecture in ("LSTM", "CNN")
    for reads in ("Random", "Character")
)


@pytest.fixture
def make_random_study() -> Callable[[int], TransferStudy]:
    """Make a study of four models with random answers; the last target has an empty cell."""

    def make(seed: int) -> TransferStudy:
        rng = np.random.default_rng(seed)
        names = [member.name for member in MEMBERS]
        winners = {
            name: tuple(
                Winner(f"c{n}", n % 2, (("text", f"a {n}"),), (("text", f"b {n}"),))
                for n in range(5 + i)
            )
            for i, name in enumerate(names)
        }
        before = {
            name: {f"c{n}": int(label) for n, label in enumerate(rng.integers(0, 2, 9))}
            for name in names
        }
        after = {
            target: {
                source: tuple(rng.integers(0, 2, len(winners[source])).tolist()) for source in names
            }
            for target in names
        }
        del after[names[-1]][names[0]]
        return study_of(
            "transfer",
            "four",
            pool="file",
            attack="pwws",
            settings={},
            data="mr",
            split="test",
            seed=0,
            labels=("neg", "pos"),
            attacked=20,
            sources=MEMBERS,
            targets=MEMBERS,
            winners=winners,
            before=before,
            after=after,
            twin_before=before,
            failures={names[-1]: "it died"},
        )

    return make

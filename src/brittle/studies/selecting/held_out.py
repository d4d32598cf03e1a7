"""The models that no ensemble may hold, so that all ensembles are measured on one same set."""

from __future__ import annotations

from collections.abc import Collection, Sequence

from brittle.studies.pools import Member

EVERY = 5
MIN_MEMBERS = 10


def default_held_out(members: Sequence[Member], spared: Collection[str] = ()) -> tuple[str, ...]:
    """Choose every fifth member, in the order of classes; the choice knows no rate.

    Members that a fixed list names (`spared`) are not chosen. A pool of fewer than ten keeps all.
    """
    if len(members) < MIN_MEMBERS:
        return ()
    free = [member for member in members if member.name not in spared]
    by_class = sorted(free, key=lambda member: (member.reads, member.architecture))
    return tuple(member.name for member in by_class[EVERY // 2 :: EVERY])

"""Ensembles of several sizes by several methods, with what each is expected to reach."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from brittle.errors import UsageError, unknown
from brittle.studies.pools import Member
from brittle.studies.selecting.candidates import Candidates
from brittle.studies.selecting.exhaustive import exhaustive
from brittle.studies.selecting.expert import EXPERT_LIST, expert, listed
from brittle.studies.selecting.genetic import genetic
from brittle.studies.selecting.greedy import greedy

Search = Callable[[Candidates, int, int], tuple[int, ...]]
"""From candidates, a size and a seed to the rows of an ensemble."""

SEARCHES: Mapping[str, Search] = {
    "genetic": genetic,
    "greedy": lambda candidates, size, seed: greedy(candidates, size),
    "expert": lambda candidates, size, seed: expert(candidates, size),
    "exhaustive": lambda candidates, size, seed: exhaustive(candidates, size),
}
PAPER_LIST, USER_LIST = "paper's list", "list"
METHODS = (*SEARCHES, PAPER_LIST)


@dataclass(frozen=True)
class Ensemble:
    """A selected ensemble; `objective` and `outside` come from the rates of its members.

    The objective is the mean over all targets of the best member's rate. `outside` is the mean over
    the targets that are no members; None if there are none.
    """

    method: str
    members: tuple[Member, ...]
    objective: float
    outside: float | None

    @property
    def size(self) -> int:
        return len(self.members)

    @property
    def name(self) -> str:
        """The same for the same members, in whatever order they were chosen."""
        return " + ".join(sorted(member.name for member in self.members))

    @property
    def spec(self) -> str:
        """The ensemble as one target; the same for the same members, as its name is."""
        members = sorted(self.members, key=lambda member: member.name)
        return f"ensemble:{','.join(member.spec for member in members)}"


def select(
    candidates: Candidates,
    sizes: Sequence[int],
    methods: Sequence[str] = ("genetic",),
    seed: int = 0,
    names: Sequence[str] = (),
) -> tuple[list[Ensemble], list[str]]:
    """Select an ensemble for every size and method; return them with notes for the user.

    `names` is a list of the user's own, the best first: it is a method more. A method that cannot
    give a size says so in a note; if there is no ensemble at all, the notes are an error.
    """
    _check(candidates, sizes, methods)
    ensembles: list[Ensemble] = []
    notes: list[str] = _notes_on_rates(candidates)
    for method in methods:
        if method in SEARCHES:
            for size in sizes:
                try:
                    rows = SEARCHES[method](candidates, size, seed)
                except UsageError as error:
                    notes.append(str(error))
                    continue
                ensembles.append(_ensemble(candidates, method, rows))
    lists = {PAPER_LIST: EXPERT_LIST} if PAPER_LIST in methods else {}
    for method, entries in (lists | ({USER_LIST: tuple(names)} if names else {})).items():
        found, missing = listed(candidates, entries)
        notes += [f"The {method}: {note}" for note in missing]
        for size in sizes:
            if size <= len(found):
                ensembles.append(_ensemble(candidates, method, found[:size]))
        if max(sizes) > len(found):
            notes.append(f"The {method} has {len(found)} of the candidates: no larger ensembles.")
    if not ensembles:
        raise UsageError(" ".join(notes))
    return ensembles, notes


def _notes_on_rates(candidates: Candidates) -> list[str]:
    same = [[s.name == t.name for t in candidates.targets] for s in candidates.sources]
    if np.isfinite(candidates.rate[np.array(same)]).any():
        return []
    return [
        "The study has no base rates (two seeds give them): for a target that is a member, only "
        "the other members count."
    ]


def _check(candidates: Candidates, sizes: Sequence[int], methods: Sequence[str]) -> None:
    for method in methods:
        if method not in METHODS:
            raise unknown("method", method, METHODS)
    count = len(candidates.sources)
    for size in sizes:
        if not 1 <= size <= count:
            raise UsageError(
                f"Got the ensemble size {size}; expected 1 to {count}, the number of candidates."
            )


def _ensemble(candidates: Candidates, method: str, rows: Sequence[int]) -> Ensemble:
    objective = candidates.objective(np.array([rows], dtype=np.int64))
    members = tuple(candidates.sources[row] for row in rows)
    return Ensemble(method, members, float(objective[0]), candidates.outside(rows))

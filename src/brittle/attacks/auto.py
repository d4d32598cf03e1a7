"""Auto: climb the ladder, from gentle edits to rough ones, until the case breaks."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import takewhile
from random import Random
from typing import Annotated, Any, ClassVar

from brittle.asks import (
    NO_CANDIDATES,
    NORMALISED,
    Ask,
    Case,
    Gradient,
    Note,
    Probe,
    Search,
    Tag,
    Try,
    Unfit,
    leaves,
)
from brittle.attacks.climbing import Climb
from brittle.attacks.recipes import RunContext, check_count, max_words
from brittle.attacks.registry import registered
from brittle.attacks.substitutes import substitutes
from brittle.candidates import Proposal
from brittle.candidates.choice import CandidateSettings, choose_proposal
from brittle.candidates.rewrites import Rewrites, rewritten
from brittle.english.words import is_plainly_not_english
from brittle.levels import LEVELS, LOOK_ALIKE, REWRITE, Level, parse_levels
from brittle.spaces import Choices
from brittle.statuses import LevelStatus
from brittle.text import Text

QUERIES_PER_TURN = {"rewrite": 1, "careful": 1, "loose": 1, "any": 14, "typo": 3, LOOK_ALIKE: 3}
"""With a budget the levels take turns, so that each gets its share of a small one."""


@dataclass
class LevelSearch:
    """The search of one level of a case, which can be left and taken up again."""

    level: Level
    search: Search[LevelStatus]
    answer: Any = None
    status: LevelStatus | None = None

    def advance(self, queries: float) -> Search[None]:
        """Go on with the search until it has asked so many queries, or ends."""
        if self.status is None:
            self.status = "out of budget"
            yield from Note(level=(self.level.name, self.status))
        while queries > 0:
            try:
                ask = self.search.send(self.answer)
            except StopIteration as stop:
                self.status = stop.value
                yield from Note(level=(self.level.name, stop.value))
                return
            self.answer = yield from ask
            queries -= sum(len(leaf.items) for leaf in leaves(ask) if leaf.is_query)

    @property
    def is_open(self) -> bool:
        """Tell whether there is more to search."""
        return self.status in (None, "out of budget")


@dataclass(frozen=True)
class Auto:
    """Climb the ladder: try gentle edits first, rougher ones only while the case stands.

    The levels are those of `brittle.levels`. A level whose space is small is enumerated,
    so that a case which stands is *proved* at this level; a larger space is searched, the most
    salient words first (`Climb`). Saliency is measured once for all levels, by masks or, where the
    target has gradients, by one of them. The row says at which level the case broke, and how it
    stands at every level that was tried.

    Without a budget a level is finished before the next one begins, and the first winner ends the
    search. Under a budget the levels take turns, so that rough ones get their part of it. After a
    winner only gentler levels go on: the gentlest winner counts.

    For every winner a few random edits of the same size and level are asked, too: if these break
    the case as well, the target was undecided there.
    """

    levels: tuple[tuple[Level, Proposal | Rewrites], ...]
    edits: int = 2
    max_space: int = 200
    random_edits: int = 5
    by_gradient: bool = False
    uses_budget: ClassVar = True

    @property
    def asks(self) -> tuple[type[Ask[Any]], ...]:
        return (Tag, Gradient, Probe, Try) if self.by_gradient else (Tag, Probe, Try)

    @property
    def sources(self) -> tuple[Proposal | Rewrites, ...]:
        """The sources of all levels."""
        return tuple(source for _, source in self.levels)

    @property
    def proposal(self) -> Proposal | Rewrites:
        """The source of the roughest level: if that needs no English, the attack does not."""
        return self.sources[-1]

    def __call__(self, case: Case[Text], rng: Random) -> Search[None]:
        climb = Climb(case, rng, self.by_gradient, self.max_space, self.random_edits)
        searches = [
            LevelSearch(level, self._search(level, source, climb)) for level, source in self.levels
        ]
        while rest := [one for one in _gentler_than_winner(searches) if one.is_open]:
            for one in rest:
                if one in _gentler_than_winner(searches):
                    is_limited = case.budget is not None
                    queries = QUERIES_PER_TURN[one.level.name] if is_limited else math.inf
                    yield from one.advance(queries)
        statuses = {one.status for one in searches}
        if statuses <= {"no candidates", "not English", "normalised"}:
            raise Unfit(NORMALISED if statuses == {"normalised"} else NO_CANDIDATES)
        yield from Note(is_whole=statuses <= {"proved", "no candidates", "not English"})

    def _search(
        self, level: Level, source: Proposal | Rewrites, climb: Climb
    ) -> Search[LevelStatus]:
        case = climb.case
        words = [word for word in case.text.words if isinstance(word, str)]
        if source.needs_tags and is_plainly_not_english(words):
            return "not English"
        try:
            choices = yield from self.choices(case, level, source)
        except Unfit as unfit:
            return "normalised" if str(unfit) == NORMALISED else "no candidates"
        by_saliency = not isinstance(source, Rewrites)
        return (yield from climb.search(level.name, choices, by_saliency))

    def choices(
        self, case: Case[Text], level: Level, source: Proposal | Rewrites
    ) -> Search[Choices]:
        """Return what may be changed in a text at a level; unfit if that is nothing."""
        if isinstance(source, Rewrites):
            return (yield from self._rewrites(case, source))
        return (yield from _swaps(case, level, source))

    def _rewrites(self, case: Case[Text], source: Rewrites) -> Search[Choices]:
        [tags] = yield from Tag([case.text])
        slots = [s for s in source.slots(case.text, tags) if _is_read(case, s.field, s.start)]
        if not slots:
            raise Unfit(NO_CANDIDATES)

        def build(changes: Sequence[tuple[int, str]]) -> Text:
            return rewritten(case.text, [(slots[n], new) for n, new in changes])

        return Choices([slot.alternatives for slot in slots], self.edits, build)


def _is_read(case: Case[Text], name: str, start: int) -> bool:
    """Tell whether a character of a field comes before the end of what the target reads of it."""
    if case.read_positions is None:
        return True
    for field, (first, last) in zip(case.text.frame.fields, case.text.frame.spans):
        if field.name == name:
            read = [i for i in case.read_positions if first <= i < last]
            words = case.text.words[first : read[-1] + 1] if read else ()
            lengths = (len(gap) + len(str(word)) for gap, word in zip(field.gaps, words))
            return start < sum(lengths)
    return False


def _gentler_than_winner(searches: Sequence[LevelSearch]) -> list[LevelSearch]:
    return list(takewhile(lambda one: one.status != "broken", searches))


def _swaps(case: Case[Text], level: Level, source: Proposal) -> Search[Choices]:
    options = yield from substitutes(case, source)
    most = max_words(case.text, level.share)

    def build(changes: Sequence[tuple[int, str]]) -> Text:
        if len(changes) == 1:
            return case.text.swap(*changes[0])
        words = list(case.text.words)
        for i, word in changes:
            words[i] = word
        return case.text.with_words(tuple(words))

    return Choices(options, most, build)


@registered("auto")
def auto(
    *,
    context: RunContext = RunContext(),
    levels: Annotated[str, "the levels to climb, from gentle to rough"] = ",".join(LEVELS),
    edits: Annotated[int, "largest number of rewrites of a text"] = 2,
    rules: Annotated[str | None, "your own file of rewrites instead of brittle's"] = None,
    max_space: Annotated[int, "try all texts of a case if there are at most this many"] = 200,
    random_edits: Annotated[int, "random edits to try on each broken case"] = 5,
) -> Auto:
    """Climb from gentle edits to rough ones until the case breaks: the answer for most users."""
    check_count(edits=edits, max_space=max_space)
    sources = [(level, _source(level, rules)) for level in parse_levels(levels)]
    by_gradient = Gradient.question in context.offers
    return Auto(tuple(sources), edits, max_space, random_edits, by_gradient)


def _source(level: Level, rules: str | None) -> Proposal | Rewrites:
    return (
        Rewrites(rules)
        if level.name == REWRITE
        else choose_proposal(CandidateSettings(candidates=level.name))
    )


@registered("rewrite")
def rewrite(
    *,
    edits: Annotated[int, "largest number of rewrites of a text"] = 2,
    rules: Annotated[str | None, "your own file of rewrites instead of brittle's"] = None,
    max_space: Annotated[int, "try all texts of a case if there are at most this many"] = 200,
    random_edits: Annotated[int, "random edits to try on each broken case"] = 5,
) -> Auto:
    """Rewrite phrases so that they mean the same: the gentlest level of the ladder."""
    check_count(edits=edits, max_space=max_space)
    return Auto(((LEVELS[REWRITE], Rewrites(rules)),), edits, max_space, random_edits)

"""Exhaustive search: every text of a finite space, so that what does not break is proved."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import combinations, islice
from random import Random
from typing import Annotated, Any

from brittle.asks import Ask, Bound, Case, Note, Search, Tag, Try, Unfit
from brittle.attacks.recipes import RunContext, check_count
from brittle.attacks.registry import registered
from brittle.attacks.substitutes import substitutes
from brittle.candidates import Proposal
from brittle.candidates.choice import CandidateSettings, SynonymSettings, choose_proposal
from brittle.formatting import plural
from brittle.spaces import Bounded, BoundRequest, PositionSet, SwapSpace, subsets
from brittle.text import Text

TEXTS_PER_ASK = 1024
"""How many texts of a case are built at once."""
BY_BOUNDS = "by bounds"
"""The reason of a case that is proved by the target's bound for its whole space."""


@dataclass(frozen=True)
class Exhaustive:
    """Ask about every text with at most `words` words swapped for their candidates.

    Texts with fewer swaps come first, so a broken case has as few as can be. If no text of the
    whole space reaches the goal, the case is proved. A number of words that would make more than
    `max_space` texts is not searched: the case is then held, or skipped if nothing was searched.

    The candidates of a position are those of the original text, whatever else is swapped, also
    where a proposal looks at the sentence (`candidates/careful.py`). So the space is fixed before
    the target is asked, and what is proved is about this space.

    With `bounds`, the target is first asked what it knows of the whole space at once; only what
    that leaves open is searched. After the single swaps, the positions and the candidates with the
    highest loss come first.
    """

    proposal: Proposal
    words: int = 1
    max_space: int = 100_000
    bounds: bool = False

    @property
    def asks(self) -> tuple[type[Ask[Any]], ...]:
        return (Tag, Bound, Try) if self.bounds else (Tag, Try)

    def __call__(self, case: Case[Text], rng: Random) -> Search[None]:
        options = yield from substitutes(case, self.proposal)
        space = SwapSpace(case.text, options, self.words)
        yield from Note(single_swaps=space.size_of(1))
        known = yield from self._known(case, space)
        total, order = 1, list(space.positions)
        for words in range(known.proved_words + 1, self.words + 1):
            total += space.size_of(words, known.open_sets)
            if total > self.max_space:
                yield from self._too_large(words, has_tried=words > 1 or bool(known.strongest))
                return
            sets = _sets(order, known.open_sets, words)
            losses = yield from _try_all(space.texts(sets))
            yield from Note(proved_words=words, is_whole=words == self.words)
            if words == 1:
                space, order = _strongest_first(space, sets, losses)

    def _known(self, case: Case[Text], space: SwapSpace) -> Search[Bounded]:
        """Ask the target what it knows of the whole space, and try the texts it names."""
        if not self.bounds:
            return Bounded()
        assert case.label is not None
        answers = yield from Bound([BoundRequest(space, case.label, case.toward)])
        known: Bounded = answers[0]
        is_whole = known.proved_words >= self.words
        yield from Note(proved_words=known.proved_words or None, is_whole=is_whole)
        if is_whole:
            yield from Note(reason=BY_BOUNDS)
        else:
            yield from Try(known.strongest, in_order=True)
        return known

    def _too_large(self, words: int, has_tried: bool) -> Search[None]:
        """Say why the search ends here: the case is held, or skipped if nothing was tried."""
        reason = f"above {self.max_space:,} texts with {plural(words, 'words')}"
        if not has_tried:
            raise Unfit(reason)
        yield from Note(reason=reason)


def _sets(
    order: Sequence[int], open_sets: Sequence[PositionSet] | None, words: int
) -> Sequence[PositionSet]:
    """List the sets of so many positions that are to be searched."""
    if open_sets is None:
        return list(combinations(order, words))
    rank = {i: n for n, i in enumerate(order)}
    ranked = [sorted(one, key=rank.__getitem__) for one in open_sets]
    return sorted(subsets(ranked, words), key=lambda one: [rank[i] for i in one])


def _try_all(texts: Iterator[Text]) -> Search[list[float]]:
    """Try texts in parts of a bounded size; return their losses if none wins."""
    losses: list[float] = []
    while part := list(islice(texts, TEXTS_PER_ASK)):
        losses += (yield from Try(part, in_order=True)).loss.tolist()
    return losses


def _strongest_first(
    space: SwapSpace, sets: Iterable[PositionSet], losses: Sequence[float]
) -> tuple[SwapSpace, list[int]]:
    """Sort candidates, and positions, by the losses of single swaps, the highest first."""
    singles = [(i, word) for (i,) in sets for word in space.options[i]]
    loss = dict(zip(singles, losses))
    options = [
        tuple(sorted(words, key=lambda word: -loss.get((i, word), 0.0)))
        for i, words in enumerate(space.options)
    ]
    best = {i: loss.get((i, options[i][0]), 0.0) for i in space.positions}
    return replace(space, options=options), sorted(space.positions, key=lambda i: -best[i])


@registered("exhaustive")
def exhaustive(
    *,
    context: RunContext = RunContext(),
    words: Annotated[int, "largest number of words to swap"] = 1,
    max_space: Annotated[int, "largest number of texts to try for a case"] = 100_000,
    bounds: Annotated[
        bool, "first ask for a bound of the whole space, if the target has one"
    ] = True,
    source: SynonymSettings = CandidateSettings(),
) -> Exhaustive:
    """Try every text with at most so many words swapped: what does not break is proved."""
    check_count(words=words, max_space=max_space)
    proposal = choose_proposal(source)
    return Exhaustive(proposal, words, max_space, bounds and Bound.question in context.offers)

"""One level of the ladder for one case: a small space is enumerated, a large one is searched.

The order of the questions depends on the case, and never on the size of its budget. So a search
with a larger budget begins as one with a smaller budget does, and never breaks fewer cases.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from random import Random
from typing import NamedTuple

import numpy as np

from brittle.asks import Case, Gradient, Note, Probe, Search, Try
from brittle.attacks.substitutes import edit_request, growing_parts, most_salient
from brittle.levels import rank
from brittle.moves import EditSpace
from brittle.spaces import Change, Choices
from brittle.statuses import LevelStatus
from brittle.text import Text

AT_ONCE = 2
"""How many options of a site are tried before the next site."""
FIRST_PART, LARGEST_PART = 8, 256
"""The batches of an enumeration start small and grow: most winners come early."""
PART_UNDER_BUDGET = 1
SWAP_SPACE_SHARE = 0.5
"""The share of an enumeration's limit that applies where words are swapped: the search by turns
finds nearly every winner there, and a text that holds costs as many queries as its space."""
DRAWS_PER_EDIT = 4
"""How often a random edit is drawn again if it was drawn before."""


@dataclass
class LevelWay:
    """Where a search by turns stands at a level: what it has changed so far, and the loss there."""

    level: str
    choices: Choices
    loss: float
    changes: dict[int, str] = field(default_factory=dict)


class Offered(NamedTuple):
    """The losses of some texts that were offered, the best of them, and the first winner if any.

    What a constraint refuses has a loss of minus infinity.
    """

    loss: Sequence[float]
    best: int
    winner: int | None


@dataclass
class Climb:
    """What the levels of one case share.

    `saliency` is the loss of each masked word, or the length of its gradient, by position. `asked`
    has the loss of every text that was offered and did not win: none is asked about twice.
    """

    case: Case[Text]
    rng: Random
    by_gradient: bool = False
    max_space: int = 200
    random_edits: int = 5
    saliency: dict[int, float] = field(default_factory=dict)
    asked: dict[Text, float] = field(default_factory=dict)

    def search(self, level: str, choices: Choices, by_saliency: bool = True) -> Search[LevelStatus]:
        """Search the texts of a level; return how the case stands there.

        The sites of choices are positions of words, unless they are not searched `by_saliency`.
        """
        share = SWAP_SPACE_SHARE if by_saliency else 1.0
        if choices.size <= share * self.max_space:
            found = yield from self._enumerate(level, choices)
            return "proved" if found is None else (yield from self._broken(choices, found))
        found = yield from self._take_in_turn(level, choices, by_saliency)
        return "held" if found is None else (yield from self._broken(choices, found))

    def _offer(
        self, level: str, choices: Choices, sets: Sequence[Mapping[int, str]]
    ) -> Search[Offered]:
        """Offer texts; a winner does not end the search, for a gentler one may come."""
        texts = [choices.build(tuple(chosen.items())) for chosen in sets]
        known = {text: self.asked[text] for text in texts if text in self.asked}
        fresh = [text for text in dict.fromkeys(texts) if text not in known]
        winner = None
        if fresh:
            answer = yield from Try(fresh, cost=[float(rank(level))] * len(fresh), level=level)
            refused = answer.refused if answer.refused is not None else np.zeros(len(fresh), bool)
            loss = dict(zip(fresh, np.where(refused, -np.inf, answer.loss).tolist()))
            # What won at a rough level is offered again at a gentler one: there it counts more.
            self.asked |= {text: loss[text] for text, won in zip(fresh, answer.won) if not won}
            known |= loss
            if answer.won.any():
                winner = texts.index(fresh[int(answer.won.argmax())])
        losses = [known[text] for text in texts]
        return Offered(losses, max(range(len(texts)), key=losses.__getitem__), winner)

    def _enumerate(self, level: str, choices: Choices) -> Search[Mapping[int, str] | None]:
        """Ask about every text; return the first winner.

        Texts with fewer changes come first. Of those with several, the sum of what each change
        alone reached says which come first.
        """
        loss: dict[Change, float] = {}
        for changes in range(1, min(choices.most, len(choices.sites)) + 1):
            chosen: list[tuple[Change, ...]] = [(change,) for change in choices.singles()]
            if changes > 1:
                chosen = list(choices.combined(changes))
                chosen.sort(key=lambda own: -sum(loss[change] for change in own))
            for part in self._parts(chosen):
                sets = [dict(own) for own in part]
                offered = yield from self._offer(level, choices, sets)
                if offered.winner is not None:
                    return sets[offered.winner]
                if changes == 1:
                    loss |= {own[0]: value for own, value in zip(part, offered.loss)}
        return None

    def _parts(self, chosen: Sequence[tuple[Change, ...]]) -> list[Sequence[tuple[Change, ...]]]:
        parts, start, size = [], 0, FIRST_PART if self.case.budget is None else PART_UNDER_BUDGET
        while start < len(chosen):
            parts.append(chosen[start : start + size])
            start += size
            size = min(2 * size, LARGEST_PART) if self.case.budget is None else size
        return parts

    def _take_in_turn(
        self, level: str, choices: Choices, by_saliency: bool
    ) -> Search[Mapping[int, str] | None]:
        """Try the first options of each site, then the next ones, and keep what gains.

        The most salient words come first. Under a budget few words are masked at first, then more,
        and the most salient ones have their turn in between.
        """
        way = LevelWay(level, choices, self.case.start_loss)
        had_turn: list[int] = []
        if by_saliency and self.case.budget is not None:
            for masked in growing_parts(choices.sites):
                yield from self.rank([i for i in masked if i not in self.saliency])
                known = {i: self.saliency[i] for i in choices.sites if i in self.saliency}
                for site in most_salient(known, had_turn)[: max(1, len(masked) // 2)]:
                    had_turn.append(site)
                    if (found := (yield from self._extend(way, site, 0))) is not None:
                        return found
        if by_saliency:
            yield from self.rank([i for i in choices.sites if i not in self.saliency])
        known = {i: self.saliency.get(i, 0.0) for i in choices.sites}
        ranked = most_salient(known) if by_saliency else list(choices.sites)
        for first in range(0, max(map(len, choices.options)), AT_ONCE):
            for site in ranked:
                if first == 0 and site in had_turn:
                    continue
                if (found := (yield from self._extend(way, site, first))) is not None:
                    return found
        if self.case.is_constrained or way.loss == 0:
            return (yield from self._try_singles(level, choices))
        return None

    def _try_singles(self, level: str, choices: Choices) -> Search[Mapping[int, str] | None]:
        """Try every change alone; return the first winner.

        The search by turns adds to what it keeps. Where it kept a change that gains nothing, or
        whose winners were refused, one change alone may still win.
        """
        for part in self._parts([(change,) for change in choices.singles()]):
            sets = [dict(own) for own in part]
            offered = yield from self._offer(level, choices, sets)
            if offered.winner is not None:
                return sets[offered.winner]
        return None

    def _extend(self, way: LevelWay, site: int, first: int) -> Search[Mapping[int, str] | None]:
        """Try some options of a site in the text as it is by then; return a winner, if any.

        While the loss is zero, as it is for a target that answers labels only, a change stays
        though it gains nothing: otherwise the search would never leave the original.
        """
        options = way.choices.options[site][first : first + AT_ONCE]
        others = {i: option for i, option in way.changes.items() if i != site}
        if not options or len(others) >= way.choices.most:
            return None
        sets = [{**others, site: option} for option in options]
        offered = yield from self._offer(way.level, way.choices, sets)
        if offered.winner is not None:
            return sets[offered.winner]
        loss = offered.loss[offered.best]
        if loss > way.loss or loss == way.loss == 0:
            way.changes, way.loss = sets[offered.best], loss
        return None

    def rank(self, positions: Sequence[int]) -> Search[None]:
        """Learn how salient words are: by one gradient of all, or by masking each."""
        if not positions:
            return
        if self.by_gradient:
            positions = self.case.positions
            request = edit_request(self.case, EditSpace("words"), positions, self.case.text)
            [gradient] = yield from Gradient([self.case.text], lambda text: request)
            length = np.linalg.norm(gradient.value, axis=1)
            self.saliency |= {i: float(length[i]) for i in positions}
            return
        answer = yield from Probe([self.case.text.mask(i) for i in positions], partial=True)
        self.saliency |= dict(zip(positions, answer.loss.tolist()))

    def _broken(self, choices: Choices, winner: Mapping[int, str]) -> Search[LevelStatus]:
        """Ask about random edits of the winner's size: do they break the case, too?"""
        drawn = self._draw(choices, winner)
        if drawn:
            texts = [choices.build(chosen) for chosen in drawn]
            answer = yield from Probe(texts, partial=True)
            yield from Note(random_edits=(len(answer.won), int(answer.won.sum())))
        return "broken"

    def _draw(self, choices: Choices, winner: Mapping[int, str]) -> list[tuple[Change, ...]]:
        drawn: dict[tuple[Change, ...], None] = {}
        for _ in range(DRAWS_PER_EDIT * self.random_edits):
            if len(drawn) == self.random_edits:
                break
            sites = sorted(self.rng.sample(choices.sites, len(winner)))
            chosen = tuple((i, self.rng.choice(choices.options[i])) for i in sites)
            if dict(chosen) != winner:
                drawn[chosen] = None
        return list(drawn)

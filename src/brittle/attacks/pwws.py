"""PWWS: swap words for synonyms, by saliency times gain (Ren et al., 2019)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from random import Random
from typing import TYPE_CHECKING, Annotated, ClassVar, NamedTuple

import numpy as np

from brittle.asks import Case, Note, Probe, Search, Tag, Try, together
from brittle.attacks.recipes import RunContext, check_share, max_words
from brittle.attacks.registry import registered
from brittle.attacks.substitutes import Substitutes, growing_parts, most_salient, substitutes
from brittle.candidates import Proposal
from brittle.candidates.choice import (
    CandidateSettings,
    SynonymSettings,
    choose_entities,
    choose_proposal,
)
from brittle.text import Text

if TYPE_CHECKING:
    from brittle.candidates.entities import Entities

FIRST_CANDIDATES = 2
"""With a budget, how many candidates of a word are tried before the next word."""


class Swaps(NamedTuple):
    """The candidates of a position, the best first, what it gains, and those that win."""

    words: Sequence[str]
    gain: float
    winning: Sequence[str]


@dataclass(frozen=True)
class PWWS:
    """Swap words for synonyms, by saliency times gain (Ren et al., 2019).

    Every word is masked once, and every candidate is measured once on the original text. The words
    are then replaced one after another, each by its best candidate, in the order of
    softmax(saliency)[i] · gain[i] (equation 7), until the goal is reached or the list ends;
    replacements that gain nothing are not skipped. Ties go to the first word and candidate.

    Deviations: saliency and gain are measured on the loss, the summed probability of the other
    classes, which is the drop of the true class's probability without its rounding. Named entities
    are candidates only with `entities`: one of its type then joins the synonyms of every word of an
    entity (the authors' code tries it alone). Candidates are inflected like the word they replace
    (`inflect`), where the authors keep only those that already have its tag. Proper nouns and forms
    of "be" stay as they are and are no candidates; synonyms of several words are no candidates
    either. This is so with the candidates `paper`; careful ones are fewer (`candidates.careful`).
    A `share` below 1 ends the list earlier, but always allows one word, however short the
    text.

    Under a budget, however large, the order is another, so that a small one suffices for something.
    Only words with candidates are masked, few at first, then more at a time, and the first two
    candidates of the most salient ones are tried in between (`growing_parts`). Then the words are
    replaced in the order above, then the other candidates are tried, and at last the words are
    replaced once more, now that every candidate is measured.

    Under a constraint (docs/explanation/ladder.md) the best candidate may be refused, and the
    paper has no next step. Then the other candidates of that position are tried, the best first,
    and the list goes on with the best that is not refused. At last every single swap is tried that
    reached the goal when it was measured.

    Where every candidate was measured, the row says whether a single swap suffices.
    """

    proposal: Proposal
    share: float = 1.0
    entities: Entities | None = None
    asks: ClassVar = (Tag, Probe, Try)
    uses_budget: ClassVar = True

    def __call__(self, case: Case[Text], rng: Random) -> Search[None]:
        options = yield from substitutes(case, self.proposal, self.entities)
        positions = [i for i, words in enumerate(options) if words]
        if case.budget is not None:
            yield from self._under_budget(case, options, positions)
            return
        masked = yield from Probe([case.text.mask(i) for i in case.positions])
        saliency = dict(zip(case.positions, masked.loss))
        best = yield from together(_measure(case, i, options[i], Probe) for i in positions)
        proved = 0 if any(swaps.winning for swaps in best) else 1
        yield from Note(proved_words=proved, single_swaps=sum(map(len, options)))
        yield from self._follow(case, saliency, dict(zip(positions, best)))
        if case.is_constrained:
            winners = [case.text.swaps(i, swaps.winning) for i, swaps in zip(positions, best)]
            yield from Try([text for texts in winners for text in texts], in_order=True)
            yield from Note(proved_words=1)

    def _under_budget(
        self, case: Case[Text], options: Substitutes, positions: Sequence[int]
    ) -> Search[None]:
        """Spend a budget of any size: the order of the questions does not depend on it."""
        saliency: dict[int, float] = {}
        best: dict[int, Swaps] = {}
        yield from Try(case.text.swaps(positions[0], options[positions[0]][:1]))
        for masked in growing_parts(positions):
            answer = yield from Probe([case.text.mask(i) for i in masked], partial=True)
            saliency |= dict(zip(masked, answer.loss.tolist()))
            for i in most_salient(saliency, best)[: max(1, len(masked) // 2)]:
                best[i] = yield from _measure(case, i, options[i][:FIRST_CANDIDATES], Try)
        for i in most_salient(saliency, best):
            best[i] = yield from _measure(case, i, options[i][:FIRST_CANDIDATES], Try)
        # The first text of a path is the best of those that were tried already.
        yield from self._follow(case, saliency, best, tried=1)
        for i in most_salient(saliency):
            if rest := options[i][FIRST_CANDIDATES:]:
                best[i] = _joined(best[i], (yield from _measure(case, i, rest, Try)))
        yield from Note(proved_words=1, single_swaps=sum(map(len, options)))
        yield from self._follow(case, saliency, best, tried=1)

    def _follow(
        self,
        case: Case[Text],
        saliency: dict[int, float],
        best: dict[int, Swaps],
        tried: int = 0,
    ) -> Search[None]:
        """Replace word after word by its best candidate, in the order of equation 7.

        The first `tried` of these texts were offered before.
        """
        weight = dict(zip(saliency, _softmax(np.array(list(saliency.values())))))
        order = sorted(best, key=lambda i: -weight[i] * best[i].gain)
        order = [i for i in order if best[i].words][: max_words(case.text, self.share)]
        path = [case.text]
        for i in order:
            path.append(path[-1].swap(i, best[i].words[0]))
        answer = yield from Try(path[1 + tried :], in_order=True)
        if answer.refused is not None and answer.refused.any():
            done = tried + int(answer.refused.argmax())
            yield from _go_on(path[done], [(i, best[i].words) for i in order[done:]])


def _joined(one: Swaps, other: Swaps) -> Swaps:
    """Join the candidates of a position that were measured at two times, the best first."""
    first, second = (one, other) if one.gain >= other.gain else (other, one)
    return Swaps([*first.words, *second.words], first.gain, [*one.winning, *other.winning])


def _go_on(text: Text, swaps: Sequence[tuple[int, Sequence[str]]]) -> Search[None]:
    """Replace the words at these positions, by the next candidate where one is refused.

    The first candidate of the first position is known to be refused.
    """
    is_refused = True
    for n, (i, words) in enumerate(swaps):
        first, *others = text.swaps(i, words)
        if n > 0:
            answer = yield from Try([first])
            is_refused = answer.best is None
        if not is_refused:
            text = first
        elif others:
            answer = yield from Try(others, in_order=True)
            text = text if answer.best is None else others[answer.best]


def _measure(
    case: Case[Text], i: int, words: Sequence[str], ask: type[Probe] | type[Try]
) -> Search[Swaps]:
    """Return the candidates of one position of the original by what they gain (equation 4).

    Those that were tried and refused are left out.
    """
    answer = yield from ask(case.text.swaps(i, words))
    order = np.argsort(-answer.loss, kind="stable").tolist()
    if answer.refused is not None:
        order = [n for n in order if not answer.refused[n]]
    gain = float(answer.loss[order[0]]) - case.start_loss if order else 0.0
    return Swaps([words[n] for n in order], gain, [words[n] for n in order if answer.won[n]])


def _softmax(x: np.ndarray) -> np.ndarray:
    e = np.exp(x - x.max())
    return e / e.sum()  # type: ignore[no-any-return]


@registered("pwws")
def pwws(
    *,
    context: RunContext = RunContext(),
    source: SynonymSettings = CandidateSettings(),
    share: Annotated[float, "largest share of the words to replace"] = 1.0,
    entities: Annotated[bool, "also try named entities of the other classes (needs spaCy)"] = False,
    learn_from: Annotated[str | None, "with --entities: labelled data to learn them from"] = None,
    entity_table: Annotated[
        str | None, "with --entities: your own table, JSON {class: {type: word}}"
    ] = None,
) -> PWWS:
    """Swap words for synonyms, by saliency times gain (Ren et al., 2019)."""
    check_share(share=share)
    return PWWS(
        choose_proposal(source),
        share,
        choose_entities(
            entities,
            entity_table,
            learn_from,
            context.labels,
            context.label_map,
            context.data_columns,
        ),
    )

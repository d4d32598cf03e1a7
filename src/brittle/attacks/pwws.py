"""PWWS: swap words for synonyms, by saliency times gain (Ren et al., 2019)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from random import Random
from typing import Annotated, ClassVar, NamedTuple

import numpy as np

from brittle.asks import Case, Note, Probe, Search, Tag, Try, together
from brittle.attacks.edit_limits import max_words
from brittle.attacks.requests import Substitutes, substitutes
from brittle.attacks.setting_checks import check_share
from brittle.data.columns import Columns
from brittle.proposals import Proposal
from brittle.proposals.choice import CANDIDATES, CAREFUL, SENSES, choose_entities, choose_proposal
from brittle.proposals.entities import Entities
from brittle.text import Text

MIN_CANDIDATES = 2
"""How many candidates of a word are tried at least, under a small budget."""


class Swap(NamedTuple):
    """The best candidate of a position, what it gains, and whether any candidate there wins."""

    word: str
    gain: float
    wins: bool


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
    either. This is so with the candidates `paper`; careful ones are fewer (`proposals/careful.py`).
    A `share` below 1 ends the list earlier, but always allows one word, however short the
    text.

    Under a budget that may not suffice for this whole list, it spends what it has:
    up to half of it on masks, of words with candidates only; then the candidates of the most
    salient words are tried, few of each word if there are many words; then the words that were
    measured are replaced in the order above; what is left is spent on the other candidates.

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
        path_length = min(len(positions), max_words(case.text, self.share))
        needed = len(case.positions) + sum(map(len, options)) + path_length
        if case.budget is not None and case.budget < needed:
            yield from self._within_budget(case, options, positions, case.budget)
            return
        masked = yield from Probe([case.text.mask(i) for i in case.positions])
        saliency = dict(zip(case.positions, masked.loss))
        best = yield from together(_measure(case, i, options[i], Probe) for i in positions)
        yield from Note(proved_words=0 if any(swap.wins for swap in best) else 1)
        path = self._path(case, saliency, dict(zip(positions, best)))
        yield from Try(path, in_order=True)

    def _within_budget(
        self, case: Case[Text], options: Substitutes, positions: list[int], left: int
    ) -> Search[None]:
        """Spend a budget that is too small for the paper's list."""
        masks = [case.text.mask(i) for i in positions[: left // 2]]
        masked = yield from Probe(masks, partial=True)
        saliency = dict.fromkeys(positions, case.start_loss) | dict(zip(positions, masked.loss))
        left -= len(masks)
        is_enough = left >= sum(map(len, options)) + len(positions) - 1
        best: dict[int, Swap] = {}
        rest: list[Text] = []
        for i in sorted(positions, key=lambda i: -saliency[i]):
            share = (left - len(positions)) // (len(positions) - len(best))
            count = len(options[i]) if is_enough else max(MIN_CANDIDATES, share)
            count = min(count, left - len(best))
            rest += case.text.swaps(i, options[i][max(0, count) :])
            if count > 0:
                best[i] = yield from _measure(case, i, options[i][:count], Try)
                left -= len(options[i][:count])
        if not rest:
            yield from Note(proved_words=1)
        # The first text of the path is the best of those that were tried already.
        yield from Try(self._path(case, saliency, best)[1:], in_order=True)
        yield from Try(rest)
        yield from Note(proved_words=1)

    def _path(
        self, case: Case[Text], saliency: dict[int, float], best: dict[int, Swap]
    ) -> list[Text]:
        """Replace word after word by its best candidate, in the order of equation 7."""
        weight = dict(zip(saliency, _softmax(np.array(list(saliency.values())))))
        order = sorted(best, key=lambda i: -weight[i] * best[i].gain)
        text, path = case.text, []
        for i in order[: max_words(text, self.share)]:
            text = text.swap(i, best[i].word)
            path.append(text)
        return path


def _measure(
    case: Case[Text], i: int, words: tuple[str, ...], ask: type[Probe] | type[Try]
) -> Search[Swap]:
    """Return the candidate that gains most at one position of the original (equation 4)."""
    answer = yield from ask(case.text.swaps(i, words))
    best = int(answer.loss.argmax())
    gain = float(answer.loss[best]) - case.start_loss
    return Swap(words[best], gain, bool(answer.won.any()))


def _softmax(x: np.ndarray) -> np.ndarray:
    e = np.exp(x - x.max())
    return e / e.sum()  # type: ignore[no-any-return]


def pwws(
    *,
    labels: Sequence[str] = (),
    label_map: Mapping[str, str] | None = None,
    data_columns: Columns | None = None,
    inflect: Annotated[bool, "inflect synonyms like the word they replace"] = True,
    wordnet: Annotated[str | None, "a folder of WordNet files instead of the shipped table"] = None,
    candidates: Annotated[str, CANDIDATES] = CAREFUL,
    senses: Annotated[str | None, SENSES] = None,
    stop_words: Annotated[bool, "replace stop words too"] = True,
    share: Annotated[float, "at most this share of the words is replaced"] = 1.0,
    entities: Annotated[bool, "try named entities of the other classes too (needs spaCy)"] = False,
    learn_from: Annotated[str | None, "with entities: labelled data to learn them from"] = None,
    entity_table: Annotated[str | None, "with entities: JSON {class: {type: word}} instead"] = None,
) -> PWWS:
    """Swap words for synonyms, by saliency times gain (Ren et al., 2019)."""
    check_share(share=share)
    return PWWS(
        choose_proposal(
            inflect=inflect,
            wordnet=wordnet,
            candidates=candidates,
            senses=senses,
            stop_words=stop_words,
        ),
        share,
        choose_entities(entities, entity_table, learn_from, labels, label_map, data_columns),
    )

"""PWWS: swap words for synonyms, by saliency times gain (Ren et al., 2019)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from random import Random
from typing import Annotated, ClassVar

import numpy as np

from brittle.asks import Case, Probe, Search, Tag, Try, together
from brittle.attacks.edit_limits import max_words
from brittle.attacks.requests import substitutes
from brittle.attacks.setting_checks import check_share
from brittle.proposals import Proposal
from brittle.proposals.choice import choose_entities, choose_proposal
from brittle.proposals.entities import Entities
from brittle.text import Text


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
    either. A `share` below 1 ends the list earlier, but always allows one word, however short the
    text.
    """

    proposal: Proposal
    share: float = 1.0
    entities: Entities | None = None
    asks: ClassVar = (Tag, Probe, Try)

    def __call__(self, case: Case[Text], rng: Random) -> Search[None]:
        text = case.text
        options = yield from substitutes(case, self.proposal, self.entities)
        positions = [i for i, words in enumerate(options) if words]
        if not positions:
            return
        masked = yield from Probe([text.mask(i) for i in case.positions])
        saliency = dict(zip(case.positions, _softmax(masked.loss - case.start_loss)))
        best = yield from together(_best_word(case, i, options[i]) for i in positions)
        score = {i: saliency[i] * gain for i, (_, gain) in zip(positions, best)}
        words = {i: word for i, (word, _) in zip(positions, best)}
        order = sorted(positions, key=lambda i: -score[i])
        path = []
        for i in order[: max_words(text, self.share)]:
            text = text.swap(i, words[i])
            path.append(text)
        yield from Try(path, in_order=True)


def _best_word(case: Case[Text], i: int, words: tuple[str, ...]) -> Search[tuple[str, float]]:
    """Return the candidate that gains most at one position of the original (equation 4)."""
    answer = yield from Probe(case.text.swaps(i, words))
    best = int(answer.loss.argmax())
    return words[best], float(answer.loss[best]) - case.start_loss


def _softmax(x: np.ndarray) -> np.ndarray:
    e = np.exp(x - x.max())
    return e / e.sum()  # type: ignore[no-any-return]


def pwws(
    *,
    labels: Sequence[str] = (),
    label_map: Mapping[str, str] | None = None,
    inflect: Annotated[bool, "inflect synonyms like the word they replace"] = True,
    wordnet: Annotated[str | None, "a folder of WordNet files instead of the shipped table"] = None,
    candidates: Annotated[str | None, "a JSON file {word: [substitutes]} instead"] = None,
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
            inflect=inflect, wordnet=wordnet, candidates=candidates, stop_words=stop_words
        ),
        share,
        choose_entities(entities, entity_table, learn_from, labels, label_map),
    )

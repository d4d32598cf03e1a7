"""Questions of several attacks: for the substitutes of words, and for the best edits of a text."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from brittle.asks import NO_CANDIDATES, Case, Probe, Search, Tag, Unfit
from brittle.moves import EditRequest, EditSpace
from brittle.proposals import ContextProposal, Proposal
from brittle.proposals.entities import Entities
from brittle.text import Text

Substitutes = Sequence[tuple[str, ...]]
"""The words that may replace the word at each position."""


def substitutes(
    case: Case[Text], proposal: Proposal, entities: Entities | None = None
) -> Search[Substitutes]:
    """List for every position the words that may replace the word there.

    Words that the target does not read have none. Tags are asked for only if the proposal needs
    them; one that looks at the sentence has its substitutes tagged there, and may drop them. An
    entity comes after the words of the proposal. A text without any substitute is unfit for the
    attack.
    """
    text, read_positions = case.text, set(case.positions)
    tags: Sequence[str] = ("",) * len(text)
    if proposal.needs_tags:
        tags = (yield from Tag([text]))[0]
    if isinstance(proposal, ContextProposal):
        options = proposal.in_context(text, tags)
        options = [words if i in read_positions else () for i, words in enumerate(options)]
        options = yield from _with_fitting_tags(text, tags, proposal, options)
    else:
        proposal.prepare(word for word in text.words if isinstance(word, str))
        options = [
            proposal.of(word, tag) if i in read_positions and isinstance(word, str) else ()
            for i, (word, tag) in enumerate(zip(text.words, tags))
        ]
    if entities is not None:
        assert case.label is not None
        for i, word in entities.of(text, case.label).items():
            if i in read_positions and word not in options[i]:
                options[i] = (*options[i], word)
    if not any(options):
        raise Unfit(NO_CANDIDATES)
    return options


def _with_fitting_tags(
    text: Text, tags: Sequence[str], proposal: ContextProposal, options: Substitutes
) -> Search[list[tuple[str, ...]]]:
    """Keep the substitutes with which the tags of the edited text are as the proposal wants."""
    swaps = [text.swap(i, word) for i, words in enumerate(options) for word in words]
    edited = iter((yield from Tag(swaps)) if swaps else ())
    return [
        tuple(word for word in words if proposal.fits(i, tags, next(edited)))
        for i, words in enumerate(options)
    ]


def rank_by_saliency(case: Case[Text], positions: Sequence[int], most: int) -> Search[list[int]]:
    """Mask words one by one; return the positions, the most salient first.

    The first `most` of the positions are masked; the others come last, in their order.
    """
    answer = yield from Probe([case.text.mask(i) for i in positions[:most]], partial=True)
    order = np.argsort(-answer.loss, kind="stable").tolist()
    return [positions[n] for n in order] + list(positions[len(order) :])


def edit_request(
    case: Case[Text], space: EditSpace, positions: Sequence[int], text: Text
) -> EditRequest:
    """Build the request for the best edits of a text of this case, at some of its positions."""
    assert case.label is not None
    return EditRequest(text, case.label, case.toward, space, positions)

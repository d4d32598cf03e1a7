"""Questions of several attacks: for the substitutes of words, and for the best edits of a text."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from typing import TYPE_CHECKING

import numpy as np

from brittle.asks import NO_CANDIDATES, Case, Probe, Search, Tag, Try, Unfit
from brittle.moves import EditRequest, EditSpace
from brittle.proposals import ContextProposal, Proposal
from brittle.text import Text

if TYPE_CHECKING:
    from brittle.proposals.entities import Entities

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


def rank_by_saliency(case: Case[Text], positions: Sequence[int]) -> Search[list[int]]:
    """Mask words one by one; return the positions, the most salient first."""
    answer = yield from Probe([case.text.mask(i) for i in positions])
    return [positions[n] for n in np.argsort(-answer.loss, kind="stable").tolist()]


def growing_parts(positions: Sequence[int]) -> list[Sequence[int]]:
    """Cut positions into parts of 2, 4, 8, … for a search under a budget, whatever its size.

    Such a search masks one part after another, and in between tries candidates: the order of its
    questions is the same for every budget, so that a larger one never breaks fewer cases.

    >>> growing_parts(range(9))
    [range(0, 2), range(2, 6), range(6, 9)]
    """
    parts, start, size = [], 0, 2
    while start < len(positions):
        parts.append(positions[start : start + size])
        start, size = start + size, 2 * size
    return parts


def most_salient(saliency: Mapping[int, float], had_turn: Collection[int] = ()) -> list[int]:
    """List the positions that have not had their turn, the most salient first."""
    return sorted((i for i in saliency if i not in had_turn), key=lambda i: (-saliency[i], i))


def try_single_swaps(case: Case[Text], options: Substitutes) -> Search[None]:
    """Under a constraint, offer every single swap, from the left; without one, do nothing.

    A search that swaps word after word tries most swaps in a text that has changed already, and
    there a constraint may refuse what it allows in the original. So a case that is held under a
    constraint has no single swap that reaches the goal and keeps enough.
    """
    if case.is_constrained:
        swaps = [case.text.swaps(i, words) for i, words in enumerate(options)]
        yield from Try([text for texts in swaps for text in texts], in_order=True)


def edit_request(
    case: Case[Text], space: EditSpace, positions: Sequence[int], text: Text
) -> EditRequest:
    """Build the request for the best edits of a text of this case, at some of its positions."""
    assert case.label is not None
    return EditRequest(text, case.label, case.toward, space, positions)

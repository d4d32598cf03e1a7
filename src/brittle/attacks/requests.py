"""Questions of several attacks: for the substitutes of words, and for the best edits of a text."""

from __future__ import annotations

from collections.abc import Sequence

from brittle.asks import Case, Search, Tag
from brittle.moves import EditRequest, EditSpace
from brittle.proposals import Proposal
from brittle.proposals.entities import Entities
from brittle.text import Text

Substitutes = Sequence[tuple[str, ...]]
"""The words that may replace the word at each position."""


def substitutes(
    case: Case[Text], proposal: Proposal, entities: Entities | None = None
) -> Search[Substitutes]:
    """List for every position the words that may replace the word there.

    Words that the target does not read have none. Tags are asked for only if the proposal needs
    them. An entity comes after the words of the proposal.
    """
    text, read_positions = case.text, set(case.positions)
    tags: Sequence[str] = ("",) * len(text)
    if proposal.needs_tags:
        tags = (yield from Tag([text]))[0]
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
    return options


def edit_request(
    case: Case[Text], space: EditSpace, positions: Sequence[int], text: Text
) -> EditRequest:
    """Build the request for the best edits of a text of this case, at some of its positions."""
    assert case.label is not None
    return EditRequest(text, case.label, case.toward, space, positions)

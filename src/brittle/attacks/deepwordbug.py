"""DeepWordBug: one random edit in each of the most important words (Gao et al., 2018)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from random import Random
from string import ascii_lowercase
from typing import Annotated, ClassVar

import numpy as np
from numpy.typing import NDArray

from brittle.asks import NO_CANDIDATES, Case, Probe, Search, Try, Unfit
from brittle.attacks.open_string import stable_order
from brittle.attacks.recipes import AUTHOR_CODE, Variant, check_count, check_variant
from brittle.attacks.registry import registered
from brittle.edits import distance
from brittle.errors import unknown
from brittle.safety.characters import look_alikes
from brittle.text import Field, Frame, Text, Word

COMBINED, HEAD, TAIL, REPLACE = SCORES = ("combined", "head", "tail", "replace-1")
SWAP, SUBSTITUTE, DELETE, INSERT, TWIN = EDITS = (
    *("swap", "substitute", "delete", "insert", "look-alike"),
)


@dataclass(frozen=True)
class DeepWordBug:
    """Rank the words, then edit them from the top, without a question in between.

    Scores: `head` is what a word adds to the probability of the text's class after the words before
    it, `tail` what it adds before the words after it, `combined` their sum (the paper's λ is 1; the
    code's mean gives the same order), and `replace-1` what the class loses if the word is masked.
    What stands before the first word, or after the last one, is nothing; its probability is that of
    chance, one by the number of classes. Ties go to the first word. Only words that the target
    reads are ranked.

    Each word in turn gets one edit at random: two neighbouring letters change places, a letter
    becomes another one or a look-alike, is deleted, or one is inserted. The edited text is the
    result, and is asked about once. The variant `paper` edits words until the edit distance is
    `max_distance`; `author-code` edits the first `power` words, and may draw the letter that stands
    there.

    Random draws for each word: a `randrange` for the place, then a `choice` of the letter, if any.

    Deviations: a word of one letter is neither deleted nor swapped, a letter without a look-alike
    stays, and such a word counts as edited. The look-alikes are those of Unicode's list, and not
    the 38 of the authors; the first of several is taken. A masked word is what the target reads as
    one, not a word that it does not know. The ranking by gradients of the authors' code is not
    here: it needs more than scores.
    """

    score: str = COMBINED
    edit: str = SUBSTITUTE
    max_distance: int = 30
    power: int = 5
    variant: str = "paper"
    asks: ClassVar = (Probe, Try)

    def __call__(self, case: Case[Text], rng: Random) -> Search[None]:
        positions = [i for i in case.positions if isinstance(case.text.words[i], str)]
        if not positions:
            raise Unfit(NO_CANDIDATES)
        gain = yield from self._gains(case, positions)
        words, cost = list(case.text.words), 0
        for number, n in enumerate(stable_order(gain)):
            by_power = self.variant == AUTHOR_CODE
            if number >= self.power if by_power else cost >= self.max_distance:
                break
            old = str(words[positions[n]])
            new = edit_at_random(old, self.edit, rng, any_letter=by_power)
            words[positions[n]], cost = new, cost + distance(old, new)
        if tuple(words) == case.text.words:
            raise Unfit(NO_CANDIDATES)
        yield from Try([case.text.with_words(tuple(words))], keep=True)

    def _gains(self, case: Case[Text], positions: Sequence[int]) -> Search[NDArray[np.float64]]:
        """Return the score of every position; all parts of the text are asked about at once."""
        text, own = case.text, case.start_loss
        if self.score == REPLACE:
            masked = yield from Probe([text.mask(i) for i in positions])
            return masked.loss - own
        ends, starts = positions[:-1], positions[1:]
        heads = [between(text, 0, i + 1) for i in ends] if self.score != TAIL else []
        tails = [between(text, i, len(text)) for i in starts] if self.score != HEAD else []
        loss: Sequence[float] = ()
        if heads or tails:
            answer = yield from Probe([*heads, *tails])
            loss = answer.loss.tolist()
        gain = np.zeros(len(positions))
        if self.score != TAIL:
            gain += -np.diff([_chance(case), *loss[: len(heads)], own])
        if self.score != HEAD:
            gain += np.diff([own, *loss[len(heads) :], _chance(case)])
        return gain


def _chance(case: Case[Text]) -> float:
    """Return the loss of no text at all: all classes are as likely."""
    if case.start is None or not isinstance(case.start.answers, np.ndarray):
        return case.start_loss
    return 1 - 1 / float(case.start.answers.shape[1])


def between(text: Text, first: int, end: int) -> Text:
    """Keep the words from a position up to another one, with the gaps between them.

    >>> str(between(Text.of("(a good, good film!)"), 1, 3)), str(between(Text.of("a b"), 0, 2))
    ('good, good', 'a b')
    """
    words: list[Word] = []
    fields = []
    for field, (start, stop) in zip(text.frame.fields, text.frame.spans):
        low, high = max(first, start), min(end, stop)
        if field.locked or (low == start and high == stop):
            kept = field
        elif low >= high:
            kept = Field(field.name, gaps=("",))
        else:
            gaps = list(field.gaps[low - start : high - start + 1])
            gaps[0] = gaps[0] if low == start else ""
            gaps[-1] = gaps[-1] if high == stop else ""
            kept = Field(field.name, gaps=tuple(gaps))
        fields.append(kept)
        words += text.words[low:high]
    return Text(tuple(words), Frame(tuple(fields)))


def edit_at_random(word: str, edit: str, rng: Random, any_letter: bool = False) -> str:
    """Edit one letter of a word; with `any_letter` a substitute may be the letter itself."""
    if edit == INSERT:
        i = rng.randrange(len(word) + 1)
        return f"{word[:i]}{rng.choice(ascii_lowercase)}{word[i:]}"
    if edit in (SWAP, DELETE) and len(word) < 2:
        return word
    i = rng.randrange(len(word) - (edit == SWAP))
    if edit == SWAP:
        return f"{word[:i]}{word[i + 1]}{word[i]}{word[i + 2 :]}"
    new = ""
    if edit == SUBSTITUTE:
        new = rng.choice(ascii_lowercase if any_letter else ascii_lowercase.replace(word[i], ""))
    elif edit == TWIN:
        new = look_alikes().get(word[i], word[i])[:1]
    return f"{word[:i]}{new}{word[i + 1 :]}"


@registered("deepwordbug")
def deepwordbug(
    *,
    score: Annotated[str, f"how words are ranked: {', '.join(SCORES)}"] = COMBINED,
    edit: Annotated[str, f"edit of a word: {', '.join(EDITS)}"] = SUBSTITUTE,
    max_distance: Annotated[int, "stop when the edit distance is this large"] = 30,
    power: Annotated[int, "with --variant author-code: words to edit"] = 5,
    variant: Variant = "paper",
) -> DeepWordBug:
    """Edit a random letter in each of the most important words (DeepWordBug: Gao et al., 2018)."""
    check_count(max_distance=max_distance, power=power)
    check_variant(variant)
    for value, known, noun in ((score, SCORES, "score"), (edit, EDITS, "edit")):
        if value not in known:
            raise unknown(noun, value, known)
    return DeepWordBug(score, edit, max_distance, power, variant)

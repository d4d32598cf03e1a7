"""HotFlip: edit what the gradient points at, characters or words (Ebrahimi et al., 2018).

HotFlip: edit the characters that the gradient points at (Ebrahimi et al., 2018). HotFlip on words:
swap the words that the gradient points at (Ebrahimi et al., 2018).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from random import Random
from typing import Annotated, ClassVar, get_args

from brittle.asks import NO_CANDIDATES, Case, Flips, Search, Tag, Try, Unfit
from brittle.attacks.beam import beam
from brittle.attacks.recipes import (
    check_count,
    check_share,
    check_threshold,
    check_variant,
    max_characters,
)
from brittle.attacks.registry import registered
from brittle.attacks.substitutes import edit_request
from brittle.edits import is_further
from brittle.english.forms import match_case, same_lexeme
from brittle.english.words import is_clitic, is_stop_word
from brittle.errors import UsageError, unknown
from brittle.moves import CHARACTER_EDITS, EditKind, EditRequest, EditSpace, Estimate, Move
from brittle.text import Text, is_word

ESTIMATES: tuple[Estimate, ...] = get_args(Estimate)


@dataclass(frozen=True)
class HotFlip:
    """Flip, insert and delete characters by their first-order gain (Ebrahimi et al., 2018).

    One forward and one backward pass rank every edit of a text (equation 1); an insert or a delete
    is a run of flips to the end of the word, and every edit's gain is divided by the length of its
    vector. A beam of `beam` texts (1: greedy) follows the running sum of gains for up to r edits,
    where r is `share` of the characters of the words that the target reads, rounded down, but at
    least one. An edited word must not itself be a word of the target's vocabulary, unless `known`;
    a target without a vocabulary knows no word. A confidence is part of the run's goal, no setting
    of the attack.

    What the paper leaves open: every edit must increase the distance from the original word, by
    Levenshtein's distance, so that r edits change r characters and no edit is spent on redoing
    another (the gradient points at the same few characters again and again), unless `further` is
    turned off; no text comes twice; an edit that gains nothing is followed if nothing better is
    left. Of each text the `top_k` best edits are looked at, more than the beam can hold, since some
    are words of the vocabulary and some lead to the same text; when these are used up, the beam is
    narrower.

    `estimate` "word" is not the paper's. A run of flips misjudges inserts inside a word
    (docs/papers/hotflip.md), so the best edits are ranked again, by the gradient along the word's
    vector times the difference of the vectors that the model computes of the new and of the old
    spelling; only a model that computes a word's vector from its spelling can. `variant`
    "author-code" ranks children by the real loss of their parent plus their own gain, as the first
    author's published code does.

    Deviations: only characters inside words are edited, and a word stays one word, so that spaces
    and marks stay as they are; the share is of these characters, not of the spaces between.
    """

    beam: int = 10
    share: float = 0.1
    kinds: tuple[EditKind, ...] = CHARACTER_EDITS
    known: bool = False
    further: bool = True
    estimate: Estimate = "paper"
    variant: str = "paper"
    asks: ClassVar = (Flips, Try)

    @property
    def top_k(self) -> int:
        return max(64, 8 * self.beam)

    def __call__(self, case: Case[Text], rng: Random) -> Search[None]:
        steps = max_characters(case, self.share)
        if not steps:
            raise Unfit(NO_CANDIDATES)
        space = EditSpace("characters", self.kinds, self.top_k, estimate=self.estimate)
        request_for = partial(edit_request, case, space, tuple(case.positions))
        originals = case.text.words

        def new_word(text: Text, move: Move) -> str | None:
            old, original = str(text.words[move.position]), str(originals[move.position])
            is_fine = (self.known or not move.in_vocabulary) and is_word(move.new)
            is_fine = is_fine and (not self.further or is_further(move.new, old, original))
            return move.new if is_fine else None

        yield from beam(
            case,
            request_for,
            new_word,
            width=self.beam,
            steps=steps,
            from_loss=self.variant == "author-code",
        )


@registered("hotflip")
def hotflip(
    *,
    beam: Annotated[int, "beam width; 1 is a greedy search"] = 10,
    share: Annotated[float, "largest share of the characters to edit"] = 0.1,
    kinds: Annotated[str, "edits to use, separated by commas: flip, insert, delete"] = ",".join(
        CHARACTER_EDITS
    ),
    known: Annotated[
        bool, "allow edits that turn a word into another word of the target's vocabulary"
    ] = False,
    further: Annotated[bool, "every edit must increase the distance from the original word"] = True,
    estimate: Annotated[str, "how edits are ranked: paper, or word (by the new vectors)"] = "paper",
    variant: Annotated[
        str, "score of the beam: paper (sum of the gains), or author-code (loss)"
    ] = "paper",
) -> HotFlip:
    """Edit the characters that the gradient points at (HotFlip: Ebrahimi et al., 2018)."""
    check_count(beam=beam)
    check_share(share=share)
    if estimate not in ESTIMATES:
        raise unknown("estimate", estimate, ESTIMATES)
    check_variant(variant)
    return HotFlip(beam, share, _parse_kinds(kinds), known, further, estimate, variant)


def _parse_kinds(kinds: str) -> tuple[EditKind, ...]:
    """Parse a list of kinds of edits; their order means nothing."""
    names = [name.strip().lower() for name in kinds.split(",") if name.strip()]
    for name in names:
        if name not in CHARACTER_EDITS:
            raise unknown("kind of edit", name, CHARACTER_EDITS)
    if not names:
        raise UsageError(
            f"Got --kinds {kinds!r}; expected one or more of "
            f"{', '.join(CHARACTER_EDITS)}, separated by commas, such as --kinds "
            "flip,delete."
        )
    return tuple(kind for kind in CHARACTER_EDITS if kind in names)


MIN_TOP_K, MIN_SCREENED_TOP_K = 32, 500
"""How many swaps of a text are checked at least; more if tags or forms rule some out."""


@dataclass(frozen=True)
class HotFlipWords:
    """Swap words for those with the highest first-order gain (Ebrahimi et al., 2018, section 5).

    Up to `words` words become others of the target's vocabulary, each position at most once, by
    the beam search that HotFlip uses on characters. Four constraints keep the meaning; each can be
    turned off: the vectors of both words have at least the cosine `cosine` (0: any); both words
    have the same part of speech (`same_tag`); stop words are not replaced (unless `stop_words`);
    the words are not forms of one word (`other_lexeme`).

    What the paper leaves open: the part of speech is the Penn tag in the sentence, so every swapped
    word must have in the new text the tag that the old word had in the original. A substitute in
    lower case takes the capitalisation of the word it replaces. Tokens of contractions ("n't",
    "ll") are stop words, and no substitutes either as long as these are spared. The best 500 swaps
    of a text are looked at if tags or forms decide, as in public scripts, else four for each text
    that the beam holds.
    """

    words: int = 2
    beam: int = 10
    cosine: float = 0.8
    same_tag: bool = True
    stop_words: bool = False
    other_lexeme: bool = True
    asks: ClassVar = (Tag, Flips, Try)

    @property
    def space(self) -> EditSpace:
        is_screened = self.same_tag or self.other_lexeme
        top_k = max(MIN_SCREENED_TOP_K if is_screened else MIN_TOP_K, 4 * self.beam)
        return EditSpace("words", top_k=top_k, cosine=self.cosine or None)

    def __call__(self, case: Case[Text], rng: Random) -> Search[None]:
        original, space = case.text.words, self.space
        free = [i for i in case.positions if self.stop_words or not is_stop_word(str(original[i]))]
        steps = min(self.words, len(free))
        if not steps:
            raise Unfit(NO_CANDIDATES)
        tags = (yield from Tag([case.text]))[0] if self.same_tag else ()

        def request_for(text: Text) -> EditRequest:
            unchanged = tuple(i for i in free if text.words[i] == original[i])
            return edit_request(case, space, unchanged, text)

        def new_word(text: Text, move: Move) -> str | None:
            old = str(original[move.position])
            new = match_case(move.new, old, keep_capitals=True)
            is_fine = is_word(new) and not (self.other_lexeme and same_lexeme(old, new))
            return new if is_fine and (self.stop_words or not is_clitic(new)) else None

        def have_same_tags(texts: Sequence[Text]) -> Search[list[bool]]:
            new_tags = yield from Tag(texts)
            return [
                all(a == b or old == new for a, b, old, new in zip(text.words, original, tags, row))
                for text, row in zip(texts, new_tags)
            ]

        screen = have_same_tags if self.same_tag else None
        yield from beam(case, request_for, new_word, width=self.beam, steps=steps, screen=screen)


@registered("hotflip-words")
def hotflip_words(
    *,
    words: Annotated[int, "largest number of words to swap (the paper: one or two)"] = 2,
    beam: Annotated[int, "beam width; 1 is a greedy search"] = 10,
    cosine: Annotated[
        float, "smallest cosine similarity of word and substitute; 0 allows any"
    ] = 0.8,
    same_tag: Annotated[
        bool, "only substitutes with the same part of speech in the sentence"
    ] = True,
    stop_words: Annotated[bool, "replace stop words too"] = False,
    other_lexeme: Annotated[bool, "exclude other forms of the same word"] = True,
) -> HotFlipWords:
    """Swap the words that the gradient points at (HotFlip: Ebrahimi et al., 2018)."""
    check_count(words=words, beam=beam)
    check_threshold(cosine=cosine)
    return HotFlipWords(words, beam, cosine, same_tag, stop_words, other_lexeme)

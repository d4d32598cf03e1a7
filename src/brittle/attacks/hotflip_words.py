"""HotFlip on words: swap the words that the gradient points at (Ebrahimi et al., 2018)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from random import Random
from typing import Annotated, ClassVar

from brittle.asks import NO_CANDIDATES, Case, Flips, Search, Tag, Try, Unfit
from brittle.attacks.beam import beam
from brittle.attacks.registry import registered
from brittle.attacks.requests import edit_request
from brittle.attacks.setting_checks import check_count, check_threshold
from brittle.english.forms import match_case
from brittle.english.lexemes import same_lexeme
from brittle.english.stop_words import is_clitic, is_stop_word
from brittle.moves import EditRequest, EditSpace, Move
from brittle.text import Text, is_word

MIN_TOP_K, MIN_SCREENED_TOP_K = 32, 500
"""How many swaps of a text are looked at, at least; more if tags or forms refuse some of them."""


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
    words: Annotated[int, "at most this many words are swapped (the paper: one or two)"] = 2,
    beam: Annotated[int, "how many texts are followed side by side; 1 is a greedy search"] = 10,
    cosine: Annotated[float, "the least cosine of a word and its substitute; 0: any"] = 0.8,
    same_tag: Annotated[bool, "only words of the same part of speech, as they stand there"] = True,
    stop_words: Annotated[bool, "replace stop words too"] = False,
    other_lexeme: Annotated[bool, "no other form of the word itself"] = True,
) -> HotFlipWords:
    """Swap the words that the gradient points at (HotFlip: Ebrahimi et al., 2018)."""
    check_count(words=words, beam=beam)
    check_threshold(cosine=cosine)
    return HotFlipWords(words, beam, cosine, same_tag, stop_words, other_lexeme)

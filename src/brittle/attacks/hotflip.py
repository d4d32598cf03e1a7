"""HotFlip: edit the characters that the gradient points at (Ebrahimi et al., 2018)."""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from random import Random
from typing import Annotated, ClassVar, get_args

from brittle.asks import NO_CANDIDATES, Case, Flips, Search, Try, Unfit
from brittle.attacks.beam import beam
from brittle.attacks.edit_limits import max_characters
from brittle.attacks.registry import registered
from brittle.attacks.requests import edit_request
from brittle.attacks.setting_checks import check_count, check_share
from brittle.edits import is_further
from brittle.errors import UsageError, unknown
from brittle.moves import CHARACTER_EDITS, EditKind, EditSpace, Estimate, Move
from brittle.text import Text, is_word

ESTIMATES: tuple[Estimate, ...] = get_args(Estimate)
VARIANTS = ("paper", "author-code")


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

    What the paper leaves open: every edit takes its word further from the original, by
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
    beam: Annotated[int, "how many texts are followed side by side; 1 is a greedy search"] = 10,
    share: Annotated[float, "at most this share of the characters is edited"] = 0.1,
    kinds: Annotated[str, "which edits: flip, insert, delete, with commas between"] = ",".join(
        CHARACTER_EDITS
    ),
    known: Annotated[bool, "an edited word may be a word of the target's vocabulary"] = False,
    further: Annotated[bool, "every edit takes its word further from the original"] = True,
    estimate: Annotated[str, "how edits are ranked: paper, or word (by the new vectors)"] = "paper",
    variant: Annotated[str, "what the beam sums: paper (gains), or author-code (loss)"] = "paper",
) -> HotFlip:
    """Edit the characters that the gradient points at (HotFlip: Ebrahimi et al., 2018)."""
    check_count(beam=beam)
    check_share(share=share)
    if estimate not in ESTIMATES:
        raise unknown("estimate", estimate, ESTIMATES)
    if variant not in VARIANTS:
        raise unknown("variant", variant, VARIANTS)
    return HotFlip(beam, share, _parse_kinds(kinds), known, further, estimate, variant)


def _parse_kinds(kinds: str) -> tuple[EditKind, ...]:
    """Parse a list of kinds of edits; their order means nothing."""
    names = [name.strip().lower() for name in kinds.split(",") if name.strip()]
    for name in names:
        if name not in CHARACTER_EDITS:
            raise unknown("kind of edit", name, CHARACTER_EDITS)
    if not names:
        raise UsageError(
            f"Got --kinds {kinds!r}; expected one or more of {', '.join(CHARACTER_EDITS)}, with "
            "commas between, such as --kinds flip,delete."
        )
    return tuple(kind for kind in CHARACTER_EDITS if kind in names)

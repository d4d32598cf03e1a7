"""Charmer: edit one character after another, anywhere in the text (Abad Rocamora et al., 2024)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from random import Random
from string import ascii_letters, digits, punctuation
from typing import Annotated, ClassVar

from brittle.asks import NO_CANDIDATES, Case, Probe, Search, Try, Unfit
from brittle.attacks.open_string import (
    SEPARATOR,
    margins,
    open_string,
    stable_order,
    with_open_string,
)
from brittle.attacks.recipes import RunContext, check_count
from brittle.attacks.registry import registered
from brittle.candidates.training_data import load_training_data
from brittle.errors import UsageError
from brittle.text import Text

BLANK = " "
PRINTABLE = ascii_letters + digits + punctuation + BLANK

Place = tuple[int, int]
"""A slice of a string: of one character, or empty, between two characters."""


@dataclass(frozen=True)
class Charmer:
    """Edit one character in each round, the best of all at the best places.

    A text of n characters has 2n + 1 places: the characters and the gaps around them. In a round a
    blank is put in every place, and a blank that stands there is deleted; the `places` with the
    highest margin are kept. There every character of the `alphabet` is put, and the character
    deleted; of all these texts the one with the highest margin is where the next round begins. A
    round is one question about the places and one about all the texts. There are `rounds` rounds;
    one that gains nothing ends the search, since the next would ask the same. The margin is that
    of logits: the best other class less the text's own. Ties go to the first, in the order of the
    places, then deletion, then the alphabet.

    This is the greedy attack of the paper; the authors' scripts run it so (`--pga 0`), so that
    there is no variant. Deviations: of several texts that reach the goal in a round, the one with
    the highest summed probability of the other classes is reported. Places behind the last word
    that the target reads are left alone. The alphabet of the authors is that of their data set:
    here it is printable ASCII, or that of `alphabet_from`. The options that protect words (of
    Pruthi et al., 2019) are not here, nor is the ranking of tokens for large language models.
    """

    alphabet: str = PRINTABLE
    places: int = 20
    rounds: int = 10
    asks: ClassVar = (Probe, Try)

    def __call__(self, case: Case[Text], rng: Random) -> Search[None]:
        string, best = open_string(case), float("-inf")
        if case.start is not None:
            best = float(margins(case, case.start)[0])
        unread = len(string) - _end_of_reading(case, string)
        for _ in range(self.rounds):
            places = places_of(string, len(string) - unread)
            if not places:
                raise Unfit(NO_CANDIDATES)
            blanks = [_put(string, place, BLANK) for place in places]
            probed = yield from Probe([with_open_string(case.text, one) for one in blanks])
            chosen = [places[n] for n in stable_order(margins(case, probed))[: self.places]]
            edited = [_put(string, p, new) for p in chosen for new in ("", *self.alphabet)]
            others = [one for one in dict.fromkeys(edited) if one != string]
            answer = yield from Try([with_open_string(case.text, one) for one in others])
            margin = margins(case, answer)
            if answer.refused is not None:
                margin[answer.refused] = float("-inf")
            n = int(margin.argmax())
            if margin[n] <= best:
                return
            string, best = others[n], float(margin[n])


def places_of(string: str, end: int) -> Sequence[Place]:
    """List the places up to an end: each gap, and the character after it; no field's end.

    >>> places_of("ab", 2)
    [(0, 0), (0, 1), (1, 1), (1, 2), (2, 2)]
    """
    both = [(i, i + size) for i in range(end) for size in (0, 1)]
    return [(i, j) for i, j in [*both, (end, end)] if string[i:j] != SEPARATOR]


def _put(string: str, place: Place, new: str) -> str:
    """Put a character in a place; a blank that meets a blank deletes it."""
    start, stop = place
    if new == BLANK == string[start:stop]:
        new = ""
    return string[:start] + new + string[stop:]


def _end_of_reading(case: Case[Text], string: str) -> int:
    """Return the end of the last word that the target reads; all of the string if it reads all."""
    if case.read_positions is None or len(case.read_positions) == len(case.text):
        return len(string)
    if not case.read_positions:
        return 0
    last, end = max(case.read_positions), 0
    rows = zip(case.text.frame.fields, case.text.frame.spans)
    for field, (start, stop) in rows:
        if not field.locked:
            words = [str(word) for word in case.text.words[start : min(stop, last + 1)]]
            end += sum(len(gap) + len(word) for gap, word in zip(field.gaps, words))
            if start <= last < stop:
                break
            end += len(field.gaps[-1]) + len(SEPARATOR)
    return end


@registered("charmer")
def charmer(
    *,
    context: RunContext = RunContext(),
    places: Annotated[int, "positions of a text to try in a round"] = 20,
    rounds: Annotated[int, "largest number of characters to edit"] = 10,
    alphabet: Annotated[str | None, "characters to insert (default: printable ASCII)"] = None,
    alphabet_from: Annotated[str | None, "insert the characters of this data set instead"] = None,
) -> Charmer:
    """Edit one character after another, anywhere (Charmer: Abad Rocamora et al., 2024)."""
    check_count(places=places, rounds=rounds)
    if alphabet is not None and len(set_of(alphabet)) < 2:
        raise UsageError(
            f"Got --alphabet {alphabet!r}; expected at least two different characters."
        )
    if alphabet_from is not None:
        if alphabet is not None:
            raise UsageError("Got --alphabet and --alphabet-from; expected one of them.")
        examples = load_training_data(alphabet_from, "characters", context.data_columns)
        alphabet = "".join(raw for one in examples for _, raw in one.fields)
    return Charmer(PRINTABLE if alphabet is None else set_of(alphabet), places, rounds)


def set_of(characters: str) -> str:
    """Return the different characters of a string, by code point.

    >>> set_of("banana")
    'abn'
    """
    return "".join(sorted(dict.fromkeys(characters)))

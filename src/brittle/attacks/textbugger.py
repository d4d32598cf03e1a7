"""TextBugger, the black box: the best of five bugs in one word after another (Li et al., 2019)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from random import Random
from typing import Annotated, ClassVar

import regex

from brittle.asks import NO_CANDIDATES, Case, Probe, Search, Try, Unfit
from brittle.attacks.deepwordbug import between
from brittle.attacks.open_string import stable_order
from brittle.attacks.recipes import check_count
from brittle.attacks.registry import registered
from brittle.candidates import Proposal
from brittle.candidates.choice import CandidateSettings, choose_proposal
from brittle.candidates.typos import beside
from brittle.text import Text

TWINS = {"o": "0", "l": "1", "a": "@"}
"""The letters that Sub-C replaces by look-alikes; others become a neighbour on the keyboard."""
SHORTEST, LONGEST_PARTED, SHORTEST_SWAPPED = 3, 5, 5
_END_OF_SENTENCE = regex.compile(r"[.!?…\n]")


@dataclass(frozen=True)
class TextBugger:
    """Put the best of five bugs in one word after another: of important sentences, then words.

    Each sentence is asked about alone. Those that the target does not give the text's class are
    left out, and the others come in the order of the probability of that class. The words of a
    sentence come in the order of what the class loses when the word is deleted from the text. In
    each word in turn all bugs are tried, and the one that gains most stays, also if it gains
    nothing:

    - insert: a space inside, in words of at most five letters;
    - delete: an inner letter;
    - swap: two neighbouring inner letters change places, in words of five letters or more;
    - Sub-C: a letter becomes one that looks like it (o 0, l 1, a @), or its neighbour on the
      keyboard;
    - Sub-W: the word becomes one of its `k` nearest by word vectors.

    Words of one or two letters, and those that the target does not read, are left alone. If no
    sentence is left, all are taken. Ties go to the first.

    Random draws for each word, before it is asked about: a `randrange` each for the place of the
    insert, the delete and the swap, where the word is long enough, then for Sub-C a `choice` among
    the letters that have substitutes, and one of its substitutes.

    There is no code of the authors. The white box, which ranks words by gradients, is not here:
    `hotflip` is for that. Deviations: the paper ends when the similarity of the text (Universal
    Sentence Encoder) falls to 0.8; here that is `--keep-meaning 0.8`, by another encoder, which
    refuses a text and goes on. Word vectors are the counter-fitted ones that are shipped instead of
    GloVe's (`--neighbours glove`).
    """

    proposal: Proposal
    asks: ClassVar = (Probe, Try)

    def __call__(self, case: Case[Text], rng: Random) -> Search[None]:
        open_words = {i for i in case.positions if len(str(case.text.words[i])) >= SHORTEST}
        parts = [part for part in sentences(case.text) if open_words & {*range(*part)}]
        if not parts:
            raise Unfit(NO_CANDIDATES)
        text = case.text
        self.proposal.prepare(str(text.words[i]) for i in sorted(open_words))
        for first, end in (yield from self._ranked(case, parts)):
            positions = [i for i in range(first, end) if i in open_words]
            without = yield from Probe([case.text.delete(i) for i in positions])
            for n in stable_order(without.loss):
                bugs = text.swaps(positions[n], self.bugs(str(text.words[positions[n]]), rng))
                if bugs:
                    answer = yield from Try(bugs)
                    text = text if answer.best is None else bugs[answer.best]

    def _ranked(
        self, case: Case[Text], parts: Sequence[tuple[int, int]]
    ) -> Search[list[tuple[int, int]]]:
        """Return the sentences that have the text's class, the most certain first."""
        if len(parts) == 1:
            return list(parts)
        alone = yield from Probe([between(case.text, *part) for part in parts])
        ranked = [parts[n] for n in stable_order(-alone.loss) if not alone.won[n]]
        return ranked or list(parts)

    def bugs(self, word: str, rng: Random) -> list[str]:
        """Return the word with each of the bugs, as far as it can have them."""
        found, inner = [], len(word) - 2
        if len(word) <= LONGEST_PARTED:
            i = rng.randrange(1, len(word))
            found.append(f"{word[:i]} {word[i:]}")
        i = rng.randrange(1, 1 + inner)
        found.append(word[:i] + word[i + 1 :])
        if len(word) >= SHORTEST_SWAPPED:
            i = rng.randrange(1, inner)
            found.append(f"{word[:i]}{word[i + 1]}{word[i]}{word[i + 2 :]}")
        options = [TWINS.get(letter.lower(), beside(letter)) for letter in word]
        sites = [i for i, new in enumerate(options) if new]
        if sites:
            i = rng.choice(sites)
            found.append(f"{word[:i]}{rng.choice(options[i])}{word[i + 1 :]}")
        found += self.proposal.of(word, "")
        return [bug for bug in dict.fromkeys(found) if bug != word]


def sentences(text: Text) -> list[tuple[int, int]]:
    """Return the sentences of the open fields, each by its first position and the one after it.

    >>> sentences(Text.of("Good film. Bad plot! (why?)"))
    [(0, 2), (2, 4), (4, 5)]
    """
    starts = []
    for field, (first, last) in zip(text.frame.fields, text.frame.spans):
        gaps = field.gaps[1:-1]
        starts += [first] if first < last else []
        starts += [first + n for n, gap in enumerate(gaps, 1) if _END_OF_SENTENCE.search(gap)]
    return list(pairwise([*starts, len(text)]))


@registered("textbugger")
def textbugger(
    *,
    neighbours: Annotated[str, "word vectors for Sub-W (a file, glove, counterfitted)"] = (
        "counterfitted"
    ),
    k: Annotated[int, "nearest words to try"] = 5,
) -> TextBugger:
    """Put the best of five bugs in important words (TextBugger: Li et al., 2019)."""
    check_count(k=k)
    return TextBugger(choose_proposal(CandidateSettings(neighbours=neighbours, k=k)))

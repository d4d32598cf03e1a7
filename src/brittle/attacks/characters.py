"""Tricks with characters: eight classes of edits in one search, and benign words at the end.

Look-alike letters, invisible characters, reordering, backspaces (the classes of Boucher et al.,
2022), spacing, case, leet and full-width letters are the candidates of `salient-swap`: the most
salient words first. `append` adds benign words.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from random import Random
from typing import Annotated, ClassVar

from brittle.asks import NO_CANDIDATES, Case, Probe, Search, Try, Unfit
from brittle.attacks.recipes import check_count, check_share
from brittle.attacks.registry import registered
from brittle.attacks.salient_swap import SalientSwap
from brittle.attacks.substitutes import Asks
from brittle.candidates.characters import EditedCharacters
from brittle.errors import UsageError
from brittle.text import Text, is_word


@dataclass(frozen=True)
class CharacterSwap(SalientSwap):
    """Salient swaps in which words are swapped for edits of themselves, in any language."""

    asks: ClassVar[Asks] = (Probe, Try)


@dataclass(frozen=True)
class CharacterSettings:
    """What can be set on an attack with a class of edits."""

    share: Annotated[float, "largest share of the words to edit"] = 1.0
    edits: Annotated[int, "largest number of edits to try on a word"] = 8

    def search(self, name: str) -> CharacterSwap:
        """Build the search with the edits of a class."""
        check_share(share=self.share)
        check_count(edits=self.edits)
        return CharacterSwap(EditedCharacters(name, self.edits), self.share)


@registered("look-alike")
def look_alike(*, settings: CharacterSettings = CharacterSettings()) -> CharacterSwap:
    """Write letters of other scripts that look the same, in the most salient words first."""
    return settings.search("look-alike")


@registered("invisible")
def invisible(*, settings: CharacterSettings = CharacterSettings()) -> CharacterSwap:
    """Insert characters that nobody sees: zero-width, joiners, soft hyphens, tags."""
    return settings.search("invisible")


@registered("reorder")
def reorder(*, settings: CharacterSettings = CharacterSettings()) -> CharacterSwap:
    """Store letters in another order than they are displayed, by bidirectional controls."""
    return settings.search("reorder")


@registered("backspace")
def backspace(*, settings: CharacterSettings = CharacterSettings()) -> CharacterSwap:
    """Insert a character and the backspace that deletes it."""
    return settings.search("backspace")


@registered("spacing")
def spacing(*, settings: CharacterSettings = CharacterSettings()) -> CharacterSwap:
    """Space out the letters of words: i g n o r e."""
    return settings.search("spacing")


@registered("case")
def case(*, settings: CharacterSettings = CharacterSettings()) -> CharacterSwap:
    """Change upper and lower case: iGnOrE."""
    return settings.search("case")


@registered("leet")
def leet(*, settings: CharacterSettings = CharacterSettings()) -> CharacterSwap:
    """Write digits for letters: 1gn0r3."""
    return settings.search("leet")


@registered("full-width")
def full_width(*, settings: CharacterSettings = CharacterSettings()) -> CharacterSwap:
    """Write letters in their wide forms, as in East Asian texts."""
    return settings.search("full-width")


BENIGN_WORDS = (
    *("thanks", "please", "kindly", "today", "tomorrow", "weather", "garden", "recipe", "family"),
    *("holiday", "birthday", "music", "book", "coffee", "bread", "school", "teacher", "homework"),
    *("story", "travel", "train", "museum", "football", "team", "doctor", "letter", "meeting"),
    *("report", "summary", "table", "question", "answer", "help", "friendly", "good"),
)
"""Words from harmless requests."""


@dataclass(frozen=True)
class Append:
    """Add benign words at the end, one after another: each time the one that helps most.

    In every step each word is tried, once, after the text as it is by then; the best one stays if
    it gains, or while the loss is zero (a target that answers labels only). A step that gains
    nothing ends the search. Ties go to the first word of the list.

    With several fields the words go to the end of the last open one.
    """

    words: tuple[str, ...] = BENIGN_WORDS
    most: int = 10
    asks: ClassVar = (Try,)

    def __call__(self, case: Case[Text], rng: Random) -> Search[None]:
        text, loss = case.text, case.start_loss
        is_read = case.read_positions is None or len(text) - 1 in case.read_positions
        if not is_read or all(field.locked for field in text.frame.fields):
            raise Unfit(NO_CANDIDATES)
        for _ in range(self.most):
            longer = [text.insert(len(text), word) for word in self.words]
            answer = yield from Try(longer)
            best = answer.best
            if best is None or (answer.loss[best] <= loss and loss > 0):
                return
            text, loss = longer[best], float(answer.loss[best])


@registered("append")
def append(
    *,
    most: Annotated[int, "largest number of words to add"] = 10,
    words: Annotated[str | None, "your own list of words, one per line"] = None,
) -> Append:
    """Add benign words at the end, each time the one that helps most."""
    check_count(most=most)
    return Append(BENIGN_WORDS if words is None else _load_words(words), most)


def _load_words(path: str) -> tuple[str, ...]:
    try:
        lines = Path(path).read_text("utf-8-sig").split()
    except (OSError, UnicodeDecodeError) as error:
        raise UsageError(
            f"The words in {path!r} cannot be read ({error}). Expected a UTF-8 file with "
            "one word per line."
        ) from error
    words = tuple(dict.fromkeys(filter(is_word, lines)))
    if not words:
        raise UsageError(f"The file {path!r} has no words. Expected one word per line.")
    return words

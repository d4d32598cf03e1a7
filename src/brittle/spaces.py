"""A finite space of texts, what a target is asked about all of it at once, and what it answers."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import combinations, product
from math import prod

from brittle.text import Text

PositionSet = tuple[int, ...]
"""Positions whose words are swapped together."""
Change = tuple[int, str]
"""A site of a text, and what goes there."""
SMALLEST_MARGIN = 1e-9
"""The smallest margin of logits that proves anything: closer logits may round to equal
probabilities, and then the first class is predicted."""


@dataclass(frozen=True)
class SwapSpace:
    """All texts in which at most `words` words of a text are swapped for their candidates.

    `options` lists the candidates of every position, none for a word that stays; a candidate that
    is the word itself is left out.
    """

    text: Text
    options: Sequence[tuple[str, ...]]
    words: int

    def __post_init__(self) -> None:
        own = zip(self.text.words, self.options, strict=True)
        other = tuple(tuple(dict.fromkeys(w for w in words if w != old)) for old, words in own)
        object.__setattr__(self, "options", other)

    @cached_property
    def positions(self) -> PositionSet:
        """The positions that have candidates."""
        return tuple(i for i, words in enumerate(self.options) if words)

    def size_of(self, words: int, open_sets: Sequence[PositionSet] | None = None) -> int:
        """Count the texts with exactly so many words swapped, inside one of the sets if any.

        >>> space = SwapSpace(Text.of("a b c"), [("x", "y"), (), ("z",)], 2)
        >>> [space.size_of(words) for words in (0, 1, 2, 3)], space.size_of(1, [(0,)])
        ([1, 3, 2, 0], 2)
        """
        if open_sets is not None:
            sets = subsets(open_sets, words)
            return sum(prod(len(self.options[i]) for i in positions) for positions in sets)
        counts = [1] + [0] * words
        for i in self.positions:
            for n in range(words, 0, -1):
                counts[n] += counts[n - 1] * len(self.options[i])
        return counts[words]

    def texts(self, sets: Iterable[PositionSet]) -> Iterator[Text]:
        """Yield the texts in which the words of one of these sets of positions are swapped.

        >>> space = SwapSpace(Text.of("a b"), [("x", "y"), ("z",)], 2)
        >>> [str(text) for text in space.texts([(0,), (0, 1)])]
        ['x b', 'y b', 'x z', 'y z']
        """
        for positions in sets:
            for swaps in product(*(self.options[i] for i in positions)):
                yield self.swapped(positions, swaps)

    def swapped(self, positions: Sequence[int], swaps: Sequence[str]) -> Text:
        """Swap the words at some positions."""
        words = list(self.text.words)
        for i, word in zip(positions, swaps):
            words[i] = word
        return self.text.with_words(tuple(words))


def subsets(sets: Iterable[Sequence[int]], size: int) -> list[PositionSet]:
    """List the parts of a size of some sets, each once.

    >>> subsets([(0, 1), (1, 2)], 1)
    [(0,), (1,), (2,)]
    """
    return list(dict.fromkeys(part for one in sets for part in combinations(one, size)))


@dataclass(frozen=True)
class BoundRequest:
    """A space, the class that its text has, and the class aimed at, if it is not any other one."""

    space: SwapSpace
    label: int
    toward: int | None = None

    @property
    def key(self) -> bytes:
        space = self.space
        parts = (self.label, self.toward, space.words, tuple(space.options))
        return repr(parts).encode("utf-8", "surrogatepass") + b"\n" + space.text.key

    @property
    def size(self) -> int:
        return self.space.text.size

    def rivals(self, classes: int) -> list[int]:
        """List the classes to which no text of the space may change."""
        return [c for c in range(classes) if c != self.label and self.toward in (None, c)]


@dataclass(frozen=True)
class Bounded:
    """What is known of all texts of a space.

    `proved_words`: no text with at most so many words swapped has another class (or the class aimed
    at). `open_sets` are sets of positions: every text with another class swaps words at positions
    of one of them, and of no others; None if all sets are open, () if there is no such text.
    `strongest` are texts that have another class, or come nearest to it, the fewest swaps first.
    """

    proved_words: int = 0
    open_sets: Sequence[PositionSet] | None = None
    strongest: Sequence[Text] = ()


@dataclass(frozen=True)
class Choices:
    """Sites of a text, what may stand at each, and how a text is built from what is chosen.

    `options` lists what may stand at every site, nothing where it stays. At most `most` sites are
    changed in one text. A change is a site and what is put there.
    """

    options: Sequence[tuple[str, ...]]
    most: int
    build: Callable[[Sequence[Change]], Text]

    @cached_property
    def sites(self) -> PositionSet:
        """The sites that can be changed."""
        return tuple(i for i, options in enumerate(self.options) if options)

    @cached_property
    def size(self) -> int:
        """Count the texts with at least one site changed.

        >>> Choices([("x", "y"), (), ("z",)], 2, lambda changes: Text.of("")).size
        5
        """
        counts = [1] + [0] * self.most
        for i in self.sites:
            for n in range(self.most, 0, -1):
                counts[n] += counts[n - 1] * len(self.options[i])
        return sum(counts[1:])

    def singles(self) -> list[Change]:
        """List all single changes: the first option of every site, then the second ones, …."""
        longest = max(map(len, self.options), default=0)
        rounds = product(range(longest), self.sites)
        return [(i, self.options[i][n]) for n, i in rounds if n < len(self.options[i])]

    def combined(self, changes: int) -> Iterator[tuple[Change, ...]]:
        """Yield what can be chosen with exactly so many sites changed."""
        for sites in combinations(self.sites, changes):
            yield from product(*([(i, option) for option in self.options[i]] for i in sites))

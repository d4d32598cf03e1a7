"""Variants of examples by random edits of a level, with their labels: data to train on.

No target is asked. What a level allows to attacks it allows here, but sites and options are drawn
at random. So a model that learns from the variants meets the kind of edits with which that level
would break it.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass
from random import Random
from typing import Any

from brittle.asks import Case, Search, Tag, Unfit, leaves
from brittle.attacks.auto import Auto, auto
from brittle.attacks.recipes import check_count, check_share
from brittle.data import Dataset, Example, as_dataset, load, training_split
from brittle.english.tags import Tagger
from brittle.english.words import is_plainly_not_english
from brittle.errors import UsageError
from brittle.formatting import plural
from brittle.levels import REWRITE, Level, parse_levels
from brittle.progress import Progress, listener, shows_progress
from brittle.spaces import Choices
from brittle.text import Text

ORIGINAL = "original"
"""The level of an example that was not edited."""
DEFAULT_SHARE, DEFAULT_EDITS = 0.5, 2
DRAWS_PER_VARIANT = 5
"""How often a variant is drawn again if it was drawn before."""
Report = Callable[[int, int], None]
"""Receives the number of finished examples and of all examples."""


@dataclass(frozen=True)
class Variant:
    """An example, edited or as it was, with the number of its original and the level of its edits.

    Numbers count the examples of the data from 0. The level of an original is "original".
    """

    example: Example
    source: int
    level: str

    @property
    def text(self) -> str | dict[str, str]:
        """The text; of several fields a dict of them."""
        fields = dict(self.example.fields)
        return next(iter(fields.values())) if len(fields) == 1 else fields

    @property
    def label(self) -> str | None:
        """The label, which is that of the original."""
        return self.example.label


@dataclass(frozen=True)
class AugmentProgress:
    """How many examples have their variants, of how many."""

    done: int
    planned: int

    def __str__(self) -> str:
        return plural(self.planned, "examples")


@shows_progress("augmenting")
def augment(
    examples: Any,
    level: str = REWRITE,
    *,
    copies: int = 1,
    seed: int = 0,
    share: float = DEFAULT_SHARE,
    edits: int = DEFAULT_EDITS,
    rules: str | None = None,
    only_variants: bool = False,
    progress: Progress[AugmentProgress] = True,
) -> list[Variant]:
    """Return examples with variants that keep their labels, for any training code.

    `examples` is anything that `brittle.attack` takes; the name of a data set means its train
    split. `level` names one level of the ladder, or several, separated by commas. Every example
    gets at most `copies` different variants per level, fewer if the level has no more. A variant
    changes at least one and at most a `share` of the words or phrases that have candidates; a
    rewrite changes at most `edits`. The number of changes is random. `rules` is a file with more
    rewrites.
    """
    settings = AugmentSettings(level, copies, seed, share, edits, rules)
    if isinstance(examples, str):
        examples = load(examples, split=training_split(examples))
    dataset = as_dataset(examples)
    report = listener(progress)
    found = variants(
        dataset,
        settings,
        range(len(dataset)),
        lambda done, planned: report(AugmentProgress(done, planned)),
    )
    return [one for one in found if not only_variants or one.level != ORIGINAL]


@dataclass(frozen=True)
class AugmentSettings:
    """What decides the variants of an example besides the example."""

    level: str = REWRITE
    copies: int = 1
    seed: int = 0
    share: float = DEFAULT_SHARE
    edits: int = DEFAULT_EDITS
    rules: str | None = None

    def __post_init__(self) -> None:
        parse_levels(self.level)
        check_count(copies=self.copies, edits=self.edits)
        check_share(share=self.share)


def variants(
    dataset: Dataset,
    settings: AugmentSettings,
    rows: Sequence[int],
    progress: Report | None = None,
) -> Iterator[Variant]:
    """Yield some examples of a data set, by their numbers, each followed by its variants."""
    if dataset.kind != "text":
        raise UsageError(
            f"Got {dataset.kind}s; the levels edit texts. Augment data with a text column."
        )
    edit = editor(settings)
    for done, row in enumerate(rows, 1):
        example = dataset.examples[row]
        yield Variant(example, row, ORIGINAL)
        for level, edited in edit(row, Text.of(dict(example.fields), example.locked)):
            fields = tuple(edited.fields().items())
            yield Variant(Example(fields, example.label, example.locked), row, level)
        if progress is not None:
            progress(done, len(rows))


def editor(settings: AugmentSettings) -> Callable[[int, Text], Iterator[tuple[str, Text]]]:
    """Return the function that yields the variants of a text with a number, each with its level.

    A variant depends on the text, its number and its level alone, whatever is augmented with it.
    """
    ladder = auto(levels=settings.level, edits=settings.edits, rules=settings.rules)

    def edit(row: int, text: Text) -> Iterator[tuple[str, Text]]:
        for level, choices in _choices(ladder, text):
            random = Random(f"augment:{settings.seed}:{level.name}:{row}")
            for edited in _draw(text, choices, settings, random):
                yield level.name, edited

    return edit


def _choices(ladder: Auto, text: Text) -> Iterator[tuple[Level, Choices]]:
    """Yield what every level offers for a text, if it offers anything."""
    words = [word for word in text.words if isinstance(word, str)]
    is_foreign = is_plainly_not_english(words)
    for level, source in ladder.levels:
        if words and not (source.needs_tags and is_foreign):
            with suppress(Unfit):
                yield level, _answered(ladder.choices(Case("", text), level, source))


def _draw(text: Text, choices: Choices, settings: AugmentSettings, random: Random) -> list[Text]:
    """Draw different variants of a text, as many as there should be or fewer."""
    sites = choices.sites
    most = min(choices.most, len(sites), max(1, math.floor(settings.share * len(sites) + 1e-9)))
    drawn: dict[Text, None] = {}
    for _ in range(DRAWS_PER_VARIANT * settings.copies):
        if len(drawn) == settings.copies:
            break
        chosen = sorted(random.sample(sites, random.randint(1, most)))
        edited = choices.build([(i, random.choice(choices.options[i])) for i in chosen])
        if edited != text:
            drawn[edited] = None
    return list(drawn)


def _answered(search: Search[Choices]) -> Choices:
    """Run a search that asks for nothing but tags."""
    tagger, answer = Tagger(), None
    while True:
        try:
            ask = search.send(answer)
        except StopIteration as stop:
            choices: Choices = stop.value
            return choices
        assert all(isinstance(leaf, Tag) for leaf in leaves(ask))
        answer = tagger.tags(ask.items)

"""Bad characters: imperceptible edits by differential evolution (Boucher et al., 2022)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from random import Random
from statistics import fmean, pstdev
from typing import Annotated, ClassVar

from brittle.asks import NO_CANDIDATES, NORMALISED, Case, Search, Try, Unfit
from brittle.attacks.open_string import SEPARATOR, open_string, with_open_string
from brittle.attacks.recipes import AUTHOR_CODE, Variant, check_count, check_variant
from brittle.attacks.registry import registered
from brittle.candidates.characters import BACKSPACE, INVISIBLE, REORDER, EditedCharacters
from brittle.errors import UsageError, unknown
from brittle.levels import LOOK_ALIKE
from brittle.safety.characters import DELETE_LAST, ZERO_WIDTH, look_alikes, swap_in_display
from brittle.text import Text

KINDS = (LOOK_ALIKE, INVISIBLE, REORDER, BACKSPACE)
FEWEST = 4
FIRST_TYPED, LAST_TYPED = ord("!"), ord("~")
WEIGHT, CROSSOVER = 0.8, 0.7
"""Differential weight and crossover probability; the paper gives no values."""
DITHER = (0.5, 1.0)
TOLERANCE = 0.01
"""SciPy's test of convergence: the spread of the losses relative to their mean."""

Genes = list[float]
Bounds = Sequence[tuple[float, float]]


@dataclass(frozen=True)
class Genome:
    """What the numbers of an individual mean: `edits` edits of one kind in a string.

    An edit is one number or two, each within its bounds and rounded: of a look-alike the number of
    a letter and its twin; of the others a position, and which character is inserted there. A
    position counts in the string as the edits before have left it; -1 is no edit.
    """

    kind: str
    string: str
    edits: int

    @cached_property
    def twins(self) -> list[tuple[int, str]]:
        """The letters of the string with each of their twins."""
        table = look_alikes()
        return [(i, twin) for i, one in enumerate(self.string) for twin in table.get(one, "")]

    @cached_property
    def bounds(self) -> Bounds:
        """The bounds of all numbers; none if nothing can be edited."""
        last = (len(self.twins) if self.kind == LOOK_ALIKE else len(self.string)) - 1
        own: Bounds = [(-1, last)]
        if self.kind == INVISIBLE:
            own = [(0, len(ZERO_WIDTH) - 1), (-1, last)]
        elif self.kind == BACKSPACE:
            own = [(-1, last), (FIRST_TYPED, LAST_TYPED)]
        return [] if last < 0 else [*own] * self.edits

    def build(self, genes: Genes) -> str:
        """Edit the string as the numbers say."""
        cells, numbers = list(self.string), [round(gene) for gene in genes]
        if self.kind in (LOOK_ALIKE, REORDER):
            for n in (n for n in numbers if n >= 0):
                if self.kind == LOOK_ALIKE:
                    cells[self.twins[n][0]] = self.twins[n][1]
                elif len(cells) > 1:
                    at = min(n, len(cells) - 2)
                    if SEPARATOR not in cells[at : at + 2]:
                        cells[at : at + 2] = [swap_in_display(cells[at], cells[at + 1])]
            return "".join(cells)
        for one, other in zip(numbers[::2], numbers[1::2]):
            if self.kind == INVISIBLE and other >= 0:
                cells[other:other] = [ZERO_WIDTH[max(0, one)]]
            elif self.kind == BACKSPACE and one >= 0:
                cells[one:one] = [chr(max(0, other)), DELETE_LAST]
        return "".join(cells)


@dataclass(frozen=True)
class BadCharacters:
    """Evolve a few imperceptible edits, anywhere in a text, of one `kind`.

    Differential evolution: an individual is a list of numbers, which say what is edited
    (`Genome`). There are `iterations` generations. In each every individual in turn meets a trial,
    made of others of the population as it is by then, and gives way if the trial's loss is not
    lower. The first population is one question, every trial another.

    The variant `paper` draws `population` individuals uniformly. A trial is a + F (b - c) of three
    others where a draw is below the crossover probability, and at one number drawn for it. The
    paper does not name both constants (F = 0.8 and 0.7 here), nor what becomes of a number beyond
    its bounds: here it is set to the bound.

    The variant `author-code` is SciPy's `differential_evolution` as the authors call it: as many
    times `population` individuals as there are numbers, by a Latin hypercube; the best one instead
    of a; F drawn between 0.5 and 1 for each generation; a number beyond its bounds is drawn anew;
    the best stands first; it ends when the losses are nearly equal.

    Random draws of `paper`: a `uniform` for each number; for a trial a `sample` of three others, a
    `randrange` for the number that always changes, then a `random` for each number. Of
    `author-code`: for each number a `shuffle` of the strata and a `random` in each; a `uniform` for
    F in each generation; for a trial a `randrange`, a `sample` of two others, a `random` for each
    number, then one for each that is beyond its bounds.

    Deviations: the search ends with the first text that reaches the goal (`Try`). The look-alikes
    of a letter are all in its group of Unicode's list, in either direction. Edits never cross from
    one field to another. A text that nothing can be done to is skipped.
    """

    kind: str = LOOK_ALIKE
    edits: int = 5
    population: int = 32
    iterations: int = 10
    variant: str = "paper"
    asks: ClassVar = (Try,)

    @property
    def sources(self) -> tuple[EditedCharacters, ...]:
        """The class of its edits."""
        return (EditedCharacters(self.kind),)

    def __call__(self, case: Case[Text], rng: Random) -> Search[None]:
        if self.kind in case.normalised:
            raise Unfit(NORMALISED)
        genome = Genome(self.kind, open_string(case), self.edits)
        if not genome.bounds:
            raise Unfit(NO_CANDIDATES)
        breed = SciPyBreed if self.variant == AUTHOR_CODE else PaperBreed
        evolution = breed(genome.bounds, self.population, rng)
        own = evolution.population
        texts = [with_open_string(case.text, genome.build(evolution.scaled(one))) for one in own]
        answer = yield from Try(texts)
        loss = answer.loss.tolist()
        for _ in range(self.iterations):
            evolution.begin(loss)
            for n in range(len(own)):
                trial = evolution.trial(n)
                text = with_open_string(case.text, genome.build(evolution.scaled(trial)))
                answer = yield from Try([text])
                if answer.loss[0] >= loss[n]:
                    own[n], loss[n] = trial, float(answer.loss[0])
                    evolution.replaced(n, loss)
            if evolution.has_converged(loss):
                return


class PaperBreed:
    """The algorithm that the paper prints."""

    def __init__(self, bounds: Bounds, size: int, rng: Random) -> None:
        self.bounds, self.rng = bounds, rng
        self.population = [[rng.uniform(*one) for one in bounds] for _ in range(size)]

    def scaled(self, genes: Genes) -> Genes:
        """Return the numbers within their bounds."""
        return genes

    def begin(self, loss: list[float]) -> None:
        """Begin a generation."""

    def trial(self, n: int) -> Genes:
        """Make what the individual n is compared with."""
        others = [i for i in range(len(self.population)) if i != n]
        a, b, c = (self.population[i] for i in self.rng.sample(others, 3))
        always = self.rng.randrange(len(self.bounds))
        trial = list(self.population[n])
        for k, (low, high) in enumerate(self.bounds):
            if self.rng.random() < CROSSOVER or k == always:
                trial[k] = min(max(a[k] + WEIGHT * (b[k] - c[k]), low), high)
        return trial

    def replaced(self, n: int, loss: list[float]) -> None:
        """Take note that the individual n is another one."""

    def has_converged(self, loss: Sequence[float]) -> bool:
        """Tell whether the evolution ends early."""
        return False


class SciPyBreed:
    """SciPy's default, `best1bin` with immediate updating; numbers are between 0 and 1 here."""

    def __init__(self, bounds: Bounds, size: int, rng: Random) -> None:
        self.bounds, self.rng, self.weight = bounds, rng, 0.0
        count = size * len(bounds)
        columns = []
        for _ in bounds:
            strata = list(range(count))
            rng.shuffle(strata)
            columns.append([(n + rng.random()) / count for n in strata])
        self.population = [list(genes) for genes in zip(*columns)]

    def scaled(self, genes: Genes) -> Genes:
        """Return the numbers within their bounds."""
        return [low + gene * (high - low) for gene, (low, high) in zip(genes, self.bounds)]

    def begin(self, loss: list[float]) -> None:
        """Begin a generation: the best stands first, and F is drawn."""
        self._promote(loss)
        self.weight = self.rng.uniform(*DITHER)

    def trial(self, n: int) -> Genes:
        """Make what the individual n is compared with."""
        always = self.rng.randrange(len(self.bounds))
        others = [i for i in range(len(self.population)) if i != n]
        b, c = (self.population[i] for i in self.rng.sample(others, 2))
        best, trial = self.population[0], list(self.population[n])
        for k in range(len(trial)):
            if self.rng.random() < CROSSOVER or k == always:
                trial[k] = best[k] + self.weight * (b[k] - c[k])
        return [gene if 0 <= gene <= 1 else self.rng.random() for gene in trial]

    def replaced(self, n: int, loss: list[float]) -> None:
        """Take note that the individual n is another one: the best one stands first."""
        if loss[n] >= loss[0]:
            self._promote(loss)

    def _promote(self, loss: list[float]) -> None:
        best = loss.index(max(loss))
        loss[0], loss[best] = loss[best], loss[0]
        own = self.population
        own[0], own[best] = own[best], own[0]

    def has_converged(self, loss: Sequence[float]) -> bool:
        """Tell whether the evolution ends early: what SciPy minimises is 1 - loss."""
        energies = [1 - one for one in loss]
        return pstdev(energies) <= TOLERANCE * abs(fmean(energies))


@registered("bad-characters")
def bad_characters(
    *,
    kind: Annotated[str, f"kind of edit: {', '.join(KINDS)}"] = LOOK_ALIKE,
    edits: Annotated[int, "edits in a text"] = 5,
    population: Annotated[int, "texts in the population"] = 32,
    iterations: Annotated[int, "generations of the evolution"] = 10,
    variant: Variant = "paper",
) -> BadCharacters:
    """Evolve imperceptible edits anywhere in a text (bad characters: Boucher et al., 2022)."""
    check_count(edits=edits, population=population, iterations=iterations)
    check_variant(variant)
    if kind not in KINDS:
        raise unknown("kind of edit", kind, KINDS)
    if population < FEWEST:
        raise UsageError(
            f"Got --population {population}; expected {FEWEST} or more, because each new "
            "text combines three others."
        )
    return BadCharacters(kind, edits, population, iterations, variant)

"""Natural adversaries: search the latent space of a generator for the nearest one.

How a latent space is searched for the nearest adversary: shells around a point, ever closer.

These are parts of attacks, to be used with `yield from`. A search looks into one shell after
another; `look(low, high)` returns the distance of the nearest adversary in it, None if there is
none. All of them end: what they look at is bounded.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from math import ceil, inf
from random import Random
from typing import Annotated, Any, ClassVar, Protocol

import numpy as np

from brittle.asks import OTHER_CLASS, Case, Decode, Encode, KeepItems, Probe, Search, Try, Unfit
from brittle.asks import RECONSTRUCTION as RECONSTRUCTION
from brittle.attacks.recipes import (
    AUTHOR_CODE,
    PAPER,
    RunContext,
    check_count,
    check_positive,
    check_variant,
)
from brittle.attacks.registry import registered
from brittle.errors import UsageError, unknown
from brittle.latent import LatentPoint, Numbers, draw_shell
from brittle.text import Text

Look = Callable[[float, float], Search[float | None]]
SMALLEST_RADIUS = 1e-4  # where the authors' code gives up


class LatentSearch(Protocol):
    """Looks into shells of at most `radius`, in steps of `step`."""

    def __call__(self, look: Look) -> Search[None]: ...


@dataclass(frozen=True)
class Iterative:
    """Algorithm 1 of Zhao et al. (2018): shells of one width outward, until one has an adversary.

    The paper's loop has no end; here the last shell ends at `radius`.
    """

    step: float
    radius: float

    def __call__(self, look: Look) -> Search[None]:
        for n in range(ceil(self.radius / self.step - 1e-9)):
            nearest = yield from look(n * self.step, min((n + 1) * self.step, self.radius))
            if nearest is not None:
                return


@dataclass(frozen=True)
class Hybrid:
    """Algorithm 2 of Zhao et al. (2018): halve a wide shell, then go inward in steps.

    `misses` is the paper's B: so many shells of the second phase may be empty in a row.
    """

    step: float
    radius: float
    misses: int

    def __call__(self, look: Look) -> Search[None]:
        low, high = 0.0, self.radius
        while high - low >= self.step:
            nearest = yield from look(low, high)
            if nearest is None:
                low = (low + high) / 2
            else:
                low, high = 0.0, nearest
        missed = 0
        while missed < self.misses and high > 0:
            nearest = yield from look(max(0.0, high - self.step), high)
            if nearest is None:
                missed, high = missed + 1, high - self.step
            else:
                missed, high = 0, nearest


@dataclass(frozen=True)
class AuthorsHybrid:
    """The hybrid search as the authors' published code has it, which is not Algorithm 2.

    After a find it looks between half its distance and its distance, not from 0. A find that is no
    nearer halves the shell from outside, and counts as a miss. In the second phase a miss looks
    into the same shell again, and a find goes on below that shell.
    """

    step: float
    radius: float
    misses: int

    def __call__(self, look: Look) -> Search[None]:
        low, high, missed = 0.0, self.radius, 0
        best: float | None = None
        while missed < self.misses:
            nearest = yield from look(low, high)
            middle = (low + high) / 2
            if nearest is None:
                if high - low < self.step:
                    break
                low, missed = middle, 0
                continue
            if best is None or nearest < best:
                best, low, high, missed = nearest, nearest / 2, nearest, 0
            else:
                high, missed = middle, missed + 1
            if high - low < self.step:
                break
        high, missed = (high if best is None else best), 0
        while missed < self.misses and high > SMALLEST_RADIUS:
            low = max(0.0, high - self.step)
            nearest = yield from look(low, high)
            if nearest is None:
                missed += 1
            else:
                high, missed = low, 0


@dataclass(frozen=True)
class Uniform:
    """No search: `shells` looks into the whole ball, the baseline that a search has to beat."""

    radius: float
    shells: int

    def __call__(self, look: Look) -> Search[None]:
        for _ in range(self.shells):
            yield from look(0.0, self.radius)


WAY_PARTS = 10  # of the straight line from the latent point of a text to that of its adversary
POINTS_PER_ASK = 512  # decoded items of a case that are in memory together
SEARCHES = ("hybrid", "iterative", "uniform")


@dataclass(frozen=True)
class Natural:
    """Look for the adversary nearest to an item in a generator's latent space (Zhao et al., 2018).

    z0 is the latent point of the item. `samples` points of a shell around it are decoded and tried;
    the `search` says which shells. Directions are uniform, and distances are uniform in the
    shell. The cost of a candidate is its distance Δz = ‖z − z0‖, and the cheapest winner counts.
    The item at z0 is asked about first: where it reaches the goal, the case is skipped. (The
    authors' code counts such a case as broken at a distance near 0.)

    Random draws: `getrandbits` seeds one generator of numpy; for every shell it draws the normal
    directions of all samples, then their uniform distances.

    Deviation: the searches have an end where the paper's have none. Without labels the reference is
    the target's own prediction, as in the paper; with labels, as in the authors' code, examples
    that are wrong already are skipped.
    """

    generator: Any
    search: LatentSearch
    samples: int
    asks: ClassVar = (Encode, Decode, Probe, Try)
    cost_name: ClassVar = "Δz"

    @property
    def item_kind(self) -> str:
        return str(self.generator.item_kind)

    @property
    def helpers(self) -> tuple[Any, ...]:
        return (self.generator,)

    def check_item(self, item: Any) -> None:
        """Refuse data that the generator cannot read, before anything is asked."""
        check = getattr(self.generator, "check_item", None)
        part = open_part(item)
        if check is not None:
            check(part)

    def doubt(self, items: Sequence[Any]) -> str | None:
        """Return what the generator has to say of data that seem to be none of its own."""
        doubt: Callable[[Sequence[Any]], str | None] | None
        doubt = getattr(self.generator, "doubt", None)
        return None if doubt is None else doubt([open_part(item) for item in items])

    def __call__(self, case: Case[Any], rng: Random) -> Search[None]:
        reason = unfit(self.generator, open_part(case.item))
        if reason is not None:
            raise Unfit(reason)
        [origin] = yield from Encode([open_part(case.item)])
        [rebuilt] = yield from Decode([origin])
        answer = yield from Probe([placed(case.item, rebuilt)])
        yield from KeepItems("reconstruction", [rebuilt], answer.answers, [0.0])
        if answer.won[0]:
            raise Unfit(RECONSTRUCTION)
        if case.toward is not None and case.start is not None:
            own, again = (int(np.argmax(a.answers[0])) for a in (case.start, answer))
            if own != again:
                raise Unfit(OTHER_CLASS)
        numbers = np.random.default_rng(rng.getrandbits(64))
        is_text = self.item_kind == "text"
        yield from self.search(
            _Shells(case.item, origin, rebuilt, self.samples, numbers, is_text).look
        )


@dataclass
class _Shells:
    """The shells around one latent point; `nearest` is the distance of the nearest winner so far.

    Of texts the sentences on the straight line to that winner are kept for the report.
    """

    original: Any
    origin: LatentPoint
    rebuilt: Any
    samples: int
    numbers: np.random.Generator
    is_text: bool
    nearest: float = inf

    def look(self, low: float, high: float) -> Search[float | None]:
        """Try samples of the shell (low, high]; return the distance of the nearest winner."""
        size = self.origin.vector.size
        offset, distance = draw_shell(self.numbers, self.samples, size, low, high)
        nearest = inf
        for start in range(0, self.samples, POINTS_PER_ASK):
            part = slice(start, start + POINTS_PER_ASK)
            decoded = yield from Decode(LatentPoint.rows(self.origin.vector + offset[part]))
            items = [placed(self.original, item) for item in decoded] if self.is_text else decoded
            answer = yield from Try(items, cost=distance[part].tolist())
            cost = np.where(answer.won, distance[part], inf)
            first = int(cost.argmin())
            nearest = min(nearest, float(cost[first]))
            if nearest < self.nearest:
                self.nearest = nearest
                if self.is_text:
                    yield from self._note_way(offset[part][first], decoded[first])
        return None if nearest == inf else nearest

    def _note_way(self, offset: Numbers, winner: Any) -> Search[None]:
        """Keep what else lies between reconstruction and winner, each item once, and the winner."""
        share = np.arange(1, WAY_PARTS)[:, None] / WAY_PARTS
        decoded = yield from Decode(LatentPoint.rows(self.origin.vector + share * offset))
        items, cost, seen = [], [], {self.rebuilt.key, winner.key}
        for item, part in zip(decoded, share[:, 0].tolist()):
            if item.key not in seen:
                seen.add(item.key)
                items.append(item)
                cost.append(part * self.nearest)
        yield from KeepItems("way", [*items, winner], cost=[*cost, self.nearest])


def unfit(generator: Any, item: Any) -> str | None:
    """Say why a generator cannot encode an item, if it knows: a sentence may be too long for it."""
    check = getattr(generator, "unfit", None)
    return None if check is None else check(item)


def open_part(item: Any) -> Any:
    """Return what a generator reads of an item: of a text with locked fields, its open field."""
    if not isinstance(item, Text) or len(item.frame.fields) == 1:
        return item
    return Text.of(item.fields()[_open_field(item)])


def placed(original: Any, decoded: Any) -> Any:
    """Put what a generator has made in place of the open field of the original."""
    if not isinstance(original, Text) or len(original.frame.fields) == 1:
        return decoded
    name = _open_field(original)
    fields = original.fields() | {name: str(decoded)}
    return Text.of(fields, locked=[other for other in fields if other != name])


def placed_all(original: Any, decoded: Sequence[Any]) -> Sequence[Any]:
    """Put each of several items in place of the open field; where there is none, they stay."""
    if not isinstance(original, Text) or len(original.frame.fields) == 1:
        return decoded
    return [placed(original, item) for item in decoded]


def _open_field(text: Text) -> str:
    names = [field.name for field in text.frame.fields if not field.locked]
    if len(names) != 1:
        raise UsageError(
            f"The fields {', '.join(names)} can be edited, but a generator makes one "
            "sentence. Lock all fields but one, such as --locked premise."
        )
    return names[0]


@registered("natural")
def natural(
    *,
    context: RunContext = RunContext(),
    generator: Annotated[
        str,
        "a trained generator (brittle list generators), a folder, or python:module:name; "
        "default: the one trained on the data, a VAE before an ARAE",
    ] = "",
    search: Annotated[str, "hybrid (Algorithm 2), iterative (Algorithm 1) or uniform"] = "hybrid",
    samples: Annotated[int, "the paper's N: points tried in each shell"] = 500,
    step: Annotated[float, "the paper's Δr: the width of the thinnest shell"] = 0.01,
    radius: Annotated[float, "the largest distance from the item's latent point"] = 10.0,
    misses: Annotated[int, "hybrid, the paper's B: stop after this many empty shells in a row"] = 5,
    shells: Annotated[int, "uniform: how many times to sample the whole ball"] = 10,
    refine: Annotated[int, "steps of gradient descent that bring G(z0) closer to the item"] = 0,
    variant: Annotated[
        str, "paper, or author-code: the hybrid search of the authors' code"
    ] = PAPER,
) -> Natural:
    """Search a generator's latent space for the nearest adversary (Zhao et al., 2018)."""
    check_count(samples=samples, misses=misses, shells=shells)
    check_positive(step=step, radius=radius)
    if not (isinstance(refine, int) and refine >= 0):
        raise UsageError(f"Got --refine {refine!r}; expected a whole number, 0 or more.")
    if step > radius:
        raise UsageError(
            f"Got --step {step:g} and --radius {radius:g}; expected a step no larger than "
            "the radius."
        )
    if search not in SEARCHES:
        raise unknown("search", search, SEARCHES)
    check_variant(variant)
    if variant == AUTHOR_CODE and search != "hybrid":
        raise UsageError(
            f"Got --variant {AUTHOR_CODE} with --search {search}; expected --search "
            "hybrid: for pictures the authors' code differs from the paper only there."
        )
    if context.open_generator is None:
        raise UsageError("The attack natural needs a generator. Build Natural(generator, …).")
    hybrid = AuthorsHybrid if variant == AUTHOR_CODE else Hybrid
    searches: dict[str, LatentSearch] = {
        "hybrid": hybrid(step, radius, misses),
        "iterative": Iterative(step, radius),
        "uniform": Uniform(radius, shells),
    }
    return Natural(context.open_generator(generator, refine), searches[search], samples)

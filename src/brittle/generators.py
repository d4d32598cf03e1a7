"""From a generator's name to the generator: what encodes items, and decodes latent points."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from brittle.data import has_splits
from brittle.data.pictures import is_picture_file, open_picture
from brittle.errors import TargetError, UsageError
from brittle.latent import LatentPoint, draw_shell
from brittle.targets.fingerprints import code_of, hash_parts
from brittle.targets.protocols import Generator
from brittle.text import Text
from brittle.values import import_named
from brittle.zoo.generators.folder import find_generator, known_generators, open_folder
from brittle.zoo.names import grid
from brittle.zoo.names.parsing import parse

DECODED_ALONE = 8  # points of an own generator that are decoded alone, too, when it is first used
SAME_PIXELS = 1e-3
FORMS = "a name of brittle list generators such as WGAN@mnist, a folder, or python:module:name"
EXPECTED = (
    "an object with `encode(items)`, which returns a row of numbers for each item, `decode(rows)`, "
    "which returns an item for each row, `size` (how many numbers a row has) and `item_kind` "
    "('text' or 'picture')"
)


def open_generator(
    spec: str, refine: int = 0, *, device: str = "auto", data: str = ""
) -> Generator:
    """Open a generator by its name, its folder, or the user's own as `python:module:name`.

    With `refine` its latent points are improved by so many steps of descent. Without a name it is
    one that was trained on the data of this name: of several kinds, the first that `brittle list
    generators` describes.
    """
    spec = spec or _name_for(data)
    if spec.startswith("python:"):
        generator = own_generator(import_named(spec, "python:mine:vae"), spec)
    else:
        generator = open_folder(_folder(spec), device)
    return refine_generator(generator, refine)


def refine_generator(generator: Generator, steps: int) -> Generator:
    """Return the generator with latent points that are improved by so many steps of descent."""
    if not (isinstance(steps, int) and steps >= 0):
        raise UsageError(f"Got --refine {steps!r}; expected a whole number, 0 or more.")
    if not steps:
        return generator
    refined = getattr(generator, "refined", None)
    if refined is None:
        raise _not_refined(generator.name, steps)
    return refined(steps)  # type: ignore[no-any-return]


def _not_refined(name: str, steps: int) -> UsageError:
    return UsageError(
        f"Got --refine {steps}, but the generator {name!r} has no method refined(steps). Leave "
        "--refine out."
    )


def _name_for(data: str) -> str:
    """Return the name of the generator of these data; of several kinds, the first of the list."""
    known = known_generators()
    own = [g for g in known if g.card.data == _stem(data)]
    order = [name for name in grid.GENERATORS if any(g.card.name == name for g in own)]
    names = sorted({g.name for g in own if g.card.name == order[0]}) if order else []
    if len(names) == 1:
        return names[0]
    there = f" For {data!r} there are {', '.join(names)}." if names else ""
    shipped = " and ".join(g.name for g in known if g.shipped)
    raise UsageError(
        f"This needs a generator.{there} Name one with --generator: {FORMS}. Brittle comes with "
        f"{shipped}."
    )


def _stem(data: str) -> str:
    """Return the name of data in a model's name: a model of a file has that of its stem."""
    return data if has_splits(data) else Path(data).name.split(".")[0]


def _folder(spec: str) -> Path:
    """Return the folder that a name means; nothing is trained."""
    if Path(spec).is_dir():
        return Path(spec)
    if "@" not in spec:
        raise UsageError(f"Got the generator {spec!r}; expected {FORMS}.")
    wanted = parse(spec)
    if wanted.family.answers != "points":
        raise UsageError(
            f"{wanted.full_name} is not a generator: it cannot decode. Use one of brittle "
            "list generators."
        )
    name = replace(wanted, data=_stem(wanted.data)).full_name
    return find_generator(name, wanted.command)


@dataclass(frozen=True)
class Neighbour:
    """An item decoded near another in a latent space, and its distance there."""

    item: Any
    distance: float


def neighbours(
    generator: Generator, item: Any, *, radius: float, count: int, seed: int = 0
) -> list[Neighbour]:
    """Decode `count` points within `radius` of an item's latent point, the nearest first.

    Distances are uniform, as in the searches of the attack natural. The first neighbour, at
    distance 0, is the item's reconstruction.
    """
    if not (0 < radius < float("inf")):
        raise UsageError(f"Got --radius {radius:g}; expected a number above 0, such as 0.5.")
    if count < 1:
        raise UsageError(f"Got --count {count}; expected 1 or more.")
    check = getattr(generator, "check_item", None)
    if check is not None:
        check(item)
    [origin] = generator.encode([item])
    numbers = np.random.default_rng(seed)
    offset, distance = draw_shell(numbers, count, generator.size, 0.0, radius)
    order = np.argsort(distance)
    points = [origin, *LatentPoint.rows(origin.vector + offset[order])]
    items = generator.decode(points)
    return [Neighbour(i, float(d)) for i, d in zip(items, [0.0, *distance[order]])]


def perturb(
    generator: Any,
    item: Any,
    *,
    radius: float = 1.0,
    count: int = 20,
    seed: int = 0,
    refine: int = 0,
    device: str = "auto",
) -> list[Neighbour]:
    """Decode items near another one in a generator's latent space, the nearest first.

    `generator` is a name of `brittle list generators`, a folder, `python:module:name`, or a
    generator; `item` is a text, a picture, or a picture file. The first neighbour, at distance 0,
    is the item's reconstruction.

        for found in brittle.perturb("VAE@imdb", "This is a very good film.", radius=3):
            print(found.distance, found.item)
    """
    if isinstance(generator, str):
        opened = open_generator(generator, refine, device=device)
    else:
        opened = refine_generator(generator, refine)
    found = read_item(opened, item)
    return neighbours(opened, found, radius=radius, count=count, seed=seed)


def read_item(generator: Generator, item: Any) -> Any:
    """Return a text or a picture as a generator reads it; a text may name the file of a picture."""
    if not isinstance(item, str | Path):
        return item
    path = Path(item)
    is_file = is_picture_file(path) and path.is_file()
    if generator.item_kind == "picture":
        if not is_file:
            raise UsageError(
                f"{generator.name} is a generator of pictures, but {str(item)!r} is not a "
                "picture file. Use a .png or .jpg file."
            )
        return open_picture(path)
    if is_file:
        raise UsageError(
            f"{generator.name} is a generator of texts, but {str(item)!r} is a picture. Write a "
            "sentence in quotes."
        )
    return Text.of(str(item))


def own_generator(value: Any, spec: str) -> Generator:
    """Return the user's object as a generator whose answers are checked."""
    made = value() if isinstance(value, type) else value
    missing = [
        name for name in ("encode", "decode", "size", "item_kind") if not hasattr(made, name)
    ]
    if missing:
        kind = type(made).__name__
        raise UsageError(f"{spec!r} is a {kind} without {', '.join(missing)}. Expected {EXPECTED}.")
    return CheckedGenerator(made, spec.removeprefix("python:"), spec)


@dataclass(frozen=True)
class CheckedGenerator:
    """A user's generator: its rows become latent points, and what it answers is checked.

    One that was opened by its `spec` travels by it: a worker imports it again. `steps` are those of
    descent by which its points are refined.
    """

    generator: Any
    own_name: str
    spec: str | None = None
    steps: int = 0
    _decodes_alike: list[bool] = field(default_factory=list, init=False, repr=False, compare=False)

    def __reduce__(self) -> tuple[Any, tuple[Any, ...]]:
        if self.spec is None:
            return CheckedGenerator, (self.generator, self.own_name, None, self.steps)
        return open_generator, (self.spec, self.steps)

    @property
    def name(self) -> str:
        name = str(getattr(self.generator, "name", self.own_name))
        return f"{name} refined by {self.steps} steps" if self.steps else name

    @property
    def fingerprint(self) -> str:
        own = getattr(self.generator, "fingerprint", None)
        plain = str(own) if own else hash_parts(code_of(self.generator))
        return hash_parts(plain, f"refined {self.steps}") if self.steps else plain

    @property
    def size(self) -> int:
        return int(self.generator.size)

    @property
    def item_kind(self) -> str:
        return str(self.generator.item_kind)

    @property
    def batch(self) -> int | None:
        return getattr(self.generator, "batch", None)

    def unfit(self, item: Any) -> str | None:
        """Say why the generator cannot encode an item, if it has a method for that."""
        check = getattr(self.generator, "unfit", None)
        return None if check is None else check(item)

    def check_item(self, item: Any) -> None:
        """Let the generator refuse an item, if it has a method for that."""
        check = getattr(self.generator, "check_item", None)
        if check is not None:
            check(item)

    def doubt(self, items: Sequence[Any]) -> str | None:
        """Return the generator's warning of items that are none of its data, if it has one."""
        doubt = getattr(self.generator, "doubt", None)
        return None if doubt is None else doubt(items)

    def refined(self, steps: int) -> CheckedGenerator:
        """Return the generator as its own method `refined` makes it."""
        refined = getattr(self.generator, "refined", None)
        if refined is None:
            raise _not_refined(self.name, steps)
        return CheckedGenerator(refined(steps), self.own_name, self.spec, steps)

    def encode(self, items: Sequence[Any]) -> list[LatentPoint]:
        rows = np.asarray(self.generator.encode(items), dtype=np.float64)
        if rows.shape != (len(items), self.size) or not np.isfinite(rows).all():
            what = "numbers that are not finite" if rows.shape == (len(items), self.size) else ""
            raise TargetError(
                f"The generator {self.name!r} encoded {len(items)} items as "
                f"{what or f'an array of shape {rows.shape}'}; expected finite numbers of shape "
                f"({len(items)}, {self.size})."
            )
        return [LatentPoint(row) for row in rows]

    def decode(self, points: Sequence[LatentPoint]) -> list[Any]:
        rows = np.stack([point.vector for point in points])
        items = self._decode(rows)
        if len(points) > 1 and not self._decodes_alike:
            self._check_alone(rows[:DECODED_ALONE], items)
            self._decodes_alike.append(True)
        return items

    def _check_alone(self, rows: NDArray[np.float32], items: Sequence[Any]) -> None:
        """Refuse a generator that decodes a point otherwise alone than among others."""
        alone = [self._decode(rows[n : n + 1])[0] for n in range(len(rows))]
        if 2 * sum(map(_differ, alone, items)) > len(rows):
            raise TargetError(
                f"The generator {self.name!r} decodes a point differently when other "
                "points are in the batch. Put its networks in evaluation mode: "
                "model.eval()."
            )

    def _decode(self, rows: NDArray[np.float32]) -> list[Any]:
        items = [Text.of(x) if isinstance(x, str) else x for x in self.generator.decode(rows)]
        if len(items) != len(rows):
            raise TargetError(
                f"The generator {self.name!r} decoded {len(rows)} points as {len(items)} items; "
                "expected one item for each."
            )
        for item in items:
            if getattr(item, "kind", None) != self.item_kind:
                raise TargetError(
                    f"The generator {self.name!r} decoded a point as {type(item).__name__}; "
                    f"expected a {self.item_kind}."
                )
        return items


def _differ(one: Any, other: Any) -> bool:
    """Tell whether two items differ by more than the last digits of a network's numbers."""
    if isinstance(one, Text):
        return bool(one.key != other.key)
    return not np.allclose(one.pixels, other.pixels, atol=SAME_PIXELS)

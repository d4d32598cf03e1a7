"""`brittle explain latent`: items near another in a generator's latent space."""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import TYPE_CHECKING, Any

from brittle.cli import console
from brittle.cli.command import Command, add_output_flags, positive

if TYPE_CHECKING:
    from collections.abc import Sequence

    from brittle.generators import Neighbour

SHEET_COLUMNS = 10
EXAMPLES = """\
examples:
  brittle explain latent WGAN@mnist digit.png --radius 2 --count 40
  brittle explain latent VAE@imdb "This is a very good film." --radius 3 --count 100
  brittle explain latent python:my_models:vae "A man walks his dog." --radius 0.5
"""


def _add_flags(parser: argparse.ArgumentParser) -> None:
    add = parser.add_argument
    generator = "a name of brittle list generators, a folder, or python:module:name"
    add("generator", metavar="GENERATOR", help=generator)
    add("input", metavar="INPUT", help="a picture file (.png, .jpg), or a sentence in quotes")
    radius = "the largest distance in the latent space (default: 1)"
    add("--radius", type=float, default=1.0, help=radius)
    add("--count", type=positive, default=20, metavar="N", help="decode N points (default: 20)")
    add("--seed", type=int, default=0, help="the seed of the random points (default: 0)")
    refine = "take N gradient steps that bring the reconstruction closer to the input (default: 0)"
    add("--refine", type=int, default=0, metavar="N", help=refine)
    out = "for a picture: the file of the contact sheet (default: INPUT-neighbours.png)"
    add("--out", metavar="FILE", help=out)
    add("--device", default="auto", help="auto, cpu, cuda or mps (default: auto)")
    add_output_flags(parser)


def _run(args: argparse.Namespace) -> None:
    from brittle.generators import open_generator, perturb, read_item

    generator = open_generator(args.generator, args.refine, device=args.device)
    item = read_item(generator, args.input)
    doubt = getattr(generator, "doubt", lambda items: None)([item])
    if doubt:
        console.tell(f"Warning: {doubt}")
    found = perturb(generator, item, radius=args.radius, count=args.count, seed=args.seed)
    if generator.item_kind == "picture":
        _write_sheet(args, item, found)
        return
    rows = _different(found)
    console.print_result(args, lambda: rows, lambda: console.table(rows))


def _different(found: Sequence[Neighbour]) -> list[dict[str, Any]]:
    """List every sentence once: its distance, and how many points decode to it."""
    rows: dict[str, dict[str, Any]] = {}
    for neighbour in found:
        sentence = str(neighbour.item)
        nearest = {"distance": round(neighbour.distance, 4), "points": 0, "sentence": sentence}
        rows.setdefault(sentence, nearest)["points"] += 1
    return list(rows.values())


def _write_sheet(args: argparse.Namespace, item: Any, found: Sequence[Neighbour]) -> None:
    """Write the picture, its reconstruction and its neighbours, the nearest first, as a sheet."""
    import numpy as np

    from brittle.picture import contact_sheet

    source = Path(args.input)
    path = Path(args.out) if args.out else source.with_name(f"{source.stem}-neighbours.png")
    pixels = np.stack([item.pixels, *(n.item.pixels for n in found)])
    path.write_bytes(contact_sheet(pixels, SHEET_COLUMNS))
    rows = [round(n.distance, 4) for n in found]
    console.print_result(
        args, lambda: {"written": str(path), "distance": rows}, lambda: str(path), path
    )


COMMAND = Command(
    EXAMPLES,
    _add_flags,
    _run,
)

"""`brittle importance`, `nearest`, `perturb` and `inside`: what a model relies on, and why.

`brittle importance`: how much the models of a pool rely on each word of a sentence. `brittle
nearest`: the words nearest to a word, before an edit and after it. `brittle perturb`: items near
another in a generator's latent space, without any target. `brittle inside`: attention and vectors
inside a target, before an attack and after it.
"""

from __future__ import annotations

import argparse
from dataclasses import asdict
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from brittle.cli import console
from brittle.cli.attack_flags import open_run_target, open_target
from brittle.cli.command import Command, add_output_flags, add_target_flags, positive
from brittle.cli.console import shown
from brittle.errors import UsageError
from brittle.formatting import plural
from brittle.safety.files import write_whole

if TYPE_CHECKING:
    from collections.abc import Sequence

    from brittle.generators import Neighbour
    from brittle.inside.measures import InsideRun
    from brittle.targets.protocols import Generator

IMPORTANCE_EXAMPLES = """\
examples:
  brittle importance pool:small "A warm and funny film with a great story." --data mr
  brittle importance pool:small "A warm and funny film." --data mr --word funny
  brittle importance pool:mine.txt "A warm and funny film." --data mr --out page.html
  brittle importance zoo:naive-bayes@mr "A warm and funny film." --label positive --out map.svg
"""
SUFFIXES = (".html", ".svg")


def _add_importance_flags(parser: argparse.ArgumentParser) -> None:
    add = parser.add_argument
    add(
        "pool",
        metavar="POOL",
        help="pool:NAME, pool:FILE, one target, or several separated by commas",
    )
    add("sentence", metavar="SENTENCE", help="the text, in quotes")
    word = "instead of all words: the substitutes of this word (its first occurrence)"
    add("--word", metavar="W", help=word)
    add("--label", help="the true label (default: what most of the models predict)")
    add("--data", help="what the models of a declared pool were trained on, such as mr")
    mask = "what the models read for an unknown word (default: each in its own way)"
    add("--mask", metavar="MASK", help=f"{mask}; as for brittle attack")
    add("--device", default="auto", help="auto, cpu, cuda or mps (default: auto)")
    out = "write the heat map as a page (.html) or a figure (.svg)"
    add("--out", type=Path, metavar="FILE", help=out)
    add_output_flags(parser)


def _run_importance(args: argparse.Namespace) -> None:
    from rich.console import Group

    from brittle.studies.importance import (
        importance_drawing,
        importance_json,
        importance_view,
        word_importance,
    )

    if args.out is not None and args.out.suffix not in SUFFIXES:
        raise UsageError(
            f"Got --out {shown(args.out)}; expected a file that ends in .html or .svg."
        )
    result = word_importance(
        args.pool,
        args.sentence,
        word=args.word,
        label=args.label,
        data=args.data,
        mask=args.mask,
        device=args.device,
        report=lambda name: None if args.quiet or args.json else console.tell(name),
    )
    view = importance_view(result)
    if args.out is not None:
        is_page = args.out.suffix == ".html"
        write_whole(args.out, view.html() if is_page else importance_drawing(result).file())
    if not args.quiet:
        for name, reason in result.failures.items():
            console.tell(f"Left out: {name}. {reason}")
    written = [] if args.out is None else [f"\n{shown(args.out)}"]
    console.print_result(
        args, lambda: importance_json(result), lambda: Group(view.block(), *written)
    )


IMPORTANCE = Command(IMPORTANCE_EXAMPLES, _add_importance_flags, _run_importance)


NEAREST_EXAMPLES = """\
examples:
  brittle nearest zoo:CharCNN-LSTM@mr film filn
  brittle nearest zoo:CharCNN-LSTM@mr film --layer "highway 1" --k 10
  brittle nearest --run demo                       (words that single edits of a run changed)
"""


def _add_nearest_flags(parser: argparse.ArgumentParser) -> None:
    add = parser.add_argument
    add("target", metavar="TARGET", nargs="?", help="as for brittle attack")
    add("word", metavar="WORD", nargs="?", help="one word")
    add("edited", metavar="EDITED", nargs="?", help="the same word, edited")
    add("--run", help="instead of words: those that a run changed by one edit of a character")
    layer = "a layer of the target (default: the last one that reads the spelling, or the first)"
    add("--layer", help=layer)
    add("--k", type=positive, default=5, metavar="N", help="show N nearest words (default: 5)")
    most = "look among the N most frequent words of the vocabulary (default: 20000)"
    add("--most", type=positive, default=20_000, metavar="N", help=most)
    pairs = "with --run: at most N edited words (default: 8)"
    add("--pairs", type=positive, default=8, metavar="N", help=pairs)
    add_target_flags(parser)
    add_output_flags(parser)


def _run_nearest(args: argparse.Namespace) -> None:
    from brittle.inside.nearest import changes_block, embed_vocabulary, neighbours_block

    target, pairs = _from_words(args) if args.run is None else _from_run(args)
    vocabulary = embed_vocabulary(target, args.layer, args.most)
    if pairs:
        changes = [vocabulary.change(old, new, args.k) for old, new in pairs]
        rows = [asdict(change) | {"is_lost": change.is_lost} for change in changes]
        data: dict[str, Any] = {"layer": vocabulary.layer, "changes": rows}
        shown = partial(changes_block, changes, is_run=args.run is not None)
    else:
        near = vocabulary.nearest(args.word, args.k)
        data = {"layer": vocabulary.layer, "word": args.word, "nearest": list(map(asdict, near))}
        shown = partial(neighbours_block, args.word, near)
    about = f"{target.name}, layer {vocabulary.layer}, {plural(len(vocabulary.words), 'words')}"
    console.print_result(args, lambda: data, lambda: shown(about))


def _from_words(args: argparse.Namespace) -> tuple[Any, list[tuple[str, str]]]:
    """Open the target; return it with the word and its edited form, if there is one."""
    if args.target is None or args.word is None:
        raise UsageError(
            "Expected a target and a word, or --run RUN, such as: brittle nearest "
            "zoo:CharCNN-LSTM@mr film filn"
        )
    return open_target(args), [] if args.edited is None else [(args.word, args.edited)]


def _from_run(args: argparse.Namespace) -> tuple[Any, list[tuple[str, str]]]:
    """Open the target of a run; return it with the words that the clearest edits changed."""
    from brittle.inside.nearest import edited_words
    from brittle.runs.run import open_run

    if args.word is not None:
        raise UsageError("Got --run and words of your own. Give one of the two.")
    run = open_run(args.run, args.runs)
    pairs = edited_words(run.results(), args.pairs)
    if not pairs:
        raise UsageError(
            f"In the run {run.name!r} no broken case changed a word by one character. Use a run of "
            "hotflip, key or key-any."
        )
    return open_run_target(run, args), pairs


NEAREST = Command(NEAREST_EXAMPLES, _add_nearest_flags, _run_nearest)


SHEET_COLUMNS = 10
PERTURB_EXAMPLES = """\
examples:
  brittle perturb WGAN@mnist digit.png --radius 2 --count 40
  brittle perturb ARAE@imdb "This is a very good film." --radius 3 --count 100
  brittle perturb python:my_models:vae "A man walks his dog." --radius 0.5
"""


def _add_perturb_flags(parser: argparse.ArgumentParser) -> None:
    add = parser.add_argument
    generator = "a name of brittle list generators, a folder, or python:module:name"
    add("generator", metavar="GENERATOR", help=generator)
    add("input", metavar="INPUT", help="a picture file (.png, .jpg), or a sentence in quotes")
    radius = "the largest distance in the latent space (default: 1)"
    add("--radius", type=float, default=1.0, help=radius)
    add("--count", type=positive, default=20, help="how many points are decoded (default: 20)")
    add("--seed", type=int, default=0, help="the seed of the draws (default: 0)")
    refine = "steps of descent that bring the reconstruction nearer to the input (default: 0)"
    add("--refine", type=int, default=0, help=refine)
    out = "of a picture: the file of the contact sheet (default: INPUT-neighbours.png)"
    add("--out", metavar="FILE", help=out)
    add("--device", default="auto", help="auto, cpu, cuda or mps (default: auto)")
    add_output_flags(parser)


def _run_perturb(args: argparse.Namespace) -> None:
    from brittle.generators import neighbours, open_generator

    generator = open_generator(args.generator, args.refine, device=args.device)
    item = _item(args.input, generator)
    doubt = getattr(generator, "doubt", lambda items: None)([item])
    if doubt:
        console.tell(f"Warning: {doubt}")
    found = neighbours(generator, item, radius=args.radius, count=args.count, seed=args.seed)
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


def _item(text: str, generator: Generator) -> Any:
    """Return the picture or the sentence that the input names, as the generator reads it."""
    from brittle.data.pictures import is_picture_file, open_picture
    from brittle.text import Text

    path = Path(text)
    if generator.item_kind == "picture":
        if not is_picture_file(path) or not path.is_file():
            raise UsageError(
                f"{generator.name} is a generator of pictures, but {text!r} is no picture file. "
                "Name a .png or .jpg file."
            )
        return open_picture(path)
    if is_picture_file(path) and path.is_file():
        raise UsageError(
            f"{generator.name} is a generator of texts, but {text!r} is a picture. Write a "
            "sentence in quotes."
        )
    return Text.of(text)


def _write_sheet(args: argparse.Namespace, item: Any, found: Sequence[Neighbour]) -> None:
    """Write the picture, its reconstruction and its neighbours, the nearest first, as a sheet."""
    import numpy as np

    from brittle.picture import contact_sheet

    source = Path(args.input)
    path = Path(args.out) if args.out else source.with_name(f"{source.stem}-neighbours.png")
    pixels = np.stack([item.pixels, *(n.item.pixels for n in found)])
    path.write_bytes(contact_sheet(pixels, SHEET_COLUMNS))
    rows = [round(n.distance, 4) for n in found]
    console.print_result(args, lambda: {"written": str(path), "distance": rows}, lambda: str(path))


PERTURB = Command(
    PERTURB_EXAMPLES,
    _add_perturb_flags,
    _run_perturb,
)


INSIDE_EXAMPLES = """\
examples:
  brittle inside demo                       (means over the broken cases of a run)
  brittle inside demo 7f3a --layer last     (one case, by its name or the start of it)
  brittle inside demo --limit 20 --out inside.html

What is seen is kept beside the run, in NAME.inside.json; brittle report shows it.
"""


def _add_inside_flags(parser: argparse.ArgumentParser) -> None:
    add = parser.add_argument
    add("run", metavar="RUN", help="the name of a run, the start of it, or its file")
    add("case", metavar="CASE", nargs="?", help="one broken case, by its name or the start of it")
    limit = "look at the first N broken cases (default: 100)"
    add("--limit", type=positive, default=100, metavar="N", help=limit)
    layer = "whose attention to show: first, last, or a number from 1 (default: first)"
    add("--layer", default="first", help=layer)
    add("--out", type=Path, metavar="FILE", help="write a page (.html) or the figures (.json)")
    add("--target", help="another target than the run's own")
    add_target_flags(parser)
    add_output_flags(parser)


def _run_inside(args: argparse.Namespace) -> None:
    from brittle.inside.file import check_name, write_inside
    from brittle.inside.looking import broken_cases
    from brittle.inside.measures import inside_json
    from brittle.runs.run import open_run

    if args.out is not None:
        check_name(args.out, shown(args.out))
    run = open_run(args.run, args.runs)
    broken_cases(run, args.case, args.limit)  # says what is wrong before a model is loaded
    target = open_run_target(run, args)
    if target.fingerprint != run.manifest["fingerprint"] and not args.quiet:
        console.tell(f"warning: {target.name!r} is not the target that this run was made on")
    inside = run.inside(target, case=args.case, limit=args.limit, layer=args.layer)
    if args.out is not None:
        write_inside(inside, args.out)
    console.print_result(args, lambda: inside_json(inside), lambda: _block(inside, args))


def _block(inside: InsideRun, args: argparse.Namespace) -> Any:
    from rich.console import Console, Group

    from brittle.inside.section import case_block, run_block

    block = run_block(inside) if args.case is None else case_block(inside, Console().width)
    return block if args.out is None else Group(block, f"\n{shown(args.out)}")


INSIDE = Command(
    INSIDE_EXAMPLES,
    _add_inside_flags,
    _run_inside,
)

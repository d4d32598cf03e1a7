"""`brittle rules mine`: replacements that lower the logits of an ensemble, written to a file."""

from __future__ import annotations

import argparse
from pathlib import Path

from brittle.cli import console
from brittle.cli.backend_flags import add_backend_flags, backend_of
from brittle.cli.command import add_data_flags, add_output_flags, positive
from brittle.cli.paths import shown
from brittle.errors import UsageError
from brittle.formatting import plural


def add_flags(parser: argparse.ArgumentParser) -> None:
    """Add the flags of `brittle rules mine`."""
    add = parser.add_argument
    ensemble = "ensemble:A,B,C, or one target with logits; the method pmi needs none"
    add("ensemble", metavar="ENSEMBLE", nargs="?", help=ensemble)
    add_data_flags(
        parser,
        *("data", "text", "label", "limit", "seed"),
        data="labelled data: its train split is mined, its dev confirms",
        limit="mine from N texts (default: all)",
        seed="the seed of the sample with --limit (default: 0)",
    )
    add("--out", required=True, metavar="FILE", help="where the rules are written")
    method = "uawr: by the ensemble's logits; pmi: by word counts (default: uawr)"
    add("--method", choices=("uawr", "pmi"), default="uawr", help=method)
    support = "leave out rules with fewer occurrences (default: 1)"
    add("--min-support", type=positive, default=1, metavar="N", help=support)
    each = "also rules of the first two members, the first three and so on: FILE-2, FILE-3, …"
    add("--each-size", action="store_true", help=each)
    add("--device", default="auto", help="auto, cpu, cuda or mps (default: auto)")
    add_backend_flags(parser)
    add("--folder", help="the folder of what was measured (default: rules in --runs)")
    add_output_flags(parser)


def run(args: argparse.Namespace) -> None:
    """Mine the rules, write them, and say where."""
    from dataclasses import replace
    from functools import partial

    from brittle.formatting import attack_in_words
    from brittle.studies.rules.mine import mine_in_folder
    from brittle.studies.rules.tasks import MiningData

    text = tuple(args.text.split(",")) if args.text else None
    data = MiningData(args.data, args.limit, args.seed, text, args.label)
    with console.training(args.quiet) as progress:
        mine = partial(
            mine_in_folder,
            data=data,
            folder=Path(args.folder or Path(args.runs) / "rules"),
            report=(lambda message: None) if args.quiet else console.tell,
            method=args.method,
            min_support=args.min_support,
            device=args.device,
            backend=backend_of(args),
            progress=progress,
        )
        rules = mine(args.ensemble)
        smaller = _smaller_ensembles(args.ensemble) if args.each_size else {}
        parts = {size: mine(ensemble) for size, ensemble in smaller.items()}
    out = Path(args.out)
    written = {out: rules} | {
        out.with_name(f"{out.stem}-{size}{out.suffix}"): part for size, part in parts.items()
    }
    for path, part in written.items():
        replace(part, about={**part.about, "command": _command(args)}).save(path)
    settings = attack_in_words(rules.about["method"], {"candidates": rules.about["candidates"]})
    texts = plural(rules.about["texts"], "texts")
    about = f"{plural(len(rules), 'rules')} by {settings} from {texts}: "
    block = about + ", ".join(map(shown, written))
    console.print_result(args, lambda: {"written": shown(args.out), **rules.about}, lambda: block)


def _smaller_ensembles(ensemble: str | None) -> dict[int, str]:
    """Return the ensembles of the first members of one, by their size."""
    from brittle.studies.pool_tasks import ENSEMBLE, models_in

    members = models_in(ensemble or "")
    if len(members) < 2:
        raise UsageError("--each-size is for an ensemble of several members: ensemble:A,B,C.")
    return {n: f"{ENSEMBLE}{','.join(members[:n])}" for n in range(2, len(members))}


def _command(args: argparse.Namespace) -> str:
    ensemble = [args.ensemble] if args.ensemble else []
    words = ["brittle", "rules", "mine", *ensemble, "--data", args.data, "--method", args.method]
    limit = ["--limit", str(args.limit)] if args.limit else []
    return " ".join([*words, *limit, "--min-support", str(args.min_support)])

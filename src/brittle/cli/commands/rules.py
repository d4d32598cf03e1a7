"""`brittle rules`: mine replacements that fool many models, try them, check data for them.

`brittle rules mine` writes replacements that lower the logits of an ensemble to a file. `brittle
rules try` says how many texts the rules turn wrong, by class of models and share of words, and
`brittle rules check` how many texts of a data set they apply to. `brittle list rules` shows the
rules of a file, and `brittle export` writes them as a table.
"""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import TYPE_CHECKING

from brittle.cli import console
from brittle.cli.command import (
    Command,
    add_backend_flags,
    add_data_flags,
    add_output_flags,
    backend_of,
    positive,
)
from brittle.cli.console import shown
from brittle.cli.study_flags import POOL_HELP
from brittle.errors import Incomplete, UsageError
from brittle.formatting import plural
from brittle.safety.files import replacing

if TYPE_CHECKING:
    from brittle.candidates.rules import Rules


def add_mine_flags(parser: argparse.ArgumentParser) -> None:
    """Add the flags of `brittle rules mine`."""
    add = parser.add_argument
    ensemble = "ensemble:A,B,C, or one target with logits (the method pmi needs no models)"
    add("ensemble", metavar="ENSEMBLE", nargs="?", help=ensemble)
    add_data_flags(
        parser,
        *("data", "text", "label", "limit", "seed"),
        data="labelled data: rules are mined from its train split and checked on its dev split",
        limit="mine from N texts, or all (default: all)",
        seed="the seed of the sample with --limit (default: 0)",
    )
    add("--out", required=True, metavar="FILE", help="the file to write the rules to")
    method = "uawr (by the logits of the ensemble) or pmi (by word counts) (default: uawr)"
    add("--method", choices=("uawr", "pmi"), default="uawr", help=method)
    support = "leave out rules with fewer occurrences (default: 1)"
    add("--min-support", type=positive, default=1, metavar="N", help=support)
    each = "also mine from the first 2 members, the first 3, and so on, into FILE-2, FILE-3, …"
    add("--each-size", action="store_true", help=each)
    add("--device", default="auto", help="auto, cpu, cuda or mps (default: auto)")
    add_backend_flags(parser)
    add("--folder", help="the folder for stored measurements (default: rules in --runs)")
    add_output_flags(parser)


def run_mine(args: argparse.Namespace) -> None:
    """Mine the rules, write them, and say where."""
    from dataclasses import replace
    from functools import partial

    from brittle.formatting import attack_in_words
    from brittle.studies.rules.tasks import MiningData, mine_in_folder

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
    console.print_result(
        args, lambda: {"written": shown(args.out), **rules.about}, lambda: block, out
    )


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


def add_try_flags(parser: argparse.ArgumentParser) -> None:
    add = parser.add_argument
    add(
        "pool",
        metavar="POOL",
        help=POOL_HELP,
    )
    rules = "the files of rules; several files are compared on the same texts"
    add("--rules", required=True, nargs="+", metavar="FILE", help=rules)
    add_data_flags(
        parser,
        *("data", "split", "text", "label", "locked", "limit", "seed"),
        data="labelled data: a name or a file",
        locked={"default": None},
        limit={"default": 1000, "help": "use N texts, or all (default: 1000)"},
        seed="the seed of their order (default: 0)",
    )
    add_backend_flags(parser)
    add("--folder", help="the folder for stored answers (default: rules-tried in --runs)")
    add_output_flags(parser)


def run_try(args: argparse.Namespace) -> None:
    from brittle.studies.pools import is_pool, load_pool, member_of
    from brittle.studies.rules.evaluation import try_rules
    from brittle.studies.rules.view import tried_json, tried_view

    members = (
        load_pool(args.pool, args.data).members
        if is_pool(args.pool)
        else (member_of(args.pool, args.data, 1),)
    )
    rules = {Path(file).stem: Path(file) for file in args.rules}
    if len(rules) < len(args.rules):
        raise UsageError("Two files of rules have the same name. Rename one of them.")
    names = ("data", "split", "text", "label", "locked", "limit", "seed")
    data = {name: getattr(args, name) for name in names if getattr(args, name) is not None}
    folder = Path(args.folder or Path(args.runs) / "rules-tried")
    report = (lambda message: None) if args.quiet else console.tell
    rows, failures = try_rules(members, rules, data, folder, report, backend_of(args))
    forms = {member.name: member.form for member in members}
    console.print_result(
        args,
        lambda: tried_json(rows, forms, list(rules), failures),
        lambda: tried_view(rows, forms, list(rules)).block(),
    )
    if failures:
        reasons = "\n".join(f"  {name}: {reason}" for name, reason in failures.items())
        raise Incomplete(f"{plural(len(failures), 'targets')} could not be asked:\n{reasons}")


FORMATS = ("csv", "jsonl", "md")


def list_rules(args: argparse.Namespace) -> None:
    """Show the rules of a file: what `brittle list rules FILE` prints."""
    from brittle.studies.rules.view import choose_rules, rules_json, rules_view

    rules = _load(args.file)
    chosen = choose_rules(rules, args.label, args.word)
    console.print_result(
        args,
        lambda: rules_json(rules, chosen, args.count),
        lambda: rules_view(rules, chosen, args.count).block(),
    )


def is_rules_file(name: str) -> bool:
    """Tell whether a name is that of a file of rules, by its first line."""
    from brittle.candidates.rules import FIRST_WORDS

    path = Path(name)
    if not path.is_file():
        return False
    with path.open("rb") as file:
        return file.read(len(FIRST_WORDS)) == FIRST_WORDS.encode()


def rules_text(name: str, to: str, exact: bool) -> str:
    """Return the rules of a file as a table in a format."""
    from brittle.candidates.rules import row_of
    from brittle.studies.study import rows_as

    rules = _load(name)
    return rows_as([row_of(rule, rules.labels) for rule in rules.rules], to, exact)


def write_rules(name: str, out: Path, to: str, exact: bool) -> None:
    """Write the rules of a file as a table."""
    text = rules_text(name, to, exact)
    with replacing(out) as new, new.open("w", encoding="utf-8", newline="") as file:
        file.write(text)


def _check_flags(parser: argparse.ArgumentParser) -> None:
    add = parser.add_argument
    add("--rules", required=True, metavar="FILE", help="a file of rules")
    names = ("data", "split", "text", "label", "limit")
    known, limit = "labelled data: a name or a file", "use N texts, or all (default: all)"
    add_data_flags(parser, *names, data=known, limit=limit)
    add("--count", type=positive, default=10, metavar="N", help="show N rules (default: 10)")
    add_output_flags(parser)


def _check(args: argparse.Namespace) -> None:
    from brittle import data
    from brittle.studies.rules.evaluation import exposure
    from brittle.studies.rules.view import exposure_json, exposure_view

    rules = _load(args.rules)
    text = args.text.split(",") if args.text else None
    dataset = data.load(args.data, split=args.split, text=text, label=args.label, limit=args.limit)
    found = exposure(rules, dataset)
    console.print_result(
        args,
        lambda: exposure_json(found, args.count),
        lambda: exposure_view(found, args.count).block(),
    )


def _load(path: str) -> Rules:
    from brittle.candidates.rules import load_rules

    return load_rules(path)


MINE = Command(
    "examples:\n"
    "  brittle rules mine ensemble:LSTM-W-Random-1,CNN-C-Random-1@mr --data mr --out mr.rules\n"
    "  brittle rules mine --method pmi --data mr --out pmi.rules     (from word counts, no model)\n"
    "\n"
    "brittle list rules FILE shows the rules; brittle export FILE rules.csv writes them.",
    add_mine_flags,
    run_mine,
    resumes=True,
    usual=("out", "method", "text", "label", "limit", "min-support", "workers", "json", "quiet"),
)
TRY = Command(
    "examples:\n"
    "  brittle rules try pool:small --rules mr.rules pmi.rules --data mr\n"
    "  brittle attack zoo:BiLSTM-W-GloVe-1@mr rules --rules mr.rules --share 0.3 --data mr",
    add_try_flags,
    run_try,
    resumes=True,
    usual=("rules", "text", "label", "limit", "seed", "workers", "json", "quiet"),
)
CHECK = Command(
    "example: brittle rules check --rules mr.rules --data reviews.csv", _check_flags, _check
)

"""`brittle rules`: mine replacements that fool many models, look at them, check data for them.

`brittle rules mine`: replacements that lower the logits of an ensemble, written to a file. `brittle
rules try`: how many texts rules turn wrong, by class of models and share of words.
"""

from __future__ import annotations

import argparse
from collections.abc import Callable, Mapping
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
from brittle.errors import Incomplete, UsageError
from brittle.formatting import plural
from brittle.safety.files import replacing

if TYPE_CHECKING:
    from brittle.candidates.rules import Rules


def add_mine_flags(parser: argparse.ArgumentParser) -> None:
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


def add_try_flags(parser: argparse.ArgumentParser) -> None:
    add = parser.add_argument
    add(
        "pool",
        metavar="POOL",
        help="pool:NAME, pool:FILE, one target, or several separated by commas",
    )
    rules = "files of rules; several are compared on the same texts"
    add("--rules", required=True, nargs="+", metavar="FILE", help=rules)
    add_data_flags(
        parser,
        data="labelled data: a name or a file",
        locked={"default": None},
        limit={"default": 1000, "help": "try N texts (default: 1000)"},
        seed="the seed of their order (default: 0)",
    )
    add_backend_flags(parser)
    add("--folder", help="the folder of what was answered (default: rules-tried in --runs)")
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


EXAMPLES = """\
examples:
  brittle rules mine ensemble:LSTM-W-Random-1,CNN-C-Random-1@mr --data mr --out mr.rules
  brittle rules mine --method pmi --data mr --out pmi.rules     (from word counts, no model)
  brittle rules show mr.rules --label positive --count 20
  brittle rules try pool:small --rules mr.rules pmi.rules --data mr
  brittle rules check --rules mr.rules --data reviews.csv       (what a corpus is exposed to)
  brittle rules export mr.rules --to csv > rules.csv
  brittle attack zoo:BiLSTM-W-GloVe-1@mr rules --rules mr.rules --share 0.3 --data mr
"""
FORMATS = ("csv", "jsonl", "md")


def _add_flags(parser: argparse.ArgumentParser) -> None:
    actions = parser.add_subparsers(dest="action", metavar="ACTION", required=True)
    for name, (about, add_flags, _) in ACTIONS.items():
        add_flags(actions.add_parser(name, help=about, description=f"{about.capitalize()}."))


def _run(args: argparse.Namespace) -> None:
    ACTIONS[args.action][2](args)


def _show_flags(parser: argparse.ArgumentParser) -> None:
    add = parser.add_argument
    add("rules", metavar="FILE", help="a file of rules")
    add("--label", help="only the rules of this label")
    add("--word", help="only the rules with this word, or this substitute")
    add("--count", type=positive, default=20, metavar="N", help="the first N (default: 20)")
    add_output_flags(parser)


def _show(args: argparse.Namespace) -> None:
    from brittle.studies.rules.view import choose_rules, rules_json, rules_view

    rules = _load(args.rules)
    chosen = choose_rules(rules, args.label, args.word)
    console.print_result(
        args,
        lambda: rules_json(rules, chosen, args.count),
        lambda: rules_view(rules, chosen, args.count).block(),
    )


def _check_flags(parser: argparse.ArgumentParser) -> None:
    add = parser.add_argument
    add("--rules", required=True, metavar="FILE", help="a file of rules")
    names = ("data", "split", "text", "label", "limit")
    known, limit = "labelled data: a name or a file", "look at N texts (default: all)"
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


def _export_flags(parser: argparse.ArgumentParser) -> None:
    add = parser.add_argument
    add("rules", metavar="FILE", help="a file of rules")
    to = "the format (default: what --out ends in, or csv)"
    add("--to", choices=FORMATS, help=to)
    add("--out", metavar="FILE", help="write there instead of printing")
    exact = "of csv: leave cells as they are, also those that a spreadsheet would compute"
    add("--exact", action="store_true", help=exact)
    add_output_flags(parser)


def _export(args: argparse.Namespace) -> None:
    from brittle.candidates.rules import row_of
    from brittle.studies.study import rows_as

    rules = _load(args.rules)
    rows = [row_of(rule, rules.labels) for rule in rules.rules]
    if args.out is None:
        console.print_text(rows_as(rows, args.to or FORMATS[0], args.exact))
        return
    to = args.to or Path(args.out).suffix.removeprefix(".")
    if to not in FORMATS:
        endings = ", ".join(f".{name}" for name in FORMATS)
        raise UsageError(
            f"Got --out {shown(args.out)}; expected a name that ends in {endings}, or --to."
        )
    with replacing(args.out) as new, new.open("w", encoding="utf-8", newline="") as file:
        file.write(rows_as(rows, to, args.exact))
    console.print_path(args, Path(args.out))


def _load(path: str) -> Rules:
    from brittle.candidates.rules import load_rules

    return load_rules(path)


Action = tuple[str, Callable[[argparse.ArgumentParser], None], Callable[[argparse.Namespace], None]]
ACTIONS: Mapping[str, Action] = {
    "mine": ("mine rules from an ensemble and labelled data", add_mine_flags, run_mine),
    "show": ("show the rules of a file", _show_flags, _show),
    "try": ("try rules on the models of a pool", add_try_flags, run_try),
    "check": ("check what a corpus is exposed to", _check_flags, _check),
    "export": ("export rules as a table", _export_flags, _export),
}
COMMAND = Command(
    EXAMPLES,
    _add_flags,
    _run,
    resumes=True,
)

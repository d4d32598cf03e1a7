"""Former commands whose output no command prints now: they keep their code for one version."""

from __future__ import annotations

import argparse
from pathlib import Path

from brittle.cli import console
from brittle.cli.command import Command, add_output_flags
from brittle.cli.console import shown
from brittle.errors import UsageError


def _add_card_flags(parser: argparse.ArgumentParser) -> None:
    add = parser.add_argument
    add("run", metavar="RUN", help="the name of a run, the start of it, or its file")
    add("--out", metavar="FILE", help="the file to write, such as README.md")
    add_output_flags(parser)


def _card(args: argparse.Namespace) -> None:
    from brittle.reports.summaries import summarize
    from brittle.reports.trust import trust_facts
    from brittle.runs.run import open_run
    from brittle.safety.files import write_whole

    run = open_run(args.run, args.runs)
    if args.out:
        out = Path(args.out)
        out.parent.mkdir(parents=True, exist_ok=True)
        write_whole(out, run.card(), errors="replace")
        console.print_path(args, out)
        return
    if args.json:
        console.dump({fact.name: fact.value for fact in trust_facts(run, *summarize(run))})
    elif not args.quiet:
        console.print_text(run.card())


CARD = Command("example: brittle report demo --out card.md", _add_card_flags, _card)


def _add_export_flags(parser: argparse.ArgumentParser) -> None:
    from brittle.cli.commands.rules import FORMATS

    add = parser.add_argument
    add("rules", metavar="FILE", help="a file of rules")
    add("--to", choices=FORMATS, help="the format (default: what --out ends in, or csv)")
    add("--out", metavar="FILE", help="the file to write (default: print the rules)")
    add("--exact", action="store_true", help="do not change cells that look like formulas")
    add_output_flags(parser)


def _export(args: argparse.Namespace) -> None:
    from brittle.cli.commands.rules import FORMATS, rules_text, write_rules

    if args.out is None:
        console.print_text(rules_text(args.rules, args.to or FORMATS[0], args.exact))
        return
    to = args.to or Path(args.out).suffix.removeprefix(".")
    if to not in FORMATS:
        endings = ", ".join(f".{name}" for name in FORMATS)
        raise UsageError(
            f"Got --out {shown(args.out)}; expected a name that ends in {endings}, or --to."
        )
    write_rules(args.rules, Path(args.out), to, args.exact)
    console.print_path(args, Path(args.out))


RULES_EXPORT = Command("example: brittle export mr.rules rules.csv", _add_export_flags, _export)

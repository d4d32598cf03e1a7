"""`brittle gate` and `brittle accept`: is the new model worse, and which failures are known?"""

from __future__ import annotations

import argparse
from pathlib import Path

from brittle.cli import console
from brittle.cli.command import Command, add_output_flags
from brittle.cli.commands.runs import RUN_HELP, add_run
from brittle.errors import CannotTell, GateFailed, UsageError
from brittle.runs.accepted import ACCEPTED_FILE
from brittle.safety.files import write_whole

EXAMPLES = """\
examples:
  brittle gate baseline candidate
  brittle gate baseline candidate --report change.html --markdown summary.md
  brittle gate baseline candidate --accepted accepted.toml
  brittle gate candidate --max-broken careful=0.2 --max-broken 0.5    (bounds, no baseline)
"""
DETAILS = """\
exit codes: 0 pass, 1 fail, 4 cannot tell (the message says how many cases are needed), 2 usage,
3 a run is not complete.
"""


def _add_gate_flags(parser: argparse.ArgumentParser) -> None:
    add = parser.add_argument
    add("names", metavar="RUN", nargs="+", help=f"{RUN_HELP.format('run')}: the baseline, then new")
    add("--level", type=_share, default=0.05, help="the share of false alarms (default: 0.05)")
    tolerance = "pass only if a drop this large is excluded (default: 0.05, which is 5 points)"
    add("--tolerance", type=_share, default=0.05, metavar="SHARE", help=tolerance)
    bound = "fail if more of the attacked cases break: SHARE, or LEVEL=SHARE for a level of edits"
    add("--max-broken", action="append", default=[], metavar="BOUND", help=bound)
    known = "the file of accepted failures: ignored, but if one no longer breaks, the gate fails"
    add("--accepted", metavar="FILE", help=known)
    add("--report", metavar="FILE", help="write a page with both runs side by side (.html)")
    add("--markdown", metavar="FILE", help="write the verdict as Markdown, for a summary in CI")
    strict = "exit with code 1 instead of 4 if there are too few cases to tell"
    add("--strict", action="store_true", help=strict)
    add_output_flags(parser)


def _share(text: str) -> float:
    share = float(text)
    if not 0 < share < 1:
        raise argparse.ArgumentTypeError(f"got {text}; expected a number between 0 and 1")
    return share


def parse_bounds(written: list[str]) -> dict[str, float]:
    """Parse bounds, each a share or LEVEL=SHARE.

    >>> parse_bounds(["careful=0.2", "0.5"])
    {'careful': 0.2, 'any attack': 0.5}
    """
    bounds = {}
    for one in written:
        name, _, share = one.rpartition("=")
        try:
            bounds[name or "any attack"] = float(share)
        except ValueError:
            raise UsageError(
                f"Got --max-broken {one!r}; expected a share such as 0.2, or careful=0.2."
            ) from None
    return bounds


def _gate(args: argparse.Namespace) -> None:
    from brittle.reports.verdict import verdict_markdown
    from brittle.runs.gate import gate
    from brittle.runs.run import open_run

    if len(args.names) > 2:
        raise UsageError(f"brittle gate takes a baseline and a new run; got {len(args.names)}.")
    *before, new = (open_run(name, args.runs) for name in args.names)
    old = before[0] if before else None
    if old is None and args.report:
        raise UsageError("--report shows two runs. Name a baseline, or use brittle report.")
    if old is None and not args.max_broken:
        raise UsageError("brittle gate needs a baseline and a new run, or --max-broken.")
    verdict = gate(
        *(old, new),
        level=args.level,
        tolerance=args.tolerance,
        max_broken=parse_bounds(args.max_broken) or None,
        accepted=args.accepted or (),
    )
    if args.report and old is not None:
        from brittle.reports.side_by_side import side_by_side_page

        page = side_by_side_page(old, new, args.level, verdict.headline)
        write_whole(args.report, page, errors="replace")
        verdict = verdict.with_page(console.shown(args.report))
    if args.markdown:
        write_whole(args.markdown, verdict_markdown(verdict), errors="replace")
    console.print_result(args, verdict.plain, lambda: console.Lines(str(verdict)))
    if verdict.outcome == "cannot tell" and not args.strict:
        raise CannotTell(verdict.headline)
    if verdict.outcome != "pass":
        raise GateFailed(verdict.headline)


GATE = Command(EXAMPLES, _add_gate_flags, _gate, details=DETAILS)


ACCEPT_EXAMPLES = """\
examples:
  brittle accept candidate 3f2a91 --why "irony: people misread it, too"
  brittle accept candidate 3f2a91 b77c02 --why "known; tracked elsewhere" --file tests/accepted.toml
"""


def _add_accept_flags(parser: argparse.ArgumentParser) -> None:
    add_run(parser, "run")
    add = parser.add_argument
    add("cases", metavar="CASE", nargs="+", help="the id of a broken case, or the start of it")
    add("--why", required=True, help="why these failures are accepted; it stands in the file")
    name = f"the file to add to (default: {ACCEPTED_FILE})"
    add("--file", default=ACCEPTED_FILE, metavar="FILE", help=name)


def _accept(args: argparse.Namespace) -> None:
    from brittle.runs.accepted import accept
    from brittle.runs.run import open_run

    path = Path(args.file)
    count = accept(open_run(args.run, args.runs).results(), args.cases, args.why, path)
    console.print_result(
        args,
        lambda: {"written": str(path), "added": count},
        lambda: f"{path}: {count} added. Review the file, and commit it.",
        path,
    )


ACCEPT = Command(ACCEPT_EXAMPLES, _add_accept_flags, _accept)

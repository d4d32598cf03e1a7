"""The step of a pipeline: attack, compare with the stored baseline, and write a summary.

`action.yml` and the snippet for GitLab run `python -m brittle.ci.step`. On the base branch it
writes the baseline, which the pipeline keeps in its cache. In a pull request it compares with that
file, and never measures the base branch again.
"""

from __future__ import annotations

import argparse
import logging
import os
import sys
from collections.abc import Sequence
from pathlib import Path

from brittle.ci.recording import Bounds, Recording, judged, write_baseline
from brittle.errors import BrittleError, CannotTell, GateFailed
from brittle.reports.table import in_markdown
from brittle.reports.verdict import verdict_markdown
from brittle.runs.run import Run

FOLDER = Path(".brittle")
SUMMARY = "GITHUB_STEP_SUMMARY"
"""The variable by which GitHub names the file of the step's summary."""
_log = logging.getLogger("brittle")


def arguments(words: Sequence[str] | None) -> argparse.Namespace:
    """Parse the step's arguments; an empty value is as good as none, since YAML passes those."""
    parser = argparse.ArgumentParser(prog="python -m brittle.ci.step", description=__doc__)
    add = parser.add_argument
    add("target", help="the model, as in `brittle attack`")
    add("attack", help="the attack: auto, pwws …")
    add("--data", required=True, help="the texts with their labels: a file, or a data set")
    add("--limit", default="", help="attack so many of them")
    add("--seed", type=int, default=0, help="the seed of the choice")
    add("--write-baseline", action="store_true", help="keep this run as the baseline")
    add("--baseline", type=Path, default=FOLDER / "baseline.sqlite", help="its file")
    add("--max-broken", default="", help="the largest share of attacked cases that may break")
    add("--accepted", default="", help="the file of accepted failures")
    add("--report", type=Path, default=FOLDER / "report.html", help="the page to write")
    add("--summary", default=os.environ.get(SUMMARY, ""), help="the file to add Markdown to")
    add("--strict", action="store_true", help="fail if there are too few cases to tell")
    return parser.parse_args(words)


def step(args: argparse.Namespace) -> None:
    """Do what the arguments say; `GateFailed` and `CannotTell` are the two ways not to pass."""
    settings = {"name": "candidate", "new": True, "seed": args.seed}
    if args.limit:
        settings["limit"] = int(args.limit)
    run = Recording(args.target, args.data, args.attack, FOLDER, settings).run()
    if args.write_baseline:
        message = write_baseline(run, args.baseline)
        run.report(args.report)
        _summarise(args, f"## Robustness: baseline written\n\n{in_markdown(message)}\n")
        return
    if not args.baseline.exists() and not args.max_broken:
        message = (
            "there is no baseline yet. It is written when this step runs on the base branch: run "
            "the workflow there once."
        )
        run.report(args.report)
        _summarise(args, f"## Robustness: cannot tell\n\nCannot tell: {message}\n")
        raise CannotTell(message)
    _compare(args, run)


def _compare(args: argparse.Namespace, run: Run) -> None:
    bounds = Bounds(
        against=args.baseline if args.baseline.exists() else None,
        max_broken=float(args.max_broken) if args.max_broken else None,
        accepted=Path(args.accepted) if args.accepted else None,
    )
    verdict = judged(run, bounds, args.report)
    if verdict.outcome == "pass":
        run.report(args.report)
    _summarise(args, verdict_markdown(verdict))
    if verdict.outcome == "fail":
        raise GateFailed(verdict.headline)
    if verdict.outcome == "cannot tell":
        raise CannotTell(verdict.headline)


def _summarise(args: argparse.Namespace, markdown: str) -> None:
    """Add Markdown to the summary of the step, and write it to the log."""
    sys.stdout.write(markdown)
    if args.summary:
        with Path(args.summary).open("a", encoding="utf-8") as file:
            file.write(markdown)


def main(words: Sequence[str] | None = None) -> int:
    """Run the step; the exit codes are those of brittle, but 0 for "cannot tell" unless strict."""
    args = arguments(words)
    logging.basicConfig(level=logging.WARNING, format="brittle: %(message)s")
    try:
        step(args)
    except CannotTell as error:
        _log.warning("%s", error)
        return GateFailed.exit_code if args.strict else 0
    except BrittleError as error:
        _log.error("%s", error)
        return error.exit_code
    return 0


if __name__ == "__main__":
    sys.exit(main())

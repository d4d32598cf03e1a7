"""How commands that make studies end, and the training of a pool as a person sees it.

A study ends with its page, its figures, its file, and the members that failed. A training shows a
live table, or a line for each finished model.
"""

from __future__ import annotations

import argparse
import contextlib
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from brittle.cli import console
from brittle.cli.console import shown
from brittle.errors import Incomplete
from brittle.formatting import plural

if TYPE_CHECKING:
    from brittle.runs.forecast import Forecast
    from brittle.studies.pool_tasks import MemberState, Progress
    from brittle.studies.study import Study


def is_dry_run(
    args: argparse.Namespace,
    forecast: Callable[[], Forecast],
    says_unknown: bool = True,
    always: bool = False,
) -> bool:
    """Say how much work is ahead if it may take long; tell whether that is all that was asked for.

    Where the time is not known it is said only if `says_unknown`, and `always` where a limit is
    set. With --dry-run it is always said, as the result of the command.
    """
    if args.quiet and not args.dry_run:
        return False
    ahead = forecast()
    if not args.dry_run:
        if always or (ahead.is_long and (says_unknown or ahead.seconds is not None)):
            console.tell(ahead.sentence())
        return False
    if args.json:
        console.dump({"work": ahead.plain(), "seconds": ahead.seconds})
    else:
        console.show(ahead.sentence())
    return True


def print_made_study(args: argparse.Namespace, study: Study[Any, Any], **options: Any) -> None:
    """Write the page of a study if it is asked for, and print the study.

    `options` are those of its kind. A member that failed makes the command incomplete.
    """
    from rich.console import Group

    from brittle.studies.study import SUFFIX

    file = shown(Path(args.runs) / f"{study.name}{SUFFIX}")
    if args.report:
        study.report(args.report)
    page = [f"Report: {shown(args.report)}"] if args.report else []
    console.print_result(
        args,
        lambda: {"file": file, **study.summary(**options)},
        lambda: Group(study.view(**options).block(), f"\nStudy: {file}", *page),
        file,
    )
    if study.failures:
        raise Incomplete(failed_members(study.failures, with_reasons=args.quiet))


def failed_members(failures: Mapping[str, str], with_reasons: bool) -> str:
    """Name the members that failed; their reasons stand with the tables, unless those are off."""
    their, them = ("its", "it") if len(failures) == 1 else ("their", "them")
    lines = [f"  {name}: {why}" if with_reasons else f"  {name}" for name, why in failures.items()]
    members = plural(len(failures), ("member", "members"))
    return "\n".join(
        [
            f"{members} of the pool failed, and {their} cells are empty:",
            *lines,
            f"The same command tries {them} again; or leave {them} out of the pool.",
        ]
    )


@contextlib.contextmanager
def pool_progress(quiet: bool) -> Iterator[Progress]:
    """Show how far the training of a pool is, on stderr."""
    if quiet:
        yield lambda states, changed: None
    elif sys.stderr.isatty():
        with _live() as update:
            yield update
    else:
        yield _print_finished


@contextlib.contextmanager
def _live() -> Iterator[Progress]:
    from rich.console import Console
    from rich.live import Live

    from brittle.studies.pool_view import live_block

    with Live(
        console=Console(stderr=True, highlight=False), transient=True, auto_refresh=False
    ) as live:
        yield lambda states, changed: live.update(live_block(states), refresh=True)


def _print_finished(states: Sequence[MemberState], changed: MemberState) -> None:
    done = sum(state.state not in ("waiting", "training") for state in states)
    line = f"{done}/{len(states)} {changed.spec}: {changed.state}"
    if changed.state == "trained":
        accuracy = changed.dev_accuracy  # a translator has none
        measure = "" if accuracy is None else f", dev accuracy {accuracy:.3f}"
        console.tell(f"{line}{measure}, {changed.seconds:.0f} s")
    elif changed.state == "failed":
        console.tell(f"{line}: {changed.note}")

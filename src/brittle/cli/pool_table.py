"""The training of a pool as a person sees it: a live table, or a line for each finished model."""

from __future__ import annotations

import contextlib
import sys
from collections import Counter
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any

from brittle.cli import console

if TYPE_CHECKING:
    from brittle.studies.pool_training import MemberState, Progress

MAX_LIVE_ROWS = 18  # a taller table than the terminal would be cut at its end


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

    with Live(
        console=Console(stderr=True, highlight=False), transient=True, auto_refresh=False
    ) as live:
        yield lambda states, changed: live.update(live_block(states), refresh=True)


def live_block(states: Sequence[MemberState]) -> Any:
    """Build the live table: the models finished here, then those in training, and all counts."""
    from rich.console import Group

    shown = [s for s in states if s.state not in ("waiting", "already there")]
    shown.sort(key=lambda state: state.state == "training")
    rows = table_rows(shown[-MAX_LIVE_ROWS:])
    return Group(*([console.table(rows)] if rows else []), count_states(states))


def _print_finished(states: Sequence[MemberState], changed: MemberState) -> None:
    done = sum(state.state not in ("waiting", "training") for state in states)
    line = f"{done}/{len(states)} {changed.spec}: {changed.state}"
    if changed.state == "trained":
        accuracy = changed.dev_accuracy  # a translator has none
        measure = "" if accuracy is None else f", dev accuracy {accuracy:.3f}"
        console.tell(f"{line}{measure}, {changed.seconds:.0f} s")
    elif changed.state == "failed":
        console.tell(f"{line}: {changed.note}")


def table_rows(states: Sequence[MemberState]) -> list[dict[str, str]]:
    """Build the rows of the table of a pool."""
    return [_row(state) for state in states]


def _row(state: MemberState) -> dict[str, str]:
    # Why a model failed is too long for a cell; the error at the end says it.
    note = f": {state.note}" if state.note and state.state == "training" else ""
    accuracy, seconds = state.dev_accuracy, state.seconds
    return {
        "member": state.member,
        "seed": str(state.seed),
        "state": f"{state.state}{note}",
        "dev accuracy": "" if accuracy is None else f"{accuracy:.3f}",
        "seconds": "" if seconds is None else f"{seconds:.0f}",
    }


def count_states(states: Sequence[MemberState]) -> str:
    """Format how many models are in each state, in the order in which a model passes them."""
    counts: Counter[str] = Counter(state.state for state in states)
    order = ("waiting", "training", "trained", "already there", "failed")
    return ", ".join(f"{counts[name]} {name}" for name in order if counts[name])


def states_json(states: Sequence[MemberState]) -> list[dict[str, Any]]:
    """Return the states as plain data."""
    return [
        {
            "member": state.member,
            "seed": state.seed,
            "spec": state.spec,
            "state": state.state,
            "dev accuracy": state.dev_accuracy,
            "seconds": state.seconds,
            "folder": None if state.folder is None else str(state.folder),
            "reason": state.note if state.state == "failed" else None,
        }
        for state in states
    ]

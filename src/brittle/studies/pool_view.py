"""How the training of a pool is shown: its table, the counts of states, and plain data."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import Any

from rich.console import Group

from brittle.reports.table import Table
from brittle.studies.pool_tasks import MemberState
from brittle.studies.pools import Pool

MAX_LIVE_ROWS = 18  # a taller table than the terminal would be cut at its end


def pool_block(pool: Pool, states: Sequence[MemberState]) -> Group:
    """Show the models of a pool after their training, and the members that are not trained."""
    others = [member.name for member in pool.members if not member.spec.startswith("zoo:")]
    parts: list[Any] = [states_table(states)] if states else []
    parts += ["", f"pool:{pool.name}: {count_states(states) or 'nothing to train'}."]
    if others:
        parts.append(f"Not models of the zoo, so not trained: {', '.join(others)}.")
    return Group(*parts)


def live_block(states: Sequence[MemberState]) -> Group:
    """Build the live table: the models finished here, then those in training, and all counts."""
    shown = [s for s in states if s.state not in ("waiting", "already there")]
    shown.sort(key=lambda state: state.state == "training")
    table = [states_table(shown[-MAX_LIVE_ROWS:])] if shown else []
    return Group(*table, count_states(states))


def states_table(states: Sequence[MemberState]) -> Table:
    """Build the table of a pool: a row a model."""
    return Table.of(list(map(_row, states)), keeps_words=True)


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

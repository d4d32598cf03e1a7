"""`brittle train pool:NAME`: train what is missing of a pool of models."""

from __future__ import annotations

import argparse
from typing import TYPE_CHECKING, Any

from brittle.cli import console
from brittle.cli.backend_flags import backend_of
from brittle.cli.pool_table import count_states, pool_progress, states_json, table_rows
from brittle.errors import RunStopped, UsageError
from brittle.formatting import plural

if TYPE_CHECKING:
    from collections.abc import Sequence

    from brittle.studies.pool_training import MemberState
    from brittle.studies.pools import Pool

ONE_MODEL_FLAGS = ("set", "adversarial", "share", "noise", "copies", "every", "seed")


def run(args: argparse.Namespace) -> None:
    """Train the models of a pool, print their table, and end with an error if one failed."""
    from brittle.studies.pool_tasks import of_size
    from brittle.studies.pool_training import train_pool
    from brittle.studies.pools import load_pool
    from brittle.training.splits import load_splits

    _check_flags(args)
    load_splits(args.data, text=args.text, label=args.label)  # else all fail, for one reason
    pool = of_size(load_pool(args.model, args.data, args.seeds or 1), args.size)
    with pool_progress(args.quiet) as progress:
        states = train_pool(
            pool,
            text=args.text,
            label=args.label,
            device=args.device,
            force=args.force,
            backend=backend_of(args),
            progress=progress,
        )
    data = {"pool": pool.name, "data": args.data, "models": states_json(states)}
    console.print_result(args, lambda: data, lambda: _block(pool, states))
    failed = [state for state in states if state.state == "failed"]
    if failed:
        reasons = "\n".join(f"  {state.spec}: {state.note}" for state in failed)
        raise RunStopped(
            f"{len(failed)} of {plural(len(states), 'models')} are not trained:\n{reasons}\n"
        )


def _check_flags(args: argparse.Namespace) -> None:
    """Refuse flags that are settings of one model."""
    named = next((name for name in ONE_MODEL_FLAGS if getattr(args, name)), None)
    if named is not None:
        raise UsageError(
            f"--{named} is for one model, but {args.model!r} is a pool. Write a file of models, a "
            "line each, such as LSTM-W-Random-1+hotflip@mr#1?hidden=32, and name it: pool:FILE."
        )


def _block(pool: Pool, states: Sequence[MemberState]) -> Any:
    from rich.console import Group

    others = [member.name for member in pool.members if not member.spec.startswith("zoo:")]
    parts: list[Any] = [console.table(table_rows(states))] if states else []
    parts += ["", f"pool:{pool.name}: {count_states(states) or 'nothing to train'}."]
    if others:
        parts.append(f"No models of the zoo, so not trained: {', '.join(others)}.")
    return Group(*parts)

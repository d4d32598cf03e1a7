"""`brittle list pools`: the declared pools, their members, and what is trained of them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from rich.console import Group
from rich.padding import Padding

from brittle.cli import console
from brittle.training import TrainedModel, trained_models
from brittle.zoo.names.pools import POOLS

USE = (
    "brittle train pool:NAME --data DATA trains what is missing of a pool. pool:FILE is one of "
    "your own: a target a line."
)


def pool_rows(trained: Sequence[TrainedModel]) -> list[dict[str, Any]]:
    """List the pools: how many members each has, and how many are trained on which data."""
    return [
        {
            "pool": f"pool:{name}",
            "what it is": about,
            "members": len(members),
            "trained": _trained_counts(members, trained) or "none",
        }
        for name, (about, members) in POOLS.items()
    ]


def pools_json() -> list[dict[str, Any]]:
    """Return the pools with their members, and the names of those that are trained."""
    trained = trained_models()
    return [
        {
            "pool": f"pool:{name}",
            "what it is": about,
            "members": list(members),
            "trained": [model.spec for model in trained if _is_of(model, members)],
        }
        for name, (about, members) in POOLS.items()
    ]


def pools_block() -> Any:
    """Show the pools as a table, then the members of each."""
    parts: list[Any] = [console.table(pool_rows(trained_models()))]
    for name, (_, members) in POOLS.items():
        parts += ["", f"pool:{name}", Padding(", ".join(members), (0, 0, 0, 2))]
    return Group(*parts, "", USE)


def _trained_counts(members: Sequence[str], trained: Sequence[TrainedModel]) -> str:
    """Format how many members are trained on each data set, and with which seeds.

    Those of another size or with changed settings are not counted: a pool does not name them.
    """
    names: dict[tuple[str, int], set[str]] = {}
    for model in trained:
        if _is_of(model, members):
            names.setdefault((model.data, model.seed), set()).add(model.name)
    return ", ".join(
        f"{len(of_seed)} on {data}#{seed}" for (data, seed), of_seed in sorted(names.items())
    )


def _is_of(model: TrainedModel, members: Sequence[str]) -> bool:
    card = model.card
    return card.name in members and card.size == "default" and not card.changed

"""The target that a command line names, or that a run was made on."""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from brittle.cli import console
from brittle.errors import UsageError

if TYPE_CHECKING:
    from brittle.runs.run import Run
    from brittle.targets.protocols import Classifies, Translator


def open_target(
    args: argparse.Namespace,
    fields: Sequence[str] = ("text",),
    shape: tuple[int, int, int] | None = None,
) -> Classifies | Translator:
    """Open the target that the command line names; a zoo model is trained if it is not yet."""
    from brittle.opening import as_target

    with console.training(args.quiet) as progress:
        return as_target(
            args.target, progress=progress, fields=fields, shape=shape, **_options(args)
        )


def describe_target(args: argparse.Namespace) -> dict[str, Any]:
    """Return everything that is needed to open the same target again later."""
    return {"spec": args.target, **_options(args)}


def open_run_target(run: Run, args: argparse.Namespace) -> Classifies | Translator:
    """Open the target that a run was made on, or the one that --target names."""
    stored = run.manifest.get("about_target")
    if args.target is None:
        if not stored:
            raise UsageError(
                f"The run {run.name!r} was made on a live object. Name a target with --target."
            )
        options = dict(stored)
        args.target = options.pop("spec")
        vars(args).update(options)
    else:
        args.wanted_mask = run.wanted_mask
        if args.answers == "auto":
            args.answers = run.answers_of(args.target)
    return open_target(args, run.fields, shape=run.shape)


def _options(args: argparse.Namespace) -> dict[str, Any]:
    names = ("labels", "scores", "mask", "device", "trust", "timeout", "answers")
    return {name: getattr(args, name) for name in names} | {
        "wanted_mask": getattr(args, "wanted_mask", None)
    }

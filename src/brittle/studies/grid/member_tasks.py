"""What the tasks of a grid do: keep texts, have a target label them, and attack it.

A member that fails is a result with the reason under "failed": the other tasks go on.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

from brittle.edits import patch
from brittle.errors import Interrupted, StoreError, UsageError, message_of
from brittle.formatting import plural
from brittle.results import Result, has_adversary
from brittle.runs.run import Run
from brittle.runs.runner import attack as run_attack
from brittle.runs.shared_answers import SharedAnswers
from brittle.studies.grid.chosen_attacks import ChosenAttack, embedding_first
from brittle.studies.grid.study import CellRow
from brittle.studies.transfer.member_tasks import (
    TEXTS,
    MemberTasks,
    TaskResult,
    names_failure,
    open_name,
    succeeded,
)
from brittle.studies.transfer.scoring import label_texts
from brittle.studies.transfer.texts import columns_of, unpack_texts
from brittle.workflow.tasks import FAILED, TaskContext, slug
from brittle.workflow.throttling import throttle

CASES = "cases"
REFUSED = "refused"
"""The key of the reason in a cell whose attack asks for what the target does not offer."""


@dataclass(frozen=True)
class GridTasks:
    """The functions of the tasks; `live` holds targets of this process, by their specs."""

    live: Mapping[str, Any] = field(default_factory=dict)

    def keep_texts(self, context: TaskContext, *, texts: TaskResult, message: str) -> TaskResult:
        """Return texts, which other tasks need."""
        return texts | {"message": message}

    @names_failure
    def label_member(
        self, context: TaskContext, *, spec: str, block: str, memory: str
    ) -> TaskResult:
        """Return the index, among the target's labels, that it predicts for every text."""
        succeeded(context, open_name(spec))
        texts = [example.fields for example in unpack_texts(context.needs[block]).examples]
        with MemberTasks(self.live).opened(context, spec) as target:
            file, report = context.folder / memory, throttle(context.report)
            labels = label_texts(target, texts, file, report)
        return {"labels": labels, "message": f"labels of {plural(len(texts), 'texts')}"}

    @names_failure
    def attack_member(
        self,
        context: TaskContext,
        *,
        spec: str,
        attacks: Sequence[Mapping[str, Any]],
        seed: int,
        budget: int | None,
        files: Mapping[str, str] | None = None,
    ) -> TaskResult:
        """Run all attacks on one target, one after another; they share its answers.

        `files` are the digests of files that the settings name: new contents are a new attack.
        """
        opened = succeeded(context, open_name(spec))
        shared, cells = SharedAnswers(), {}
        chosen = [ChosenAttack(**attack) for attack in attacks]
        with MemberTasks(self.live).opened(context, spec) as target:
            chosen = embedding_first(chosen, target, unpack_texts(context.needs[CASES]))
        for attack in chosen:
            about = [opened["fingerprint"], asdict(attack), seed, budget, files]
            name = run_name(spec, attack, [*about, context.needs[CASES]])
            try:
                run = self._attack(context, spec, attack, seed, budget, name, shared)
            except (Interrupted, StoreError):
                raise
            except UsageError as error:
                cells[attack.row] = {REFUSED: message_of(error)}
            except Exception as error:  # a target is code of others, and may raise anything
                cells[attack.row] = {FAILED: message_of(error)}
            else:
                cells[attack.row] = stored_cell(run)
        return {"cells": cells, **_ending(cells)}

    def _attack(
        self,
        context: TaskContext,
        spec: str,
        attack: ChosenAttack,
        seed: int,
        budget: int | None,
        name: str,
        shared: SharedAnswers,
    ) -> Run:
        """Attack as `brittle attack` does: the target is opened by its spec, as the attack asks."""
        report_seldom = throttle(context.report)

        def report(progress: Any) -> None:
            broken = progress.counts.get("broken", 0)
            done = f"{progress.done:,} of {plural(progress.planned, 'cases')}, {broken:,} broken"
            report_seldom(f"{attack.row}: {done}")

        return run_attack(
            self.live.get(spec, spec),
            unpack_texts(context.needs[CASES]),
            attack.name,
            seed=seed,
            budget=budget,
            name=name,
            folder=context.folder,
            progress=report,
            shared=shared,
            columns=columns_of(context.needs[TEXTS]),
            **attack.settings,
        )


def run_name(spec: str, attack: ChosenAttack, about: Sequence[Any]) -> str:
    """Name the run of a cell: an attack that is added later leaves the others as they are."""
    digest = hashlib.sha256(json.dumps(about, sort_keys=True).encode()).hexdigest()[:8]
    return f"{slug(attack.row)[:40]}-on-{slug(spec)[:60]}-{digest}"


def stored_cell(run: Run) -> TaskResult:
    """Return what a study keeps of a run."""
    totals = run.totals
    return {
        "run": run.path.name,
        "rows": [asdict(_row(result)) for result in run.results()],
        "asked": int(totals["asked"]),
        "sent": int(totals["sent"]),
        "warnings": run.manifest["warnings"],
    }


def run_files(folder: Path, result: TaskResult) -> list[Path]:
    """Return the files of the runs of an attack task."""
    return [folder / cell["run"] for cell in result.get("cells", {}).values() if "run" in cell]


def _row(result: Result) -> CellRow:
    is_shown = has_adversary(result)
    after = tuple(patch(dict(result.fields), result.edits).items()) if is_shown else None
    # Only attacks that draw candidates count them.
    tried, won = (getattr(result, name, None) for name in ("tried", "won"))
    about = (result.case, result.status, result.reason, result.queries)
    return CellRow(*about, tried, won, after)


def _ending(cells: Mapping[str, TaskResult]) -> TaskResult:
    """Say how the attacks ended; a task with one that failed is run again by the next command."""
    done = [cell for cell in cells.values() if "run" in cell]
    sent = sum(cell["sent"] for cell in done)
    message = f"{len(done)} of {plural(len(cells), 'attacks')}, {plural(sent, 'rows')} computed"
    failed = {row: cell[FAILED] for row, cell in cells.items() if FAILED in cell}
    if not failed:
        return {"message": message}
    reasons = "; ".join(f"{row}: {reason}" for row, reason in failed.items())
    return {"message": f"{message}; failed: {', '.join(failed)}", FAILED: reasons}

"""`brittle.select`: the ensembles of a stored transfer study, and what they reach if attacked.

The command line calls the same function.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from brittle.data import as_dataset, load
from brittle.errors import UsageError, unknown
from brittle.progress import Progress, listener, shows_progress
from brittle.reports.notebook import study_html
from brittle.reports.study_page import StudyView
from brittle.reports.table import Table
from brittle.reports.terminal import as_text
from brittle.studies.by_name import named_study, of_kind
from brittle.studies.pools import PREFIX
from brittle.studies.selecting.search import ANY_BERT, EXPERT_LIST, candidates_of
from brittle.studies.selecting.selecting import (
    METHODS,
    EnsembleCurves,
    SelectedEnsemble,
    attack_ensembles,
    default_held_out,
    ensemble_curves,
    find_study,
)
from brittle.studies.selecting.selecting import select as select_ensembles
from brittle.studies.selecting.view import ensembles_json, ensembles_view
from brittle.studies.transfer.study import TransferStudy, counts_of
from brittle.workflow.backends import Workers

ALL = "all"
MAX_DEFAULT_SIZE = 7


@dataclass(frozen=True, eq=False, repr=False)
class EnsembleSelection:
    """The ensembles that were selected from a study, and what they reach if they were attacked.

    `held_out` are the models that no ensemble may hold. `notes` say which method could not give
    which size, `failures` and `warnings` come from the attack.
    """

    study: TransferStudy
    ensembles: Sequence[SelectedEnsemble]
    held_out: Sequence[str]
    notes: Sequence[str]
    curves: EnsembleCurves | None = None
    failures: Sequence[str] = ()
    warnings: Sequence[str] = ()

    def view(self) -> StudyView:
        """Return what its page and the terminal show."""
        return ensembles_view(self.study, self.ensembles, self.held_out, self.curves)

    def plain(self) -> dict[str, Any]:
        """Return it as plain data."""
        about = (self.study, self.ensembles, self.held_out, self.notes, self.curves)
        return ensembles_json(*about)

    def table(self) -> Table:
        """Return a row for every ensemble."""
        view = self.view()
        tables = [one for one in (*view.tables, *view.terminal) if isinstance(one, Table)]
        return tables[0]

    def __repr__(self) -> str:
        return f"EnsembleSelection({self.study.name!r}, {len(self.ensembles)} ensembles)"

    def __str__(self) -> str:
        return as_text(self.view().block())

    def _repr_html_(self) -> str:
        return study_html(self.view(), self.study.name, self.table())


@shows_progress("selecting")
def select(
    study: str | Path | TransferStudy,
    *,
    size: int | Sequence[int] | None = None,
    method: str | Sequence[str] = "genetic",
    list: Sequence[str] = (),  # the name of the flag
    held_out: Sequence[str] | None = None,
    seed: int = 0,
    attack: bool = False,
    data: Any = None,
    text: str | None = None,
    label: str | None = None,
    limit: int | None = None,
    folder: str | Path = "runs",
    workers: int | None = 1,
    backend: str = "local",
    address: str | None = None,
    progress: Progress[str] = True,
) -> EnsembleSelection:
    """Select the members of a pool whose ensemble fools the other models best.

    `study` is a transfer study, its name or file, or a pool that has one; the newest study of the
    pool counts. `size` is one size or several (default: 2 to 7), `method` one or several of
    genetic, greedy, expert and exhaustive, or "all". `list` is your own list of models, the best
    first. `held_out` are models that no ensemble may contain (default: every fifth model of a pool
    of ten or more; () for none). With `attack` the ensembles are attacked in the same way as the
    sources of the study, on the first `limit` of its texts; `data` names these texts if they come
    from a file.

        chosen = brittle.select("pool:small", size=[2, 3], method="all")
        print(chosen)
    """
    found = open_study(study, Path(folder))
    own = tuple(list)
    apart = _held_out(held_out, own, found)
    candidates = candidates_of(found.results.matrix(), apart)
    largest = min(MAX_DEFAULT_SIZE, len(candidates.sources))
    sizes = [size] if isinstance(size, int) else [*(size or range(2, largest + 1))]
    methods = METHODS if method == ALL else (method,) if isinstance(method, str) else method
    ensembles, notes = select_ensembles(candidates, sizes, tuple(methods), seed, own)
    if not attack:
        return EnsembleSelection(found, ensembles, apart, notes)
    split = None if data else found.split
    columns = {"text": text, "label": label, "locked": found.locked}
    is_named = data is None or isinstance(data, str)
    dataset = load(data or found.data, split=split, **columns) if is_named else as_dataset(data)
    where = Workers(workers, backend, address)
    attacked = attack_ensembles(
        found, ensembles, dataset, Path(folder), where, listener(progress), limit
    )
    singles, matrix = found.results.matrix(), attacked.results.matrix()
    curves = ensemble_curves(singles, matrix, ensembles, apart, counts_of(attacked))
    failures = [f"{name}. {reason}" for name, reason in attacked.failures.items()]
    return EnsembleSelection(found, ensembles, apart, notes, curves, failures, attacked.warnings)


def open_study(study: str | Path | TransferStudy, folder: Path) -> TransferStudy:
    """Return the study of a pool, or the one that is named or handed in."""
    if not isinstance(study, str | Path):
        return of_kind(study, "transfer")
    name = str(study)
    if not name.startswith(PREFIX):
        named = named_study(name, folder)
        if named is not None:
            return of_kind(named[0], "transfer")
    return find_study(name, folder)


def _held_out(
    held_out: Sequence[str] | None, own: Sequence[str], study: TransferStudy
) -> tuple[str, ...]:
    """Return the models that no ensemble may hold; unknown ones are refused."""
    known = [target.name for target in study.targets]
    for name in own:
        if name not in (*known, ANY_BERT):
            raise unknown("model of the study:", name, known)
    if held_out is None:
        return default_held_out(study.targets, spared={*EXPERT_LIST, *own})
    for name in held_out:
        if name not in known:
            raise unknown("model of the study:", name, known)
        if name in own:
            raise UsageError(
                f"{name!r} is in --list and in --held-out. Remove it from one of them."
            )
    return tuple(held_out)

"""Selected ensembles under attack: each is one source of a transfer study."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path

from brittle.data import Dataset, case_ids
from brittle.errors import UsageError
from brittle.studies.pools import Member
from brittle.studies.selecting.selecting import Ensemble
from brittle.studies.transfer.study import TransferStudy
from brittle.studies.transfer.transfer import TransferRequest, run_study
from brittle.workflow.backends import Workers


def attack_ensembles(
    study: TransferStudy,
    ensembles: Sequence[Ensemble],
    dataset: Dataset,
    folder: Path,
    backend: Workers | None = None,
    report: Callable[[str], None] = lambda message: None,
    limit: int | None = None,
) -> TransferStudy:
    """Attack every ensemble as the study attacked its sources; all its targets are asked.

    `dataset` is the split that the study's texts come from; only the first `limit` of them are
    attacked, if there is a limit. The result is stored as NAME-ensembles.study.json and resumes;
    ensembles with the same members are attacked once.
    """
    texts = dataset.take(study.attacked, study.seed)
    cases = set(case_ids(texts.examples))
    winners = study.winners.values()
    if any(winner.case not in cases for rows in winners for winner in rows):
        raise UsageError(
            f"The texts of {dataset.name!r} are not those of the study {study.name!r}, which used "
            f"the split {study.split} of {study.data!r}. Name them with --data."
        )
    sources = {e.name: Member(e.name, e.spec) for e in ensembles}
    request = TransferRequest(
        name=f"{study.name}-ensembles",
        pool=study.pool,
        attack=study.attack,
        settings=study.settings,
        seed=study.seed,
        winners=study.max_winners or max(map(len, winners)),
        sources=tuple(sources.values()),
        targets=study.targets,
        dataset=texts if limit is None else dataset.take(min(limit, len(texts)), study.seed),
    )
    return run_study(request, folder, backend, report)

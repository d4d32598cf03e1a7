"""Transfer studies as a kind of study: how they are checked, listed, shown, and compared."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from brittle.attacks.stored_settings import changed_settings
from brittle.formatting import attack_in_words
from brittle.reports.studies.comparison import studies_block, studies_json
from brittle.reports.studies.html import render_study
from brittle.reports.studies.terminal import study_block, study_json
from brittle.studies.study import Listed, StudyKind
from brittle.studies.transfer.bootstrap import RESAMPLES
from brittle.studies.transfer.exporting import cell_rows, text_rows
from brittle.studies.transfer.showing import reported_study
from brittle.studies.transfer.study import (
    TransferFacts,
    TransferResults,
    TransferStudy,
    check_transfer,
)

FIXED = ("attack", "settings", "seed", "data", "split", "locked")
"""The facts that a study keeps under its name; it may get more texts and more members."""


def _fixed(facts: TransferFacts) -> Mapping[str, Any]:
    return {name: getattr(facts, name) for name in FIXED}


def _members(study: TransferStudy) -> Sequence[str]:
    results = study.results
    return list(dict.fromkeys(member.name for member in (*results.sources, *results.targets)))


def _listed(study: TransferStudy) -> Listed:
    results = study.results
    attack = attack_in_words(study.facts.attack, study.facts.settings)
    texts = sum(map(len, results.winners.values()))
    return Listed(attack, texts, len(results.targets), len(results.sources))


def _block(study: TransferStudy, texts: int = 5, resamples: int = RESAMPLES) -> Any:
    return study_block(reported_study(study, resamples), texts)


def _compared(studies: Sequence[TransferStudy]) -> tuple[Any, Any]:
    tables = list(map(reported_study, studies))
    return studies_json(tables), studies_block(tables)


KIND = StudyKind(
    name="transfer",
    noun="transfer study",
    command="brittle transfer",
    commands="brittle show, report, export and compare take it.",
    facts=TransferFacts,
    results=TransferResults,
    check=check_transfer,
    fixed=_fixed,
    members=_members,
    listed=_listed,
    rows=cell_rows,
    text_rows=text_rows,
    summary=lambda study, resamples=RESAMPLES: study_json(reported_study(study, resamples)),
    block=_block,
    page=lambda study: render_study(reported_study(study)),
    compared=_compared,
    frame_columns=("source", "target", "rate", "rate_of_right", "count"),
    present=lambda study: study.changed(settings=changed_settings(study.attack, study.settings)),
)

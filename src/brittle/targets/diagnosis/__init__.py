"""The diagnosis before a run, by the kind of the target's answers."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from brittle.answers import TEXTS
from brittle.asks import Case
from brittle.engine.asking import Asker
from brittle.targets.capabilities import answers_of
from brittle.targets.diagnosis.classifier import diagnose as diagnose_classifier
from brittle.targets.diagnosis.samples import DiagnosisWarning
from brittle.targets.diagnosis.translator import diagnose_translator


def diagnose(
    target: Any,
    cases: Sequence[Case[Any]],
    broker: Asker,
    *,
    data_labels: Mapping[str, int] | None = None,
    keywords: Sequence[str] = (),
) -> list[DiagnosisWarning]:
    """Check the target's answers to a sample of the cases; return warnings.

    `keywords` are words that a translator is to write.
    """
    if answers_of(target) == TEXTS:
        return diagnose_translator(target, cases, broker, keywords)
    return diagnose_classifier(target, cases, broker, data_labels=data_labels)

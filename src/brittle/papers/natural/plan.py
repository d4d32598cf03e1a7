"""The paper of natural adversaries as tasks: those about pictures, then those about texts.

Texts are there if the request names their data: pairs for entailment, translations for probes.
"""

from __future__ import annotations

from collections.abc import Sequence

from brittle.papers.natural import pictures, texts
from brittle.papers.request import PaperRequest
from brittle.workflow.tasks import Task


def plan(request: PaperRequest) -> Sequence[Task]:
    """List the tasks; those on data that the request does not name are left out."""
    planned = pictures.tasks(request, pictures.SCALES[request.scale])
    if request.pairs or request.translations:
        planned += texts.tasks(request, texts.SCALES[request.scale])
    return planned

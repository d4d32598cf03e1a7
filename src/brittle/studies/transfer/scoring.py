"""Labels that a target predicts, each text once: what was asked before is kept in a file."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Sequence
from pathlib import Path

from brittle.files import DAMAGED, make_private_folder, open_private
from brittle.formatting import plural
from brittle.studies.transfer.labels import TEXTS_PER_CALL, predict_labels
from brittle.studies.transfer.texts import Fields
from brittle.targets.protocols import Classifies
from brittle.text import Text
from brittle.workflow.tasks import Report


def label_texts(
    target: Classifies, texts: Sequence[Fields], memory: Path, report: Report
) -> list[int]:
    """Return the index of the label that a target predicts for every text.

    The target is sent only texts whose labels are not in `memory`, each once. Labels are written
    there as soon as they are known; those of another target, by its fingerprint, do not count.
    """
    keys = [_digest(text) for text in texts]
    known = _load(memory, target.fingerprint)
    new = {key: Text.of(dict(text)) for key, text in zip(keys, texts) if key not in known}
    order = sorted(new, key=lambda key: len(new[key]))
    index = {label: n for n, label in enumerate(target.labels)}
    for start in range(0, len(order), TEXTS_PER_CALL):
        batch = order[start : start + TEXTS_PER_CALL]
        labels = predict_labels(target, [new[key] for key in batch])
        answers = {key: index[label] for key, label in zip(batch, labels)}
        _append(memory, target.fingerprint, answers)
        known |= answers
        report(f"{start + len(batch):,} of {plural(len(order), 'texts')}")
    return [known[key] for key in keys]


def _digest(text: Fields) -> str:
    content = json.dumps(text, ensure_ascii=False).encode("utf-8", "surrogatepass")
    return hashlib.sha256(content).hexdigest()[:20]


def _load(memory: Path, fingerprint: str) -> dict[str, int]:
    known: dict[str, int] = {}
    if not memory.is_file():
        return known
    for line in memory.read_text("utf-8").splitlines():
        try:
            content = json.loads(line)
            if content["fingerprint"] == fingerprint:
                known |= {text: int(label) for text, label in content["labels"].items()}
        except DAMAGED:
            continue  # empty, or the end of a write that was interrupted
    return known


def _append(memory: Path, fingerprint: str, labels: dict[str, int]) -> None:
    """Append one line; it begins with a line break, which ends a line that was cut off."""
    make_private_folder(memory.parent)
    with open_private(memory) as file:
        line = json.dumps({"fingerprint": fingerprint, "labels": labels})
        file.write(f"\n{line}".encode())

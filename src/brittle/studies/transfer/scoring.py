"""Which texts are tried on other models, and when one of them is fooled.

The texts of a study as JSON, so that its tasks hold them wherever they run. Transfer: whether the
texts of an attack on one target fool another target too. Labels that a target predicts, each text
once: what was asked before is kept in a file.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import asdict, replace
from pathlib import Path
from typing import Any, TypeVar

import numpy as np

from brittle.data import Dataset, Example
from brittle.data.columns import Columns
from brittle.edits import patch
from brittle.errors import UsageError
from brittle.formatting import plural
from brittle.results import Result
from brittle.safety.files import DAMAGED, make_private_folder, open_private
from brittle.statuses import Status
from brittle.targets.protocols import Classifies
from brittle.text import Text
from brittle.workflow.tasks import Report

T = TypeVar("T")
Fields = tuple[tuple[str, str], ...]


def pack_texts(dataset: Dataset) -> dict[str, Any]:
    """Return everything of a data set that an attack needs, as JSON can hold it."""
    columns = dataset.table_columns
    return {
        "name": dataset.name,
        "split": dataset.split,
        "labels": list(dataset.labels),
        "columns": None if columns is None else asdict(columns),
        "examples": [[e.fields, e.label, e.locked] for e in dataset.examples],
    }


def unpack_texts(packed: Mapping[str, Any]) -> Dataset:
    """Return the data set of packed texts."""
    examples = tuple(
        Example(fields_of(fields), label, tuple(locked))
        for fields, label, locked in packed["examples"]
    )
    columns = packed["columns"] and Columns(
        tuple(packed["columns"]["text"]),
        packed["columns"]["label"],
        tuple(packed["columns"]["locked"]),
    )
    labels = tuple(packed["labels"])
    return Dataset(packed["name"], packed["split"], examples, labels, table_columns=columns)


def columns_of(packed: Mapping[str, Any]) -> dict[str, dict[str, Any]]:
    """Return by the name of the data which columns are its text and its label, if it has any."""
    columns = packed["columns"]
    if columns is None:
        return {}
    return {packed["name"]: {"text": list(columns["text"]), "label": columns["label"]}}


def locked_fields(dataset: Dataset) -> tuple[str, ...]:
    """Return the fields that no attack may edit, of any example."""
    return tuple(sorted({name for example in dataset.examples for name in example.locked}))


def fields_of(pairs: Sequence[Sequence[str]]) -> Fields:
    """Return fields that were stored as JSON."""
    return tuple((name, value) for name, value in pairs)


def check_texts(dataset: Dataset, study: str = "a transfer study") -> None:
    """Refuse data without which nothing can be counted: pictures, and texts without a label."""
    if dataset.kind != "text":
        raise UsageError(
            f"The data {dataset.name!r} contains {dataset.kind}s, but {study} needs "
            "texts. Choose a data set of texts (brittle list data)."
        )
    unlabelled = sum(example.label is None for example in dataset.examples)
    if unlabelled:
        raise UsageError(
            f"Of the {plural(len(dataset), 'texts')} of {dataset.name!r}, {unlabelled:,} "
            f"have no label, and {study} counts the texts that a target gets wrong. Name "
            "the label column (--label), or use other data."
        )


TEXTS_PER_CALL = 512


def predict_labels(target: Classifies, texts: Sequence[Text]) -> list[str]:
    """Return the label that a target predicts for every text; it is called by length."""
    order = sorted(range(len(texts)), key=lambda i: len(texts[i]))
    labels = [""] * len(texts)
    for start in range(0, len(order), TEXTS_PER_CALL):
        batch = order[start : start + TEXTS_PER_CALL]
        best = np.asarray(target.scores([texts[i] for i in batch])).argmax(axis=1)
        for i, label in zip(batch, best.tolist()):
            labels[i] = target.labels[label]
    return labels


def transfer_labels(target: Classifies, rows: Sequence[Result]) -> dict[str, tuple[str, str]]:
    """Return, by case, the labels that another target predicts before and after the attack.

    The text after the attack is the winner, or else the best candidate, or else the original.
    """
    originals = [dict(row.fields) for row in rows]
    final = [
        fields if row.adversarial is None else patch(fields, row.edits)
        for fields, row in zip(originals, rows)
    ]
    before, after = (
        predict_labels(target, list(map(Text.of, part))) for part in (originals, final)
    )
    return {row.case: labels for row, labels in zip(rows, zip(before, after))}


def transferred_rows(rows: Iterable[Result], labels: Mapping[str, Sequence[str]]) -> list[Result]:
    """Return the rows of a run as those of another target, from its labels by case.

    A case is broken if that target is right on the original and wrong on the text after the attack.
    """
    return [_transferred(row, *labels[row.case]) for row in rows]


def _transferred(row: Result, before: str, after: str) -> Result:
    is_right = before == row.label
    status: Status = "skipped" if not is_right else "held" if after == row.label else "broken"
    return replace(
        row,
        status=status,
        reason="" if is_right else "already wrong",
        predicted=before,
        confidence=None,
        adversarial_label=after,
        adversarial_confidence=None,
    )


def label_texts(
    target: Classifies, texts: Sequence[Fields], memory: Path, report: Report
) -> list[int]:
    """Return the index of the label that a target predicts for every text.

    The target is sent only texts whose labels are not in `memory`, each once. Labels are written
    there as soon as they are known; those of another target, by its fingerprint, do not count.
    """
    keys = [text_key(text) for text in texts]
    known = load_answers(memory, target.fingerprint, int)
    new = {key: Text.of(dict(text)) for key, text in zip(keys, texts) if key not in known}
    order = sorted(new, key=lambda key: len(new[key]))
    index = {label: n for n, label in enumerate(target.labels)}
    for start in range(0, len(order), TEXTS_PER_CALL):
        batch = order[start : start + TEXTS_PER_CALL]
        labels = predict_labels(target, [new[key] for key in batch])
        answers = {key: index[label] for key, label in zip(batch, labels)}
        append_answers(memory, target.fingerprint, answers)
        known |= answers
        report(f"{start + len(batch):,} of {plural(len(order), 'texts')}")
    return [known[key] for key in keys]


def text_key(text: Fields) -> str:
    """Return the key under which the answer on a text is kept."""
    content = json.dumps(text, ensure_ascii=False).encode("utf-8", "surrogatepass")
    return hashlib.sha256(content).hexdigest()[:20]


def load_answers(memory: Path, fingerprint: str, parse_answer: Callable[[Any], T]) -> dict[str, T]:
    """Return the answers of a target that a file keeps by the keys of their texts."""
    known: dict[str, T] = {}
    if not memory.is_file():
        return known
    for line in memory.read_text("utf-8").splitlines():
        try:
            content = json.loads(line)
            if content["fingerprint"] == fingerprint:
                known |= {text: parse_answer(answer) for text, answer in content["labels"].items()}
        except DAMAGED:
            continue  # empty, or the end of a write that was interrupted
    return known


def append_answers(memory: Path, fingerprint: str, answers: Mapping[str, Any]) -> None:
    """Append one line; it begins with a line break, which ends a line that was cut off."""
    make_private_folder(memory.parent)
    with open_private(memory) as file:
        line = json.dumps({"fingerprint": fingerprint, "labels": answers})
        file.write(f"\n{line}".encode())

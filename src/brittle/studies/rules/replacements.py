"""All replacements of all words of labelled texts, as arrays: what rules are mined from.

They depend on the texts alone, so that they are listed once and measured on every model.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from brittle import files
from brittle.data import Dataset, Example
from brittle.english.tags import Tagger
from brittle.errors import UsageError
from brittle.proposals import Proposal
from brittle.proposals.synonyms import Synonyms
from brittle.schema import Count, parse
from brittle.text import Text
from brittle.training.splits import LabelledTexts
from brittle.unpacking import DAMAGED_ARCHIVE

Numbers = NDArray[np.int32]
MAX = 2**31
RuleKey = tuple[int, str, str]
"""The number of a label, a word and its substitute, both in lower case."""


@dataclass(frozen=True)
class Replacements:
    """One row for every replacement of a word of a text.

    `text` and `position` say where, `form` is the number of the substitute among `forms`, as it is
    written there, and `rule` the number of the rule among `rules`. Rows are in the order of texts.
    """

    rules: tuple[RuleKey, ...]
    forms: tuple[str, ...]
    text: Numbers
    position: Numbers
    form: Numbers
    rule: Numbers

    def __len__(self) -> int:
        return len(self.text)

    @property
    def support(self) -> NDArray[np.int64]:
        """The number of occurrences of every rule."""
        return np.bincount(self.rule, minlength=len(self.rules))


@dataclass(frozen=True)
class _Names:
    """What the numbers in the columns stand for, as it is stored."""

    rules: tuple[tuple[Count, str, str], ...]
    forms: tuple[str, ...]


def labelled_texts(dataset: Dataset, labels: Sequence[str]) -> LabelledTexts:
    """Build the texts of a data set, the shortest first: batches have texts of about one length."""
    numbers = {label: number for number, label in enumerate(labels)}
    for example in dataset:
        if example.label not in numbers:
            raise UsageError(
                f"The data {dataset.name!r} has the label {example.label!r}; expected one of "
                f"{', '.join(labels)}. Rules are mined from texts with the labels of the ensemble."
            )
    pairs = [(_text(example), numbers[str(example.label)]) for example in dataset]
    pairs.sort(key=lambda pair: len(pair[0]))
    return LabelledTexts(tuple(text for text, _ in pairs), tuple(label for _, label in pairs))


def list_replacements(texts: LabelledTexts, proposal: Proposal | None = None) -> Replacements:
    """List every word's candidates in its context; by default those of PWWS, from WordNet."""
    proposal = proposal or Synonyms()
    rules: dict[RuleKey, int] = {}
    forms: dict[str, int] = {}
    rows: list[tuple[int, int, int, int]] = []
    tagger = Tagger()
    for number, (text, label) in enumerate(zip(texts.texts, texts.label)):
        tags = tagger.tags([text])[0] if proposal.needs_tags else ("",) * len(text)
        proposal.prepare(word for word in text.words if isinstance(word, str))
        for position, (word, tag) in enumerate(zip(text.words, tags)):
            assert isinstance(word, str)
            for form in proposal.of(word, tag):
                key = (label, word.lower(), form.lower())
                rule = rules.setdefault(key, len(rules))
                rows.append((number, position, forms.setdefault(form, len(forms)), rule))
    table = np.array(rows, dtype=np.int32).reshape(-1, 4)
    return Replacements(tuple(rules), tuple(forms), *np.ascontiguousarray(table.T))


def save_replacements(replacements: Replacements, path: Path) -> None:
    """Write replacements as one .npz file, in one step."""
    names = json.dumps({"rules": replacements.rules, "forms": replacements.forms})
    with files.replacing(path, private=True) as new, new.open("wb") as file:
        np.savez_compressed(
            file,
            names=np.frombuffer(names.encode(), dtype=np.uint8),
            text=replacements.text,
            position=replacements.position,
            form=replacements.form,
            rule=replacements.rule,
        )


def load_replacements(path: Path) -> Replacements:
    """Load what `save_replacements` has written."""
    try:
        with path.open("rb") as file, np.load(file) as arrays:
            names = parse(_Names, json.loads(arrays["names"].tobytes()))
            columns = [arrays[name] for name in ("text", "position", "form", "rule")]
        count = len(columns[0])
        for column, below in zip(columns, (MAX, MAX, len(names.forms), len(names.rules))):
            if column.dtype != np.int32 or column.shape != (count,):
                raise ValueError(f"a column of {column.dtype} and shape {column.shape}")
            if count and not 0 <= column.min() <= column.max() < below:
                raise ValueError(f"a column with numbers up to {column.max()}")
        return Replacements(names.rules, names.forms, *columns)
    except DAMAGED_ARCHIVE as error:
        raise UsageError(
            f"The replacements in {path} are damaged ({error}). Delete the file; the same command "
            "lists them again."
        ) from error


def _text(example: Example) -> Text:
    return Text.of(dict(example.fields), example.locked)

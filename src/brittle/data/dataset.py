"""A data set: examples in a fixed order, under a name."""

from __future__ import annotations

import hashlib
from array import array
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from random import Random

from brittle.data.columns import Columns
from brittle.data.example import Example
from brittle.data.picture_rows import DARK, dark_warning
from brittle.data.stored import lines_of, select
from brittle.errors import UsageError
from brittle.picture import encoded_shape


@dataclass(frozen=True)
class Dataset:
    """Examples in a fixed order; `labels` are the names of the classes, () when unlabelled.

    `warnings` are reasons to doubt that the data was meant to be taken like this. `kind` names the
    kind of items that the examples become: text or picture. `table_columns` are those that the
    examples were read from, if they stood in a table.
    """

    name: str
    split: str
    examples: Sequence[Example]
    labels: tuple[str, ...] = ()
    warnings: tuple[str, ...] = ()
    kind: str = "text"
    table_columns: Columns | None = None

    def __post_init__(self) -> None:
        if self.kind != "picture":
            return
        # Here, since pictures come from files, folders and arrays, and no picture alone can tell.
        warning = dark_warning(example.fields[0][1] for example in self.examples)
        if warning is not None and not any(known.startswith(DARK) for known in self.warnings):
            object.__setattr__(self, "warnings", (*self.warnings, warning))

    def __len__(self) -> int:
        return len(self.examples)

    def __iter__(self) -> Iterator[Example]:
        return iter(self.examples)

    @cached_property
    def label_counts(self) -> Counter[str | None]:
        """How many examples have each label, or none."""
        return Counter(example.label for example in self.examples)

    @property
    def shape(self) -> tuple[int, int, int] | None:
        """The height, width and channels of its pictures; None if they are texts."""
        if self.kind != "picture" or not self.examples:
            return None
        return encoded_shape(self.examples[0].fields[0][1])

    @property
    def open_columns(self) -> Columns | None:
        """The columns of the fields that attacks may edit, and of the label; None if not known."""
        columns = self.table_columns
        if columns is None:
            names = tuple(name for name, _ in self.examples[0].fields) if self.examples else ()
            if len(names) < 2:  # a lone field has one name, whatever its column was called
                return None
            columns = Columns(names, None, self.examples[0].locked)
        return Columns(tuple(n for n in columns.text if n not in columns.locked), columns.label)

    def take(self, limit: int | None, seed: int = 0) -> Dataset:
        """Return the first `limit` examples of a seeded permutation; a larger limit adds to them.

        None returns everything, in the data's own order.
        """
        return self if limit is None else self.select(self.rows_taken(limit, seed))

    def rows_taken(self, limit: int | None, seed: int = 0) -> Sequence[int]:
        """Return the numbers of the examples that `take` takes."""
        if limit is None:
            return range(len(self.examples))
        if limit < 1:
            raise UsageError(f"The limit is {limit}. Expected at least 1, or none at all.")
        order = array("Q", range(len(self.examples)))
        Random(f"take:{seed}").shuffle(order)
        return order[:limit]

    def select(self, indices: Sequence[int]) -> Dataset:
        """Return the data set of the examples at these indices, in this order."""
        return replace(self, examples=select(self.examples, indices))

    @cached_property
    def fingerprint(self) -> str:
        """The SHA-256 of the examples, in order."""
        digest = hashlib.sha256()
        for lines in lines_of(self.examples):
            digest.update(lines)
        return digest.hexdigest()


def labels_of(examples: Iterable[Example]) -> tuple[str, ...]:
    """List the classes that occur, in alphabetical order."""
    return tuple(sorted({example.label for example in examples if example.label is not None}))

"""A paper as data: what a user asks for, and the sizes, tasks, claims and words of paper.toml.

The request of a user: which paper, at which scale, on which data. A paper as data: paper.toml holds
its sizes, tasks, claims, tables and words.

Texts of the file refer to values: "$name" alone stands for the value itself, {name} in a text for
its words. `each` repeats what it belongs to, once for every combination of its axes: an axis
`each.model = ["plain", "key"]` sets {model}; if it is a table, its keys do, and what stands under a
key holds for that row alone.
"""

from __future__ import annotations

import shlex
import tomllib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache
from itertools import product
from pathlib import Path
from typing import Any

from brittle.errors import unknown

FURTHER_DATA = ("words", "pairs", "translations")
"""The further data that a paper may take, each by a flag of this name."""


@dataclass(frozen=True)
class PaperRequest:
    """A paper, its scale and its data; `cases` limits the texts that each attack runs on.

    `words`, `pairs` and `translations` are further data, of papers that are about such.
    """

    paper: str
    scale: str
    data: str
    words: str | None = None
    cases: int | None = None
    seed: int = 0
    pairs: str | None = None
    translations: str | None = None

    def command(self) -> str:
        """Format the request as a command; of an absolute path only the name is shown."""
        parts = ["brittle", "papers", self.paper, "--scale", self.scale, "--data", shown(self.data)]
        for name in FURTHER_DATA:
            source = getattr(self, name)
            parts += [f"--{name}", shown(source)] if source else []
        parts += ["--cases", str(self.cases)] if self.cases else []
        parts += ["--seed", str(self.seed)] if self.seed else []
        return shlex.join(parts)


def shown(path: str) -> str:
    """Format a path as the user typed it, without the folders of this machine.

    >>> shown("../data/sst2"), shown("/home/me/data/sst2"), shown("imdb")
    ('../data/sst2', 'sst2', 'imdb')
    """
    return Path(path).name if Path(path).is_absolute() else path


Table = Mapping[str, Any]
"""A table of TOML."""
ALL = "all"
"""What a size says that limits nothing: TOML has no None."""


@dataclass(frozen=True)
class PaperScale:
    """How much of a paper is done: the name of a scale, and its sizes by their names."""

    name: str
    sizes: Table

    def __getitem__(self, size: str) -> Any:
        if size not in self.sizes:
            raise unknown("size", size, self.sizes)
        return self.sizes[size]


@dataclass(frozen=True)
class PaperSpec:
    """The content of paper.toml.

    `reference` names the paper in full, `protocol` what is repeated of it. `data` is used if the
    request names none; `takes` are the further data that it can use; `trainings` says how often
    each model is trained. `sizes` hold for every scale that does not change them in `scales`.
    `tasks` are groups of tasks (see planning.py). `claims` are findings as quotations, with the
    rule and the figure by which they are judged (see judging.py); `tests` of a claim are the tasks
    that test the reasons of its note. `page` lists the parts of the page in order, `sections` their
    paragraphs in Markdown, `tables` their tables, with the paper's own numbers (see tables.py).
    `examples` are texts of the paper, each with what the paper made of it. `differences` are
    settings of the paper beside ours; ours name results, as in {train plain[epochs]}. `coverage`
    lists the tables and figures of the paper (see coverage.py).
    """

    title: str
    reference: str
    protocol: str
    data: str | None = None
    takes: Sequence[str] = ()
    trainings: str = ""
    sizes: Table = field(default_factory=dict)
    scales: Mapping[str, Table] = field(default_factory=dict)
    tasks: Sequence[Table] = ()
    claims: Mapping[str, Table] = field(default_factory=dict)
    page: Sequence[str | Table] = ()
    sections: Mapping[str, str] = field(default_factory=dict)
    tables: Mapping[str, Table] = field(default_factory=dict)
    examples: Mapping[str, Mapping[str, str]] = field(default_factory=dict)
    differences: Mapping[str, tuple[str, str]] = field(default_factory=dict)
    coverage: Table = field(default_factory=dict)

    def scale(self, name: str) -> PaperScale:
        """Return the sizes of a scale."""
        if name not in self.scales:
            raise unknown("scale", name, self.scales)
        return PaperScale(name, _without_all({**self.sizes, **self.scales[name]}))


@cache
def load_spec(paper: str) -> PaperSpec:
    """Load the file of a paper by its name."""
    file = Path(__file__).parent / paper_folder(paper) / "paper.toml"
    return PaperSpec(**tomllib.loads(file.read_text("utf-8")))


def paper_folder(name: str) -> str:
    """Return the folder of a paper, which Python imports.

    >>> paper_folder("natural-texts")
    'natural_texts'
    """
    return name.replace("-", "_")


def fill(value: Any, values: Mapping[str, Any]) -> Any:
    """Put values into a text, and into all texts of a list or a table; a function is called.

    >>> fill({"cases": "$cases", "target": "train {model}"}, {"cases": 5, "model": "key"})
    {'cases': 5, 'target': 'train key'}
    """
    if isinstance(value, str):
        if value.startswith("$"):
            if value[1:] not in values:
                raise unknown("value in paper.toml", value[1:], values)
            named = values[value[1:]]
            return named() if callable(named) else named
        return value.format_map(values)
    if isinstance(value, Mapping):
        return {name: fill(part, values) for name, part in value.items()}
    return [fill(part, values) for part in value] if isinstance(value, list) else value


def expand(each: Table, values: Mapping[str, Any]) -> Iterator[tuple[dict[str, Any], Table]]:
    """Yield for every combination of axes all values, and the changes of its rows.

    >>> list(expand({"n": [1], "model": {"key": {"beam": 3}}}, {}))
    [({'n': 1, 'model': 'key'}, {'beam': 3})]
    """
    axes = []
    for axis, entries in each.items():
        named = fill(entries, values) if isinstance(entries, str) else entries
        changes = named if isinstance(named, Mapping) else {}
        axes.append([(axis, entry, changes.get(entry, {})) for entry in named])
    for combination in product(*axes):
        merged: Table = {}
        for _, _, changes in combination:
            merged = merge(merged, changes)
        yield {**values, **{axis: entry for axis, entry, _ in combination}}, merged


def merge(table: Table, changes: Table) -> dict[str, Any]:
    """Put changes into a table; what is a table in both is merged, too.

    >>> merge({"beam": 3, "model": {"size": "tiny"}}, {"model": {"epochs": 2}})
    {'beam': 3, 'model': {'size': 'tiny', 'epochs': 2}}
    """
    both = {
        name: merge(table[name], change)
        for name, change in changes.items()
        if isinstance(change, Mapping) and isinstance(table.get(name), Mapping)
    }
    return {**table, **changes, **both}


def _without_all(size: Any) -> Any:
    if isinstance(size, Mapping):
        return {name: _without_all(part) for name, part in size.items()}
    return None if isinstance(size, str) and size == ALL else size

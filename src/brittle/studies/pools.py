"""A pool: many targets that are looked at together, with what tells them apart."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from brittle.errors import UsageError
from brittle.formatting import plural
from brittle.safety import files
from brittle.zoo.names import grid
from brittle.zoo.names.grid import POOLS, pool_models
from brittle.zoo.names.parsing import SEPARATOR, NameParts, member_lines, split_name

PREFIX = "pool:"
OTHER = "other"
LISTED = "pool"
"""The name of a pool that is given as a list of members."""


@dataclass(frozen=True)
class Member:
    """One target of a pool, by a short name and the spec that opens it.

    `twin` is the spec of the same model, trained with another seed; it gives the base rate.
    `parts` are those of a zoo model: architecture, input, embedding and layers.
    """

    name: str
    spec: str
    twin: str | None = None
    parts: Mapping[str, str | int] = field(default_factory=dict)

    @property
    def architecture(self) -> str:
        """The class of the model in tables; all encoders of transformers are BERT."""
        return str(self.parts.get("architecture", OTHER))

    @property
    def reads(self) -> str:
        """The second class in tables: characters, ELMo, BERT, or the embedding of the words."""
        return str(self.parts.get("reads", OTHER))

    @property
    def form(self) -> str:
        """The class in the tables of rules: word, character, ELMo or BERT."""
        if self.architecture == "BERT":
            return "BERT"
        return {"W": "word", "C": "character", "WC": "ELMo"}.get(
            str(self.parts.get("input")), str(self.parts.get("reads", OTHER))
        )


@dataclass(frozen=True)
class Pool:
    """The members of a pool, in the order of its tables."""

    name: str
    members: tuple[Member, ...]


def load_pool(spec: str, data: str, seeds: int = 1) -> Pool:
    """Load `pool:NAME`, declared, `pool:FILE`, a target a line, or targets separated by commas.

    Models of the zoo are those trained on `data`; with two seeds each has a twin. A target is a
    spec (`zoo:LSTM-W-Random-1@mr`, a folder, `http:…`) or the name of a model of the zoo. In a
    file, # begins a comment line.
    """
    name, lines = _named_lines(spec)
    members = tuple(member_of(line, data, seeds) for line in lines)
    check_members(members, f"The pool {spec!r}")
    return Pool(name, members)


def named_pool(pool: str) -> str | None:
    """Return the name of a pool as people know it: None if its members were listed."""
    return None if pool == LISTED else pool


def is_pool(spec: str) -> bool:
    """Tell whether a spec means several targets rather than one.

    >>> is_pool("pool:small"), is_pool("zoo:A@mr,zoo:B@mr"), is_pool("zoo:A@mr?a=1,b=2")
    (True, True, False)
    """
    if spec.startswith(PREFIX):
        return True
    return not spec.startswith("ensemble:") and SEPARATOR.search(spec) is not None


def _named_lines(spec: str) -> tuple[str, Sequence[str]]:
    """Return the name of a pool, and a target for each member."""
    name = spec.removeprefix(PREFIX)
    if name in POOLS:
        return name, pool_models(name)
    if not spec.startswith(PREFIX) and ("," in spec or ":" in spec):
        return LISTED, [part.strip() for part in SEPARATOR.split(spec) if part.strip()]
    return Path(name).stem, _lines(name)


def check_members(members: Sequence[Member], who: str) -> None:
    """Refuse a pool of one, and one that has a member twice."""
    names = [member.name for member in members]
    twice = next((name for n, name in enumerate(names) if name in names[:n]), None)
    if twice is not None:
        raise UsageError(
            f"{who} has the member {twice!r} twice. Name each member once. Live models of "
            "one class need a name each: brittle.torch_target(…, name='first')."
        )
    if len(members) < 2:
        raise UsageError(f"{who} has {plural(len(members), 'members')}; expected 2 or more.")


def _lines(name: str) -> tuple[str, ...]:
    path = Path(name)
    if not path.is_file():
        pool_models(name)  # raises, with the names that there are
    return tuple(member_lines(path))


def member_of(line: str, data: str, seeds: int) -> Member:
    """Build a member from a line of a pool; with two seeds a model of the zoo has a twin."""
    parts = _zoo_parts(line)
    if parts is None:
        return Member(line, line)
    design = grid.design(parts.model)
    family = design.family
    if family.no_target:
        raise UsageError(
            f"The line {line!r} names a {family.kind}, which is not a target. {family.no_member}"
        )
    method = f"+{parts.method}" if parts.method else ""
    settings = f"?{','.join(parts.settings)}" if parts.settings else ""

    def named(seed: int) -> str:
        return f"zoo:{parts.model}{method}@{parts.data or data}#{seed}{settings}"

    twin = named(parts.seed + 1) if seeds > 1 else None
    name = f"{design.name}{method}{settings}"
    return Member(name, named(parts.seed), twin, family.place(design))


def _zoo_parts(line: str) -> NameParts | None:
    """Split the name of a zoo model; None for any other kind of target."""
    is_named = line.startswith("zoo:")
    if not is_named and (":" in line.removeprefix("hf:") or "/" in line.removeprefix("hf:")):
        return None
    parts = split_name(line)
    try:
        grid.design(parts.model)
    except UsageError:
        if is_named or not files.is_path(line):
            raise
        return None
    return parts

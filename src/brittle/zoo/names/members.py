"""The members of an ensemble by name: `A,B,C@DATA`, or a file with a target a line.

A comma before `NAME=` belongs to the settings of the member before it; every other comma separates
two members. A model of the zoo may leave out `zoo:`. One without `@DATA` has the data and the seed
of the next member that names its data.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from pathlib import Path

from brittle.errors import UsageError
from brittle.zoo.names import grid
from brittle.zoo.names.parsing import split_name

SEPARATOR = re.compile(r",(?!\s*\w+=)")
ZOO = "zoo:"


def parse_members(text: str) -> tuple[str, ...]:
    """Return the spec of every member of an ensemble.

    >>> parse_members("LSTM-W-Random-1,CNN-C-Random-1@mr?hidden=32,size=tiny")
    ('zoo:LSTM-W-Random-1@mr#0', 'zoo:CNN-C-Random-1@mr?hidden=32,size=tiny')
    >>> parse_members("zoo:naive-bayes@mr, models/mine")
    ('zoo:naive-bayes@mr', 'models/mine')
    """
    # A name with commas is a list: the longest are longer than the name of a file can be.
    is_file = "," not in text and Path(text).is_file()
    names = member_lines(Path(text)) if is_file else SEPARATOR.split(text)
    members = [name.strip() for name in names]
    if not all(members):
        raise UsageError(
            f"Got the ensemble {text!r}. Expected ensemble:A,B,C with a target between all commas, "
            "or ensemble:FILE with a target a line."
        )
    return tuple(_full_spec(members, number) for number in range(len(members)))


def member_lines(path: Path) -> list[str]:
    """List the lines of a file that names members; empty ones and comments are left out."""
    try:
        lines = [line.strip() for line in path.read_text("utf-8").splitlines()]
    except UnicodeDecodeError as error:
        raise UsageError(
            f"{path} is not a UTF-8 text ({error}). Expected a file that names one target a line."
        ) from error
    return [line for line in lines if line and not line.startswith("#")]


def _full_spec(members: Sequence[str], number: int) -> str:
    """Return the spec of a member, with the data of the next member if it names none."""
    member = members[number]
    if not _is_zoo_name(member):
        return member
    spec = member if member.startswith(ZOO) else ZOO + member
    if split_name(spec).data:
        return spec
    for later in members[number + 1 :]:
        parts = split_name(later) if _is_zoo_name(later) else None
        if parts and parts.data:
            return f"{spec}@{parts.data}#{parts.seed}"
    raise UsageError(
        f"The member {member!r} of the ensemble names no data, and no member after it does. Write "
        f"{member}@DATA, such as {member}@mr."
    )


def _is_zoo_name(member: str) -> bool:
    """Tell whether a member is a model of the zoo; a folder or a file that is there is none."""
    if member.startswith(ZOO):
        return True
    if Path(member).exists():
        return False
    try:
        grid.design(split_name(member).model)
    except UsageError:
        return False
    return not member.startswith(grid.HUB_PREFIX)

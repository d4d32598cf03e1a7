"""The names of models and of ensembles: `zoo:MODEL+METHOD,SETTING=VALUE@DATA#SEED`.

The names of models: `zoo:MODEL+METHOD,SETTING=VALUE@DATA#SEED?SETTING=VALUE,SETTING=VALUE`.

Only MODEL is always there. METHOD is how the model was hardened by adversarial training, with the
settings of the method; the settings after the question mark are those of the model.

The members of an ensemble by name: `A,B,C@DATA`, or a file with a target a line.

A comma before `NAME=` belongs to the settings of the member before it; every other comma separates
two members. A model of the zoo may leave out `zoo:`. One without `@DATA` has the data and the seed
of the next member that names its data.
"""

from __future__ import annotations

import re
import shlex
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from brittle.data import has_splits
from brittle.errors import UsageError
from brittle.values import split_settings, wrong_value
from brittle.zoo.families import Family, family_of
from brittle.zoo.folder import full_name, trained_models
from brittle.zoo.names import changes, grid
from brittle.zoo.names.grid import Design

SIZE_SETTING, BEAM_SETTING = "size", "beam"
FORM = re.compile(
    r"(?:zoo:)?(?P<model>[^+@]*)(?:\+(?P<method>[^@]*))?"
    r"(?:@(?P<data>.+?)(?:#(?P<seed>\d+))?(?:\?(?P<settings>\w+=[^?]*))?)?"
)


@dataclass(frozen=True)
class NameParts:
    """The parts of a model's name as they are written; a missing part is empty."""

    model: str
    method: str = ""
    data: str = ""
    seed: int = 0
    settings: tuple[str, ...] = ()


def split_name(text: str) -> NameParts:
    """Split a model's name into its parts.

    >>> split_name("zoo:CharCNN-LSTM+key,share=0.1@mr#1?hidden=32")
    NameParts(model='CharCNN-LSTM', method='key,share=0.1', data='mr', seed=1, \
settings=('hidden=32',))
    """
    match = FORM.fullmatch(text)
    if not match or not match["model"]:
        raise wrong_name(text)
    settings = tuple(part for part in (match["settings"] or "").split(",") if part)
    seed = int(match["seed"] or 0)
    return NameParts(match["model"], match["method"] or "", match["data"] or "", seed, settings)


def split_method(text: str) -> tuple[str, dict[str, str]]:
    """Split a method of adversarial training into its name and its settings.

    >>> split_method("pwws,copies=50")
    ('pwws', {'copies': '50'})
    """
    name, *settings = (part.strip() for part in text.split(","))
    name = name if name.startswith("python:") else name.lower()
    return name, split_settings(name, settings, "share=0.1")


def wrong_name(text: str) -> UsageError:
    """Build the error for a name that does not have the form of a model's name."""
    return UsageError(
        f"Got the model {text!r}. Expected zoo:NAME@DATA or zoo:NAME@DATA#SEED, such as "
        "zoo:LSTM-W-Random-1@mr#0, and settings after a question mark: "
        "?hidden=32,size=paper. See `brittle list models` for the names."
    )


@dataclass(frozen=True)
class ModelName:
    """The name of a trained model; `changed` are settings that differ from those of its size.

    `source` is the part before the data as it was written; it may name a folder. `beam` is how a
    translator decodes: it is no setting of the training.
    """

    name: str
    data: str
    seed: int = 0
    size: str = "default"
    changed: Mapping[str, Any] = field(default_factory=dict)
    source: str = ""
    beam: int = 1

    @property
    def full_name(self) -> str:
        """Return the name of the model as it is listed, however it decodes."""
        return full_name(self.name, self.data, self.seed, self.size, self.changed)

    @property
    def family(self) -> Family:
        """Return the family of the model, as its design says."""
        return _design(split_name(self.source).model).family

    @property
    def command(self) -> str:
        """Return the command that trains the model."""
        size = [] if self.size == "default" else ["--size", self.size]
        settings = [changes.format_settings({name: v}) for name, v in self.changed.items()]
        flags = [word for setting in settings for word in ("--set", setting)]
        words = ["brittle", "train", self.source, "--data", self.data, "--seed", str(self.seed)]
        return shlex.join([*words, *size, *flags])


def parse(spec: str, size: str = "default") -> ModelName:
    """Parse the name of a trained model, such as `zoo:LSTM-W-GloVe-1@imdb#0?hidden=32,size=paper`.

    The seed is 0 and the size is `size`, unless the name says otherwise.

    >>> parse("zoo:lstm-w-random-1@mr?hidden=32").full_name
    'LSTM-W-Random-1@mr#0?hidden=32'
    """
    parts = split_name(spec)
    if not parts.data:
        raise wrong_name(spec)
    design = _design(parts.model)
    apart = (SIZE_SETTING, *design.family.decoding)
    named = dict(part.partition("=")[::2] for part in parts.settings if _name(part) in apart)
    size = named.get(SIZE_SETTING, size)
    others = [part for part in parts.settings if _name(part) not in apart]
    changed = grid.changed_settings(design, size, grid.parse_settings(design, size, others))
    method = f"+{parts.method}" if parts.method else ""
    source = f"{parts.model}{method}"
    beam = parse_beam(named.get(BEAM_SETTING, "1"))
    name = f"{design.name}{method}"
    return ModelName(name, parts.data, parts.seed, size, changed, source, beam)


def parse_beam(text: str) -> int:
    """Parse the width of the beam of a translator."""
    if not (text.isdecimal() and int(text) > 0):
        raise wrong_value("a translator", BEAM_SETTING, text, "a whole number of 1 or more")
    return int(text)


def _name(setting: str) -> str:
    return setting.partition("=")[0]


def find_listed(wanted: ModelName) -> Path | None:
    """Find a model by its listed name, if that name does not hold the full path of its source.

    A model trained on a file is listed under the file's stem, a fine-tuned encoder from a folder
    under the name of that folder.
    """
    data = wanted.data
    is_data = has_splits(data) or data.startswith(grid.HUB_PREFIX) or Path(data).exists()
    if is_data and _is_in_grid(split_name(wanted.name).model):
        return None
    paths = [t.path for t in trained_models() if t.card.full_name == wanted.full_name]
    if len(paths) > 1:
        raise UsageError(
            f"Several models are named {wanted.full_name}: they were trained on different data. "
            f"Name the folder of one: {', '.join(map(str, paths))}."
        )
    return paths[0] if paths else None


def _design(name: str) -> Design:
    """Find a model of the grid, or a fine-tuned encoder that is listed by its folder's name."""
    if not _is_in_grid(name):
        for model in trained_models():
            family = family_of(model.card)
            if family.tunes_encoder and split_name(model.name).model == name:
                return Design(name, family, "", encoder=str(model.card.settings["encoder"]))
    return grid.design(name)


def _is_in_grid(name: str) -> bool:
    try:
        grid.design(name)
    except UsageError:
        return False
    return True


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
            f"Got the ensemble {text!r}. Expected ensemble:A,B,C with a target between "
            "all commas, or ensemble:FILE with one target per line."
        )
    return tuple(_full_spec(members, number) for number in range(len(members)))


def member_lines(path: Path) -> list[str]:
    """List the lines of a file that names members; empty ones and comments are left out."""
    try:
        lines = [line.strip() for line in path.read_text("utf-8").splitlines()]
    except UnicodeDecodeError as error:
        raise UsageError(
            f"{path} is not a UTF-8 text ({error}). Expected a file with one target per line."
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
        f"The member {member!r} of the ensemble has no data, and no later member has "
        f"data. Write {member}@DATA, such as {member}@mr."
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

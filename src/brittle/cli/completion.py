"""What a shell offers when Tab is pressed, computed from the parsers and so never out of date.

The shells' scripts (`shells.py`) hand over the line before the cursor. The parser of these words,
with the settings of the attack that they name, says which value or flag comes next. What a value
may be is known by its choices, or by its metavar (TARGET, ATTACK, DATA, RUN …). Where nothing is
offered the shell offers files. No user's code is imported, and no model is loaded.
"""

from __future__ import annotations

import argparse
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from brittle.cli.parser import flags_of

HIDDEN = argparse.SUPPRESS
USER_CODE = "python:"


@dataclass(frozen=True)
class Candidate:
    """A word that may come next, and what it is."""

    word: str
    about: str = ""


Source = Callable[[str, Path], Iterable[Candidate]]
"""Lists candidates for a word that begins so, with the folder of the runs."""


def complete(parser: argparse.ArgumentParser, words: Sequence[str]) -> list[Candidate]:
    """List what the last of the words may become, by the parser of the words before it."""
    *before, current = words
    state = _walk(parser, before)
    if state.value_of is None and current.startswith("--") and "=" in current:
        flag, _, current = current.partition("=")
        action = state.parser._option_string_actions.get(flag)
        found = [] if action is None else _values(action, current, state.folder)
        return [Candidate(f"{flag}={one.word}", one.about) for one in found]
    if state.value_of is not None:
        return _values(state.value_of, current, state.folder)
    flags = [
        Candidate(flag, _first_line(action.help))
        for flag, action in flags_of(state.parser).items()
        if flag.startswith(current) and flag.startswith("--") and action.help != HIDDEN
    ]
    if current.startswith("-"):
        return flags
    if state.positional is None:
        return [] if current else flags
    return _values(state.positional, current, state.folder)


@dataclass
class _State:
    """Where a command line stands: whose flags hold, which value is due, and where runs are."""

    parser: argparse.ArgumentParser
    value_of: argparse.Action | None = None
    positional: argparse.Action | None = None
    folder: Path = Path("runs")


def _walk(parser: argparse.ArgumentParser, words: Iterable[str]) -> _State:
    """Follow the words through the parser and its commands."""
    state = _State(parser)
    waiting = _positionals(parser)
    for word in words:
        if state.value_of is not None:
            if state.value_of.dest == "runs":
                state.folder = Path(word)
            state.value_of = None
        elif word.startswith("--"):
            action = state.parser._option_string_actions.get(word.split("=")[0])
            takes_value = action is not None and action.nargs != 0 and "=" not in word
            state.value_of = action if takes_value else None
        elif waiting:
            action = waiting[0]
            if isinstance(action, argparse._SubParsersAction):
                if word not in action.choices:
                    return _State(argparse.ArgumentParser(add_help=False))
                state.parser = action.choices[word]
                waiting = _positionals(state.parser)
            elif action.nargs not in ("+", "*"):
                waiting = waiting[1:]
    state.positional = waiting[0] if waiting else None
    return state


def _positionals(parser: argparse.ArgumentParser) -> list[argparse.Action]:
    return [action for action in parser._actions if not action.option_strings]


def _values(action: argparse.Action, current: str, folder: Path) -> list[Candidate]:
    """List the values of a flag or an argument that begin so."""
    if isinstance(action, argparse._SubParsersAction):
        about = {choice.dest: choice.help for choice in action._choices_actions}
        found: Iterable[Candidate] = (
            Candidate(name, _first_line(about.get(name))) for name in action.choices
        )
    elif completer := getattr(action, "completer", None):
        # As argcomplete has it: a command of another package says what its value may be.
        words: Mapping[str, str] = completer(prefix=current, action=action)
        found = (Candidate(name, about) for name, about in words.items())
    elif action.choices is not None:
        found = (Candidate(str(choice)) for choice in action.choices)
    else:
        source = SOURCES.get(str(action.metavar)) or SOURCES.get(f"--{action.dest}")
        found = source(current, folder) if source else ()
    return [candidate for candidate in found if candidate.word.startswith(current)]


def _targets(current: str, folder: Path) -> Iterator[Candidate]:
    if not current.startswith("zoo:"):
        from brittle.targets.registry import target_kinds

        # A suffix is no beginning: files are offered by the shell.
        kinds = [kind for kind in target_kinds() if kind.is_prefix]
        yield from (Candidate(kind.key, kind.about) for kind in kinds)
        return
    yield from (Candidate(f"zoo:{one.word}", one.about) for one in _models(current[4:]))


def _models(current: str) -> Iterator[Candidate]:
    """Name models of the zoo up to their @, then the data sets behind it."""
    from brittle import data
    from brittle.zoo.names import grid
    from brittle.zoo.names.grid import POOLS

    name, at, _ = current.partition("@")
    if at:
        yield from (Candidate(f"{name}@{entry.name}", entry.about) for entry in data.names())
        return
    # There are over a thousand networks: those of the pools first, all if none of these fits.
    usual = dict.fromkeys([*grid.NAMED, *POOLS["offline"][1]])
    fitting = [one for one in usual if one.startswith(name)]
    names = fitting or [design.name for design in grid.designs() if design.name.startswith(name)]
    yield from (Candidate(f"{one}@") for one in names)


def _attacks(current: str, folder: Path) -> Iterator[Candidate]:
    from brittle.attacks import recipe, summary
    from brittle.attacks.registry import usable_attacks

    yield from (Candidate(name, summary(recipe(name))) for name in usable_attacks())


def _several_attacks(current: str, folder: Path) -> Iterator[Candidate]:
    """Name attacks after the last comma."""
    before, comma, _ = current.rpartition(",")
    for one in _attacks(current, folder):
        yield Candidate(f"{before}{comma}{one.word}", one.about)


def _data(current: str, folder: Path) -> Iterator[Candidate]:
    from brittle import data

    yield from (Candidate(entry.name, entry.about) for entry in data.names())


def _goals(current: str, folder: Path) -> Iterator[Candidate]:
    from brittle.goals.parsing import GOALS

    yield from (Candidate(name, entry.about) for name, entry in GOALS.items())


def _runs(current: str, folder: Path) -> Iterator[Candidate]:
    """Name runs and studies by their files alone, the newest first; none is opened.

    One whose name begins with a dash is named by its path, since the name would be read as a flag;
    one with a tilde too, which fish inserts without a quote. A name that is not UTF-8 cannot be
    printed, and is left out.
    """
    files = [*folder.glob("*.sqlite"), *folder.glob("*.study.json")]
    for file in sorted(filter(Path.exists, files), key=lambda path: -path.stat().st_mtime):
        is_study = file.name.endswith(".study.json")
        name = file.name.removesuffix(".study.json").removesuffix(".sqlite")
        if name.startswith(("-", "~")):
            name = str(file) if not str(file).startswith("-") else f"./{file}"
        if name and _is_unicode(name):
            yield Candidate(name, "study" if is_study else "run")


def _is_unicode(name: str) -> bool:
    return name.encode("utf-8", "ignore").decode("utf-8") == name


def _pools(current: str, folder: Path) -> Iterator[Candidate]:
    from brittle.zoo.names.grid import POOLS

    yield from (Candidate(f"pool:{name}", about) for name, (about, _) in POOLS.items())


def _trainable(current: str, folder: Path) -> Iterator[Candidate]:
    for model in _models(current):
        yield Candidate(model.word.split("@")[0], model.about)
    yield from _pools(current, folder)


SOURCES: Mapping[str, Source] = {
    "TARGET": _targets,
    "--target": _targets,
    "ATTACK": _attacks,
    "ATTACK,ATTACK": _several_attacks,
    "DATA": _data,
    "GOAL": _goals,
    "RUN": _runs,
    "POOL": _pools,
    "--model": _trainable,
    "--split": lambda current, folder: map(Candidate, ("train", "dev", "test")),
    "--device": lambda current, folder: map(Candidate, ("auto", "cpu", "cuda", "mps")),
}


def _first_line(text: str | None) -> str:
    return (text or "").split("\n")[0]


def without_user_code(words: Sequence[str]) -> list[str]:
    """Leave out attacks of the user's own: to know their settings, their code would have to run."""
    return [word for word in words if not word.startswith(USER_CODE)]

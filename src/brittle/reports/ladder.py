"""The ladder in words, and the ladders of known models beside it.

The ladders of known models, to compare a run with; shipped as yardstick.json. `benchmarks/ladder.py
run` measures them and writes the file. The ladder of a run in words: the same lines for terminal,
plain text and page.
"""

from __future__ import annotations

import json
import shlex
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from functools import cache
from importlib.resources import files
from typing import Any

from brittle.asks import NORMALISED
from brittle.formatting import number, percent, plural
from brittle.levels import CAREFUL, LEVELS, LOOK_ALIKE, REWRITE, TYPO
from brittle.metrics.ladder import Ladder, Rung, validly_broken
from brittle.metrics.summary import Figure
from brittle.reports.stored import StoredRun
from brittle.results import Result
from brittle.validity.figures import LevelReading, own_readings, readings


@dataclass(frozen=True)
class KnownModel:
    """The accuracy of a model on `of` texts, and what is left of it after each level."""

    name: str
    accuracy: float
    of: int
    after: Mapping[str, float]


@cache
def known_models() -> tuple[KnownModel, ...]:
    """Load the ladders of known models."""
    path = files("brittle.reports").joinpath("yardstick.json")
    content = json.loads(path.read_text("utf-8")) if path.is_file() else {}
    return tuple(KnownModel(name, **one) for name, one in content.items())


def yardstick_lines() -> list[str]:
    """Write the accuracy of every known model, and what is left of it after each level."""
    if not known_models():
        return []
    levels = dict.fromkeys(level for model in known_models() for level in model.after)
    lines = [f"known models, accuracy → after {', '.join(levels)}:"]
    for model in known_models():
        left = " ".join(f"{percent(model.after.get(level), 0):>4}" for level in levels)
        lines.append(f"  {model.name:<24} {percent(model.accuracy, 0):>4} → {left}")
    return lines


def yardstick_table() -> dict[str, list[Any]]:
    """Return the known models as a table: its `head`, and `rows`; none if there are none."""
    head = ["model", "accuracy", *(f"after {level.title}" for level in LEVELS.values())]
    rows = [
        [model.name, percent(model.accuracy), *(percent(model.after.get(name)) for name in LEVELS)]
        for model in known_models()
    ]
    return {"head": head, "rows": rows}


GENTLE = (REWRITE, CAREFUL)
"""The levels whose texts are mostly judged valid."""
FRACTIONS = (
    (0.07, "one in twenty"),
    (0.12, "one in ten"),
    (0.17, "one in seven"),
    (0.225, "one in five"),
    (0.29, "one in four"),
    (0.365, "one in three"),
    (0.45, "two in five"),
    (0.55, "half"),
    (0.633, "three in five"),
    (0.708, "two in three"),
    (0.775, "three in four"),
    (0.85, "four in five"),
    (0.93, "nine in ten"),
    (0.999, "nearly all"),
)
"""Shares up to these values are called so."""
FEW = 0.03
MAX_COMMANDS = 76
"""The most characters of two commands on one line of a terminal of 80."""


@dataclass(frozen=True)
class RungLine:
    """One level for a reader: the accuracy that is left, what broke, and who calls it valid."""

    title: str
    accuracy: str
    broken: str
    validity: str


def run_readings(run: StoredRun, results: Sequence[Result]) -> Mapping[str, LevelReading]:
    """Return how each level was judged: on texts of this run, or else on shipped texts."""
    return {**readings(), **own_readings(run.stored_validity, results)}


def verdict(ladder: Ladder) -> str:
    """Say in one sentence what the ladder shows.

    >>> from brittle.metrics.samples import sample_ladder
    >>> verdict(sample_ladder())
    'Gentle edits flip two in five right answers, rough ones three in four.'
    """
    if not ladder.attacked:
        return "No text could be attacked."
    gentle = [rung for rung in ladder.rungs if rung.level in GENTLE and rung.tried]
    share = sum(rung.broken for rung in gentle) / ladder.attacked
    every = ladder.broken / ladder.attacked
    least = "at least " if ladder.unfinished else ""
    if not gentle:
        return f"These edits flip {_least(least, every)} of the right answers."
    sentence = f"Gentle edits flip {_least(least, share)} of the right answers"
    if " in " in in_words(share):
        sentence = sentence.replace(" of the right answers", " right answers")
    if share == 0:
        sentence = "Gentle edits flip no right answer"
    if len(gentle) == len(ladder.rungs):
        return f"{sentence}."
    return f"{sentence}, rough ones {_least(least, every)}."


def _least(least: str, share: float) -> str:
    """Write a share that a larger budget may raise; "at least none" would say nothing."""
    words = in_words(share)
    return words if share < FEW or words in ("nearly all", "all") else f"{least}{words}"


def in_words(share: float) -> str:
    """Write a share as people say it.

    >>> [in_words(share) for share in (0.0, 0.004, 0.38, 0.5, 1.0)]
    ['none', 'hardly any', 'two in five', 'half', 'all']
    """
    if share == 0:
        return "none"
    if share < FEW:
        return "hardly any"
    return next((words for limit, words in FRACTIONS if share <= limit), "all")


def rung_lines(ladder: Ladder, read: Mapping[str, LevelReading] | None = None) -> list[RungLine]:
    """Write the levels, the gentlest first."""
    read = readings() if read is None else read
    return [
        _rung_line(rung, ladder, read.get(rung.level), n) for n, rung in enumerate(ladder.rungs)
    ]


def _rung_line(
    rung: Rung, ladder: Ladder, reading: LevelReading | None, number_of: int
) -> RungLine:
    broken = number(rung.broken) + (f" of {number(ladder.attacked)}" if number_of == 0 else "")
    if not rung.tried and rung.normalised:
        return RungLine(rung.title, percent(rung.standing.value), broken, NORMALISED)
    if not rung.tried:
        return RungLine(rung.title, percent(rung.standing.value), broken, "nothing to change")
    valid = "not read"
    if reading is not None and reading.of:
        valid = f"valid in {percent(reading.valid / reading.of, 0)}"
        valid += f" of {number(reading.of)} read" if reading.is_own else ""
    return RungLine(rung.title, percent(rung.standing.value), broken, valid)


def held_line(ladder: Ladder) -> str:
    """Say what did not break, and what broke too easily."""
    parts = [f"held {number(ladder.held)}"]
    if ladder.unfinished:
        parts.append(f"out of budget {number(ladder.unfinished)} (more --budget may break them)")
    if ladder.untested:
        is_undone = all(rung.normalised and not rung.tried for rung in ladder.rungs)
        why = NORMALISED if is_undone else "nothing to change"
        parts.append(f"not tested {number(ladder.untested)} ({why})")
    if ladder.without_label:
        parts.append(f"no label {number(ladder.without_label)} (unparsed or refused, left out)")
    if ladder.checked:
        asked = f"{number(ladder.undecided)} of {plural(ladder.checked, 'broken texts')}"
        parts.append(f"{asked} flip under a random edit, too")
    return " · ".join(parts)


def unfinished_line(ladder: Ladder) -> str | None:
    """Say for how many texts the budget ended before their edits did; no level is done with them.

    >>> from brittle.metrics.samples import sample_ladder
    >>> unfinished_line(sample_ladder()) is None
    True
    """
    if not ladder.unfinished:
        return None
    texts = f"{number(ladder.unfinished)} of {plural(ladder.attacked, 'attacked texts')}"
    return (
        f"{texts} ran out of budget before all edits were tried. A larger --budget may break them, "
        "at every level."
    )


def reading_line(ladder: Ladder, read: Mapping[str, LevelReading] | None = None) -> str | None:
    """Say who calls texts valid; None if nobody read texts of these levels."""
    read = readings() if read is None else read
    known = [(rung.title, read[rung.level]) for rung in ladder.rungs if rung.level in read]
    own = [(title, reading) for title, reading in known if reading.is_own]
    shipped = [reading for _, reading in known if not reading.is_own]
    parts = []
    if own:
        counts = ", ".join(f"{title} {number(reading.of)}" for title, reading in own)
        _, first = own[0]
        parts.append(f"{first.reader} read {first.texts} ({counts})")
    if shipped:
        least, most = min(one.of for one in shipped), max(one.of for one in shipped)
        count = f"{least}" if least == most else f"{least} to {most}"
        who = " and ".join(dict.fromkeys(reading.reader for reading in shipped))
        texts = " and ".join(dict.fromkeys(reading.texts for reading in shipped))
        says = f"judged by {who}, blind, on {count} {texts} a level"
        parts.append(f"other levels {says}" if own else says)
    return f"valid: {'; '.join(parts)}" if parts else None


def language_line(ladder: Ladder) -> str | None:
    """Say that texts in other languages met only the levels that work for them."""
    if not ladder.not_english:
        return None
    texts = plural(ladder.not_english, ("text is", "texts are"))
    names = {TYPO: "typing errors", LOOK_ALIKE: "look-alike letters"}
    for_all = [names[one.level] for one in ladder.rungs if one.level in names and one.tried]
    tried = f"only {' and '.join(for_all)} were tried" if for_all else "these levels were not tried"
    return f"{texts} not English: {tried}"


def proved_line(ladder: Ladder) -> str | None:
    """Say for how many cases every text of a level was tried."""
    proved = [f"{rung.title} {number(rung.proved)}" for rung in ladder.rungs if rung.proved]
    if not proved:
        return None
    return f"proved (every text of the level was tried, and none breaks): {', '.join(proved)}"


def valid_estimate(ladder: Ladder, read: Mapping[str, LevelReading] | None = None) -> Figure:
    """Estimate the share of attacked cases that a valid text breaks."""
    read = readings() if read is None else read
    return validly_broken(ladder, {level: (one.valid, one.of) for level, one in read.items()})


def estimate_line(ladder: Ladder, read: Mapping[str, LevelReading] | None = None) -> str | None:
    """Write the estimate of validly broken cases with its interval."""
    figure = valid_estimate(ladder, read)
    if figure.value is None:
        return None
    low, high = percent(figure.low, 0).removesuffix("%"), percent(figure.high, 0)
    interval = "" if figure.of == 1 else f" ({low}–{high})"
    return (
        f"broken by a valid text, estimate: {percent(figure.value, 0)}{interval} of "
        f"{plural(figure.of, ('attacked case', 'attacked cases'))}"
    )


def more_lines(ladder: Ladder, read: Mapping[str, LevelReading] | None = None) -> list[str]:
    """List what stands behind the first screen: proofs, the estimate, who read."""
    lines = [proved_line(ladder), estimate_line(ladder, read), reading_line(ladder, read)]
    return [*(line for line in lines if line), *yardstick_lines()]


def ladder_json(ladder: Ladder, read: Mapping[str, LevelReading] | None = None) -> dict[str, Any]:
    """Return the ladder as plain data."""
    read = readings() if read is None else read
    rungs = [
        asdict(rung) | {"read": asdict(read[rung.level]) if rung.level in read else None}
        for rung in ladder.rungs
    ]
    return asdict(ladder) | {
        "rungs": rungs,
        "verdict": verdict(ladder),
        "validly_broken": asdict(valid_estimate(ladder, read)),
    }


def next_commands(run: StoredRun) -> Sequence[str]:
    """Say what to do next: read the failures, see everything, try a sentence."""
    name = shlex.quote(run.name)
    commands = [f"brittle report {name}", f"brittle show {name} --all"]
    in_one = " · ".join(commands)
    first = [in_one] if len(in_one) <= MAX_COMMANDS else commands
    return [*first, run.try_command] if run.try_command else first

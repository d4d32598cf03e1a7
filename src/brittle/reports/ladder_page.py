"""The ladder of a run as the first screen of its page: bars from gentle edits to rough ones."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from brittle.asks import NORMALISED
from brittle.formatting import NO_VALUE, number, percent, plural
from brittle.levels import LEVELS
from brittle.metrics.ladder import Ladder, Rung
from brittle.metrics.summary import Figure
from brittle.reports.endings import NOT_TESTED
from brittle.reports.ladder import (
    language_line,
    reading_line,
    unfinished_line,
    valid_estimate,
    yardstick_table,
)
from brittle.reports.page import Section
from brittle.results import Result
from brittle.statuses import CountedAs, statuses_that_count_as
from brittle.validity.figures import LevelReading

HEADING = "How rough must an edit be?"
EXPLAINED = (
    "Each text counts once: at the gentlest kind of edit that was found to change the model's "
    "answer."
)
VALID = "Valid: the text keeps its label, its meaning and its grammar."


@dataclass(frozen=True)
class LadderStep:
    """One bar: what a level leaves of the accuracy, and what it takes; both are shares.

    `count` says how many texts broke, as a `link` that shows them alone if there are some.
    `reading` is the share of such texts judged valid, and `about_reading` says by whom and of how
    many. `value` is the text of the bar on hover.
    """

    title: str
    about: str
    share: float | None
    left: float
    lost: float
    value: str
    count: str
    link: str = ""
    reading: str = ""
    about_reading: str = ""
    reading_css: str = "read"
    place: str = ""
    css: str = ""


@dataclass(frozen=True)
class LadderCard:
    """A figure below the bars; `range` is an interval within the words about it."""

    name: str
    value: str
    over: str
    range: str = ""
    after_range: str = ""
    link: str = ""


def ladder_section(
    climbed: Ladder,
    read: Mapping[str, LevelReading],
    headline: str,
    what: str = "accuracy",
    notes: Sequence[str] = (),
) -> Section:
    """Show what every level leaves of the accuracy; `notes` stand below it.

    `headline` is the finding in one sentence.
    """
    lines = [EXPLAINED, unfinished_line(climbed)]
    lines += [language_line(climbed), reading_line(climbed, read)]
    of = climbed.before.of
    shown = {
        "heading": HEADING,
        "headline": headline,
        "what": what,
        "validity_head": validity_head(read),
        "steps": [_first_step(climbed, what), *_steps(climbed, read)],
        "untested": climbed.untested / of if of else 0.0,
        "already_wrong": of - (climbed.before.count or 0),
        "notes": notes,
        "line": " ".join(
            f"{line[:1].upper()}{line[1:]}".rstrip(".") + "." for line in lines if line
        ),
    }
    return Section("ladder_parts.ladder", shown, HEADING, "ladder", has_heading=True)


def ladder_figures(climbed: Ladder, read: Mapping[str, LevelReading]) -> Section:
    """Show what the ladder comes to in figures, what they mean, and those of known models."""
    estimated, proved = how_estimated(climbed, read), proved_sentence(climbed)
    shown = {
        "cards": list(_cards(climbed, read)),
        "folded": [line for line in (VALID if estimated else None, estimated, proved) if line],
        "known": yardstick_table(),
    }
    return Section("ladder_parts.figures", shown, "The figures", "ladder")


def reading_text(reading: LevelReading | None, with_label: bool = False) -> str:
    """Write the share of such texts judged valid, of how many, and by whom.

    >>> reading_text(LevelReading(3, 4, 4, "one language model", "film reviews"))
    'valid in 75% of 4 read (one language model, film reviews)'
    >>> reading_text(None)
    'not read yet'
    """
    if reading is None or not reading.of:
        return "not read yet"
    label = ""
    if with_label and reading.label is not None:
        label = f", label kept in {percent(reading.label / reading.of, 0)}"
    share = f"valid in {percent(reading.valid / reading.of, 0)} of {number(reading.of)} read"
    return f"{share}{label} ({reading.reader}, {reading.texts})"


def validity_head(read: Mapping[str, LevelReading]) -> str:
    """Write the heading of the column of valid texts; it names the judge if there is only one.

    >>> validity_head({"any": LevelReading(3, 4, 4, "one language model", "film reviews")})
    'one language model says'
    >>> validity_head({"any": LevelReading(3, 4, 4, "2 people", "film reviews")})
    '2 people say'
    """
    judges = {reading.reader for reading in read.values() if reading.of}
    if len(judges) != 1:
        return "judged as"
    judge = judges.pop()
    return f"{judge} {'say' if judge.endswith('people') else 'says'}"


def _short_reading(reading: LevelReading | None) -> str:
    """Write the share judged valid; the heading and the line below the ladder say by whom."""
    if reading is None or not reading.of:
        return "not read yet"
    return f"valid in {percent(reading.valid / reading.of, 0)}"


def how_estimated(climbed: Ladder, read: Mapping[str, LevelReading]) -> str | None:
    """Say how validly broken cases are estimated; None if nobody read texts of these levels."""
    if valid_estimate(climbed, read).value is None:
        return None
    unread = _unread(climbed, read)
    sentence = (
        "Validly broken: the cases that each kind of edit broke, times the share of such texts "
        "judged valid, with its 95% interval."
    )
    if unread:
        levels = " and ".join(filter(None, [", ".join(unread[:-1]), unread[-1]]))
        sentence += f" Texts of {levels} have not been judged yet. They count as not valid, so the "
        sentence += "true share is likely higher."
    return sentence


def proved_sentence(climbed: Ladder) -> str | None:
    """Say of which cases every text of a level was tried; None if of none."""
    proved = [proved_text(rung) for rung in climbed.rungs if rung.proved]
    if not proved:
        return None
    return (
        "Proved: every text of this level was tried, and none breaks the case. So many of the "
        f"cases that were tried: {', '.join(proved)}."
    )


def proved_text(rung: Rung) -> str:
    """Write in how many cases every text of a level was tried without success."""
    return f"{rung.title} {number(rung.proved)} of {number(rung.tried)}"


def estimate_text(figure: Figure) -> tuple[str, str]:
    """Write an estimate in whole percent, and its interval."""
    if figure.value is None:
        return NO_VALUE, ""
    low, high = percent(figure.low, 0).removesuffix("%"), percent(figure.high, 0)
    return percent(figure.value, 0), "" if figure.of == 1 else f"{low}–{high}"


def embedded_levels(climbed: Ladder | None, results: Sequence[Result]) -> dict[str, Any] | None:
    """Return the levels for the page's script: their names and titles, and the level of each row.

    A row without a level, or with one that is not on the ladder, has −1.
    """
    if climbed is None:
        return None
    names = [rung.level for rung in climbed.rungs]
    return {
        "names": names,
        "titles": [rung.title for rung in climbed.rungs],
        "rows": [names.index(row.level) if row.level in names else -1 for row in results],
    }


def level_chips(climbed: Ladder | None) -> list[Rung]:
    """Return every level that broke a case: the list can be filtered by them."""
    return [] if climbed is None else [rung for rung in climbed.rungs if rung.broken]


def _first_step(climbed: Ladder, what: str) -> LadderStep:
    before = climbed.before
    return LadderStep(
        "no edit",
        "the texts as they are",
        before.value,
        before.value or 0.0,
        0.0,
        f"{what} on the texts as they are: {_with_interval(before)}",
        f"{number(before.count)} of {number(before.of)} right",
        css="as-is",
    )


def _steps(climbed: Ladder, read: Mapping[str, LevelReading]) -> Iterator[LadderStep]:
    """Yield every level, with what it takes of the accuracy that the gentler ones left."""
    before = climbed.before.value or 0.0
    for rung in climbed.rungs:
        left = before if rung.standing.value is None else rung.standing.value
        reading, css = _short_reading(read.get(rung.level)), "read"
        own = read.get(rung.level)
        about_reading = reading_text(own) if own is not None and own.of else ""
        if not rung.tried:
            why = "nothing to change" if rung.empty else "no text left to try"
            reading, css = f"not tested: {why}", "why"
            about_reading = ""
            if rung.normalised:
                reading, about_reading = NORMALISED, "it reads such texts as the originals"
        count = f"{number(rung.broken)} of {number(climbed.attacked)}" if climbed.attacked else ""
        is_broken = bool(climbed.attacked and rung.broken)
        yield LadderStep(
            rung.title,
            LEVELS[rung.level].about,
            rung.standing.value,
            left,
            max(0.0, before - left),
            f"after {rung.title}: {_with_interval(rung.standing)}",
            count if is_broken or not count else f"{count} broken",
            f"#level={rung.level}" if is_broken else "",
            reading,
            about_reading,
            css,
            _place(rung, climbed),
        )
        before = left


def _place(rung: Rung, climbed: Ladder) -> str:
    """Name the two ends of the ladder."""
    if len(climbed.rungs) < 2:
        return ""
    ends = {climbed.rungs[0].level: "gentlest", climbed.rungs[-1].level: "roughest"}
    return ends.get(rung.level, "")


def _with_interval(figure: Figure) -> str:
    if figure.value is None:
        return NO_VALUE
    low, high = percent(figure.low).removesuffix("%"), percent(figure.high)
    return percent(figure.value) + ("" if figure.of == 1 else f" ({low}–{high})")


def _cards(climbed: Ladder, read: Mapping[str, LevelReading]) -> Iterator[LadderCard]:
    """Yield the figures that stand below the bars."""
    attacked = number(climbed.attacked)
    figure = valid_estimate(climbed, read)
    value, interval = estimate_text(figure)
    if figure.value is not None:
        estimated = f"of {attacked}, estimate ("
        about = "): broken by a text judged valid"
        if _unread(climbed, read):
            about += "; edits that nobody judged count as not valid"
        yield LadderCard("Validly broken", f"about {value}", estimated, interval, about)
    if climbed.attacked:
        held = f"of {attacked}: no kind of edit changed the answer"
        yield _counted("Held", climbed.held, held, "standing")
    if climbed.unfinished:
        unfinished = "ended before every kind of edit was tried; counted as right"
        yield _counted("Not finished", climbed.unfinished, unfinished, "unfinished")
    if climbed.untested:
        untested = "nothing in them can be changed; counted as right"
        link = f"#status={NOT_TESTED}"
        yield LadderCard("Not tested", number(climbed.untested), untested, link=link)
    if climbed.checked:
        checked = plural(climbed.checked, "broken texts")
        undecided = f"of {checked} that were checked: a random edit breaks them, too"
        yield LadderCard("Broken by chance", number(climbed.undecided), undecided)


def _counted(name: str, count: int, about: str, counted_as: CountedAs) -> LadderCard:
    """Return a card whose count leads to these cases, if there are some."""
    link = f"#status={','.join(statuses_that_count_as(counted_as))}"
    return LadderCard(name, number(count), about, link=link if count else "")


def _unread(climbed: Ladder, read: Mapping[str, LevelReading]) -> list[str]:
    """Return the titles of levels that broke cases, and of which nobody read any text."""
    broken = [rung for rung in climbed.rungs if rung.broken]
    return [rung.title for rung in broken if not (rung.level in read and read[rung.level].of)]

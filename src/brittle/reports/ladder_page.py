"""The ladder of a run as the first screen of its page: bars from gentle edits to rough ones.

Everything is plain HTML and SVG. Widths are attributes of the SVG, because the page's content
policy forbids inline styles. What is lost is hatched, so that nothing depends on colour alone.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from brittle.formatting import NO_VALUE, number, percent, plural
from brittle.levels import LEVELS
from brittle.metrics.ladder import Ladder, Rung
from brittle.metrics.summary import Figure
from brittle.reports.escaping import escape, isolate
from brittle.reports.hover import value_title
from brittle.reports.ladder import language_line, valid_estimate
from brittle.reports.yardstick import yardstick_table
from brittle.results import Result
from brittle.statuses import CountedAs, statuses_that_count_as
from brittle.validity.readings import Reading

HEADS = ("kind of edit", "", "how many texts", "what readers say of such texts")
HATCHING = (
    '<svg class="hatching" width="0" height="0" aria-hidden="true"><defs>'
    '<pattern id="hatched" width="6" height="6" patternUnits="userSpaceOnUse" '
    'patternTransform="rotate(45)"><rect class="ground" width="6" height="6"/>'
    '<rect class="stripe" width="2.5" height="6"/></pattern></defs></svg>'
)
"""The pattern of what is lost; all bars of the page share it."""
EXPLAINED = (
    "Each text counts once: at the gentlest kind of edit that was found to change the model's "
    "answer."
)
VALID = "Valid: the text keeps its label, its meaning and its grammar."


def ladder_section(
    climbed: Ladder,
    read: Mapping[str, Reading],
    headline: str,
    what: str = "accuracy",
    below: str = "",
) -> str:
    """Show what every level leaves of the accuracy; `below` is HTML that comes before the figures.

    `headline` is the finding in one sentence.
    """
    lines = [_first_row(climbed, what)]
    lines += [_row(rung, before, climbed, read) for rung, before in _steps(climbed)]
    heads = "".join(f"<span>{head}</span>" for head in HEADS)
    cards = "".join(
        f'<div class="card"><h3>{name}</h3><p class="value">{value}</p>'
        f'<p class="over">{over}</p></div>'
        for name, value, over in _cards(climbed, read)
    )
    return (
        f'<section class="ladder"><p class="finding">{isolate(headline)}</p>'
        f'<div class="card"><h2>How rough must an edit be?</h2>{HATCHING}'
        f'<ul class="key"><li class="left">{escape(what)} that is left</li>'
        '<li class="lost">lost by this kind of edit</li></ul>'
        f'<div class="heads" aria-hidden="true">{heads}</div>'
        f'<ol class="rungs">{"".join(lines)}</ol></div>'
        f'{below}<div class="cards">{cards}</div>{_explanations(climbed, read)}</section>'
    )


def reading_text(reading: Reading | None, with_label: bool = False) -> str:
    """Write what blind readers said of such texts, of how many, and who read.

    >>> reading_text(Reading(3, 4, 4, "one language model", "film reviews"))
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


def how_estimated(climbed: Ladder, read: Mapping[str, Reading]) -> str | None:
    """Say how validly broken cases are estimated; None if nobody read texts of these levels."""
    if valid_estimate(climbed, read).value is None:
        return None
    unread = _unread(climbed, read)
    sentence = (
        "Validly broken: what each kind of edit broke, times the share of such texts that readers "
        "find valid, with its 95% interval."
    )
    if unread:
        levels = " and ".join(filter(None, [", ".join(unread[:-1]), unread[-1]]))
        sentence += f" Nobody has read texts of {levels} yet. They count as not valid, so the true "
        sentence += "share is likely higher."
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
    return percent(figure.value, 0), f"{low}–{high}"


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


def level_chips(climbed: Ladder) -> str:
    """Return a box for every level that broke a case, to filter the list by."""
    chips = "".join(
        f'<label class="chip"><input type="checkbox" value="{escape(rung.level)}" checked>'
        f"{escape(rung.title)} <b>{number(rung.broken)}</b></label>"
        for rung in climbed.rungs
        if rung.broken
    )
    return (
        f'<div class="chips" id="levels" role="group" aria-label="Show what these edits broke">'
        f"<span>broken by</span>{chips}</div>"
        if chips
        else ""
    )


def _steps(climbed: Ladder) -> Iterator[tuple[Rung, Figure]]:
    """Yield every level with the accuracy that the gentler ones left."""
    before = climbed.before
    for rung in climbed.rungs:
        yield rung, before
        before = rung.standing


def _first_row(climbed: Ladder, what: str) -> str:
    before = climbed.before
    right = f"{number(before.count)} of {number(before.of)} right"
    bar = _bar(before, before, f"{what} on the texts as they are: {_with_interval(before)}")
    return (
        '<li class="as-is"><div class="name"><b>no edit</b>'
        f"<small>the texts as they are</small></div>{bar}"
        f'<div class="count">{right}</div><div class="read"></div></li>'
    )


def _row(rung: Rung, before: Figure, climbed: Ladder, read: Mapping[str, Reading]) -> str:
    about = LEVELS[rung.level].about
    tag = _place(rung, climbed)
    said, css = reading_text(read.get(rung.level)), "read"
    if not rung.tried:
        why = "no text was left to try" if not rung.empty else "nothing in the texts to change"
        said, css = f"not tested: {why}", "why"
    bar = _bar(rung.standing, before, f"after {rung.title}: {_with_interval(rung.standing)}")
    return (
        f'<li><div class="name"><b>{escape(rung.title)}</b>{tag}<small>{escape(about)}</small>'
        f'</div>{bar}<div class="count">{_count(rung, climbed)}</div>'
        f'<div class="{css}">{escape(said)}</div></li>'
    )


def _place(rung: Rung, climbed: Ladder) -> str:
    """Mark the two ends of the ladder."""
    if len(climbed.rungs) < 2:
        return ""
    ends = {climbed.rungs[0].level: "gentlest", climbed.rungs[-1].level: "roughest"}
    return f"<i>{ends[rung.level]}</i>" if rung.level in ends else ""


def _count(rung: Rung, climbed: Ladder) -> str:
    """Write how many cases broke at a level, with a link that shows them alone."""
    text = f"{number(rung.broken)} of {number(climbed.attacked)}"
    if not climbed.attacked:
        return ""
    if not rung.broken:
        return f"{text} broken"
    title = f"Show what {rung.title} broke"
    return f'<a href="#level={escape(rung.level)}" title="{escape(title)}">{text}</a> broken'


def _bar(left: Figure, before: Figure, value: str) -> str:
    """Draw the share that is still right, and hatched what was lost since the level before."""
    share = left.value or 0.0
    lost = max(0.0, (before.value or 0.0) - share)
    hatched = ""
    if lost:
        hatched = (
            f'<rect class="lost" x="{100 * share:.2f}%" width="{100 * lost:.2f}%" height="100%" '
            'fill="url(#hatched)"/>'
        )
    return (
        '<div class="bar-and-value"><svg class="rung" width="100%" height="22" aria-hidden="true">'
        f'{value_title(value)}<rect class="track" width="100%" height="100%"/>'
        f'<rect class="left" width="{100 * share:.2f}%" height="100%"/>{hatched}</svg>'
        f'<span class="value">{percent(left.value)}</span></div>'
    )


def _with_interval(figure: Figure) -> str:
    if figure.value is None:
        return NO_VALUE
    low, high = percent(figure.low).removesuffix("%"), percent(figure.high)
    return f"{percent(figure.value)} ({low}–{high})"


def _cards(climbed: Ladder, read: Mapping[str, Reading]) -> Iterator[tuple[str, str, str]]:
    """Yield name, value and explanation of what stands below the bars, as HTML."""
    attacked = number(climbed.attacked)
    figure = valid_estimate(climbed, read)
    value, interval = estimate_text(figure)
    if figure.value is not None:
        span = f'<span class="range">{interval}</span>'
        about = f"of {attacked}, estimate ({span}): broken by a text that readers find valid"
        if _unread(climbed, read):
            about += "; edits that nobody read count as not valid"
        yield "Validly broken", f"about {value}", about
    if climbed.attacked:
        held = f"of {attacked}: no kind of edit changed the answer"
        yield "Held", _linked(climbed.held, _status_link("standing")), held
    if climbed.unfinished:
        link = _status_link("unfinished")
        unfinished = "ended before every kind of edit was tried; they count as right"
        yield "Not finished", _linked(climbed.unfinished, link), unfinished
    untested = "every right answer had something to change"
    if climbed.untested or not climbed.attacked:
        untested = "nothing in them can be changed; they count as right"
    yield "Not tested", number(climbed.untested), untested
    if climbed.checked:
        undecided = (
            f"of the {number(climbed.checked)} broken that were checked, "
            f"{plural(climbed.undecided, ('breaks', 'break'))} under a random edit, too"
        )
        yield "Already undecided", number(climbed.undecided), undecided


def _status_link(count: CountedAs) -> str:
    """Return the link to the cases that are counted so."""
    return f"#status={','.join(statuses_that_count_as(count))}"


def _linked(count: int, link: str) -> str:
    """Write a count, as a link to these cases if there are some."""
    return f'<a href="{escape(link)}">{number(count)}</a>' if count else number(count)


def _unread(climbed: Ladder, read: Mapping[str, Reading]) -> list[str]:
    """Return the titles of levels that broke cases, and of which nobody read any text."""
    broken = [rung for rung in climbed.rungs if rung.broken]
    return [rung.title for rung in broken if not (rung.level in read and read[rung.level].of)]


def _explanations(climbed: Ladder, read: Mapping[str, Reading]) -> str:
    """Explain the figures; the details are folded, so that the failures come soon."""
    language = language_line(climbed)
    shown = [EXPLAINED, *([] if language is None else [f"{language}."])]
    estimated, proved = how_estimated(climbed, read), proved_sentence(climbed)
    folded = [VALID, estimated] if estimated is not None else []
    folded += [proved] if proved is not None else []
    details = "".join(f"<p>{escape(line)}</p>" for line in folded)
    if details:
        details = f"<details><summary>What the figures mean</summary>{details}</details>"
    lines = "".join(f'<p class="small">{escape(line)}</p>' for line in shown)
    return lines + details + yardstick_table()

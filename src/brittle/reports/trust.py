"""What the figures of a run rest on, and what is missing, for terminal, page and card."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from brittle.formatting import number, percent, plural
from brittle.metrics.curves import Flattening, flattening
from brittle.metrics.ladder import Ladder, ladder
from brittle.metrics.summary import Figure, Robust, Summary, robust_to_words
from brittle.reports.stored import StoredRun
from brittle.results import Result

MANY_WORDS = 3
"""Bounds are shown for every number of words up to this one, and for the largest."""
NAMES = ("one word", "two words", "three words")
MAX_UNSURE = 0.05
"""Above this, the interval of what broke late is too wide to say that hardly more would break."""
SHORT = ("searched", "budget", "larger budget", "validity")
"""The facts that a terminal shows; all others stand on the page and on the card."""


@dataclass(frozen=True)
class Fact:
    """Something that the figures rest on; without a value it is missing.

    `question` is what nobody has checked as long as it is missing. `is_setting` marks what a page
    lists with the settings of the run.
    """

    name: str
    value: str | None
    question: str = ""
    is_setting: bool = False


def trust_facts(run: StoredRun, results: Sequence[Result], summary: Summary) -> list[Fact]:
    """List what the figures of a run rest on, each as a fact or as missing."""
    manifest = run.manifest
    budget = manifest.get("budget")
    climbed = ladder(results)
    return [
        Fact("searched", describe_space(manifest)),
        Fact("budget", plural(budget, "queries a case") if budget else "no limit"),
        Fact("cases", _denominators(summary)),
        Fact("intervals", "95%: Wilson for rates, bootstrap for means"),
        *_floors(run, summary, climbed),
        Fact("larger budget", _growth(flattening(results, run.steps(), budget))),
        Fact("proved", _proved(summary, climbed)),
        Fact("validity", _validity(run.measured("validity")), "are the texts valid?"),
        Fact("target", _joined(manifest.get("target"), manifest.get("fingerprint")), "", True),
        Fact("diagnosis", _diagnosis(manifest.get("warnings") or ())),
        Fact("data", _joined(*map(manifest.get, ("data", "split", "content"))), "", True),
        Fact("command", run.command, "", True),
        Fact("seed", None if manifest.get("seed") is None else str(manifest["seed"]), "", True),
        Fact("versions", _versions(manifest.get("versions") or {}), "", True),
    ]


def describe_space(manifest: Mapping[str, Any]) -> str:
    """Write which texts were searched: the attack, its settings, what is kept, and the goal."""
    parts = [*(manifest.get("attacks") or ())]
    settings = (manifest.get("settings") or {}).items()
    parts += [_setting(name, value) for name, value in settings if value is not None]
    kept = [f"{name} ≥ {least:g}" for name, (least, _) in (manifest.get("keep") or {}).items()]
    space = f"{manifest.get('attack')} ({', '.join(parts) or 'no settings'})"
    return "; ".join([space, *kept, str(manifest.get("goal"))])


def robust_lines(results: Sequence[Result]) -> list[str]:
    """Write how many cases withstand so many swaps; the last line says which swaps these are.

    >>> from dataclasses import replace
    >>> from brittle.metrics.samples import sample_results
    >>> rows = sample_results()
    >>> rows[3] = replace(rows[3], proved_words=1, single_swaps=4)
    >>> for line in robust_lines(rows):
    ...     print(line)  # doctest: +NORMALIZE_WHITESPACE
    one word swapped: between 1 and 3 of 5 attacked cases (20.0% and 60.0%) withstand it; 2 are not
    decided: they broke with more words, or the search ended early
    all known swaps were tried (mean 4.0 a text); 1 text has no word to swap: not tested
    """
    bounds = robust_to_words(results)
    shown = bounds[:MANY_WORDS] + bounds[MANY_WORDS:][-1:]
    return [*map(_withstood, shown), _swaps_checked(bounds[0])] if bounds else []


def missing(facts: Sequence[Fact]) -> list[str]:
    """List the names of what is missing."""
    return [fact.name for fact in facts if fact.value is None]


def open_questions(facts: Sequence[Fact]) -> str:
    """Ask what nobody has checked yet; nothing if all is known.

    >>> open_questions([Fact("seed", "0"), Fact("validity", None, "are the texts valid?")])
    'are the texts valid?'
    """
    return " ".join(fact.question for fact in facts if fact.value is None and fact.question)


def short_lines(facts: Sequence[Fact]) -> list[str]:
    """Write the facts for a terminal, on a few lines, the last of which asks what is missing."""
    values = {fact.name: fact.value for fact in facts}
    lines = [f"{name}: {values[name]}" for name in SHORT if values.get(name) is not None]
    questions = open_questions(facts)
    return [*lines, *([f"not checked yet: {questions}"] if questions else [])]


def _withstood(bounds: Robust) -> str:
    words = NAMES[bounds.words - 1] if bounds.words <= len(NAMES) else plural(bounds.words, "words")
    swapped = f"{words} swapped" if bounds.words == 1 else f"up to {words} swapped"
    proved, unbroken = bounds.proved, bounds.unbroken
    cases = plural(proved.of, proved.over)
    if not bounds.unknown:
        share = f"{percent(proved.value)}, {_range(proved)}"
        return f"{swapped}: {number(proved.count)} of {cases} ({share}) withstand it"
    counts = f"between {number(proved.count)} and {number(unbroken.count)} of {cases}"
    shares = f"{percent(proved.value)} and {percent(unbroken.value)}"
    undecided = plural(bounds.unknown, ("is not decided: it", "are not decided: they"))
    why = f"{undecided} broke with more words, or the search ended early"
    return f"{swapped}: {counts} ({shares}) withstand it; {why}"


def _swaps_checked(bounds: Robust) -> str:
    """Say that these are the swaps the attack knows, how many, and how many texts have none."""
    size = bounds.single_swaps.value
    checked = "all known swaps were tried"
    checked += "" if size is None else f" (mean {size:.1f} a text)"
    untested = plural(bounds.untested, ("text has", "texts have"))
    return checked + (f"; {untested} no word to swap: not tested" if bounds.untested else "")


def _range(figure: Figure) -> str:
    return f"{percent(figure.low).removesuffix('%')}–{percent(figure.high)}"


def _denominators(summary: Summary) -> str:
    answered, attacked = summary.before.of, summary.success.of
    return (
        f"{number(summary.cases)} of {plural(summary.planned, 'planned cases')} finished, "
        f"{number(answered)} answered, {number(attacked)} attacked"
    )


def _proved(summary: Summary, climbed: Ladder | None) -> str:
    """Say how many cases are proved; of a ladder, at which level."""
    attacked = plural(summary.success.of, "attacked cases")
    if climbed is None:
        return f"{number(summary.statuses['proved'])} of {attacked}"
    levels = [f"{rung.title} {number(rung.proved)}" for rung in climbed.rungs]
    return f"of {attacked}, every text of this level was tried: {', '.join(levels)}"


def _floors(run: StoredRun, summary: Summary, climbed: Ladder | None) -> list[Fact]:
    """Say what is broken without any search: originals, and what was measured beside the run."""
    stored = run.measured("floors")
    before = summary.before
    clean = None
    if before.value is not None and before.count is not None:
        wrong = before.of - before.count
        clean = f"{percent(1 - before.value)}, {number(wrong)} of {plural(before.of, 'originals')}"
    other = stored.get("other") or {}
    named = f" ({other['name']})" if other.get("name") else ""
    read = _figure(other.get("adversaries"))
    return [
        Fact("wrong without any edit", clean),
        Fact(
            "broken by a random edit",
            _figure(stored.get("random_edit")) or _undecided(climbed),
            "do random edits break it, too?",
        ),
        Fact(
            "label read by another model",
            None if read is None else read + named,
            "does another kind of model still read the label?",
        ),
    ]


def _undecided(climbed: Ladder | None) -> str | None:
    """Say how many broken cases a random edit also breaks, if the run measured that itself."""
    if climbed is None or not climbed.checked:
        return None
    checked = plural(climbed.checked, "broken cases checked")
    return f"{number(climbed.undecided)} of {checked} break under a random edit, too"


def _growth(growth: Flattening | None) -> str | None:
    if growth is None:
        return None
    if growth.late is None:
        return "would not break more: every search ended by itself"
    late = f"{number(growth.late.count)} of {plural(growth.late.of, growth.late.over)}"
    if growth.is_flat and (growth.late.high or 0.0) > MAX_UNSURE:
        return f"not known: {late} broke in the second half of this one, too few cases to tell"
    verdict = "would hardly break more" if growth.is_flat else "would break more"
    return f"{verdict}: {late} broke in the second half of this one"


def _validity(stored: Mapping[str, Any]) -> str | None:
    """Write the validity that was measured: a judge's if there is one, else that of people."""
    judge, reading = stored.get("judge") or {}, stored.get("reading") or {}
    return _figure(judge.get("validity") or (reading.get("parts") or {}).get("valid"))


def _figure(stored: Mapping[str, Any] | None) -> str | None:
    """Write a stored share, with its interval and denominator; None if there is none."""
    if not stored or stored.get("value") is None:
        return None
    low, high = percent(stored.get("low")), percent(stored.get("high"))
    over = plural(stored.get("of") or 0, stored.get("over", "")).rstrip()
    interval = "" if stored.get("of") == 1 else f" ({low.removesuffix('%')}–{high})"
    return f"{percent(stored['value'])}{interval} of {over}"


def _diagnosis(warnings: Sequence[str]) -> str:
    if not warnings:
        return "no warning"
    return f"{plural(len(warnings), ('warning', 'warnings'))}: {' '.join(map(str, warnings))}"


def _versions(versions: Mapping[str, Any]) -> str | None:
    known = [f"{name} {version}" for name, version in versions.items() if version]
    return ", ".join(known) or None


def _joined(*parts: Any) -> str | None:
    return ", ".join(str(part) for part in parts if part) or None


def _setting(name: str, value: Any) -> str:
    if isinstance(value, bool):
        return name if value else f"no {name}"
    return f"{name} {value:g}" if isinstance(value, float) else f"{name} {value}"

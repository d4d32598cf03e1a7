"""What the figures of a run rest on, and what is missing, for terminal, page and card."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from brittle.formatting import number, percent, plural
from brittle.metrics.flattening import Flattening, flattening
from brittle.metrics.proved import Robust, robust_to_words
from brittle.metrics.summary import Figure, Summary
from brittle.reports.stored import StoredRun
from brittle.results import Result

MANY_WORDS = 3
"""Bounds are shown for every number of words up to this one, and for the largest."""
NAMES = ("one word", "two words", "three words")
SHORT = ("space", "budget", "success against budget", "validity")
"""The facts that a terminal shows; all others stand on the page and on the card."""


@dataclass(frozen=True)
class Fact:
    """Something that the figures rest on; without a value it is missing."""

    name: str
    value: str | None


def trust_facts(run: StoredRun, results: Sequence[Result], summary: Summary) -> list[Fact]:
    """List what the figures of a run rest on, each as a fact or as missing."""
    manifest = run.manifest
    budget = manifest.get("budget")
    proved, attacked = summary.statuses["proved"], summary.success.of
    return [
        Fact("space", describe_space(manifest)),
        Fact("budget", f"{number(budget)} queries a case" if budget else "no limit"),
        Fact("denominators", _denominators(summary)),
        Fact("intervals", "95%: Wilson for rates, bootstrap for means"),
        *_floors(run, summary),
        Fact("success against budget", _growth(flattening(results, run.steps(), budget))),
        Fact("proved", f"{number(proved)} of {number(attacked)} attacked cases"),
        Fact("validity", _validity(run.measured("validity"))),
        Fact("target", _joined(manifest.get("target"), manifest.get("fingerprint"))),
        Fact("diagnosis", _diagnosis(manifest.get("warnings") or ())),
        Fact("data", _joined(manifest.get("data"), manifest.get("split"), manifest.get("content"))),
        Fact("command", run.command),
        Fact("seed", None if manifest.get("seed") is None else str(manifest["seed"])),
        Fact("versions", _versions(manifest.get("versions") or {})),
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
    """Write how many examples withstand so many swaps, from both sides.

    >>> from dataclasses import replace
    >>> from brittle.metrics.samples import sample_results
    >>> rows = sample_results()
    >>> rows[3] = replace(rows[3], proved_words=1)
    >>> robust_lines(rows)  # doctest: +NORMALIZE_WHITESPACE
    ['robust to one word swapped: between 28.6% (proved; 8.2–64.1%) and 57.1% (not broken;
    25.0–84.2%) of 7 examples answered; 1 of them has no candidates']
    """
    bounds = robust_to_words(results)
    return [_robust(one) for one in bounds[:MANY_WORDS] + bounds[MANY_WORDS:][-1:]]


def missing(facts: Sequence[Fact]) -> list[str]:
    """List the names of what is missing."""
    return [fact.name for fact in facts if fact.value is None]


def short_lines(facts: Sequence[Fact]) -> list[str]:
    """Write the facts for a terminal, on a few lines, the last of which says what is missing."""
    values = {fact.name: fact.value for fact in facts}
    lines = [f"{name}: {values[name]}" for name in SHORT if values.get(name) is not None]
    lacking = missing(facts)
    return [*lines, *([f"missing: {', '.join(lacking)}"] if lacking else [])]


def _robust(bounds: Robust) -> str:
    words = NAMES[bounds.words - 1] if bounds.words <= len(NAMES) else f"{bounds.words} words"
    proved, unbroken = bounds.proved, bounds.unbroken
    over = f"of {number(proved.of)} {proved.over}"
    if proved.count == unbroken.count:
        share = f"{percent(proved.value)} ({_range(proved)}) {over}"
        return f"robust to {words} swapped: {share}, decided for every example{_untouched(bounds)}"
    return (
        f"robust to {words} swapped: between {percent(proved.value)} (proved; {_range(proved)}) "
        f"and {percent(unbroken.value)} (not broken; {_range(unbroken)}) {over}{_untouched(bounds)}"
    )


def _untouched(bounds: Robust) -> str:
    """Say how many are robust because no word of them can be swapped."""
    count = bounds.without_candidates
    return (
        f"; {number(count)} of them {'has' if count == 1 else 'have'} no candidates"
        if count
        else ""
    )


def _range(figure: Figure) -> str:
    return f"{percent(figure.low).removesuffix('%')}–{percent(figure.high)}"


def _denominators(summary: Summary) -> str:
    answered, attacked = summary.before.of, summary.success.of
    return (
        f"{number(summary.cases)} of {number(summary.planned)} planned cases finished, "
        f"{number(answered)} answered, {number(attacked)} attacked"
    )


def _floors(run: StoredRun, summary: Summary) -> list[Fact]:
    """Say what is broken without any search: originals, and what was measured beside the run."""
    stored = run.measured("floors")
    before = summary.before
    clean = None
    if before.value is not None and before.count is not None:
        wrong = before.of - before.count
        clean = f"{percent(1 - before.value)}, {number(wrong)} of {number(before.of)} originals"
    other = stored.get("other") or {}
    named = f" ({other['name']})" if other.get("name") else ""
    read = _figure(other.get("adversaries"))
    return [
        Fact("clean error (floor)", clean),
        Fact("random edit (floor)", _figure(stored.get("random_edit"))),
        Fact("other model family (floor)", None if read is None else read + named),
    ]


def _growth(growth: Flattening | None) -> str | None:
    if growth is None:
        return None
    if growth.late is None:
        return "flat: every search ended by itself"
    late = f"{number(growth.late.count)} of {number(growth.late.of)} attacked cases"
    verdict = "flat" if growth.is_flat else "still rising"
    return f"{verdict}: {late} broke in the second half of the budget"


def _validity(stored: Mapping[str, Any]) -> str | None:
    """Write the validity that was measured: a judge's if there is one, else that of people."""
    judge, reading = stored.get("judge") or {}, stored.get("reading") or {}
    return _figure(judge.get("validity") or (reading.get("parts") or {}).get("valid"))


def _figure(stored: Mapping[str, Any] | None) -> str | None:
    """Write a stored share, with its interval and denominator; None if there is none."""
    if not stored or stored.get("value") is None:
        return None
    low, high = percent(stored.get("low")), percent(stored.get("high"))
    over = f"{number(stored.get('of'))} {stored.get('over', '')}".rstrip()
    return f"{percent(stored['value'])} ({low.removesuffix('%')}–{high}) of {over}"


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

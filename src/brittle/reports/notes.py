"""What a reader must know before trusting the figures of a run."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any

from brittle.asks import DECIDED, NO_CANDIDATES, NORMALISED, UNTRIED
from brittle.errors import MissingPackage, install_command
from brittle.formatting import number, plural
from brittle.goals import OF_THE_CLASS_AIMED_AT
from brittle.goals.protocol import ALREADY_THERE
from brittle.metrics.bleu import (
    CHANGE_EVERY_TEXT,
    counts_as_changed,
    has_reference,
    is_translated,
)
from brittle.metrics.summary import Summary
from brittle.reports.summary_lines import answers_texts
from brittle.results import DAMAGED_EDITS, Result

KEYWORD_GOAL = "keyword:"
MAX_UNTOUCHED = 0.2
"""The share of examples that could not be attacked above which a reader is warned."""


def notes(
    summary: Summary, manifest: Mapping[str, Any], results: Sequence[Result] = ()
) -> list[str]:
    """Return what a reader must know before trusting the figures, the most serious first."""
    lines = []
    if not summary.complete:
        lines.append(
            f"Incomplete: {number(summary.cases)} of {plural(summary.planned, 'cases')}. The "
            "figures cover only these. Short searches end first, and so do cases that are already "
            "wrong: other cases will differ. The same command resumes the run."
        )
    if answers_texts(manifest):
        lines += bleu_notes(results)
    elif manifest.get("reference") == "predictions":
        lines.append(
            "The examples have no labels: the reference is the target's own prediction on the "
            "original, so agreement before the attack is 100% by definition."
        )
    elif manifest.get("reference") == "mixed":
        lines.append(
            "Some examples have no label: for these the reference is the target's own prediction "
            "on the original, which counts as right."
        )
    if manifest.get("confidence") is not None:
        lines.append(
            f"The goal is a confidence of {manifest['confidence']:g}, and accuracy under attack "
            "goes by it: a text that was driven to another label with less confidence counts as "
            "right. By label it counts as wrong."
        )
    if summary.per_draw is not None:
        lines.append(
            "A case counts as broken if one of its draws reached the goal. What a random "
            "replacement does on average is the success per draw."
        )
    cases = plural(summary.cases, "cases")
    there = summary.reasons.get("skipped", {}).get(OF_THE_CLASS_AIMED_AT, 0)
    if there:
        lines.append(
            f"{part_of(there, cases, ('is', 'are'))} of the class aimed at. They are not attacked, "
            "but count for both accuracies; --only LABEL attacks one class alone."
        )
    lines += keyword_notes(summary, manifest)
    errors = summary.statuses["error"]
    if errors:
        reasons = summary.reasons.get("error") or {"none given": errors}
        reason, count = next(iter(reasons.items()))
        heading = f"Most frequent reason ({number(count)})" if len(reasons) > 1 else "Reason"
        lines.append(
            f"{part_of(errors, cases, ('failed and is', 'failed and are'))} left out of every "
            f"figure. {heading}: {reason}"
        )
    damaged = sum(reasons.get(DAMAGED_EDITS, 0) for reasons in summary.reasons.values())
    if damaged:
        lines.append(
            f"Of {plural(damaged, 'cases')}: {DAMAGED_EDITS}. What was counted of it stands."
        )
    lines += normalised_notes(manifest)
    lines += untouched_notes(summary, manifest) + untried_notes(summary, manifest)
    return lines + [str(warning) for warning in manifest.get("warnings") or ()]


def part_of(count: int, whole: str, verbs: tuple[str, str]) -> str:
    """Write how many of a whole do something, with the verb of one or of many.

    >>> part_of(1, "8 cases", ("is", "are")), part_of(2, "8 cases", ("is", "are"))
    ('1 of 8 cases is', '2 of 8 cases are')
    """
    return plural(count, [f"of {whole} {verb}" for verb in verbs])


def bleu_notes(results: Sequence[Result]) -> list[str]:
    """Say what BLEU is compared with, and by which signature."""
    from brittle.goals.bleu import bleu_signature

    try:
        signature = bleu_signature()
    except MissingPackage:
        return [f"BLEU is left out: install it with {install_command('translation')}."]
    translated = [r for r in results if is_translated(r)]
    own = sum(map(has_reference, translated))
    if not translated:
        return []
    unchanged = unchanged_notes(translated)
    examples = plural(len(translated), "translated examples")
    if own == len(translated):
        return [f"BLEU is that of all examples against their references ({signature}).", *unchanged]
    if own:
        return [
            f"{part_of(own, examples, ('has', 'have'))} a reference. "
            "BLEU of the others is against the target's own translations of the originals, which "
            f"count as right before the attack ({signature}).",
            *unchanged,
        ]
    return [
        "The examples have no references: BLEU is against the target's own translations of the "
        f"originals, and 100 before the attack by definition ({signature}).",
        *unchanged,
    ]


def unchanged_notes(translated: Sequence[Result]) -> list[str]:
    """Say which examples an attack that changes every text has left as they are."""
    if not translated or translated[0].attack not in CHANGE_EVERY_TEXT:
        return []
    others = [r for r in translated if not counts_as_changed(r)]
    reasons = Counter(r.reason or r.status for r in others)
    listed = ", ".join(f"{reason} {number(n)}" for reason, n in reasons.most_common())
    left = f", but for {number(len(others))} that stayed as they were ({listed})" if others else ""
    return [
        f"BLEU under attack is that of all {plural(len(translated), 'translated examples')} "
        f"with their {translated[0].attack}, whether or not it reached the goal{left}."
    ]


def keyword_notes(summary: Summary, manifest: Mapping[str, Any]) -> list[str]:
    """Say of how many cases the keyword stands in the translation before the attack."""
    count = summary.reasons.get("skipped", {}).get(ALREADY_THERE, 0)
    if not count or not str(manifest.get("goal")).startswith(KEYWORD_GOAL):
        return []
    word = str(manifest["goal"]).removeprefix(KEYWORD_GOAL)
    translations = plural(summary.cases, "translations")
    return [
        f"{part_of(count, translations, ('has', 'have'))} the keyword {word!r} "
        "before the attack. They are not attacked: name a rarer word, or let it draw one that is "
        "not there (--goal keyword)."
    ]


def untouched_notes(summary: Summary, manifest: Mapping[str, Any]) -> list[str]:
    """Warn if many right examples could not be attacked: nothing is known of them."""
    skipped = summary.reasons.get("skipped", {})
    reasons = {reason: n for reason, n in skipped.items() if not reason.startswith(DECIDED)}
    count, attacked = sum(reasons.values()), summary.success.of
    if not count or count <= MAX_UNTOUCHED * (count + attacked):
        return []
    listed = ", ".join(f"{reason} {number(n)}" for reason, n in reasons.items())
    heading = (
        f"{number(count)} of {plural(count + attacked, 'examples to attack')} could not be "
        f"attacked ({listed})"
    )
    if answers_texts(manifest):
        # The goal may be the cause as well as the attack, and there is no accuracy.
        return [f"{heading}, so they are untested. Attack success is about the others."]
    nearer = NO_CANDIDATES in reasons and (manifest.get("settings") or {}).get("cosine")
    more = f" A --cosine below {nearer:g} finds more candidates." if nearer else ""
    return [
        f"{heading}: {manifest.get('attack')} found nothing to change in them, so they are "
        "untested. Accuracy under attack counts them as right; attack success is about the "
        f"others.{more}"
    ]


def normalised_notes(manifest: Mapping[str, Any]) -> list[str]:
    """Name the classes of edits that the target undoes: its tokenizer deletes them, say."""
    undone = [
        (name, one)
        for name, one in (manifest.get("normalisation") or {}).items()
        if one["is_normalised"]
    ]
    return [
        f"{name}: {NORMALISED}. Before the run, such edits were made everywhere in "
        f"{plural(one['texts'], 'texts')}; {one['same']} got the answer of the original. So no "
        "case was attacked with them. This says nothing about the model: its tokenizer, or what "
        "stands before it, undoes these edits."
        for name, one in undone
    ]


def untried_notes(summary: Summary, manifest: Mapping[str, Any]) -> list[str]:
    """Warn of cases whose budget ended before anything was tried: they count as right."""
    count = summary.reasons.get("out of budget", {}).get(UNTRIED, 0)
    if not count:
        return []
    other = "" if manifest.get("attack") == "salient-swap" else ", or use salient-swap"
    return [
        f"{plural(count, ('case', 'cases'))} ended {UNTRIED}, which says nothing about the target: "
        f"raise --budget above {manifest.get('budget')}{other}."
    ]

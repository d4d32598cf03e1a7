"""A run in words: the same lines for terminal, page, notebook and plain text."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from brittle.errors import MissingPackage
from brittle.formatting import NO_VALUE, duration, number, percent, plural
from brittle.goals import is_class_goal
from brittle.metrics.bleu import bleu_figures
from brittle.metrics.ladder import ladder
from brittle.metrics.summary import Figure, Summary
from brittle.metrics.words import characters_share, is_by_characters, operations
from brittle.reports.endings import format_statuses
from brittle.reports.kept import cost_name, kept_curves, kept_lines
from brittle.reports.ladder import more_lines
from brittle.reports.trust import robust_lines
from brittle.results import Result, Step
from brittle.validity.figures import LevelReading

NAMED_PRESETS = ("careful", "loose", "typo", "strict")
"""Candidates that are named with the attack; as published it has its own name alone."""
Format = Callable[[float | None], str]


@dataclass(frozen=True)
class SummaryLine:
    """One figure for a reader: its name, value and interval, and what it is computed over.

    `figure` has the same as numbers, to be drawn.
    """

    key: str
    name: str
    value: str
    interval: str
    over: str
    figure: Figure


def goes_by_goal(manifest: Mapping[str, Any]) -> bool:
    """Tell whether a run's goal is more, or another, than any other label."""
    asked = (manifest.get("confidence"), manifest.get("toward"))
    return asked != (None, None) or not is_class_goal(manifest.get("goal", "untargeted"))


def summary_lines(
    summary: Summary, manifest: Mapping[str, Any], results: Sequence[Result] = ()
) -> list[SummaryLine]:
    """Format the figures of a summary, the most important first.

    If the goal is not just any other label, there are two accuracies under attack. With the
    rows of a character attack, the share of characters is one of the figures; with those of a
    search that has costs, the cost is. Of an attack with a generator, the last line counts the
    reconstructions that did not reach the goal by themselves.
    """
    at_limit, per_draw = summary.at_limit, summary.per_draw
    effort = [
        _rate("success", "attack success", summary.success),
        *_validity_lines(summary),
        *([_rate("success_at_limit", "of the finished text", at_limit)] if at_limit else []),
        *([_mean("success_per_draw", "success per draw", per_draw, percent)] if per_draw else []),
        _mean("queries", "queries per case", summary.queries),
        *_changes(summary, manifest),
    ]
    if is_by_characters(results):
        share = characters_share(results)
        effort.append(_mean("characters_changed", "share of characters", share, percent))
    if summary.cost.of:
        name = cost_name(manifest) or "cost"
        effort.append(_mean("cost", f"{name} of the winner", summary.cost, significant))
    if summary.rebuilt is not None:
        effort.append(_rate("reconstructions_kept", "reconstructions kept", summary.rebuilt))
    if answers_texts(manifest):
        return bleu_lines(results) + effort
    what = "agreement" if manifest.get("reference") == "predictions" else "accuracy"
    still = "still right"
    if summary.untouched:
        still += f" ({number(summary.untouched)} could not be attacked)"
    after = [_right("accuracy_after", f"{what} under attack", summary.after, still)]
    if goes_by_goal(manifest):
        by_label = summary.after_by_label
        after = [
            _right("accuracy_after", "under attack, by goal", summary.after, still),
            _right("accuracy_after_by_label", "under attack, by label", by_label, still),
        ]
    before = _right("accuracy_before", f"{what} before", summary.before, "right")
    return [before, *after, *effort]


def _validity_lines(summary: Summary) -> list[SummaryLine]:
    """Put validity, and the success that it leaves, beside the raw success, if it was measured."""
    if summary.validity is None or summary.valid_success is None:
        return []
    over = f"of {plural(summary.validity.of, summary.validity.over)}"
    return [
        _share("validity", "validity", summary.validity, over),
        _share("valid_success", "valid success", summary.valid_success, "success × validity"),
    ]


def _share(key: str, name: str, figure: Figure, over: str) -> SummaryLine:
    interval = format_interval(figure, percent)
    return SummaryLine(key, name, percent(figure.value), interval, over, figure)


def answers_texts(manifest: Mapping[str, Any]) -> bool:
    """Tell whether the target of a run answers texts: there are no labels and no accuracy."""
    return bool(manifest.get("answers") == "texts")


def bleu_lines(results: Sequence[Result]) -> list[SummaryLine]:
    """Format BLEU before and under attack, and its drop; nothing without rows or sacrebleu."""
    try:
        bleu = bleu_figures(results)
    except MissingPackage:
        return []
    if bleu is None:
        return []
    return [
        _bleu("bleu_before", "BLEU before", bleu.before),
        _bleu("bleu_after", "BLEU under attack", bleu.after),
        _bleu("bleu_drop", "BLEU lost", bleu.drop),
    ]


def _bleu(key: str, name: str, figure: Figure) -> SummaryLine:
    over = f"of {plural(figure.of, figure.over)}"
    interval = format_interval(figure, _decimal)
    return SummaryLine(key, name, _decimal(figure.value), interval, over, figure)


def _decimal(value: float | None) -> str:
    return NO_VALUE if value is None else f"{value:.1f}"


def _changes(summary: Summary, manifest: Mapping[str, Any]) -> list[SummaryLine]:
    """Say how much broken cases were changed: in words, or in pixels."""
    if manifest.get("kind", "text") == "text":
        return [
            _mean("words_changed", "words changed", summary.words),
            _mean("share_changed", "share of words", summary.share, percent),
        ]
    return [
        _mean("linf", "largest change", summary.measures["linf"], thousandths),
        _mean("l2", "distance (L2)", summary.measures["l2"]),
    ]


def thousandths(value: float | None) -> str:
    """Format a number between 0 and 1 with three digits after the point."""
    return NO_VALUE if value is None else f"{value:.3f}"


def significant(value: float | None) -> str:
    """Format a number whose size is not known beforehand with three significant digits.

    >>> significant(0.01234), significant(12.0), significant(123456.0), significant(None)
    ('0.0123', '12', '1.23e+05', '–')
    """
    return NO_VALUE if value is None else f"{value:.3g}"


def closing_lines(
    results: Sequence[Result],
    summary: Summary,
    totals: Mapping[str, float],
    manifest: Mapping[str, Any],
    steps: Iterable[Step] = (),
    read: Mapping[str, LevelReading] | None = None,
) -> list[str]:
    """Return the lines below the figures: statuses, what is proved, what texts keep, the cost.

    `steps` are those of a search that goes on after a win. `read` is what readers said of texts of
    each level of the ladder; without it, what is shipped.
    """
    climbed = ladder(results)
    proved = robust_lines(results) if climbed is None else more_lines(climbed, read)
    statuses = [*character_edits(results), format_statuses(summary), *proved]
    kept = kept_lines(kept_curves(results, steps, manifest), manifest)
    return [*statuses, *kept, format_effort(totals)]


def character_edits(results: Sequence[Result]) -> list[str]:
    """Write on one line which character operations were used; nothing for attacks on words.

    >>> from brittle.metrics.samples import sample_results
    >>> character_edits(sample_results())
    []
    >>> from dataclasses import replace
    >>> from brittle.edits import Edit
    >>> broken = sample_results()[0]
    >>> edit = Edit("text", 11, 16, "funny", "fuumny")
    >>> character_edits([replace(broken, edits=(edit,), characters_changed=2)])
    ['2 character edits: 50.0% flips, 50.0% inserts, 0.0% deletes']
    """
    if not is_by_characters(results):
        return []
    edits = operations(results)
    total = plural(edits.total, ("character edit", "character edits"))
    shares = [f"{percent(share)} {name}" for name, share in edits.shares.items()]
    return [f"{total}: {', '.join(shares)}"]


def format_effort(totals: Mapping[str, float]) -> str:
    """Write what the run cost: rows computed, of all that were asked, and the time.

    Those of a part of a run say of how many `cases` they are.

    >>> format_effort({"sent": 900, "asked": 1200, "calls": 12, "seconds": 75})
    '900 rows computed of 1,200 asked (25% saved), 12 calls, 1 min 15 s'
    """
    sent, asked = totals.get("sent", 0), totals.get("asked", 0)
    calls = totals.get("calls", 0)
    if not asked:
        return "Nothing has been asked yet"
    saved = f" ({1 - sent / asked:.0%} saved)" if 0 < sent < asked else ""
    if repeats := totals.get("repeats"):
        rows = f"{plural(sent, 'answers')} ({number(repeats)} to each text), {number(asked)} asked"
    else:
        rows = f"{plural(sent, 'rows')} computed of {number(asked)} asked{saved}"
    about = f", for all {plural(totals['cases'], 'cases')}" if "cases" in totals else ""
    time = f"{plural(calls, 'calls')}, {duration(totals.get('seconds', 0))}"
    return f"{rows}, {time}{format_tokens(totals)}{about}"


def format_tokens(totals: Mapping[str, float]) -> str:
    """Write the tokens of a chat model and, if a price was named, what they cost.

    >>> format_tokens({"tokens_read": 1200, "tokens_written": 30, "money": 0.0125})
    ', 1,200 tokens read and 30 written (cost 0.0125)'
    """
    read, written = totals.get("tokens_read", 0), totals.get("tokens_written", 0)
    if not read + written:
        return ""
    cost = f" (cost {totals['money']:.4g})" if "money" in totals else ""
    return f", {number(read)} tokens read and {number(written)} written{cost}"


def describe_run(manifest: Mapping[str, Any]) -> str:
    """Write on one line which target was attacked, with which attack, on which data."""
    preset = (manifest.get("settings") or {}).get("candidates")
    how = f" ({preset})" if preset in NAMED_PRESETS else ""
    return f"{manifest.get('attack')}{how} against {describe_target(manifest)}"


def describe_target(manifest: Mapping[str, Any]) -> str:
    """Write which target was attacked, and on which data."""
    data = manifest.get("data")
    where = f" on {data}" if data else ""
    split = f" ({manifest['split']})" if data and manifest.get("split") else ""
    only = f", only {manifest['only']}" if manifest.get("only") else ""
    part = ""
    if manifest.get("part_of"):
        part = f", {number(manifest['examples'])} of its {plural(manifest['part_of'], 'cases')}"
    return f"{manifest.get('target')}{where}{split}{only}{part}"


def format_interval(figure: Figure, format_value: Format = number) -> str:
    """Write an interval with its unit once, or nothing where there is no value, or one case."""
    if figure.low is None or figure.high is None or figure.of == 1:
        return ""
    low, high = format_value(figure.low), format_value(figure.high)
    return f"{low.removesuffix('%')}–{high}"


def _rate(key: str, name: str, figure: Figure) -> SummaryLine:
    over = f"{number(figure.count)} of {plural(figure.of, figure.over)}"
    interval = format_interval(figure, percent)
    return SummaryLine(key, name, percent(figure.value), interval, over, figure)


def _right(key: str, name: str, figure: Figure, right: str) -> SummaryLine:
    """Format an accuracy: how many of how many texts are right."""
    over = f"{number(figure.count)} of {number(figure.of)} {right}"
    return SummaryLine(
        key, name, percent(figure.value), format_interval(figure, percent), over, figure
    )


def _mean(key: str, name: str, figure: Figure, write: Format = number) -> SummaryLine:
    over = f"mean over {plural(figure.of, figure.over)}"
    interval = format_interval(figure, write)
    return SummaryLine(key, name, write(figure.value), interval, over, figure)

"""Two runs side by side on one page: what changed, and the cases that flipped.

All figures are over the cases that both runs have, case by case. The same test decides here and in
the gate for CI: McNemar's exact test of the accuracy under attack.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from brittle.formatting import label_in_words, number, percent, plural
from brittle.levels import LEVELS, rank
from brittle.metrics.ladder import paired_levels
from brittle.metrics.paired import Contrast, Paired, paired
from brittle.metrics.summary import is_right_after
from brittle.reports.cases import clearest, cut, embedded_picture, shown_fields, split_at_edits
from brittle.reports.notes import normalised_notes
from brittle.reports.page import render_page
from brittle.reports.stored import StoredRun
from brittle.reports.study_page import CONTEXT_CHARACTERS, LONG_TEXT_CHARACTERS, MarkedField
from brittle.reports.summary_lines import answers_texts, describe_run
from brittle.results import Result

NEWLY_BROKEN = "Newly broken"
MAX_CASES = 60
"""So many cases of a group are shown; of the others the page gives the number."""
DIFFERENT = (
    ("attack", "attack", "A difference may come from the attack and not from the model."),
    ("settings", "settings of the attack", "A difference may come from them, not from the model."),
    ("goal", "goal", "The two runs did not look for the same thing."),
    ("confidence", "confidence asked for", "The two runs did not look for the same thing."),
    ("keep", "constraints", "The two runs did not allow the same edits."),
    ("budget", "budget", "The run with more queries can break more."),
    ("reference", "reference", "The two runs do not mean the same by right."),
    ("split", "split", "Only texts that are in both runs are compared."),
    ("seed", "seed", "A part of the difference is chance."),
)
"""What two runs must have in common: the entry of the manifest, its name, and why it matters."""


BOTH = (
    ("Easier to break", "Broken in both runs, in the new one by gentler edits.", 1),
    ("Broken as before", "Broken in both runs, by the same kind of edits.", 0),
    ("Harder to break", "Broken in both runs, in the new one only by rougher edits.", -1),
)
"""Cases that broke in both runs: a heading, what it means, and how much gentler edits became."""


@dataclass(frozen=True)
class Side:
    """A case in one of the runs: what the model said, and the edits that broke it, if any did."""

    name: str
    before: str
    after: str
    about: str
    fields: Sequence[MarkedField]
    pictures: Sequence[tuple[str, str]]


@dataclass(frozen=True)
class FlippedCase:
    """A case of both runs, as one card."""

    case: str
    label: str
    level: str
    sides: Sequence[Side]


@dataclass(frozen=True)
class Group:
    """Cases that changed in the same way; `more` are left out, and all may be folded."""

    heading: str
    word: str
    css: str
    about: str
    count: int
    cases: Sequence[FlippedCase]
    more: int
    is_folded: bool


@dataclass(frozen=True)
class Comparison:
    """One share in both runs, over the cases of both, and what the test decides."""

    name: str
    old: float
    new: float
    difference: str
    interval: str
    only_old: int
    only_new: int
    verdict: str
    p: str
    css: str


def side_by_side_page(
    old: StoredRun, new: StoredRun, level: float = 0.05, finding: str = ""
) -> str:
    """Render the page of two runs: accuracies, the ladder, and the cases that flipped.

    `level` is that of the test that decides whether the runs differ, as in the gate for CI. The
    gate writes its own verdict as the `finding` at the top.
    """
    a, b = old.results(), new.results()
    pair = paired(a, b, 1 - level)
    groups = [group for group in _groups(a, b) if group.count or group.heading == NEWLY_BROKEN]
    groups = groups if pair.shared else []
    has_pictures = any(side.pictures for g in groups for one in g.cases for side in one.sides)
    return render_page(
        "side_by_side.html.jinja",
        f"{old.name} → {new.name}",
        has_pictures=has_pictures,
        runs=[
            (when, run.name, describe_run(run.manifest), len(rows))
            for when, run, rows in (("old", old, a), ("new", new, b))
        ],
        finding=finding
        or verdict_sentence(old.manifest, pair, level) + _without_edits(pair, level),
        notes=not_comparable(old, new),
        rows=_comparisons(old, new, pair, paired_levels(a, b, 1 - level), level),
        shared=plural(pair.shared, "shared cases"),
        rule=f"McNemar's exact test decides, with p below {level:g}. Ranges are approximate "
        f"{100 * (1 - level):g}% intervals of the difference.",
        groups=groups,
    )


def verdict_sentence(manifest: Mapping[str, Any], pair: Paired, level: float) -> str:
    """Say in one sentence whether the new run is better, worse, or neither.

    >>> from brittle.metrics.samples import sample_results
    >>> verdict_sentence({}, paired(sample_results(), sample_results()), 0.05)
    'No difference: accuracy under attack is the same over 7 shared cases.'
    """
    translates = answers_texts(manifest)
    figure, what = pair.accuracy, "accuracy under attack"
    if translates:
        figure, what = pair.success, "attack success"
    if figure.difference is None:
        return "The two runs share no case that can be compared."
    cases = plural(figure.of, "shared cases")
    if not figure.only_a and not figure.only_b:
        return f"No difference: {what} is the same over {cases}."
    points = f"{100 * abs(figure.difference):.1f} points over {cases}, p = {figure.p:.3g}"
    moved = "rose" if figure.difference > 0 else "fell"
    if not figure.is_significant(level):
        by = f"{moved} by {points}" if figure.difference else f"is the same over {cases}"
        return f"No clear difference: {what} {by}."
    is_better = (figure.difference > 0) != translates
    return f"The new run is {'better' if is_better else 'worse'}: {what} {moved} by {points}."


def _without_edits(pair: Paired, level: float) -> str:
    """Say that the accuracy without edits changed, if the test decides that it did."""
    before = pair.before
    if not before.is_significant(level) or before.difference is None:
        return ""
    moved = "rose" if before.difference > 0 else "fell"
    return f" Accuracy without edits {moved} by {100 * abs(before.difference):.1f} points."


def not_comparable(old: StoredRun, new: StoredRun) -> list[str]:
    """Say what a reader must not compare: other data, attacks or settings, missing cases."""
    a, b = old.manifest, new.manifest
    ids = [{row.case for row in run.results()} for run in (old, new)]
    lines = [
        f"{name} is incomplete: {number(len(own))} of {plural(manifest['examples'], 'cases')}."
        for name, manifest, own in zip(("The old run", "The new run"), (a, b), ids)
        if manifest.get("examples") and len(own) < manifest["examples"]
    ]
    if answers_texts(a) != answers_texts(b):
        lines.append(
            "One run attacks a translator and the other a classifier: do not compare them."
        )
    if a.get("data") != b.get("data"):
        lines.append(
            _other("data", a.get("data"), b.get("data"), "Only shared texts are compared.")
        )
    elif a.get("content") != b.get("content") and a.get("content") and b.get("content"):
        lines.append("The data has the same name in both runs, but other contents.")
    for name, manifest in (("old", a), ("new", b)):
        lines += [f"In the {name} run, {note}" for note in normalised_notes(manifest)]
    lines += differing_entries(a, b).values()
    left = [plural(len(own - other), "cases") for own, other in (ids, ids[::-1])]
    if ids[0] != ids[1]:
        lines.append(f"Left out: {left[0]} of the old run only, {left[1]} of the new run only.")
    if a.get("fingerprint") and a.get("fingerprint") == b.get("fingerprint"):
        lines.append("Both runs attack the same model: no difference comes from the model.")
    return lines


def differing_entries(old: Mapping[str, Any], new: Mapping[str, Any]) -> dict[str, str]:
    """Return how two manifests differ in what two runs must have in common, by entry."""
    lines = {}
    for key, name, why in DIFFERENT:
        if old.get(key) != new.get(key) and not (
            key == "settings" and old.get("attack") != new.get("attack")
        ):
            lines[key] = _other(name, *_differing(old.get(key), new.get(key)), why)
    return lines


def _other(name: str, old: Any, new: Any, why: str) -> str:
    return f"Other {name}: {_written(old)} (old), {_written(new)} (new). {why}"


def _differing(old: Any, new: Any) -> tuple[Any, Any]:
    """Keep of two mappings the entries that differ."""
    if not (isinstance(old, Mapping) and isinstance(new, Mapping)):
        return old, new
    names = [name for name in {**old, **new} if old.get(name) != new.get(name)]
    return {n: old.get(n) for n in names}, {n: new.get(n) for n in names}


def _written(value: Any) -> str:
    if isinstance(value, Mapping):
        return ", ".join(f"{name} {entry}" for name, entry in value.items()) or "none"
    return "none" if value is None else str(value)


def _comparisons(
    old: StoredRun,
    new: StoredRun,
    pair: Paired,
    levels: Mapping[str, Contrast],
    level: float,
) -> list[Comparison]:
    """List the accuracies without and with edits, from gentle to rough, and the success."""
    named: list[tuple[str, Contrast]] = []
    if not (answers_texts(old.manifest) or answers_texts(new.manifest)):
        named = [("accuracy without edits", pair.before)]
        named += [(f"after {LEVELS[name].title}", one) for name, one in levels.items()]
        if not levels:
            named.append(("accuracy under attack", pair.accuracy))
    named.append(("attack success", pair.success))
    return [
        _comparison(name, one, level, is_good=name != "attack success")
        for name, one in named
        if one.of
    ]


def _comparison(name: str, figure: Contrast, level: float, is_good: bool) -> Comparison:
    """Compare one share; `is_good` says whether more of it is better."""
    old, new = (figure.both + figure.only_a) / figure.of, (figure.both + figure.only_b) / figure.of
    difference = figure.difference or 0.0
    p = "p < 0.001" if figure.p < 0.001 else f"p = {figure.p:.3f}"
    word, css = "no clear difference", ""
    if figure.is_significant(level):
        is_better = (difference > 0) == is_good
        word, css = ("better", "is-better") if is_better else ("worse", "is-worse")
    return Comparison(
        name,
        old,
        new,
        f"{100 * difference:+.1f}" if difference else "0.0",
        f"{100 * (figure.low or 0):+.1f} to {100 * (figure.high or 0):+.1f}",
        figure.only_a,
        figure.only_b,
        word,
        p,
        css,
    )


def _groups(old: Sequence[Result], new: Sequence[Result]) -> Iterator[Group]:
    """Yield the cases that flipped, newly broken ones first, then those that are as they were."""
    later = {row.case: row for row in new}
    pairs = [(row, later[row.case]) for row in old if row.case in later]
    held = [(x, y) for x, y in pairs if is_right_after(x)]
    broken = [(x, y) for x, y in pairs if x.status == "broken"]
    yield _group(
        *(NEWLY_BROKEN, "newly broken", "is-broken"),
        "Right in the old run, broken in the new one.",
        [(x, y) for x, y in held if y.status == "broken"],
    )
    yield _group(
        *("Newly wrong", "newly wrong", "is-broken"),
        "Right in the old run, wrong without any edit in the new one.",
        [(x, y) for x, y in held if _is_wrong(y)],
    )
    yield _group(
        *("Mended", "mended", "is-held"),
        "Broken in the old run by these edits, right in the new one.",
        [(x, y) for x, y in broken if is_right_after(y) and y.status != "skipped"],
        uses_old=True,
    )
    yield _group(
        *("Not tested any more", "not tested", "is-not-tested"),
        "Broken in the old run by these edits, not tested in the new one.",
        [(x, y) for x, y in broken if is_right_after(y) and y.status == "skipped"],
        uses_old=True,
    )
    both = [(x, y) for x, y in broken if y.status == "broken"]
    for heading, about, sign in BOTH:
        own = [(x, y) for x, y in both if _sign(_gentleness(x) - _gentleness(y)) == sign]
        yield _group(heading, heading.lower(), "is-broken", about, own, is_folded=True)


def _sign(value: int) -> int:
    return (value > 0) - (value < 0)


def _is_wrong(row: Result) -> bool:
    return row.status == "skipped" and row.predicted != row.label


def _group(
    heading: str,
    word: str,
    css: str,
    about: str,
    pairs: Sequence[tuple[Result, Result]],
    uses_old: bool = False,
    is_folded: bool = False,
) -> Group:
    """Show cases with the gentlest edits first: those of the old run if the group `uses_old`."""
    by_case = {x.case: (x, y) for x, y in pairs}
    edited = [x if uses_old else y for x, y in pairs]
    order = sorted(_clearest_first(edited), key=_gentleness)[:MAX_CASES]
    cases = [_flipped(*by_case[row.case], row, both=is_folded) for row in order]
    more = len(pairs) - len(cases)
    return Group(heading, word, css, about, len(pairs), cases, more, is_folded)


def _clearest_first(rows: Sequence[Result]) -> list[Result]:
    """Put broken cases in the order of their clearness; others stay behind, as they are."""
    first = clearest(rows, len(rows))
    taken = {row.case for row in first}
    return first + [row for row in rows if row.case not in taken]


def _gentleness(row: Result) -> int:
    return rank(row.level) if row.level and row.level in LEVELS else len(LEVELS)


def _flipped(old: Result, new: Result, row: Result, both: bool) -> FlippedCase:
    """Show a case with the edits of one run, or of both."""
    sides = [_side("old", old), _side("new", new)] if both else [_side("", row)]
    level = LEVELS[row.level].title if row.level and row.level in LEVELS else ""
    return FlippedCase(row.case, str(row.label or ""), level, sides)


def _side(name: str, row: Result) -> Side:
    about, after, pictures = "", "", []
    if row.status == "broken":
        after = _answered(row.adversarial_label, row.adversarial_confidence)
        about = f"{number(row.words_changed)} of {plural(row.words, 'words')} changed"
    if row.l2 is not None:
        about = f"by at most {row.linf:.3f}" if row.linf is not None else ""
        images = (("original", row.original), ("adversary", row.adversarial))
        pictures = [(alt, embedded_picture(item)) for alt, item in images if item]
    fields = [] if row.l2 is not None else _marked(row)
    return Side(name, _answered(row.predicted, row.confidence), after, about, fields, pictures)


def _marked(row: Result) -> list[MarkedField]:
    """Return the fields of a text with the edits of its run."""
    context = CONTEXT_CHARACTERS if len(row.original) > LONG_TEXT_CHARACTERS else None
    shown = shown_fields(row)
    fields = []
    for name, raw, edits in shown:
        parts = [
            part if isinstance(part, str) else (_short(part.old), _short(part.new))
            for part in split_at_edits(raw, edits, context)
        ]
        fields.append(MarkedField(name if len(shown) > 1 else "", parts))
    return fields


def _short(words: str) -> str:
    return cut(words, CONTEXT_CHARACTERS, CONTEXT_CHARACTERS)


def _answered(label: str | None, confidence: float | None) -> str:
    if label is None:
        return ""
    shown = label_in_words(label)
    return shown if confidence is None else f"{shown} {percent(confidence, 0)}"

"""Rules, what a corpus is exposed to, and what rules do to targets: for people and programs."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict
from typing import Any

from brittle.answers import find_label
from brittle.candidates.rules import Rule, Rules, row_of
from brittle.errors import unknown
from brittle.formatting import attack_in_words, percent, plural
from brittle.metrics.summary import Figure
from brittle.reports.study_page import Plain, StudyPage, StudyView
from brittle.reports.table import Table
from brittle.studies.rules.evaluation import (
    ALL,
    MATCHED,
    SHARES,
    Exposure,
    RuledText,
    by_class,
    success,
    words_changed,
)

Rows = Mapping[str, Mapping[str, list[RuledText]]]
"""The texts of every target, by the name of the rules."""
TRIED: Mapping[str, Any] = {"share": max(SHARES), **MATCHED}


def choose_rules(rules: Rules, label: str | None = None, word: str | None = None) -> list[Rule]:
    """Return the rules of a label, and those with a word or substitute."""
    if label is not None:
        if (number := find_label(label, rules.labels)) is None:
            raise unknown("label", label, rules.labels)
        label = rules.labels[number]
    word = None if word is None else word.lower()
    return [
        rule
        for rule in rules.rules
        if label in (None, rule.label) and word in (None, rule.word, rule.substitute)
    ]


def rules_view(rules: Rules, chosen: Sequence[Rule], count: int) -> StudyView:
    """Return what is shown of the chosen rules, the first `count` of them."""
    shown = chosen[:count]
    members = ", ".join(rules.about.get("members", ())) or "no model"
    candidates = rules.about.get("candidates", "unknown")
    source = f"{rules.about.get('method', 'unknown')}, candidates={candidates}, {members}"
    texts = plural(rules.about.get("texts", 0), "texts")
    data = f"{texts} of {rules.about.get('data', 'unknown data')}"
    about = f"{plural(len(chosen), 'rules')} ({source}; {data}), {len(shown)} shown"
    rows = [_rule_row(rule, rules) for rule in shown]
    return _view(Plain(about), *_table(rows))


def rules_json(rules: Rules, chosen: Sequence[Rule], count: int) -> dict[str, Any]:
    """Return the first chosen rules, and what they are mined from, for programs."""
    return {**rules.about, "rules": [row_of(rule, rules.labels) for rule in chosen[:count]]}


def _rule_row(rule: Rule, rules: Rules) -> dict[str, str]:
    held_out = f"{rule.confirmed}/{rule.held_out}" if rule.held_out else "–"
    row = {
        "label": rule.label,
        "rule": str(rule),
        "salience": f"{rule.salience:.3f}",
        "support": str(rule.support),
        "held out": held_out,
    }
    pairs = zip(rules.labels, rule.pmi_word, rule.pmi_substitute)
    return row | {f"PMI {label}": f"{a:.2f} → {b:.2f}" for label, a, b in pairs}


def exposure_view(found: Exposure, count: int) -> StudyView:
    """Return what a corpus is exposed to, with the `count` most frequent rules."""
    labels = [
        {
            "label": part.label,
            "texts": f"{part.texts:,}",
            "with a rule": percent(part.exposed_texts / part.texts if part.texts else None),
            "words with a rule": percent(part.exposed_words / part.words if part.words else None),
        }
        for part in found.by_label
    ]
    rules = [
        {"label": r.label, "rule": str(r), "salience": f"{r.salience:.3f}", "occurrences": str(n)}
        for r, n in found.rules[:count]
    ]
    return _view(Plain(attack_in_words("rules", MATCHED)), *_table(labels), *_table(rules))


def exposure_json(found: Exposure, count: int) -> dict[str, Any]:
    """Return what a corpus is exposed to for programs."""
    return {
        "settings": dict(MATCHED),
        "by_label": [asdict(part) for part in found.by_label],
        "rules": [
            {"label": r.label, "word": r.word, "substitute": r.substitute, "occurrences": n}
            for r, n in found.rules[:count]
        ],
    }


def tried_view(rows: Rows, forms: Mapping[str, str], names: Sequence[str]) -> StudyView:
    """Return what rules do to targets, whose classes are `forms`, by the names of the rules."""
    parts: list[Any] = [Plain(attack_in_words("rules", TRIED))]
    for name in names:
        for part, table in _parts(rows, forms, name).items():
            parts.append(Plain(f"\n{name}, by {part} (of the texts that a target gets right):"))
            own = [
                {part: row} | {what: _with_interval(figure) for what, figure in figures.items()}
                for row, figures in table.items()
            ]
            parts += _table(own)
    return _view(*parts)


def tried_json(
    rows: Rows, forms: Mapping[str, str], names: Sequence[str], failures: Mapping[str, str]
) -> dict[str, Any]:
    """Return what rules do to targets for programs."""
    return {
        "settings": dict(TRIED),
        "failures": dict(failures),
        "rules": {
            name: {
                part: {
                    row: {what: asdict(figure) for what, figure in figures.items()}
                    for row, figures in table.items()
                }
                for part, table in _parts(rows, forms, name).items()
            }
            for name in names
        },
    }


def _parts(rows: Rows, forms: Mapping[str, str], name: str) -> dict[str, dict[str, Any]]:
    """Return the figures of one set of rules: by class at the highest share, and by share."""
    classes = by_class({target: sets[name] for target, sets in rows.items()}, forms)
    return {
        "models": {form: _figures(own, max(SHARES)) for form, own in classes.items()},
        "share of words": {f"{share:.0%}": _figures(classes[ALL], share) for share in SHARES},
    }


def _figures(rows: Sequence[RuledText], share: float) -> dict[str, Figure]:
    return {
        "first prefix": success(rows, share),
        "at the limit": success(rows, share, "limit"),
        "words changed": words_changed(rows, share),
    }


def _with_interval(figure: Figure) -> str:
    if figure.low is None or figure.high is None:
        return percent(figure.value)
    return f"{percent(figure.value)} ({percent(figure.low)}–{percent(figure.high)})"


def _table(rows: Sequence[Mapping[str, Any]]) -> list[Table]:
    return [Table.of(rows, keeps_words=True)] if rows else []


def _view(*terminal: Any) -> StudyView:
    """Return what the terminal shows; rules have no page."""
    return StudyView(StudyPage("Rules"), terminal)

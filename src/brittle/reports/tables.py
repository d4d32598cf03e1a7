"""The tables of the page: words and parts of speech that break, and labels that change."""

from __future__ import annotations

from collections.abc import Sequence

from brittle.formatting import number, percent, plural
from brittle.metrics.confusion import Confusion, Matrix
from brittle.metrics.words import (
    MOST_TAGGED,
    BrokenWord,
    PartOfSpeech,
    parts_that_break,
    words_that_break,
)
from brittle.reports.escaping import escape, isolate
from brittle.reports.figures import bar
from brittle.results import Result

MAX_WORDS = 15
MAX_REPLACEMENTS = 4
MAX_LABELS = 12
MIN_STACKED_LABELS = 6  # two such tables beside each other would be cut
MAX_CONFUSIONS = 20
MAX_CHARACTERS = 40


def words_table(results: Sequence[Result]) -> str:
    """List the words changed most often in broken cases, with what replaced them."""
    words = words_that_break(results)
    if not words:
        return ""
    rows = "".join(_word_row(word) for word in words[:MAX_WORDS])
    more = len(words) - MAX_WORDS
    changed = plural(more, ("more word was", "more words were"))
    others = f" {changed} changed in broken cases." if more > 0 else ""
    return (
        '<div class="card"><h3>words</h3><div class="scroll"><table class="words"><thead><tr>'
        '<th scope="col">word</th><th scope="col" class="n">broken</th><th scope="col">share</th>'
        f'<th scope="col">became</th></tr></thead><tbody>{rows}</tbody></table></div>'
        '<p class="small">Broken cases in which the word was changed, of the attacked cases that '
        f"contain it; the bar is that share. The most frequent come first.{others}</p></div>"
    )


def parts_table(results: Sequence[Result]) -> str:
    """Show for every part of speech how many of its words were changed in broken cases."""
    parts = parts_that_break(results)
    is_cut = sum(part.of for part in parts) >= MOST_TAGGED
    words = f"The first {plural(MOST_TAGGED, 'words')}" if is_cut else "Words"
    rows = "".join(_part_row(part) for part in parts)
    return (
        '<div class="card"><h3>parts of speech</h3><div class="scroll"><table class="parts"><thead>'
        '<tr><th scope="col">part</th><th scope="col" class="n">changed</th><th scope="col"></th>'
        '<th scope="col" class="n">share</th></tr></thead>'
        f'<tbody>{rows}</tbody></table></div><p class="small">{words} of broken cases: how '
        "many were changed, of all words of that kind.</p></div>"
    )


def confusion_section(tables: Confusion) -> str:
    """Show both confusion tables, or, with many labels, the confusions that grew most."""
    if len(tables.labels) > MAX_LABELS:
        body = _grown_table(tables)
    else:
        before = _matrix(tables.labels, tables.before, "before")
        after = _matrix(tables.labels, tables.after, "under attack")
        names = "pair stacked" if len(tables.labels) >= MIN_STACKED_LABELS else "pair"
        body = f'<div class="{names}">{before}{after}</div>'
    return (
        f'<section><h2>Confusion matrix</h2>{body}<p class="small">'
        f"{plural(tables.of, 'examples answered')}: rows are the reference, columns what the "
        "target predicts.</p></section>"
    )


def _word_row(broken: BrokenWord) -> str:
    word = _shown(broken.word) if broken.word else "<i>(inserted)</i>"
    became = ", ".join(
        (_shown(new) if new else "<i>(deleted)</i>")
        + (f"&nbsp;<small>×{number(count)}</small>" if count > 1 else "")
        for new, count in broken.replacements[:MAX_REPLACEMENTS]
    )
    more = len(broken.replacements) - MAX_REPLACEMENTS
    became += f" <small>and {number(more)} more</small>" if more > 0 else ""
    share = broken.count / broken.seen if broken.seen else 0.0
    return (
        f'<tr><th scope="row">{word}</th><td class="n">{number(broken.count)}'
        f"<small> of {number(broken.seen)}</small></td><td>{bar(share, percent(share))}</td>"
        f"<td>{became}</td></tr>"
    )


def _part_row(part: PartOfSpeech) -> str:
    share = part.count / part.of if part.of else 0.0
    return (
        f'<tr><th scope="row">{escape(part.name)}</th><td class="n">{number(part.count)}'
        f"<small> of {number(part.of)}</small></td><td>{bar(share, percent(share))}</td>"
        f'<td class="n">{percent(share)}</td></tr>'
    )


def _shown(word: str) -> str:
    """Write a word as HTML, cut where it is too wide: a "word" may be a megabyte long."""
    return isolate(_cut(word))


def _cut(word: str) -> str:
    return word if len(word) <= MAX_CHARACTERS else word[: MAX_CHARACTERS - 2] + "…"


def _matrix(labels: Sequence[str], matrix: Matrix, name: str) -> str:
    head = "".join(f'<th scope="col">{_shown(label)}</th>' for label in labels)
    rows = []
    for i, (label, row) in enumerate(zip(labels, matrix)):
        total = sum(row)
        cells = "".join(
            f'<td class="{"right" if i == j else "wrong"} heat-{_heat(count, total)}" '
            f'title="{_cell_value(count, total, label, labels[j])}">{number(count)}</td>'
            for j, count in enumerate(row)
        )
        rows.append(f'<tr><th scope="row">{_shown(label)}</th>{cells}</tr>')
    return (
        f'<div class="card"><h3>{name}</h3><div class="scroll"><table class="confusion"><thead><tr>'
        f"<td></td>{head}</tr></thead><tbody>{''.join(rows)}</tbody></table></div></div>"
    )


def _cell_value(count: int, total: int, label: str, predicted: str) -> str:
    """Write as an attribute what a cell says on hover: its share of the row."""
    share = f" ({percent(count / total)})" if total else ""
    words = f"{number(count)} of {number(total)} {_cut(label)}{share} predicted {_cut(predicted)}"
    return escape(words)


def _heat(count: int, total: int) -> int:
    """Return a cell's share of its row in tenths, at least 1 unless the cell is empty."""
    return max(1, round(10 * count / total)) if count else 0


def _grown_table(tables: Confusion) -> str:
    """Show the confusions that grew most under attack."""
    pairs = [
        (after - before, before, after, tables.labels[i], tables.labels[j])
        for i, (old, new) in enumerate(zip(tables.before, tables.after))
        for j, (before, after) in enumerate(zip(old, new))
        if i != j and before + after
    ]
    pairs.sort(key=lambda pair: (-pair[0], -pair[2], pair[3], pair[4]))
    rows = "".join(
        f'<tr><th scope="row">{_shown(label)}</th>'
        f"<td>{_shown(predicted)}</td>"
        f'<td class="n">{number(before)}</td><td class="n">{number(after)}</td></tr>'
        for _, before, after, label, predicted in pairs[:MAX_CONFUSIONS]
    )
    return (
        '<div class="card"><div class="scroll"><table><thead><tr><th scope="col">reference</th>'
        '<th scope="col">predicted</th><th scope="col" class="n">before</th>'
        '<th scope="col" class="n">under attack</th></tr></thead>'
        f'<tbody>{rows}</tbody></table></div><p class="small">'
        f"{plural(len(tables.labels), 'labels')}: the {MAX_CONFUSIONS} confusions that grew most."
        "</p></div>"
    )

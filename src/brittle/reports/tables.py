"""The page's tables: words and parts of speech that break, and who is taken for whom."""

from __future__ import annotations

from collections.abc import Sequence

from brittle.formatting import number, percent
from brittle.metrics.confusion import Confusion, Matrix
from brittle.metrics.words import MOST_TAGGED, BrokenWord, parts_that_break, words_that_break
from brittle.reports.figures import bar
from brittle.reports.summaries import escaped
from brittle.results import Result

MOST_WORDS = 15
MOST_LABELS = 12


def words_table(results: Sequence[Result]) -> str:
    """List the words changed most often in broken cases, with what replaced them."""
    found = words_that_break(results)
    if not found:
        return ""
    rows = "".join(_word_row(broken, found[0].count) for broken in found[:MOST_WORDS])
    more = len(found) - MOST_WORDS
    others = f"; {number(more)} other words broke too" if more > 0 else ""
    told = (
        '<p class="small">Won cases in which the word was changed, of the attacked cases that '
        f"contain it{others}.</p>"
    )
    return (
        '<div class="card"><h3>words</h3><div class="scroll"><table class="words"><thead><tr>'
        '<th scope="col">word</th><th scope="col" class="n">broke</th><th scope="col"></th>'
        f'<th scope="col">became</th></tr></thead><tbody>{rows}</tbody></table></div>{told}</div>'
    )


def parts_table(results: Sequence[Result]) -> str:
    """Show for every part of speech how much of it was changed in broken cases."""
    parts = parts_that_break(results)
    changed = sum(part.count for part in parts)
    is_all = sum(part.of for part in parts) < MOST_TAGGED
    which = (
        "Words of broken cases"
        if is_all
        else f"The first {number(MOST_TAGGED)} words of broken cases"
    )
    rows = "".join(
        f'<tr><th scope="row">{escaped(part.name)}</th><td class="n">{number(part.count)}</td>'
        f"<td>{bar(part.count / changed if changed else 0)}</td>"
        f'<td class="n">{percent(part.count / part.of)}</td></tr>'
        for part in parts
    )
    return (
        '<div class="card"><h3>parts of speech</h3><div class="scroll"><table class="parts"><thead>'
        '<tr><th scope="col">part</th><th scope="col" class="n">changed</th><th scope="col"></th>'
        '<th scope="col" class="n">of all</th></tr></thead>'
        f'<tbody>{rows}</tbody></table></div><p class="small">{which}: how many were '
        "changed, and which share of all words of that kind.</p></div>"
    )


def confusion_section(tables: Confusion) -> str:
    """Show both confusion tables, or, with many labels, the confusions that grew most."""
    if len(tables.labels) > MOST_LABELS:
        body = _grown(tables)
    else:
        before = _matrix(tables.labels, tables.before, "before")
        after = _matrix(tables.labels, tables.after, "under attack")
        body = f'<div class="pair">{before}{after}</div>'
    return (
        f'<section><h2>What is taken for what</h2>{body}<p class="small">{number(tables.of)} '
        "examples answered: rows are the reference, columns what the target says.</p></section>"
    )


def _word_row(broken: BrokenWord, most: int) -> str:
    word = f"<bdi>{escaped(_short(broken.word))}</bdi>" if broken.word else "<i>(inserted)</i>"
    became = ", ".join(
        (f"<bdi>{escaped(_short(new))}</bdi>" if new else "<i>(deleted)</i>")
        + (f"&nbsp;<small>×{number(count)}</small>" if count > 1 else "")
        for new, count in broken.replacements[:4]
    )
    more = len(broken.replacements) - 4
    became += f" <small>and {number(more)} more</small>" if more > 0 else ""
    return (
        f'<tr><th scope="row">{word}</th><td class="n">{number(broken.count)}'
        f"<small> of {number(broken.seen)}</small></td><td>{bar(broken.count / most)}</td>"
        f"<td>{became}</td></tr>"
    )


def _short(word: str) -> str:
    """Cut what would tear a table apart: a "word" may be a megabyte long."""
    return word if len(word) <= 40 else word[:38] + "…"


def _matrix(labels: Sequence[str], matrix: Matrix, name: str) -> str:
    head = "".join(f'<th scope="col"><bdi>{escaped(_short(label))}</bdi></th>' for label in labels)
    rows = []
    for i, (label, row) in enumerate(zip(labels, matrix)):
        total = sum(row)
        cells = "".join(
            f'<td class="{"right" if i == j else "wrong"} heat-{_heat(count, total)}">'
            f"{number(count)}</td>"
            for j, count in enumerate(row)
        )
        rows.append(f'<tr><th scope="row"><bdi>{escaped(_short(label))}</bdi></th>{cells}</tr>')
    return (
        f'<div class="card"><h3>{name}</h3><div class="scroll"><table class="confusion"><thead><tr>'
        f"<td></td>{head}</tr></thead><tbody>{''.join(rows)}</tbody></table></div></div>"
    )


def _heat(count: int, total: int) -> int:
    """Grade a cell's share of its row in tenths; a single case is never shown as none."""
    return max(1, round(10 * count / total)) if count else 0


def _grown(tables: Confusion) -> str:
    pairs = [
        (after - before, before, after, tables.labels[i], tables.labels[j])
        for i, (old, new) in enumerate(zip(tables.before, tables.after))
        for j, (before, after) in enumerate(zip(old, new))
        if i != j and before + after
    ]
    pairs.sort(key=lambda pair: (-pair[0], -pair[2], pair[3], pair[4]))
    rows = "".join(
        f'<tr><th scope="row"><bdi>{escaped(_short(label))}</bdi></th>'
        f"<td><bdi>{escaped(_short(taken))}</bdi></td>"
        f'<td class="n">{number(before)}</td><td class="n">{number(after)}</td></tr>'
        for _, before, after, label, taken in pairs[:20]
    )
    return (
        '<div class="card"><div class="scroll"><table><thead><tr><th scope="col">reference</th>'
        '<th scope="col">taken for</th><th scope="col" class="n">before</th>'
        '<th scope="col" class="n">under attack</th></tr></thead>'
        f'<tbody>{rows}</tbody></table></div><p class="small">{number(len(tables.labels))} labels: '
        "the 20 confusions that grew most.</p></div>"
    )

"""What character attacks edited: flips, inserts, deletes, and how much of the text."""

from __future__ import annotations

from collections.abc import Sequence

from brittle.formatting import number, percent, plural
from brittle.metrics.operations import is_by_characters, operations
from brittle.reports.figures import bar
from brittle.reports.summary_lines import format_interval
from brittle.results import Result


def character_edits_section(results: Sequence[Result]) -> str:
    """Show the operations of a character attack; nothing for attacks that replace words."""
    if not is_by_characters(results):
        return ""
    edits = operations(results)
    rows = "".join(
        f'<tr><th scope="row">{name}</th><td class="n">{number(edits.counts[name])}</td>'
        f'<td>{bar(share)}</td><td class="n">{percent(share)}</td></tr>'
        for name, share in edits.shares.items()
    )
    mean = edits.share
    return (
        '<section><h2>What was edited</h2><div class="pair uneven"><div class="card">'
        '<h3>characters</h3><div class="scroll"><table class="parts"><thead><tr>'
        '<th scope="col">operation</th><th scope="col" class="n">count</th><th scope="col"></th>'
        f'<th scope="col" class="n">share</th></tr></thead><tbody>{rows}</tbody></table></div>'
        '<p class="small">The fewest flips (replaced characters), inserts and deletes that make '
        "the adversarial texts of broken cases; of equally short ways, the one with most flips.</p>"
        '</div><div class="cards single"><div class="card"><h3>share of characters</h3>'
        f'<p class="value">{percent(mean.value)}</p>'
        f'<p class="within">{format_interval(mean, percent)}</p>'
        f'<p class="over">mean over {plural(mean.of, mean.over)}: edits over the characters of '
        "the original</p></div></div></div></section>"
    )

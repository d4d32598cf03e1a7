"""The section on the nearest words of edited words; it needs a target, not only the store."""

from __future__ import annotations

from collections.abc import Sequence

from brittle.reports.escaping import escape, isolate

Row = tuple[str, str, Sequence[str], Sequence[str]]
"""A word, its edited form, and the words nearest to each, the nearest first."""


def nearest_section(rows: Sequence[Row], layer: str) -> str:
    """Show the nearest words of each word beside those of its edited form."""
    if not rows:
        return ""
    body = "".join(
        f'<tr><th scope="row">{isolate(word)} → {isolate(edited)}</th>'
        f"<td>{', '.join(map(isolate, before))}</td><td>{', '.join(map(isolate, after))}</td></tr>"
        for word, edited, before, after in rows
    )
    return (
        '<section><h2>What edited words look like to the target</h2><div class="card">'
        '<div class="scroll"><table class="words"><thead><tr><th scope="col">edit</th>'
        '<th scope="col">nearest before</th><th scope="col">nearest after</th></tr></thead>'
        f"<tbody>{body}</tbody></table></div>"
        f'<p class="small">The nearest words of the vocabulary by cosine, at the layer '
        f"{escape(layer)}, for words that one edit of a character changed.</p></div></section>"
    )

"""A section for the nearest words of edited words; they come from a target, not from the store."""

from __future__ import annotations

from collections.abc import Sequence

from brittle.reports.summaries import escaped

Row = tuple[str, str, Sequence[str], Sequence[str]]
"""A word, its edited form, and the words nearest before and after, the nearest first."""


def nearest_section(rows: Sequence[Row], layer: str) -> str:
    """Set the nearest words of each word beside those of what an edit made of it."""
    if not rows:
        return ""
    body = "".join(
        f'<tr><th scope="row"><bdi>{escaped(word)}</bdi> → <bdi>{escaped(edited)}</bdi></th>'
        f"<td>{_listed(before)}</td><td>{_listed(after)}</td></tr>"
        for word, edited, before, after in rows
    )
    return (
        '<section><h2>What edited words look like to the target</h2><div class="card">'
        '<div class="scroll"><table class="words"><thead><tr><th scope="col">edit</th>'
        '<th scope="col">nearest before</th><th scope="col">nearest after</th></tr></thead>'
        f"<tbody>{body}</tbody></table></div>"
        f'<p class="small">The nearest words of the dictionary by cosine, at the layer '
        f"{escaped(layer)}, for words that one edit of a character changed.</p></div></section>"
    )


def _listed(words: Sequence[str]) -> str:
    return ", ".join(f"<bdi>{escaped(word)}</bdi>" for word in words)

"""What the page of natural adversaries of sentences must show, read from natural-texts.json.

`benchmarks/acceptance.py` prints it; `brittle papers natural-texts --json` writes the file.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import natural_items

Row = tuple[str, str, str]
PAPER = "natural-texts"
COMMAND = "brittle papers natural-texts --data FOLDER --translations FOLDER --json"
MISSING = "no figures of texts are there"
CODE, BOTH = "words rebuilt through the code", "words rebuilt through inverter and generator"
REVERSE, REAL = "reverse perplexity", "reverse perplexity of real sentences"


def generator(given: Any) -> Iterator[Row]:
    """The figures of the generator of sentences, which stand on its card."""
    figures = natural_items.load(given.papers, PAPER).get("generator of sentences")
    if not figures:
        yield MISSING, COMMAND, "not done"
        return
    rebuilt = f"words rebuilt on held-out sentences: {figures[CODE]:.1%} through the code, "
    rebuilt += f"{figures[BOTH]:.1%} through inverter and generator"
    perplexity = f"forward perplexity {figures['forward perplexity']:.0f}, reverse "
    perplexity += f"{figures[REVERSE]:.0f} (of as many real sentences {figures[REAL]:.0f})"
    yield rebuilt, COMMAND, natural_items.yes(0 < figures[BOTH] <= figures[CODE] <= 1)
    worse = figures[REVERSE] > figures[REAL]  # generated sentences cannot teach more than real ones
    yield perplexity, COMMAND, natural_items.yes(worse and figures["forward perplexity"] > 1)


def entailment(given: Any) -> Iterator[Row]:
    """The distances of the classifiers; where the order is another, the page has the reason."""
    content = natural_items.load(given.papers, PAPER)
    rows = content.get("entailment distance")
    if not rows:
        yield MISSING, COMMAND, "not done"
        return
    means = {name: row["distance"]["value"] for name, row in rows.items()}
    line = ", ".join(f"{name} {value:.2f}" for name, value in means.items())
    verdict = content["findings"]["farther"]["verdict"]
    page = (given.papers / f"{PAPER}.md").read_text("utf-8")
    told = verdict == "agrees" or "No reason yet" not in page
    yield f"Δz: {line}; the paper's order: {verdict}", COMMAND, natural_items.yes(told)


def probes(given: Any) -> Iterator[Row]:
    """The probes of translators, and how many sentences passed them."""
    rows = natural_items.load(given.papers, PAPER).get("probes")
    if not rows:
        yield MISSING, COMMAND, "not done"
        return
    for name, row in rows.items():
        found = row["found"]
        line = f"{name}: {found['count']} of {found['of']} sentences"
        yield line, COMMAND, natural_items.yes(found["count"] > 0)

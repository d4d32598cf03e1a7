"""The results as a page, from what results.json holds."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from brittle.metrics.intervals import wilson

GOALS = {
    "lstm pwws": 8.0,
    "minilm pwws, padding set by hand": 2.0,
    "minilm pwws": 15.0,
    "lstm genetic": 20.0,
}
"""How many times TextAttack's examples per second are asked for, in the page's order."""

HOTFLIP_WORDS, HOTFLIP_CHARACTERS = 15.0, 0.85
"""The same for HotFlip on words; on characters, the share of the bare network's passes/s."""


def page(content: Mapping[str, Any]) -> str:
    """Write the results as a page."""
    lines = ["# Benchmarks"]
    if content.get("rows"):
        lines += speeds(content) + successes(content["rows"]) + limits(content["rows"])
    if content.get("hotflip"):
        lines += hotflip(content["hotflip"], content.get("constrained"))
    return "\n".join([*lines, ""])


def speeds(content: Mapping[str, Any]) -> list[str]:
    """Write what was measured with what, and how many examples a second each side attacks."""
    rows = content["rows"]
    counts = [row["sentences"] for row in rows]
    lines = [
        "",
        f"The same {max(counts)} held-out MR sentences (the first {min(counts)} of them for "
        "TextAttack's own padding, which is slow), weights, candidate lists and "
        f"{content['threads']} threads; `make bench` measures it all. {versions(rows[0]['peer'])}",
        "",
        "| | TextAttack, examples/s | brittle, examples/s | ratio | asked for |",
        "|---|---|---|---|---|",
    ]
    lines += [speed(row["name"], row, row["sentences"], GOALS[row["name"]]) for row in rows]
    start = content.get("startup")
    if start:
        cells = f"{start['peer']:.2f} s | {start['ours']:.2f} s | {start['ratio']:.1f}×"
        lines.append(f"| start-up (CPU) | {cells} | ≥ 20× |")
        cells = f"{start['peer_with_wordnet']:.2f} s | {start['ours_with_wordnet']:.2f} s"
        cells += f" | {start['ratio_with_wordnet']:.1f}×"
        lines.append(f"| start-up, WordNet opened too (CPU) | {cells} | |")
    return lines


def speed(name: str, row: Mapping[str, Any], count: int, goal: float) -> str:
    """Write one line of examples a second on both sides."""
    theirs, mine = count / row["peer"]["seconds"], count / row["ours"]["seconds"]
    return f"| {name} | {theirs:.2f} | {mine:.2f} | {row['ratio']:.1f}× | ≥ {goal:g}× |"


def versions(peer: Mapping[str, Any]) -> str:
    """Write what TextAttack ran with."""
    names = (f"{name} {number}" for name, number in peer["versions"].items())
    return f"Versions: {', '.join(names)}."


def rate(side: Mapping[str, Any]) -> str:
    """Write a success rate with its interval."""
    broken, of = side["broken"], side["attacked"]
    if not of:
        return "none attacked"
    low, high = wilson(broken, of)
    return f"{broken / of:.1%} of {of} ({low:.1%} to {high:.1%})"


def successes(rows: Sequence[Mapping[str, Any]]) -> list[str]:
    """Write how often each side wins, and how many rows it computes for it."""
    lines = [
        "",
        "| | success, TextAttack | success, brittle | rows per example, TextAttack | brittle |",
        "|---|---|---|---|---|",
    ]
    for row in rows:
        theirs, mine = (row[side]["rows"] / row["sentences"] for side in ("peer", "ours"))
        rates = f"{rate(row['peer'])} | {rate(row['ours'])}"
        lines.append(f"| {row['name']} | {rates} | {theirs:.0f} | {mine:.0f} |")
    return lines


def limits(rows: Sequence[Mapping[str, Any]]) -> list[str]:
    """Write how near we come to the bare model, and where the rest of the time goes."""
    lines = [
        "",
        "Against the bare model on the same distinct rows, sorted, in batches of the best size; "
        "*bare* is the model as torch runs it, *scorer* brittle's own pass over the same weights:",
        "",
        "| | rows | bare, s | scorer, s | brittle, s | wall / bare | wall / scorer | engine, µs "
        "per text |",
        "|---|---|---|---|---|---|---|---|",
    ]
    first: dict[str, Mapping[str, Any]] = {}
    for row in rows:
        first.setdefault(row["name"].split(",")[0], row["ours"])
    for name, mine in first.items():
        cells = f"{mine['distinct_rows']:.0f} | {mine['bare_seconds']:.2f} | "
        cells += f"{mine['scorer_seconds']:.2f} | {mine['seconds']:.2f} | "
        cells += f"{mine['over_bare']:.2f} | {mine['over_scorer']:.2f} | "
        lines.append(f"| {name} | {cells}{mine['engine_microseconds']:.1f} |")
    lines += [
        "",
        "The engine's cost is a run with all answers known beforehand, divided by the texts asked.",
        "",
        "Where the time goes, in seconds:",
        "",
        "| | wall | scorer, ideal batches | engine, store and report rows | the rest |",
        "|---|---|---|---|---|",
    ]
    for name, mine in first.items():
        rest = mine["seconds"] - mine["scorer_seconds"] - mine["engine_seconds"]
        parts = [mine["seconds"], mine["scorer_seconds"], mine["engine_seconds"], rest]
        lines.append(f"| {name} | " + " | ".join(f"{part:.2f}" for part in parts) + " |")
    lines += [
        "",
        "The rest is what real rounds cost beyond ideal batches: smaller and less uniform ones, "
        "winners and a few originals scored alone, threads that wait for each other.",
    ]
    return lines


def hotflip(content: Mapping[str, Any], constrained: Mapping[str, Any] | None = None) -> list[str]:
    """Write the section on HotFlip, both levels."""
    words, characters = content["words"], content["characters"]
    head = f"{content['sentences']} held-out MR sentences, {content['threads']} threads. "
    return [
        "",
        "## HotFlip",
        "",
        head + versions(content),
        *on_words(words, content["sentences"], constrained),
        *on_characters(characters),
    ]


def on_words(
    words: Mapping[str, Any], count: int, constrained: Mapping[str, Any] | None
) -> list[str]:
    """Write how HotFlip on words compares with TextAttack's."""
    most, beam = words["settings"]["words"], words["settings"]["beam"]
    per = [words["peer"]["gradients"] / count, words["peer"]["rows"] / count]
    both = words["ours"]["rows"] / count
    return [
        "",
        f"**Words**, on {words['model']}: at most {most} words, a beam of {beam}, nothing asked of "
        f"their meaning. TextAttack tries the {words['peer']['candidates']} best swaps of every "
        "text it follows (its recipe takes one, and its beam of ten never holds more), has no "
        "dropout while it takes gradients, and the quicker of one and two threads of torch's: "
        f"{words['peer']['torch_threads']}. brittle follows, and tries, the {beam} best of a step.",
        "",
        "| | TextAttack, examples/s | brittle, examples/s | ratio | asked for |",
        "|---|---|---|---|---|",
        speed("hotflip words", words, count, HOTFLIP_WORDS),
        "",
        "| | success, TextAttack | success, brittle |",
        "|---|---|---|",
        f"| hotflip words | {rate(words['peer'])} | {rate(words['ours'])} |",
        *with_constraints(constrained),
        "",
        f"Per example TextAttack takes {per[0]:.1f} gradients and scores {per[1]:.1f} texts; "
        f"brittle computes {both:.1f} texts, a gradient of most of them in the same pass.",
    ]


def with_constraints(measured: Mapping[str, Any] | None) -> list[str]:
    """Write the success of HotFlip on words with the paper's constraints, if it was measured."""
    if measured is None:
        return []
    return [f"| with the paper's constraints, on {measured['model']} | | {rate(measured)} |"]


def on_characters(characters: Mapping[str, Any]) -> list[str]:
    """Write how near HotFlip on characters comes to the bare network."""
    mine, exact = characters["ours"], characters["exact"]
    passes, seconds = characters["passes"], mine["seconds"]
    lines = [
        "",
        f"**Characters**, on {characters['model']}: a beam of 10, the paper's constraints; "
        f"success {rate(mine)}. Texts a second whose gradient is taken, over a whole run "
        "(stored rows, and the texts that are only scored, included), against the bare network on "
        "the same texts: forward and back to the vectors of the characters, sorted by length.",
        "",
        "| | texts | seconds | texts/s | brittle / this | asked for |",
        "|---|---|---|---|---|---|",
        f"| brittle | {passes} | {seconds:.2f} | {passes / seconds:.0f} | | |",
    ]
    bare, single = characters["bare_seconds"], characters["single_seconds"]
    size = f"batches of {characters['bare_batch']:.0f}"
    for name, took, goal in (
        (f"bare network, {size}", bare, f"≥ {HOTFLIP_CHARACTERS:g}"),
        ("bare network, row by row", single, ""),
    ):
        ratio = characters["ratio"] if took == bare else took / seconds
        lines.append(
            f"| {name} | {passes} | {took:.2f} | {passes / took:.0f} | {ratio:.2f} | {goal} |"
        )
    lines += [
        "",
        f"The run also scores {characters['forward_rows']} texts without a gradient (originals, "
        "the last step of each search, winners alone). With the bare network's time for these, "
        f"{characters['forward_seconds']:.2f} s, the ratio is "
        f"{characters['ratio_with_forward']:.2f}.",
        "",
        f"One step from one text, on one thread, {exact['steps']} texts: by the exact loss of "
        f"every edit ({exact['edits']:.0f} on average) {exact['exact_seconds']:.2f} s, by gradient "
        f"{exact['gradient_seconds'] * 1000:.1f} ms: "
        f"{exact['exact_seconds'] / exact['gradient_seconds']:.0f}×.",
    ]
    return lines

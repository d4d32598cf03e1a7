"""Look inside the target of a run: what changed there in the cases that were broken."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from difflib import SequenceMatcher
from functools import partial
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from brittle.answers import Attention
from brittle.errors import UsageError, unknown
from brittle.inside.measures import AttendedText, InsideCase, InsideRun
from brittle.kinds import kind_named
from brittle.results import Result, has_adversary
from brittle.targets.protocols import Embeds, HasAttention, HasEmbeddings, Translates
from brittle.text import Text

MAX_MAP_WORDS = 60
"""Longer texts get no table of words × words, which nobody could read."""
DIGITS = 5
CASES_PER_CALL = 4
CROSS_ATTENTION = (
    "A translator has no summary position. The table shows cross-attention instead: the "
    "mean over the tokens of the translation, for each word of the source."
)

Array = NDArray[np.float64]


class BrokenRun(Protocol):
    """What is needed of a run."""

    @property
    def name(self) -> str: ...

    @property
    def manifest(self) -> dict[str, Any]: ...

    def results(self) -> list[Result]: ...


def broken_cases(run: BrokenRun, case: str | None = None, limit: int | None = None) -> list[Result]:
    """Return the broken cases of a run, or the one whose name begins with `case`."""
    if run.manifest.get("kind", "text") != "text":
        raise UsageError(
            f"The run {run.name!r} attacks pictures. Expected a run on texts, because "
            "only words have vectors and attention."
        )
    rows = run.results()
    broken = [row for row in rows if has_adversary(row)]
    if case is None:
        if not broken:
            raise UsageError(
                f"The run {run.name!r} has no broken case to compare before and after, "
                f"among {len(rows)} cases. Choose a run that broke a case."
            )
        return broken[:limit]
    chosen = [row for row in broken if row.case == case]
    chosen = chosen or [row for row in broken if row.case.startswith(case)]
    if len(chosen) > 1:
        names = ", ".join(row.case for row in chosen[:4])
        raise UsageError(
            f"{case!r} is the start of several case ids: {names}. Give one of them in full."
        )
    if not chosen:
        others = {row.case: row.status for row in rows}
        if case in others:
            raise UsageError(
                f"The case {case!r} is not broken but {others[case]}. Expected a broken "
                "case: only broken cases have a text before and after."
            )
        raise unknown("broken case", case, [row.case for row in broken])
    return chosen


def look_inside(
    run: BrokenRun, target: Any, rows: Sequence[Result], layer: str = "first"
) -> InsideRun:
    """Look at broken cases before and after, a few at a time: long texts have much attention."""
    layers: tuple[str, ...] = ()
    notes: dict[str, None] = {}
    cases: list[InsideCase] = []
    for start in range(0, len(rows), CASES_PER_CALL):
        few = rows[start : start + CASES_PER_CALL]
        pairs = [texts_of(run, row) for row in few]
        layers, looked = _look_at_few(target, pairs, layer, notes)
        cases += [replace(case, case=row.case) for case, row in zip(looked, few)]
    return InsideRun(
        run.name, target.name, target.fingerprint, layer, layers, tuple(notes), tuple(cases)
    )


def texts_of(run: BrokenRun, row: Result) -> tuple[Text, Text]:
    """Return the texts of a broken case, before and after."""
    locked = run.manifest.get("locked", [])
    kind: Any = kind_named("text")
    return kind.item(dict(row.fields), locked), kind.adversary(row, locked)


def _look_at_few(
    target: Any, pairs: Sequence[tuple[Text, Text]], layer: str, notes: dict[str, None]
) -> tuple[tuple[str, ...], list[InsideCase]]:
    texts = [text for pair in pairs for text in pair]
    offered = partial(_shown, notes, target)
    vectors = offered(Embeds, "vector of a text", lambda: target.sentence_embeddings(texts))
    attention = offered(HasAttention, "attention", lambda: target.attention(texts))
    states = offered(
        HasEmbeddings,
        "vectors of words",
        lambda: {name: target.embeddings(texts, name) for name in target.layers},
    )
    if vectors is None and attention is None and states is None:
        raise UsageError(
            f"The target {target.name!r} shows neither vectors nor attention. "
            f"{' '.join(notes)} Use a run on a network of the zoo or a transformers model."
        )
    sides = [AttendedText(words_in(text)) for text in texts]
    if attention is not None:
        if isinstance(target, Translates):
            notes[CROSS_ATTENTION] = None
        sides = [_attended(text, shown, layer) for text, shown in zip(texts, attention)]
    cases = []
    for n, ends in zip(range(0, len(texts), 2), pairs):
        compared, edited = align_words(*ends)
        rows = [(vectors_at[n], vectors_at[n + 1]) for vectors_at in (states or {}).values()]
        changes = tuple(_distances(before, after, compared) for before, after in rows)
        relative = vectors and _relative(vectors[n].vector, vectors[n + 1].vector)
        cases.append(InsideCase("", sides[n], sides[n + 1], compared, edited, changes, relative))
    return tuple(states or ()), cases


def _shown(
    notes: dict[str, None], target: Any, protocol: Any, noun: str, compute: Callable[[], Any]
) -> Any:
    """Compute what a target offers; what it does not is left out, and a note says so."""
    if not isinstance(target, protocol):
        notes[f"The target {target.name!r} shows no {noun}."] = None
        return None
    try:
        return compute()
    except UsageError as error:  # such as a tokenizer that does not know the offsets of tokens
        notes[f"No {noun}: {error}"] = None
        return None


def _relative(before: Array, after: Array) -> float | None:
    length = float(np.linalg.norm(before))
    return _rounded(float(np.linalg.norm(before - after)) / length) if length else None


def _attended(text: Text, shown: Attention, layer: str) -> AttendedText:
    """Average the heads of a layer; a summary of its own has one layer only."""
    layers = len(shown.weights)
    number = attention_layer(layer, layers)
    of_summary = number if len(shown.summary) == layers else 0
    summary = shown.summary[of_summary].mean(axis=0)
    rest = shown.summary_elsewhere
    weights = shown.weights[number].mean(axis=0)
    has_map = len(weights) == len(text) <= MAX_MAP_WORDS and len(text) > 1
    return AttendedText(
        words_in(text),
        tuple(map(_rounded, summary.tolist())),
        None if rest is None else _rounded(float(rest[of_summary].mean())),
        tuple(tuple(map(_rounded, row)) for row in weights.tolist()) if has_map else None,
    )


def attention_layer(layer: str, layers: int) -> int:
    """Return the index of the layer that `first`, `last` or a number from 1 names."""
    named = {"first": 0, "last": layers - 1}
    number = named.get(layer, int(layer) - 1 if layer.isdecimal() else -1)
    if not 0 <= number < layers:
        raise UsageError(
            f"Got --layer {layer}; expected first, last, or a number from 1 to {layers}, "
            "the number of attention layers of this target."
        )
    return number


def _distances(
    before: Array, after: Array, pairs: Sequence[tuple[int, int]]
) -> tuple[float | None, ...]:
    length = [float(np.linalg.norm(before[old] - after[new])) for old, new in pairs]
    return tuple(_rounded(value) if np.isfinite(value) else None for value in length)


def align_words(before: Text, after: Text) -> tuple[tuple[tuple[int, int], ...], tuple[int, ...]]:
    """Return the positions of words that stand in both texts, and the edited ones of the second.

    Where a field has as many words as before, a word is compared with the one at its position.
    Else words were inserted or deleted: equal words are compared, though they have moved.
    """
    pairs: list[tuple[int, int]] = []
    edited: list[int] = []
    for (low, high), (start, stop) in zip(before.frame.spans, after.frame.spans):
        old, new = before.words[low:high], after.words[start:stop]
        if len(old) == len(new):
            pairs += zip(range(low, high), range(start, stop))
            edited += [start + n for n, both in enumerate(zip(old, new)) if both[0] != both[1]]
            continue
        matcher = SequenceMatcher(None, old, new, autojunk=False)
        for kind, i, i_end, j, j_end in matcher.get_opcodes():
            if kind == "equal" or i_end - i == j_end - j:
                pairs += zip(range(low + i, low + i_end), range(start + j, start + j_end))
            if kind == "delete":  # the word that follows has moved up to where it stood
                edited += [start + min(j, len(new) - 1)] if new else []
            elif kind != "equal":
                edited += range(start + j, start + j_end)
    return tuple(pairs), tuple(edited)


def words_in(text: Text) -> tuple[str, ...]:
    return tuple(map(str, text.words))


def _rounded(value: float) -> float:
    return round(value, DIGITS)

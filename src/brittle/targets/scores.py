"""Scores of a target, checked row by row, and scores that are sums over words.

Models whose logits are a sum over words: the strongest swaps of a space, in closed form.

The margin of a class is its logit minus that of the text's own class. In such a model a swap
changes a margin by the same amount whatever else is swapped. So the highest margin with k swaps is
that of the k positions with the largest gains, each with its best candidate: nothing is searched,
and the bound is the maximum itself.

Parse the answers of any model to probabilities, or explain why that is not possible.

`--scores` (in Python `scores=`) declares what a model answers:

| kind | a row is | becomes |
|---|---|---|
| `prob`, `auto` | one probability per label | itself, normalised in float64 |
| `percent` | one percentage per label | a hundredth of it, normalised |
| `logits` | one number per label; for two labels also one for the second | softmax in float64 |
| `single` | the probability of the second of two labels | (1 − p, p) |
| `label` | a label | 1 for it, 0 for the others |
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from brittle.answers import find_label
from brittle.errors import TargetError, UsageError
from brittle.redaction import short_repr
from brittle.spaces import SMALLEST_MARGIN, Bounded, BoundRequest
from brittle.targets.options import ScoreKind
from brittle.targets.protocols import Scores
from brittle.text import Text

Array = NDArray[np.float64]
ROUNDING = 1e-9
"""The largest error of a margin, as a share of the sum of the sizes of its terms."""


def bound_additive(
    request: BoundRequest, logits: Array, changes: Sequence[Array], scale: float
) -> Bounded:
    """Return the strongest texts of a space, and how many swaps are needed.

    `logits` are those of the text; `changes` has for every position with candidates an array
    (candidates × classes): what each swap adds to the logits. `scale` is the sum of the sizes of
    all terms of the logits: a margin that is nearer to 0 than rounding decides nothing. Nor do
    logits that are not finite.
    """
    space, label = request.space, request.label
    if not np.isfinite(scale) or not all(np.isfinite(part).all() for part in (logits, *changes)):
        return Bounded()
    error = ROUNDING * (scale + sum(float(np.abs(change).max()) for change in changes))
    error = max(error, SMALLEST_MARGIN)
    needed, texts = space.words + 1, dict[Text, int]()
    for rival in request.rivals(len(logits)):
        margin = float(logits[rival] - logits[label])
        if margin >= -error:
            return Bounded()
        gains = [change[:, rival] - change[:, label] for change in changes]
        gain = np.array([gain.max() for gain in gains])
        chosen = np.argsort(-gain, kind="stable")[: space.words]
        chosen = chosen[gain[chosen] > 0]
        reached = margin + np.cumsum(gain[chosen])  # with 1, 2, … swaps
        if not (reached >= -error).any():
            continue
        needed = min(needed, int((reached >= -error).argmax()) + 1)
        # The fewest swaps that suffice, and all: a goal may ask for more than another class.
        for count in (int((reached > error).argmax()) + 1, len(chosen)):
            positions = [space.positions[n] for n in chosen[:count]]
            swaps = [space.options[space.positions[n]][gains[n].argmax()] for n in chosen[:count]]
            texts.setdefault(space.swapped(positions, swaps), count)
    if not texts:
        return Bounded(space.words, ())
    return Bounded(needed - 1, None, sorted(texts, key=texts.__getitem__))


MAX_SUM_ERROR = 1e-3  # of float16 models and of rounded numbers in JSON
MAX_SHOWN_SCORES = 8  # in an error message
ROUNDED_PERCENT = 0.005  # of percentages that are rounded to whole numbers
PERCENT = "If these are percentages, say --scores percent (scores='percent' in Python)."
NUMBER = "Expected a number (in JSON without quotes); if it is a label, use --scores label."


def parse_answers(
    answers: Any,
    rows: int,
    labels: Sequence[str],
    kind: ScoreKind = "auto",
    who: str = "The target",
    keys: tuple[str, str] = ("label", "score"),
) -> Scores:
    """Parse the answers of any target: a table of numbers, or one answer per text.

    An answer is a list of numbers, a map label → score, a list of entries {label, score} in any
    order (`keys` names the two keys), one label, or one number.
    """
    if hasattr(answers, "detach"):  # a torch tensor, perhaps with gradients, perhaps on a GPU
        answers = answers.detach().cpu().numpy()
    if not isinstance(answers, np.ndarray):
        answers = _as_list(answers, rows, who)
    if len(answers) != rows:
        raise _wrong_count(len(answers), rows, who)
    if not rows:
        return np.zeros((0, len(labels)))
    if kind == "label":
        return one_hot([_best_label(answer, labels, who, keys) for answer in answers], len(labels))
    if all(isinstance(answer, str) for answer in answers):
        return one_hot([index_of(answer, labels, who) for answer in answers], len(labels))
    if not isinstance(answers, np.ndarray):
        answers = [_parse_row(answer, labels, who, keys) for answer in answers]
    return as_probabilities(answers, rows, labels, kind, who)


def as_probabilities(
    raw: Any,
    rows: int,
    labels: Sequence[str],
    kind: ScoreKind = "prob",
    who: str = "The target",
) -> Scores:
    """Convert a table of numbers to probabilities of shape (rows, labels)."""
    table = _as_table(raw, who)
    if table.shape[:1] != (rows,):
        raise _wrong_count(table.shape[0] if table.ndim else 0, rows, who)
    one_number = table.ndim == 1 or table.shape[1:] == (1,)
    if kind == "single" or (kind == "logits" and one_number and len(labels) == 2):
        table = _complete_two(table, labels, kind, who)
    elif one_number and len(labels) > 1 and kind != "logits":
        raise UsageError(
            f"{who} gives one number per text (for example {_format_scores(table[0])}), "
            f"expected a probability for each of {len(labels)} labels. If it is the "
            "probability of the second of two labels, use --scores single; if it is a "
            "label, use --scores label."
        )
    if table.shape != (rows, len(labels)):
        raise TargetError(
            f"{who} gave scores of shape {table.shape} for {rows} texts. Expected "
            f"({rows}, {len(labels)}): one column per label ({', '.join(labels)})."
        )
    bad = ~np.isfinite(table).all(axis=1)
    if bad.any():
        raise TargetError(
            f"{who} gave scores that are not finite for {bad.sum()} of {rows} texts, "
            f"for example {_format_scores(table[bad.argmax()])}."
        )
    return softmax(table) if kind == "logits" else _normalize(table, who, kind)


def softmax(logits: Scores) -> Scores:
    """Convert logits to probabilities; in float64, so that a small class keeps its digits."""
    exp = np.exp(logits - logits.max(axis=1, keepdims=True))
    probability: Scores = exp / exp.sum(axis=1, keepdims=True)
    return probability


def one_hot(indices: Sequence[int], width: int) -> Scores:
    """Return rows with probability 1 at each index."""
    table = np.zeros((len(indices), width))
    table[np.arange(len(indices)), list(indices)] = 1.0
    return table


def index_of(answer: Any, labels: Sequence[str], who: str) -> int:
    """Find an answered label among the target's labels, by name."""
    is_whole = isinstance(answer, float | np.floating) and float(answer).is_integer()
    name = str(int(answer) if is_whole else answer)
    index = find_label(name, labels)
    if index is None:
        raise TargetError(
            f"{who} answered the label {name!r}. Expected one of: {', '.join(labels)}. "
            "List its labels with --labels."
        )
    return index


def _normalize(table: Scores, who: str, kind: ScoreKind) -> Scores:
    if kind == "single":
        # The total is exactly 1; a division by the computed sum would round.
        wrong = (table < 0).any(axis=1)
        total = np.ones((len(table), 1))
    else:
        table = table / 100 if kind == "percent" else table
        total = table.sum(axis=1, keepdims=True)
        wrong = (table < 0).any(axis=1) | (np.abs(total[:, 0] - 1) > _sum_error(table, kind))
    if wrong.any():
        row = table[wrong.argmax()]
        expected = "a number from 0 to 1" if kind == "single" else "numbers from 0 to 1, sum 1"
        example = row[1:] if kind == "single" else row * (100 if kind == "percent" else 1)
        hint = f" {PERCENT}" if kind != "percent" and are_percentages(row.tolist()) else ""
        expected = "percentages, sum 100" if kind == "percent" else expected
        raise UsageError(
            f"{who} gave scores that are not probabilities, for example "
            f"{_format_scores(example)} (sum {example.sum():.6g}). Expected "
            f"{expected}.{hint} Say what they are: --scores logits (scores='logits' in "
            "Python), percent, single or label."
        )
    probability: Scores = table / total
    return probability


def are_percentages(scores: Sequence[float]) -> bool:
    """Tell whether scores look like percentages of all labels.

    >>> are_percentages([15.78, 84.22]), are_percentages([33, 33, 33]), are_percentages([0.2, 0.8])
    (True, True, False)
    """
    error = 100 * _sum_error(np.array([scores]), "percent")
    return all(score >= 0 for score in scores) and abs(sum(scores) - 100) <= error


def _sum_error(table: Scores, kind: ScoreKind) -> float:
    return max(MAX_SUM_ERROR, ROUNDED_PERCENT * int(table.shape[1]) if kind == "percent" else 0.0)


def _complete_two(table: Scores, labels: Sequence[str], kind: ScoreKind, who: str) -> Scores:
    """Add the column of the first label to the scores of the second."""
    if len(labels) != 2 or not (table.ndim == 1 or table.shape[1:] == (1,)):
        raise UsageError(
            f"--scores single means one number per text, the probability of the second of two "
            f"labels. {who} has {len(labels)} labels ({', '.join(labels)}) and gave scores of "
            f"shape {table.shape}."
        )
    second = table.reshape(-1)
    first = np.zeros_like(second) if kind == "logits" else 1.0 - second
    return np.stack([first, second], axis=1)


def _as_table(raw: Any, who: str) -> Scores:
    for value in _non_numbers(raw):
        raise TargetError(
            f"{who} gave {short_repr(value)}, a {type(value).__name__}, as a score. {NUMBER}"
        )
    try:
        # numpy raises an error for rows of unequal length and for words among the numbers.
        return np.asarray(raw, dtype=np.float64)
    except (TypeError, ValueError) as error:
        raise TargetError(
            f"{who} returned something that is not a table of numbers: {short_repr(raw)}. "
            "Expected one row per text with one number per label."
        ) from error


def _as_list(answers: Any, rows: int, who: str) -> Sequence[Any]:
    if isinstance(answers, Sequence) and not isinstance(answers, str | bytes):
        return answers
    try:
        if isinstance(answers, Mapping | str | bytes):
            raise TypeError("one answer, not a list of them")
        tolist = getattr(answers, "tolist", None)  # a column of a data frame
        return list(tolist() if tolist else answers)
    except TypeError as error:
        raise TargetError(
            f"{who} gave {short_repr(answers)}, a {type(answers).__name__}, for {rows} "
            "texts. Expected a list with one answer per text, or an array."
        ) from error


def _parse_row(answer: Any, labels: Sequence[str], who: str, keys: tuple[str, str]) -> Any:
    """Return the scores of one answer in the order of the labels."""
    if isinstance(answer, Mapping) and isinstance(answer.get(keys[0]), str):
        answer = [answer] if keys[1] in answer else answer[keys[0]]
    if isinstance(answer, str):
        return one_hot([index_of(answer, labels, who)], len(labels))[0]
    pairs = label_scores(answer, keys)
    if pairs is None:
        return answer
    refuse_other_entries(pairs, answer, who, keys)
    _refuse_repeated([labels[index_of(name, labels, who)] for name, _ in pairs], answer, who)
    scores = {index_of(name, labels, who): _as_float(score, who) for name, score in pairs}
    missing = [label for index, label in enumerate(labels) if index not in scores]
    if missing:
        raise TargetError(
            f"{who} gave no score for {', '.join(missing)} in {short_repr(answer)}. "
            "Expected one for every label: let it return all scores, or use only its "
            "first label with --scores label."
        )
    return [scores[index] for index in range(len(labels))]


def _best_label(answer: Any, labels: Sequence[str], who: str, keys: tuple[str, str]) -> int:
    """Return the index of an answer's label, or of its first highest score."""
    pairs = label_scores(answer, keys)
    if pairs:
        refuse_other_entries(pairs, answer, who, keys)
        # Labels of no use, with low scores, may be unknown: only the best one must be known.
        _refuse_repeated([name for name, _ in pairs], answer, who)
        return index_of(max(pairs, key=lambda pair: _as_float(pair[1], who))[0], labels, who)
    if isinstance(answer, Sequence | np.ndarray) and not isinstance(answer, str) and len(answer):
        return int(as_probabilities([answer], 1, labels, "logits", who)[0].argmax())
    return index_of(answer, labels, who)


def label_scores(answer: Any, keys: tuple[str, str]) -> list[tuple[Any, Any]] | None:
    """Return the pairs of label and score of an answer that names its labels, else None."""
    label, score = keys
    if isinstance(answer, Mapping):
        if isinstance(answer.get(label), str):
            return [(answer[label], answer.get(score, 1.0))]
        return list(answer.items())
    if isinstance(answer, list | tuple) and answer and isinstance(answer[0], Mapping):
        return [(entry.get(label), entry.get(score)) for entry in answer]
    return None


def refuse_other_entries(
    pairs: Sequence[tuple[Any, Any]], answer: Any, who: str, keys: tuple[str, str]
) -> None:
    """Refuse entries that lack one of the two keys: another key has what is looked for."""
    if any(name is None or score is None for name, score in pairs):
        raise TargetError(
            f"{who} answered {short_repr(answer)}. Expected the keys {keys[0]!r} and {keys[1]!r} "
            "in every entry. The TOML file of an endpoint can name others: label_key and "
            "score_key."
        )


def _refuse_repeated(names: Sequence[Any], answer: Any, who: str) -> None:
    """Refuse an answer that names a label twice: it is not known which score is meant."""
    twice = next((name for name in names if names.count(name) > 1), None)
    if twice is not None:
        raise TargetError(
            f"{who} named the label {twice!r} twice in one answer: {short_repr(answer)}. "
            "Expected one score for every label."
        )


def _as_float(score: Any, who: str) -> float:
    if next(_non_numbers(score), None) is not None:
        raise TargetError(f"{who} gave the score {short_repr(score)}. {NUMBER}")
    try:
        return float(score)
    except (TypeError, ValueError) as error:
        raise TargetError(f"{who} gave the score {short_repr(score)}. {NUMBER}") from error


def _non_numbers(raw: Any) -> Iterator[Any]:
    """Yield the strings and truth values of a nested list, which numpy would turn into numbers."""
    if isinstance(raw, str | bytes | bool | np.bool_):
        yield raw
    elif isinstance(raw, list | tuple) or (
        isinstance(raw, np.ndarray) and raw.dtype.kind in "bUSO"
    ):
        for part in raw:
            yield from _non_numbers(part)


def _format_scores(row: Any) -> str:
    values = [f"{value:.6g}" for value in np.atleast_1d(row)[:MAX_SHOWN_SCORES]]
    return "[" + ", ".join(values) + (", …]" if np.size(row) > MAX_SHOWN_SCORES else "]")


def _wrong_count(got: int, rows: int, who: str) -> TargetError:
    return TargetError(f"{who} gave {got} answers for {rows} texts. Expected one for every text.")

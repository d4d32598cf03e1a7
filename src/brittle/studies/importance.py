"""How much the models of a pool rely on each word of a sentence, and how that is shown.

Word importance: how much the models of a pool rely on each word of one sentence.

Importance is the drop of the gold label's log likelihood when a word becomes unknown. For one word,
it is the same drop for each of its substitutes (Figures 5 and 6 of the transfer paper).

Word importance on a page, as a figure, in the terminal, and for programs.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from brittle.answers import find_label
from brittle.candidates import Proposal
from brittle.candidates.synonyms import Synonyms
from brittle.english.tags import Tagger
from brittle.errors import UsageError, message_of, unknown
from brittle.formatting import plural
from brittle.opening import as_target, load_zoo
from brittle.progress import Progress, listener, shows_progress
from brittle.reports.importance import STYLE, Rows, WideMap, importance_figure, importance_page
from brittle.reports.kept import Drawing
from brittle.reports.study_page import Plain, StudyView
from brittle.reports.table import Column, Table
from brittle.studies.pools import is_pool, load_pool
from brittle.targets.protocols import HasLogits, declared_by
from brittle.text import Text
from brittle.values import former_keywords

Array = NDArray[np.float64]
MIN_PROBABILITY = 1e-300
"""The value used for a probability of 0, so that its logarithm is finite."""


@dataclass(frozen=True, eq=False, repr=False)
class Importance:
    """`drop` has a row for every model and a column for every word, or substitute of `word`.

    A positive drop means that the model relied on the word. The gold `label` is the user's, or else
    (`is_majority`) the one that most models predict. `failures` tells why a model has no row.
    """

    sentence: str
    word: str | None
    label: str
    is_majority: bool
    models: tuple[str, ...]
    predicted: tuple[str, ...]
    columns: tuple[str, ...]
    log_likelihood: Array
    drop: Array
    failures: Mapping[str, str]

    def __repr__(self) -> str:
        return f"Importance({self.sentence[:60]!r}, {plural(len(self.models), 'models')})"

    def table(self) -> Table:
        """Return a row for every model and a column for every word; a notebook shows it."""
        drops = [Column(name, "right", "{:.2f}".format, is_name=True) for name in self.columns]
        columns = [Column("model"), *drops]
        rows = [[name, *map(float, row)] for name, row in zip(self.models, self.drop)]
        return Table(columns, [*rows, ["mean", *map(float, self.mean)]])

    def _repr_html_(self) -> str:
        return self.table()._repr_html_()

    @property
    def mean(self) -> Array:
        """The mean drop over the models, by column."""
        mean: Array = self.drop.mean(axis=0)
        return mean


@former_keywords(report="progress")
@shows_progress("asking")
def importance(
    pool: Any,
    sentence: str,
    *,
    word: str | None = None,
    label: str | None = None,
    data: str | None = None,
    mask: str | None = None,
    device: str = "auto",
    proposal: Proposal | None = None,
    progress: Progress[str] = True,
) -> Importance:
    """Compute the importance of all words, or of the substitutes of one word, for every model.

    `pool` is `pool:NAME`, `pool:FILE`, one target, or a list of targets; models of a pool are not
    trained. `data` names the training data of a declared pool. Each target reads a masked word in
    its own way, or as `mask`. The substitutes of a word are the candidates of PWWS: WordNet
    synonyms with its part of speech in this sentence. Models are opened one after another; a model
    that fails is left out.

        found = brittle.importance("zoo:naive-bayes@mr", "A warm and funny film.")
        dict(zip(found.columns, found.mean))
    """
    text = Text.of(sentence)
    if not len(text):
        raise UsageError(f"The sentence {sentence!r} has no words. Expected a text in quotes.")
    columns, variants = _variants(text, word, proposal or Synonyms())
    likelihoods: dict[str, Array] = {}
    failures: dict[str, str] = {}
    labels: tuple[str, ...] = ()
    for name, open_model, handed_in in _members(pool, data, mask, device):
        listener(progress)(name)
        try:
            model_labels, values = _log_likelihoods(open_model, handed_in, [text, *variants])
            labels = labels or model_labels
            if sorted(model_labels) != sorted(labels):
                raise UsageError(
                    f"It has the labels {', '.join(model_labels)}; expected "
                    f"{', '.join(labels)}, the labels of the models before it."
                )
        except Exception as error:
            failures[name] = message_of(error)
            continue
        if label is not None:  # an unknown one is an error before the others are opened
            if (number := find_label(label, labels)) is None:
                raise unknown("label", label, labels)
            label = labels[number]
        likelihoods[name] = values[:, [model_labels.index(one) for one in labels]]
    if not likelihoods:
        reasons = " ".join(f"{name}: {reason}" for name, reason in list(failures.items())[:3])
        raise UsageError(f"No model of {pool!r} can be used. {reasons}")
    values = np.array(list(likelihoods.values()))
    predicted = tuple(labels[n] for n in values[:, 0].argmax(axis=1))
    gold = labels.index(label if label is not None else _majority(predicted, labels))
    return Importance(
        *(sentence, word, labels[gold], label is None, tuple(likelihoods), predicted, columns),
        log_likelihood=values[:, 0, gold],
        drop=values[:, :1, gold] - values[:, 1:, gold],
        failures=failures,
    )


def _variants(
    text: Text, word: str | None, proposal: Proposal
) -> tuple[tuple[str, ...], list[Text]]:
    """Return what stands over the columns, and the text that each column is about."""
    words = [str(word) for word in text.words]
    if word is None:
        return tuple(words), [text.mask(i) for i in range(len(text))]
    positions = [i for i, other in enumerate(words) if other.lower() == word.lower()]
    if not positions:
        raise unknown("word of the sentence:", word, dict.fromkeys(words))
    position = positions[0]
    tag = Tagger().tags([text])[0][position]
    proposal.prepare(words)
    substitutes = proposal.of(words[position], tag)
    if not substitutes:
        raise UsageError(
            f"The word {words[position]!r} has no substitutes here (part of speech: "
            f"{tag}). Choose a noun, verb, adjective or adverb with synonyms in WordNet."
        )
    return tuple(substitutes), text.swaps(position, substitutes)


def _members(
    pool: Any, data: str | None, mask: str | None, device: str
) -> Iterator[tuple[str, Callable[[], Any], Any]]:
    """Yield every model with the function that opens it, and what was handed in for it."""
    if isinstance(pool, str) and is_pool(pool):
        members = load_pool(pool, data or "").members
        if data is None and any("@#" in member.spec for member in members):
            raise UsageError(
                f"The pool {pool!r} does not say what its models were trained on. Name the data, "
                "such as --data mr."
            )
        for member in members:
            # Training a whole pool takes long, so it starts only on the user's explicit command.
            is_zoo = member.spec.startswith("zoo:")
            opener = partial(load_zoo, train=False) if is_zoo else as_target
            yield member.name, partial(opener, member.spec, mask=mask, device=device), None
        return
    for target in [pool] if isinstance(pool, str) or hasattr(pool, "scores") else pool:
        name = str(target if isinstance(target, str) else getattr(target, "name", target))
        yield name, partial(as_target, target, mask=mask, device=device), target


def _log_likelihoods(
    open_model: Callable[[], Any], handed_in: Any, texts: Sequence[Text]
) -> tuple[tuple[str, ...], Array]:
    """Open a model and return its labels and log likelihoods, of shape (texts, labels).

    It is closed in the end, unless it is the object that was handed in.
    """
    target = open_model()
    try:
        if not declared_by(target, "labels"):
            raise UsageError("It has no labels; expected a classifier.")
        if isinstance(target, HasLogits):
            logits = np.asarray(target.logits(texts), dtype=np.float64)
            logits = logits - logits.max(axis=1, keepdims=True)
            values = logits - np.log(np.exp(logits).sum(axis=1, keepdims=True))
        else:
            scores = np.asarray(target.scores(texts), dtype=np.float64)
            values = np.log(np.maximum(scores, MIN_PROBABILITY))
        if not np.isfinite(values).all():
            raise UsageError("Its scores are not finite.")
        return tuple(target.labels), values
    finally:
        if target is not handed_in and hasattr(target, "close"):
            target.close()


def _majority(predicted: Sequence[str], labels: Sequence[str]) -> str:
    """Return the label that most models predict; ties go to the first label."""
    votes = Counter(predicted)
    return max(labels, key=lambda label: votes[label])


def importance_view(result: Importance) -> StudyView:
    """Return what the page of a sentence shows, and the terminal."""
    page = importance_page(
        _title(result),
        [result.sentence, *_facts(result)],
        result.columns,
        _rows(result),
        [f"Left out: {name}. {reason}" for name, reason in result.failures.items()],
    )
    terminal = [Plain(result.sentence), *_facts(result), WideMap(result.columns, _rows(result))]
    return StudyView(page, terminal, style=STYLE)


def importance_drawing(result: Importance) -> Drawing:
    """Draw the heat map."""
    return Drawing(importance_figure(result.columns, _rows(result), _title(result)))


def _title(result: Importance) -> str:
    return "Word importance" if result.word is None else f"Substitutes of {result.word}"


def _rows(result: Importance) -> Rows:
    rows = [(name, row.tolist()) for name, row in zip(result.models, result.drop)]
    return [*rows, ("mean", result.mean.tolist())] if len(rows) > 1 else rows


def _facts(result: Importance) -> list[str]:
    models = plural(len(result.models), "models")
    agreeing = sum(label == result.label for label in result.predicted)
    source = "predicted by most models" if result.is_majority else "as you say"
    changed = "the word is replaced by the unknown word"
    if result.word is not None:
        changed = f"{result.word!r} is replaced by the word of the column"
    return [
        f"gold label {result.label} ({source}); {agreeing} of {models} predict it",
        f"drop of its log likelihood when {changed}",
    ]


def importance_json(result: Importance) -> dict[str, Any]:
    """Return the values for programs."""
    return {
        "sentence": result.sentence,
        "word": result.word,
        "label": result.label,
        "label_is_majority": result.is_majority,
        "columns": list(result.columns),
        "models": [
            {
                "model": name,
                "predicted": predicted,
                "log_likelihood": float(likelihood),
                "drop": drop.tolist(),
            }
            for name, predicted, likelihood, drop in zip(
                result.models, result.predicted, result.log_likelihood, result.drop
            )
        ],
        "mean": result.mean.tolist(),
        "failures": dict(result.failures),
    }

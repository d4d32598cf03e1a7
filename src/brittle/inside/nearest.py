"""Nearest words: which words a target holds for similar, before an edit of a word and after it.

A target represents every word by one vector for each layer. A small edit can move the vector far
away from the original word and close to others (HotFlip, Ebrahimi et al., 2018, Table 4).
Words are embedded alone, as texts of one word. At layers that read the context, the vector of a
word in a sentence may differ.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import asdict, dataclass
from itertools import islice
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray
from rich.console import Group

from brittle.errors import UsageError, unknown
from brittle.formatting import plural
from brittle.metrics.words import aligned
from brittle.opening import as_target
from brittle.reports.page import Section
from brittle.reports.table import Column, Table
from brittle.reports.terminal import as_text
from brittle.results import Result
from brittle.targets.protocols import HasEmbeddings, close, declared_by
from brittle.text import Text, is_word

Vectors = NDArray[np.float64]

MAX_WORDS = 20_000
TEXTS_PER_CALL = 1024


@dataclass(frozen=True)
class WordNeighbour:
    """A word of the vocabulary, and the cosine of its vector with that of the word asked about."""

    word: str
    cosine: float


@dataclass(frozen=True)
class EditedWord:
    """A word before and after an edit, with the nearest words of both.

    `cosine` is that of the two vectors. `rank` counts the words of the vocabulary that are nearer
    to the edited word than the original is: 0 if the original is still the nearest.
    """

    word: str
    edited: str
    before: tuple[WordNeighbour, ...]
    after: tuple[WordNeighbour, ...]
    cosine: float
    rank: int

    @property
    def is_lost(self) -> bool:
        """Tell whether the original is no longer among the nearest words of the edited word."""
        return self.rank >= len(self.after)


@dataclass(frozen=True, eq=False)
class EmbeddedWords:
    """A vocabulary at one layer of a target; `unit` has one row a word, a vector of length 1."""

    target: Any
    layer: str
    words: tuple[str, ...]
    unit: Vectors

    def vector(self, word: str) -> Vectors:
        """Compute the unit vector of any word, in the vocabulary or not."""
        text = Text.of(word)
        if text.words != (word,):
            raise UsageError(
                f"Got {word!r}; expected one word: letters and digits, with apostrophes or hyphens "
                "inside."
            )
        return self._vector(text, word)

    def _vector(self, text: Text, word: str) -> Vectors:
        vector: Vectors = _units(_embedded(self.target, [text], self.layer))[0]
        if not np.isfinite(vector).all():
            raise UsageError(
                f"The target {self.target.name!r} reads no token in the word {word!r}, or "
                f"has an empty vector for it at the layer {self.layer!r}. Choose another "
                "word or layer."
            )
        return vector

    def nearest(self, word: str, k: int = 5) -> tuple[WordNeighbour, ...]:
        """Return the k words with the highest cosine, without the word itself in any case."""
        return self._nearest(self.vector(word), word, k)

    def change(self, word: str, edited: str, k: int = 5) -> EditedWord:
        """Compare the nearest words of a word with those of its edited form.

        The edited form is read as one word, also if it holds a mark, as pas!t does.
        """
        old = self.vector(word)
        new = self._vector(Text.of(word).swap(0, edited), edited)
        cosine = float(old @ new)
        others = np.array([w.lower() not in (word.lower(), edited.lower()) for w in self.words])
        nearer = self.unit @ new > cosine
        before, after = self._nearest(old, word, k), self._nearest(new, edited, k)
        return EditedWord(word, edited, before, after, cosine, int((nearer & others).sum()))

    def _nearest(self, vector: Vectors, word: str, k: int) -> tuple[WordNeighbour, ...]:
        cosine = self.unit @ vector
        order = np.argsort(-cosine, kind="stable").tolist()
        others = (row for row in order if self.words[row].lower() != word.lower())
        return tuple(
            WordNeighbour(self.words[row], float(cosine[row])) for row in islice(others, k)
        )


def embed_vocabulary(
    target: Any,
    layer: str | None = None,
    max_words: int = MAX_WORDS,
    words: Sequence[str] | None = None,
) -> EmbeddedWords:
    """Embed the first words of a target's vocabulary, which are the most frequent, at a layer.

    The default layer is that of `select_layer`. `words` replace the vocabulary of the target.
    """
    layer = select_layer(target, layer)
    vocabulary = words if words is not None else declared_by(target, "vocabulary")
    vocabulary = getattr(vocabulary, "words", vocabulary)
    if vocabulary is None:
        raise UsageError(
            f"The target {target.name!r} has no vocabulary to search for nearest words. "
            "Use a network of the zoo, or a transformers classifier."
        )
    plain = [word for word in vocabulary if is_word(word)][:max_words]
    texts = [Text.of(word) for word in plain]
    parts = [
        _units(_embedded(target, texts[start : start + TEXTS_PER_CALL], layer))
        for start in range(0, len(texts), TEXTS_PER_CALL)
    ]
    unit = np.concatenate(parts) if parts else np.zeros((0, 1))
    has_vector = np.isfinite(unit.sum(axis=1))
    embedded = tuple(word for word, has in zip(plain, has_vector) if has)
    return EmbeddedWords(target, layer, embedded, unit[has_vector])


def select_layer(target: Any, layer: str | None = None) -> str:
    """Return the layer if the target has it; the default is the last highway, or else the first.

    The highway is the last layer that computes a word's vector from its spelling, as in the paper.
    """
    has_embeddings = isinstance(target, HasEmbeddings)
    if not has_embeddings:
        raise UsageError(
            f"The target {target.name!r} shows no vectors of words, only scores. Use a network of "
            "the zoo or a transformers classifier."
        )
    layers = [str(name) for name in target.layers]
    if layer is None:
        highways = [name for name in layers if name.startswith("highway")]
        return highways[-1] if highways else layers[0]
    if layer not in layers:
        message = str(unknown("layer", layer, layers))
        known = "" if "Known:" in message else f" {target.name!r} has: {', '.join(layers)}."
        raise UsageError(message + known)
    return layer


@dataclass(frozen=True)
class NearestWords:
    """The nearest words of a word at a layer of a target, or of words before and after an edit.

    `near` are those of a word alone, `changes` the edits. `vocabulary` counts the words looked at.
    """

    target: str
    layer: str
    vocabulary: int
    word: str | None = None
    near: tuple[WordNeighbour, ...] = ()
    changes: tuple[EditedWord, ...] = ()
    is_run: bool = False

    def plain(self) -> dict[str, Any]:
        """Return it as plain data."""
        if self.changes:
            rows = [asdict(change) | {"is_lost": change.is_lost} for change in self.changes]
            return {"layer": self.layer, "changes": rows}
        return {"layer": self.layer, "word": self.word, "nearest": list(map(asdict, self.near))}

    def block(self) -> Group:
        """Build what the terminal shows."""
        about = f"{self.target}, layer {self.layer}, {plural(self.vocabulary, 'words')}"
        if self.changes:
            return changes_block(self.changes, about, self.is_run)
        return neighbours_block(str(self.word), self.near, about)

    def table(self) -> Table:
        """Return the nearest words as a table, those before and after an edit side by side."""
        if not self.changes:
            return _neighbours((str(self.word), self.near))
        pairs = [((c.word, c.before), (c.edited, c.after)) for c in self.changes]
        return _neighbours(*(side for pair in pairs for side in pair))

    def __str__(self) -> str:
        return as_text(self.block())

    def _repr_html_(self) -> str:
        return self.table()._repr_html_()


def nearest(
    target: Any,
    word: str,
    edited: str | None = None,
    *,
    layer: str | None = None,
    k: int = 5,
    most: int = MAX_WORDS,
    **options: Any,
) -> NearestWords:
    """Find the nearest words of a word at a layer of a target, also after an edit of the word.

    `target` is anything that `brittle.attack` takes, and `options` are options of `Target`. The
    default layer is the last one that reads the spelling, or the first. Only the `most` frequent
    words of the target's vocabulary are compared.

        print(brittle.nearest("zoo:CharCNN-LSTM@mr", "film", "filn"))
    """
    opened = as_target(target, **options)
    try:
        words = embed_vocabulary(opened, layer, most)
        about = (opened.name, words.layer, len(words.words), word)
        if edited is None:
            return NearestWords(*about, near=words.nearest(word, k))
        return NearestWords(*about, changes=(words.change(word, edited, k),))
    finally:
        if opened is not target:
            close(opened)


def nearest_of_run(
    run: EditingRun,
    target: Any,
    *,
    layer: str | None = None,
    k: int = 5,
    most: int = MAX_WORDS,
    pairs: int = 8,
) -> NearestWords:
    """Find the nearest words of those that single edits of a run changed, before and after."""
    edits = pairs_of_run(run, pairs)
    words = embed_vocabulary(target, layer, most)
    changes = tuple(words.change(old, new, k) for old, new in edits)
    about = (target.name, words.layer, len(words.words))
    return NearestWords(*about, changes=changes, is_run=True)


class EditingRun(Protocol):
    """What is needed of a run: its name, and its rows."""

    @property
    def name(self) -> str: ...

    def results(self) -> list[Result]: ...


def pairs_of_run(run: EditingRun, most: int) -> list[tuple[str, str]]:
    """Return the words that single edits of a run changed; a run without any is refused."""
    pairs = edited_words(run.results(), most)
    if not pairs:
        raise UsageError(
            f"In the run {run.name!r} no broken case changed a word by one character. Use a run of "
            "hotflip, key or key-any."
        )
    return pairs


def edited_words(results: Iterable[Result], max_pairs: int | None = None) -> list[tuple[str, str]]:
    """Return the words of broken cases in which one character was flipped, inserted or deleted.

    Cases with the fewest edited words come first, and of these the most confident; each pair of
    words stands in the list once.
    """
    broken = [r for r in results if r.status == "broken"]
    broken.sort(key=lambda r: (len(r.edits), -(r.adversarial_confidence or 0.0)))
    pairs = dict.fromkeys((e.old, e.new) for r in broken for e in r.edits)
    close = [p for p in pairs if all(map(is_word, p)) and sum(aligned(*p)) == 1]
    return close[:max_pairs]


def _embedded(target: Any, texts: Sequence[Text], layer: str) -> Vectors:
    rows = target.embeddings(texts, layer)
    return np.array([np.asarray(row, dtype=np.float64)[0] for row in rows])


def _units(vectors: Vectors) -> Vectors:
    """Scale vectors to length 1; a zero vector has no direction and becomes nan."""
    length = np.linalg.norm(vectors, axis=1, keepdims=True)
    with np.errstate(divide="ignore", invalid="ignore"):
        unit: Vectors = vectors / length
    return unit


def nearest_words(
    results: Sequence[Result], target: Any, k: int = 5, max_words: int = 12
) -> Section | None:
    """Return the report's section on the nearest words of the words that a run edited."""
    vocabulary = embed_vocabulary(target)
    changes = [vocabulary.change(old, new, k) for old, new in edited_words(results, max_words)]
    rows = [
        (c.word, c.edited, [n.word for n in c.before], [n.word for n in c.after]) for c in changes
    ]
    return nearest_section(rows, vocabulary.layer)


Row = tuple[str, str, Sequence[str], Sequence[str]]
"""A word, its edited form and the nearest words of each, in order of distance."""


def nearest_section(rows: Sequence[Row], layer: str) -> Section | None:
    """Show the nearest words of each word beside those of its edited form."""
    if not rows:
        return None
    shown = {"rows": rows, "layer": layer}
    return Section("run_parts.nearest", shown, "How the target reads edited words")


def neighbours_block(word: str, near: Sequence[WordNeighbour], about: str) -> Group:
    """Show the nearest words of a word."""
    return Group(about, _neighbours((word, near)))


def changes_block(changes: Sequence[EditedWord], about: str, is_run: bool) -> Group:
    """Show one edit with its neighbours side by side, or the edits of a run as a table."""
    if is_run:
        rows = [
            {
                "edit": f"{change.word} → {change.edited}",
                "nearest before": ", ".join(n.word for n in change.before),
                "nearest after": ", ".join(n.word for n in change.after),
                "nearer than the original": plural(change.rank, "words"),
            }
            for change in changes
        ]
        return Group(about, Table.of(rows, keeps_words=True))
    (change,) = changes
    words = plural(change.rank, ("word is", "words are"))
    nearer = f"{words} nearer to {change.edited} than {change.word} is"
    table = _neighbours((change.word, change.before), (change.edited, change.after))
    return Group(about, table, f"{nearer} (cosine {change.cosine:.3f}).")


def _neighbours(*words: tuple[str, Sequence[WordNeighbour]]) -> Table:
    """Show the nearest words of one or more words side by side."""
    columns: list[Column] = []
    for word, _ in words:
        columns.append(Column(word, fold=True, is_name=True))
        columns.append(Column("cosine", "right", "{:.3f}".format, style="dim"))
    near = zip(*(neighbours for _, neighbours in words))
    return Table(columns, [[v for n in row for v in (n.word, n.cosine)] for row in near])

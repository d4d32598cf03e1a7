"""Named entities as candidates: those that are frequent in the texts of the other classes."""

from __future__ import annotations

import json
from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from brittle.candidates.training_data import find_class
from brittle.data.example import Example
from brittle.english.names import Recognizer, SpacyRecognizer
from brittle.errors import UsageError
from brittle.safety.files import DAMAGED, write_whole
from brittle.text import Text, is_word

SPACY = SpacyRecognizer()
OWN_TOP, OTHER_TOP = 15, 30
"""How many entities of a type count as frequent, in the class itself and in the other classes."""
EXPECTED = 'an object such as {"positive": {"PERSON": "Lee"}}: class of the text, type, word'
Counts = Mapping[str, Counter[str]]
"""How often each entity occurs, by type."""


@dataclass(frozen=True)
class Entities:
    """The entity that replaces one of its type in a text of each class (Ren et al., 2019).

    `words` holds {type: word} for each class of the target. The paper takes, for a text of class
    y, the most frequent entity of the same type in D − D_y, the entities of the data without those
    of class y. This follows the authors' code: the most frequent of the other classes' entities
    that is one word and not among the 15 most frequent of class y itself; ties here in
    lexicographic order. As there, the words of a longer entity are replaced one by one.
    """

    words: Sequence[Mapping[str, str]]
    recognizer: Recognizer = SPACY

    @staticmethod
    def learn(
        examples: Iterable[Example],
        labels: Sequence[str],
        label_map: Mapping[str, str] | None = None,
        recognizer: Recognizer = SPACY,
    ) -> Entities:
        """Count the entities of every class, and choose the word that replaces each type."""
        texts = [
            (index, raw)
            for example in examples
            if example.label is not None
            and (index := find_class(example.label, labels, label_map)) is not None
            for _, raw in example.fields
        ]
        empty = set(range(len(labels))) - {index for index, _ in texts}
        if empty:
            raise UsageError(
                "The examples to learn entities from contain none of class "
                f"{labels[min(empty)]!r}. Expected labelled examples of "
                f"{', '.join(labels)}. Name other data with --learn-from, or say which "
                "label is which with --labels DATA=TARGET,…"
            )
        counts: list[defaultdict[str, Counter[str]]] = [defaultdict(Counter) for _ in labels]
        found = recognizer.entities(raw for _, raw in texts)
        for (index, raw), entities in zip(texts, found):
            for entity in entities:
                counts[index][entity.type][raw[entity.start : entity.stop]] += 1
        return Entities([_words_for(index, counts) for index in range(len(labels))], recognizer)

    @staticmethod
    def load(
        path: str, labels: Sequence[str], label_map: Mapping[str, str] | None = None
    ) -> Entities:
        """Load a JSON file: {class of the text: {type: word that replaces it}}."""
        try:
            table = json.loads(Path(path).read_text(encoding="utf-8"))
        except (OSError, *DAMAGED) as error:
            raise UsageError(
                f"The entities in {path!r} cannot be read ({error}). Expected {EXPECTED}."
            ) from error
        words: list[Mapping[str, str]] = [{} for _ in labels]
        for label, by_type in table.items() if isinstance(table, dict) else [("", table)]:
            index = find_class(label, labels, label_map)
            if index is None or not _is_words(by_type):
                raise UsageError(
                    f"The entities in {path!r} have {label!r}: {str(by_type)[:80]}. Expected "
                    f"{EXPECTED}, of the classes {', '.join(labels)}."
                )
            words[index] = by_type
        return Entities(words)

    def save(self, path: str, labels: Sequence[str]) -> None:
        """Write the JSON file that `load` reads, so that nothing has to be learnt again."""
        table = {label: dict(by_type) for label, by_type in zip(labels, self.words)}
        write_whole(path, json.dumps(table, ensure_ascii=False, indent=1))

    def of(self, text: Text, label: int) -> dict[int, str]:
        """Return, by position, the entity that may replace a word of a text of this class."""
        replacements = {}
        found = self.recognizer.entities(text.fields().values())
        for (start, _), part, entities in zip(text.frame.spans, text.frame.fields, found):
            end = 0
            for position, gap in enumerate(part.gaps[:-1], start):
                word = str(text.words[position])
                begin, end = end + len(gap), end + len(gap) + len(word)
                types = [e.type for e in entities if e.start < end and begin < e.stop]
                new = self.words[label].get(types[0]) if types else None
                if new is not None and new.lower() != word.lower():
                    replacements[position] = new
        return replacements


def _words_for(index: int, counts: Sequence[Counts]) -> dict[str, str]:
    """Choose a word for every type, for texts of one class."""
    others: defaultdict[str, Counter[str]] = defaultdict(Counter)
    for other, by_type in enumerate(counts):
        for type_, counter in by_type.items() if other != index else ():
            others[type_].update(counter)
    words = {}
    for type_ in sorted(others):
        own = set(_top(counts[index].get(type_, Counter()), OWN_TOP))
        candidates = (e for e in _top(others[type_], OTHER_TOP) if e not in own and is_word(e))
        word = next(candidates, None)
        if word is not None:
            words[type_] = word
    return words


def _top(counter: Counter[str], count: int) -> list[str]:
    return sorted(counter, key=lambda entity: (-counter[entity], entity))[:count]


def _is_words(by_type: object) -> bool:
    return isinstance(by_type, dict) and all(
        isinstance(word, str) and is_word(word) for word in by_type.values()
    )

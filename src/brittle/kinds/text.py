"""Texts: words in fields; what changed between two of them is a list of edits."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from brittle.edits import Edit, characters_changed, diff, edit_rows, patch, words_changed
from brittle.kinds.protocol import Changes
from brittle.results import Result
from brittle.safety.schema import reader
from brittle.text import Text

_READ_EDITS = reader(tuple[Edit, ...])


@dataclass(frozen=True)
class TextKind:
    """The kind of `Text`."""

    name: str = "text"
    largest: int | None = 5000
    measures: tuple[str, ...] = ("words", "words_changed", "characters_changed")

    def item(self, fields: Mapping[str, str], locked: Collection[str] = ()) -> Text:
        return Text.of(dict(fields), locked)

    def original(self, item: Text) -> tuple[tuple[tuple[str, str], ...], str]:
        fields = tuple(item.fields().items())
        return fields, self.joined(fields)

    def joined(self, fields: Sequence[tuple[str, str]]) -> str:
        return "\n".join(raw for _, raw in fields)

    def changes(self, original: Text, changed: Text) -> Changes:
        edits = diff(original, changed)
        measures = {
            "words_changed": words_changed(edits),
            "characters_changed": characters_changed(edits),
        }
        return Changes(edits, changed.render(), measures)

    def edits(self, original: Text, changed: Text) -> tuple[Edit, ...]:
        return diff(original, changed)

    def stored(self, result: Result) -> Any:
        return edit_rows(result.edits)

    def restored(
        self, fields: Sequence[tuple[str, str]], stored: Any
    ) -> tuple[tuple[Edit, ...], str]:
        edits: tuple[Edit, ...] = _READ_EDITS(stored)
        return edits, "\n".join(patch(dict(fields), edits).values())

    def adversary(self, result: Result, locked: Collection[str] = ()) -> Text:
        return Text.of(patch(dict(result.fields), result.edits), locked)


TEXT = TextKind()

"""Edits of characters, for networks that read a text as one sequence of characters.

A flip is that of HotFlip (Ebrahimi et al., 2018). An insertion or a deletion moves all that comes
after it. The estimate counts it to the end of the word, as in the paper, where the next character
of the text stands: the last letter takes the place of that character, or that character the place
of the last letter. That the rest of the text moves by one position is ignored, as if the network
read it alike wherever it stands. This file needs torch.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import torch
from torch import Tensor

from brittle.moves import EditRequest, EditSpace
from brittle.ranking.characters import CharacterEdits, EditedWords
from brittle.ranking.moves import RankedMoves
from brittle.ranking.respellings import MAX_CHARACTERS
from brittle.targets.alignment import Alignment
from brittle.targets.torch.tokens import TokenReader


@dataclass(frozen=True, eq=False)
class SequenceGradients:
    """A request, its text's tokens, and the gradient at each of them (tokens × dimensions)."""

    request: EditRequest
    alignment: Alignment
    gradient: Tensor


class SequenceEdits:
    """Ranks flips, insertions and deletions; `table` has the vector of every token."""

    def __init__(self, table: Tensor, reader: TokenReader) -> None:
        self.table = table.cpu()
        self.reader = reader
        self._character = {token: c for c, token in reader.alphabet.items()}
        unknown = reader.unknown_id
        rows = [
            torch.zeros_like(self.table[0]),
            torch.zeros_like(self.table[0]) if unknown is None else self.table[unknown],
            *(self.table[token] for token in reader.alphabet.values()),
        ]
        # One dimension more is for the end of a word: another character for every word. Its
        # gradient, which `_rows` computes, is what that character contributes.
        end = torch.zeros(len(rows), 1, dtype=self.table.dtype)
        end[0] = 1.0
        padded = torch.cat([torch.stack(rows), end], dim=1)
        self._edits = CharacterEdits(tuple(reader.alphabet), MAX_CHARACTERS, padded, frozenset())

    def rank(self, texts: Sequence[SequenceGradients], space: EditSpace) -> list[RankedMoves]:
        """Rank the edits of texts, all in one space."""
        edited, rows = [], [self.table.new_zeros((0, self.table.shape[1] + 1))]
        for text in texts:
            gradient = text.gradient.cpu().to(self.table)
            direction = gradient.sign() if space.sign else gradient
            words = self._words(text)
            edited.append(EditedWords(list(words), [word for word, _ in words.values()]))
            ids = text.alignment.tokens.ids.tolist()
            rows += [self._rows(columns, direction, ids) for _, columns in words.values()]
        ranked = self._edits.rank(edited, torch.cat(rows), replace(space, sign=False))
        # They are spelt out from the words as the user wrote them, whatever their case.
        return [
            replace(moves, words=[str(text.request.text.words[i]) for i in moves.positions])
            for text, moves in zip(texts, ranked)
        ]

    def _words(self, text: SequenceGradients) -> dict[int, tuple[str, Sequence[int]]]:
        """Return for the words of a request what is read of them, and the column of each character.

        Words that are not read character by character, or not to their end, are left out.
        """
        words: dict[int, tuple[str, Sequence[int]]] = {}
        for position in text.request.positions:
            word, columns = text.request.text.words[position], text.alignment.columns[position]
            if isinstance(word, str) and len(columns) == len(word) > 0:
                ids = text.alignment.tokens.ids[list(columns)].tolist()
                read = "".join(self._character.get(token, c) for token, c in zip(ids, word))
                words[position] = (read, columns)
        return words

    def _rows(self, columns: Sequence[int], direction: Tensor, ids: Sequence[int]) -> Tensor:
        """Return the gradient at each character of a word and at what comes after it.

        The last number of a row is its product with the vector of what comes after the word.
        """
        after = columns[-1] + 1
        rows = direction[[*columns[:MAX_CHARACTERS], *([after] if after < len(direction) else [])]]
        following = ids[after] if after < len(ids) else self.reader.padding_id
        count = min(len(columns) + 1, MAX_CHARACTERS)
        missing = rows.new_zeros((max(0, count - len(rows)), rows.shape[1]))
        rows = torch.cat([rows, missing])[:count]
        vector = rows.new_zeros(rows.shape[1]) if following is None else self.table[following]
        return torch.cat([rows, (rows @ vector)[:, None]], dim=1)

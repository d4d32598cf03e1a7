"""Pieces of words, learnt by byte-pair encoding of both languages together.

A piece is a run of characters inside a word, its space before it, or punctuation; characters that
were too rare in the train split are unknown. A hole is a piece of its own, so that it has a place
in the text; which id it reads as is decided where the pieces are opened.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from brittle.errors import UsageError, require
from brittle.text import Text

PAD, UNKNOWN, BEGIN, END = range(4)
SPECIAL_PIECES = ("<pad>", "<unk>", "<s>", "</s>")
HOLE_PIECE = "\ue000\ue001\ue002"  # characters for private use: no text has all three in a row
SPACE = "▁"
FILE = "pieces.json"


class Encoded(NamedTuple):
    """The ids of a text, with the characters that each piece stands for; the last id is END."""

    ids: NDArray[np.int64]
    start: NDArray[np.int64]
    stop: NDArray[np.int64]


class Pieces:
    """Encodes texts as ids of pieces, and decodes ids; a hole reads as `hole_id`."""

    def __init__(self, tokenizer: Any, hole_id: int = UNKNOWN) -> None:
        self._tokenizer = tokenizer
        # Texts may spell a special piece, such as "<s>": it is then made of ordinary ones.
        tokenizer.encode_special_tokens = True
        self._hole_token = tokenizer.token_to_id(HOLE_PIECE)
        self.hole_id = hole_id

    def __len__(self) -> int:
        """Return how many pieces there are, special ones included, holes apart."""
        return int(self._tokenizer.get_vocab_size(with_added_tokens=True)) - 1

    @staticmethod
    def learn(texts: Sequence[str], size: int, min_count: int) -> Pieces:
        """Learn at most `size` pieces; characters that occur less often than `min_count` have none.

        So the vector of the unknown piece is learnt as well, from the rare ones.
        """
        tokenizers = _package()
        counts = Counter(character for text in texts for character in text)
        alphabet = sorted(c for c, count in counts.items() if count >= min_count and c.strip())
        tokenizer = tokenizers.Tokenizer(
            tokenizers.models.BPE(unk_token=SPECIAL_PIECES[UNKNOWN], fuse_unk=True)
        )
        normalizers, splitters = tokenizers.normalizers, tokenizers.pre_tokenizers
        spaces = normalizers.Replace(tokenizers.Regex(r"\s+"), " ")
        at_end = normalizers.Replace(tokenizers.Regex(r" $"), "")
        tokenizer.normalizer = normalizers.Sequence([normalizers.NFC(), spaces, at_end])
        tokenizer.pre_tokenizer = splitters.Sequence(
            [splitters.Metaspace(SPACE, prepend_scheme="first"), splitters.Punctuation("isolated")]
        )
        tokenizer.decoder = tokenizers.decoders.Metaspace(SPACE, prepend_scheme="first")
        trainer = tokenizers.trainers.BpeTrainer(
            vocab_size=max(size, len(alphabet) + len(SPECIAL_PIECES) + 1),
            special_tokens=list(SPECIAL_PIECES),
            initial_alphabet=[SPACE, *alphabet],
            limit_alphabet=len(alphabet) + 1,
            show_progress=False,
        )
        tokenizer.train_from_iterator(texts, trainer)
        # As a mask token does, it takes the space before it along.
        hole = tokenizers.AddedToken(HOLE_PIECE, lstrip=True, normalized=False, special=False)
        tokenizer.add_tokens([hole])
        return Pieces(tokenizer)

    @staticmethod
    def load(path: Path, hole_id: int = UNKNOWN) -> Pieces:
        """Load pieces; any other file is a `UsageError`."""
        try:
            return Pieces(_package().Tokenizer.from_file(str(path)), hole_id)
        except UsageError:
            raise
        except Exception as error:  # tokenizers has no public error of its own
            raise UsageError(
                f"{path} has no word pieces ({error}). Train the model again with --new, "
                "or restore the file."
            ) from error

    def save(self, path: Path) -> None:
        """Write the pieces as one file."""
        self._tokenizer.save(str(path))

    def encode(self, texts: Sequence[str], reads: int) -> list[Encoded]:
        """Encode rendered texts, whose holes are `HOLE_PIECE`; what is after `reads` is cut off."""
        encoded = []
        for encoding in self._tokenizer.encode_batch(list(texts), add_special_tokens=False):
            ids = np.array(encoding.ids[:reads], dtype=np.int64)
            ids[ids == self._hole_token] = self.hole_id
            offsets = np.array([*encoding.offsets[:reads], (0, 0)], dtype=np.int64)
            encoded.append(Encoded(np.append(ids, END), offsets[:, 0], offsets[:, 1]))
        return encoded

    def encode_items(self, items: Sequence[Text], reads: int) -> list[Encoded]:
        """Encode texts of one field each."""
        return self.encode([render(item) for item in items], reads)

    def decode(self, ids: Iterable[int]) -> str:
        """Join the pieces of a text; special ones are left out."""
        ordinary = [int(i) for i in ids if i >= len(SPECIAL_PIECES)]
        return str(self._tokenizer.decode(ordinary)).strip()

    def names(self, ids: Iterable[int]) -> list[str]:
        """Return the pieces as they are written, a space before a word as ▁."""
        return [str(self._tokenizer.id_to_token(int(i))) for i in ids]

    def can_spell(self, text: str) -> bool:
        """Tell whether no character of a text is unknown."""
        [encoding] = self._tokenizer.encode_batch([text], add_special_tokens=False)
        return bool(encoding.ids) and UNKNOWN not in encoding.ids


def render(item: Text) -> str:
    """Render a text of one field, its holes as `HOLE_PIECE`."""
    (text,) = item.fields(HOLE_PIECE).values()
    return text


def _package() -> Any:
    return require("tokenizers", "transformers", "A translator of the zoo")

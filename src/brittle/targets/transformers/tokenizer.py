"""Token ids as keys: texts tokenized once, in one call, and padded from their keys.

A key is the token ids as int32 bytes. Where the model also reads token types (pairs), the key is
−1, the ids, and the types.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from brittle.errors import UsageError
from brittle.targets.rendering import render
from brittle.text import Text

Encoded = list[tuple[list[int], list[int]]]
TYPED = -1
OFFSET = ("roberta", "camembert", "longformer", "mpnet", "data2vec-text")


@dataclass(frozen=True, eq=False)
class TokenizedText:
    """The tokens of one text, with its key, and the characters that each of them stands for.

    A token stands for the characters from `start` to `stop` of the field numbered `field` as it is
    rendered; a mark that the model adds of itself is of no field (−1).
    """

    key: bytes
    ids: NDArray[np.int64]
    field: NDArray[np.int64]
    start: NDArray[np.int64]
    stop: NDArray[np.int64]


@dataclass(frozen=True, eq=False)
class TextTokenizer:
    """How a model's tokenizer reads texts, and how its ids are padded to a batch.

    With `pad` None rows are never padded: only texts of one length share a batch. `backend` is the
    tokenizer that knows where its tokens stand, cut to length; None for one written in Python.
    """

    hf_tokenizer: Any
    encode_raw: Callable[[list[Any]], Encoded]
    mask: str
    pad: int | None
    longest: int | None
    types_pairs: bool
    types_always: bool
    backend: Any = None

    @staticmethod
    def of(tokenizer: Any, model: Any, mask: str | None = None) -> TextTokenizer:
        """Read from a tokenizer and its model how texts are to be encoded.

        A hole reads as the mask token, else as the unknown token, unless `mask` says otherwise.
        """
        longest = _longest(tokenizer, model.config)
        takes_types = "token_type_ids" in inspect.signature(model.forward).parameters
        takes_types = takes_types and "token_type_ids" in tokenizer.model_input_names
        backend = _backend(tokenizer, longest)
        encode = _encoder(tokenizer, longest, backend)
        pad = tokenizer.pad_token_id
        if pad is None and getattr(model.config, "pad_token_id", None) is None:
            # Models that pool the last token look for the padding; no token is ever −1.
            model.config.pad_token_id = -1
        if tokenizer.padding_side != "right":
            # Padding on the left shifts positions in some models: texts of one length need none.
            pad = None
        if mask is None:
            mask = tokenizer.mask_token or tokenizer.unk_token or ""
        always = takes_types and any(encode(["a"])[0][1])
        return TextTokenizer(tokenizer, encode, mask, pad, longest, takes_types, always, backend)

    def encode(self, items: Sequence[Text]) -> list[bytes]:
        """Give every text its key."""
        if not items:
            return []
        texts = [_one_or_two(item, self.mask) for item in items]
        if any(isinstance(text, tuple) != _paired(texts) for text in texts):
            # The tokenizer takes all texts single or all in pairs.
            return [self.encode([item])[0] for item in items]
        paired = _paired(texts)
        return [self._key(ids, types, paired) for ids, types in self.encode_raw(texts)]

    def tokenize(self, items: Sequence[Text]) -> list[TokenizedText]:
        """Give every text its key, and say where each of its tokens stands."""
        if self.backend is None:
            raise UsageError(
                f"The tokenizer {type(self.hf_tokenizer).__name__} does not say which characters a "
                "token stands for, so nothing of the model's inside can be told word by word. "
                "Load the model with a fast tokenizer (a folder with tokenizer.json), or use an "
                "attack that asks for scores only."
            )
        texts = [_one_or_two(item, self.mask) for item in items]
        found = []
        for text in texts:
            told = (
                self.backend.encode(*text) if isinstance(text, tuple) else self.backend.encode(text)
            )
            field = [-1 if n is None else n for n in told.sequence_ids]
            start, stop = np.array(told.offsets, dtype=np.int64).reshape(-1, 2).T
            key = self._key(told.ids, told.type_ids, isinstance(text, tuple))
            found.append(TokenizedText(key, np.array(told.ids), np.array(field), start, stop))
        return found

    def batches(
        self, keys: Sequence[bytes], most: int
    ) -> Iterator[tuple[list[int], dict[str, NDArray[np.int64]]]]:
        """Give row numbers and padded arrays, batches of at most `most` tokens, by length."""
        read = [np.frombuffer(key, dtype=np.int32) for key in keys]
        typed = [bool(len(row)) and int(row[0]) == TYPED for row in read]
        length = [len(row) // 2 if has else len(row) for row, has in zip(read, typed)]
        rows: list[int] = []
        for row in sorted(range(len(keys)), key=lambda row: (typed[row], length[row])):
            full = length[row] * (len(rows) + 1) > most
            apart = rows and (
                typed[row] != typed[rows[0]]
                or (self.pad is None and length[row] != length[rows[0]])
            )
            if rows and (full or apart):
                yield rows, self._padded([read[r] for r in rows], typed[rows[0]])
                rows = []
            rows.append(row)
        if rows:
            yield rows, self._padded([read[r] for r in rows], typed[rows[0]])

    def about(self) -> str:
        """Say what decides which ids a text gets, for the fingerprint."""
        backend = getattr(self.hf_tokenizer, "backend_tokenizer", None)
        words = backend.to_str() if backend else repr(sorted(self.hf_tokenizer.get_vocab().items()))
        return f"{words}\n{self.mask}\n{self.longest}"

    def _key(self, ids: list[int], types: list[int], paired: bool) -> bytes:
        typed = self.types_always or (self.types_pairs and paired)
        return np.asarray([TYPED, *ids, *types] if typed else ids, dtype=np.int32).tobytes()

    def _padded(self, rows: list[NDArray[np.int32]], typed: bool) -> dict[str, NDArray[np.int64]]:
        width = max(len(row) // 2 if typed else len(row) for row in rows)
        ids = np.full((len(rows), width), self.pad or 0, dtype=np.int64)
        attention = np.zeros((len(rows), width), dtype=np.int64)
        arrays = {"input_ids": ids, "attention_mask": attention}
        if typed:
            arrays["token_type_ids"] = np.full_like(ids, self.hf_tokenizer.pad_token_type_id)
        for n, row in enumerate(rows):
            count = len(row) // 2 if typed else len(row)
            ids[n, :count] = row[1 : 1 + count] if typed else row
            attention[n, :count] = 1
            if typed:
                arrays["token_type_ids"][n, :count] = row[1 + count :]
        return arrays


def _backend(tokenizer: Any, longest: int | None) -> Any:
    backend = getattr(tokenizer, "backend_tokenizer", None)
    if backend is None:
        return None
    # A copy, for truncation and padding are settings of the object, not of the call.
    own = type(backend).from_str(backend.to_str())
    own.no_padding()
    own.no_truncation()
    if longest is not None:
        own.enable_truncation(longest)
    return own


def _encoder(tokenizer: Any, longest: int | None, backend: Any) -> Callable[[list[Any]], Encoded]:
    if backend is not None:
        encode = getattr(backend, "encode_batch_fast", backend.encode_batch)
        return lambda texts: [(told.ids, told.type_ids) for told in encode(texts)]

    def slow(texts: list[Any]) -> Encoded:
        pairs = {"text_pair": [second for _, second in texts]} if _paired(texts) else {}
        firsts = [first for first, _ in texts] if pairs else texts
        told = tokenizer(firsts, truncation=longest is not None, max_length=longest, **pairs)
        none: list[list[int]] = [[] for _ in texts]
        return list(zip(told["input_ids"], told.get("token_type_ids", none)))

    return slow


def _paired(texts: list[Any]) -> bool:
    return isinstance(texts[0], tuple)


def _one_or_two(item: Text, mask: str) -> str | tuple[str, str]:
    text = render(item, mask)
    if isinstance(text, str):
        return text
    if len(text) != 2:
        raise UsageError(
            f"A sequence classifier reads one text or a pair, but the data has {len(text)} fields: "
            f"{', '.join(text)}. Name one or two columns with --text."
        )
    first, second = text.values()
    return first, second


def _longest(tokenizer: Any, config: Any) -> int | None:
    """Find how many tokens the model takes: what the tokenizer says, within its positions."""
    positions = getattr(config, "max_position_embeddings", None)
    if positions and any(kind in config.model_type for kind in OFFSET):
        # Their positions begin after the padding's index.
        positions -= (config.pad_token_id or 0) + 1
    stated = tokenizer.model_max_length
    limits = [n for n in (positions, stated) if n and 0 < n < 1 << 20]
    return min(limits) if limits else None

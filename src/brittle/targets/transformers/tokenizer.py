"""The tokenizer of a transformers model: tokens by word, masks, and its vocabulary.

Holes that read as padding: the vector at their position is zero, and positions stay. A hole is a
token of its own in our copy of the tokenizer, so that it is aligned like any other. The tokenizer
of a transformers model: from texts to keys, and from keys to padded batches.

A key is the token ids of a text as int32 bytes. Where the model also reads token types (pairs), the
key is −1, the ids, and the types. Where holes read as zero vectors, they have an id that is no
token of the model's.

The tokens of a transformers tokenizer, aligned with the words of the user's text. The words that
are one token of a tokenizer, and the tokens of any word.

A word is tokenized as in the middle of a sentence, after a space: tokenizers that mark the
beginning of a word read it otherwise at the very beginning of a text or after a bracket.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from brittle.english.words import frequency_rank
from brittle.errors import MissingPackage, UsageError
from brittle.targets.alignment import Alignment, TokenizedText, align
from brittle.targets.options import PADDING, UNKNOWN, NoZeroVector, render
from brittle.text import Text, is_word

HOLE_TOKEN = "\ue000\ue001\ue002"  # characters for private use: no text has all three in a row


@dataclass(frozen=True)
class ZeroedHoles:
    """The id that holes have in keys, and the id of an ordinary token that the model is given.

    That token's vector is then zeroed. Padding cannot stand in: models that count positions by it,
    or read a text only up to it, would read another text.
    """

    token_id: int
    stand_in: int


def add_hole(backend: Any, hf_tokenizer: Any, model: Any) -> ZeroedHoles:
    """Add the token of a hole to a copy of the tokenizer's backend."""
    if backend is None or model.config.is_encoder_decoder:
        reason = "a tokenizer written in Python" if backend is None else "an encoder and a decoder"
        raise NoZeroVector(
            f"Got --mask {PADDING} for a {type(model).__name__} with {reason}. Expected a "
            "model with a fast tokenizer that reads its input once. Leave --mask out, or "
            "give a text."
        )
    from tokenizers import AddedToken

    # As mask tokens do, it takes the space before it along, which else could be a token itself.
    backend.add_special_tokens([AddedToken(HOLE_TOKEN, lstrip=True, normalized=False)])
    special = {*hf_tokenizer.all_special_ids, model.config.pad_token_id}
    stand_in = next(n for n in range(len(special) + 1) if n not in special)
    return ZeroedHoles(backend.token_to_id(HOLE_TOKEN), stand_in)


Encoded = list[tuple[list[int], list[int]]]
"""The token ids and token types of every text."""
TYPES_MARK = -1  # no token has this id
# Models whose positions begin after the index of the padding token.
OFFSET_POSITIONS = ("roberta", "camembert", "longformer", "mpnet", "data2vec-text")
MAX_STATED_TOKENS = 1 << 20  # tokenizers without a limit state a huge number


@dataclass(frozen=True, eq=False)
class TextTokenizer:
    """Tokenizes texts with a model's tokenizer, and pads their token ids to batches.

    With `pad_id` None rows are never padded: only texts of equal length share a batch. `backend` is
    the fast tokenizer, which knows the offsets of its tokens; None for one written in Python.
    """

    hf_tokenizer: Any
    encode_rendered: Callable[[list[Any]], Encoded]
    mask: str
    pad_id: int | None
    max_tokens: int | None
    types_for_pairs: bool
    types_always: bool
    backend: Any = None
    holes: ZeroedHoles | None = None

    @staticmethod
    def of(hf_tokenizer: Any, model: Any, mask: str | None = None) -> TextTokenizer:
        """Build the adapter of a tokenizer and its model.

        A hole becomes the mask token, else the unknown token, unless `mask` says otherwise: a
        text, "unknown", or "pad" for a zero vector.
        """
        max_tokens = _max_tokens(hf_tokenizer, model.config)
        takes_types = "token_type_ids" in inspect.signature(model.forward).parameters
        takes_types = takes_types and "token_type_ids" in hf_tokenizer.model_input_names
        backend = _copy_backend(hf_tokenizer, max_tokens)
        encode = _encoder(hf_tokenizer, max_tokens, backend)
        pad_id = hf_tokenizer.pad_token_id
        if pad_id is None and getattr(model.config, "pad_token_id", None) is None:
            # Models that pool the last token look for the padding; no token is ever −1.
            model.config.pad_token_id = -1
        if hf_tokenizer.padding_side != "right":
            # Padding on the left shifts positions in some models: texts of one length need none.
            pad_id = None
        holes = None
        if mask == PADDING:
            mask, holes = HOLE_TOKEN, add_hole(backend, hf_tokenizer, model)
        elif mask == UNKNOWN:
            mask = _unknown_token(hf_tokenizer)
        elif mask is None:
            mask = hf_tokenizer.mask_token or hf_tokenizer.unk_token or ""
        always = takes_types and any(encode(["a"])[0][1])
        return TextTokenizer(
            hf_tokenizer, encode, mask, pad_id, max_tokens, takes_types, always, backend, holes
        )

    def encode(self, items: Sequence[Text]) -> list[bytes]:
        if not items:
            return []
        texts = [_render(item, self.mask) for item in items]
        paired = isinstance(texts[0], tuple)
        if any(isinstance(text, tuple) != paired for text in texts):
            # The tokenizer takes either single texts or pairs.
            return [self.encode([item])[0] for item in items]
        return [self._key(ids, types, paired) for ids, types in self.encode_rendered(texts)]

    def tokenize(self, items: Sequence[Text]) -> list[TokenizedText]:
        """Return the tokens of every text, with their offsets."""
        if self.backend is None:
            raise UsageError(
                f"The tokenizer {type(self.hf_tokenizer).__name__} does not report the "
                "characters of a token, so gradients and attention cannot be assigned to "
                "words. Load the model with a fast tokenizer (a folder with "
                "tokenizer.json), or use an attack that needs only scores."
            )
        tokenized = []
        for item in items:
            text = _render(item, self.mask)
            paired = isinstance(text, tuple)
            encoding = self.backend.encode(*text) if paired else self.backend.encode(text)
            key = self._key(encoding.ids, encoding.type_ids, paired)
            field = [-1 if n is None else n for n in encoding.sequence_ids]
            start, stop = np.array(encoding.offsets, dtype=np.int64).reshape(-1, 2).T
            tokenized.append(
                TokenizedText(key, np.array(encoding.ids), np.array(field), start, stop)
            )
        return tokenized

    def batches(
        self, keys: Sequence[bytes], max_tokens: int, one_length: bool = False
    ) -> Iterator[tuple[list[int], dict[str, NDArray[np.int64]]]]:
        """Yield row numbers and padded arrays, sorted by length, of at most `max_tokens` tokens.

        With `one_length` no array has padding.
        """
        one_length = one_length or self.pad_id is None
        decoded = [np.frombuffer(key, dtype=np.int32) for key in keys]
        typed = [bool(len(row)) and int(row[0]) == TYPES_MARK for row in decoded]
        length = [len(row) // 2 if has else len(row) for row, has in zip(decoded, typed)]
        rows: list[int] = []
        for row in sorted(range(len(keys)), key=lambda row: (typed[row], length[row])):
            full = length[row] * (len(rows) + 1) > max_tokens
            differs = rows and (
                typed[row] != typed[rows[0]] or (one_length and length[row] != length[rows[0]])
            )
            if rows and (full or differs):
                yield rows, self._pad([decoded[r] for r in rows], typed[rows[0]])
                rows = []
            rows.append(row)
        if rows:
            yield rows, self._pad([decoded[r] for r in rows], typed[rows[0]])

    def description(self) -> str:
        """Describe everything that decides the ids of a text, for the fingerprint."""
        backend = getattr(self.hf_tokenizer, "backend_tokenizer", None)
        words = backend.to_str() if backend else repr(sorted(self.hf_tokenizer.get_vocab().items()))
        return f"{words}\n{self.mask}\n{self.max_tokens}"

    def _key(self, ids: list[int], types: list[int], paired: bool) -> bytes:
        typed = self.types_always or (self.types_for_pairs and paired)
        return np.asarray([TYPES_MARK, *ids, *types] if typed else ids, dtype=np.int32).tobytes()

    def _pad(self, rows: list[NDArray[np.int32]], typed: bool) -> dict[str, NDArray[np.int64]]:
        width = max(len(row) // 2 if typed else len(row) for row in rows)
        ids = np.full((len(rows), width), self.pad_id or 0, dtype=np.int64)
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


def _copy_backend(hf_tokenizer: Any, max_tokens: int | None) -> Any:
    backend = getattr(hf_tokenizer, "backend_tokenizer", None)
    if backend is None:
        return None
    # A copy, because truncation and padding are settings of the object, not of the call.
    copy = type(backend).from_str(backend.to_str())
    copy.no_padding()
    copy.no_truncation()
    if max_tokens is not None:
        copy.enable_truncation(max_tokens)
    return copy


def _unknown_token(hf_tokenizer: Any) -> str:
    token: str | None = hf_tokenizer.unk_token
    if token is None:
        raise UsageError(
            f"Got --mask {UNKNOWN}, but the tokenizer {type(hf_tokenizer).__name__} has "
            f"no unknown token. Use --mask {PADDING}, or give a text to use for a masked "
            "word."
        )
    return token


def _encoder(
    hf_tokenizer: Any, max_tokens: int | None, backend: Any
) -> Callable[[list[Any]], Encoded]:
    if backend is not None:
        encode = getattr(backend, "encode_batch_fast", backend.encode_batch)
        return lambda texts: [(encoding.ids, encoding.type_ids) for encoding in encode(texts)]

    def encode_slowly(texts: list[Any]) -> Encoded:
        columns = zip(*texts) if isinstance(texts[0], tuple) else [texts]
        truncation = {"truncation": max_tokens is not None, "max_length": max_tokens}
        encoding = hf_tokenizer(*map(list, columns), **truncation)
        no_types: list[list[int]] = [[] for _ in texts]
        return list(zip(encoding["input_ids"], encoding.get("token_type_ids", no_types)))

    return encode_slowly


def _render(item: Text, mask: str) -> str | tuple[str, str]:
    """Render a text as the tokenizer takes it: one string, or two for a pair."""
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


def _max_tokens(hf_tokenizer: Any, config: Any) -> int | None:
    """Return the smaller of the tokenizer's limit and the number of the model's positions."""
    positions = getattr(config, "max_position_embeddings", None)
    if positions and any(kind in config.model_type for kind in OFFSET_POSITIONS):
        positions -= (config.pad_token_id or 0) + 1
    limits = [
        n for n in (positions, hf_tokenizer.model_max_length) if n and 0 < n < MAX_STATED_TOKENS
    ]
    return min(limits) if limits else None


def align_texts(items: Sequence[Text], tokenizer: TextTokenizer) -> list[Alignment]:
    """Tokenize texts, and find the word of every token."""
    tokenized = tokenizer.tokenize(items)
    return [align(item, tokens, tokenizer.mask) for item, tokens in zip(items, tokenized)]


def words_read(items: Sequence[Text], tokenizer: TextTokenizer) -> list[Sequence[int]]:
    """Return for every text the positions of the words that are read.

    If the tokenizer does not know the offsets of its tokens, all words count as read.
    """
    if tokenizer.backend is None:
        return [range(len(item)) for item in items]
    return [alignment.read for alignment in align_texts(items, tokenizer)]


CONTEXT = "a "
# How tokenizers that have no decoder mark the beginning or the end of a word.
BEGINNINGS, ENDINGS = " ▁Ġ", ("</w>", " ")


def tokens_of(words: Sequence[str], tokenizer: TextTokenizer) -> list[tuple[int, ...]]:
    """Return the token ids of each word, with the space before it."""
    start = len(CONTEXT)
    texts = [CONTEXT + word for word in words]
    return [
        tuple(token for token, (_, stop) in zip(text.ids, text.offsets) if stop >= start)
        for text in tokenizer.backend.encode_batch(texts, add_special_tokens=False)
    ]


def whole_words(tokenizer: TextTokenizer) -> tuple[list[str], list[int]]:
    """List the words that are one token, and their token ids, in the order of the ids."""
    special = set(tokenizer.hf_tokenizer.all_special_ids)
    ids = sorted(set(tokenizer.backend.get_vocab().values()) - special)
    words = [tokenizer.backend.decode([token]) for token in ids]
    for ending in ENDINGS:
        words = [word.removesuffix(ending) for word in words]
    words = [word.lstrip(BEGINNINGS) for word in words]
    possible = [(token, word) for token, word in zip(ids, words) if is_word(word)]
    tokenized = tokens_of([word for _, word in possible], tokenizer)
    whole = [pair for pair, word_tokens in zip(possible, tokenized) if word_tokens == pair[:1]]
    return [word for _, word in whole], [token for token, _ in whole]


def words_by_frequency(tokenizer: TextTokenizer) -> tuple[str, ...]:
    """List the words that are one token, the most frequent first; without single characters.

    WordPiece lists its words by frequency, behind the characters. Other tokenizers list them by
    another rule: theirs are in the order of GloVe's table, if that is installed, and words that it
    does not have come last.
    """
    if tokenizer.backend is None:
        return ()
    words = [word for word in whole_words(tokenizer)[0] if len(word) > 1]
    if type(tokenizer.backend.model).__name__ != "WordPiece":
        try:
            rank = frequency_rank()
        except MissingPackage:
            return tuple(words)
        words.sort(key=lambda word: rank.get(word.lower(), len(rank)))
    return tuple(dict.fromkeys(words))

